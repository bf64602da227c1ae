//! Witnesses over HTTPS, with certificates that each test makes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::certificates;
use super::tests::{Bench, serve_over};
use super::*;

/// The file that names an authority.
fn file(folder: &Path, authority: &str) -> PathBuf {
    let path = folder.join("ca.pem");
    let pem = format!("-----BEGIN CERTIFICATE-----\n{authority}\n-----END CERTIFICATE-----\n");
    fs::write(&path, pem).unwrap();
    path
}

/// Only the first authority is trusted, beside the machine's.
fn trust() -> Trust {
    trust_in(certificates::OURS)
}

fn trust_in(authority: &str) -> Trust {
    let folder = tempfile::tempdir().unwrap();
    Trust::here(Some(&file(folder.path(), authority))).unwrap()
}

/// A server with this certificate.
fn server(certificate: &str) -> Arc<ServerConfig> {
    let der = |text: &str| STANDARD.decode(text).unwrap();
    let key = PrivateKeyDer::Pkcs8(der(certificates::KEY).into());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![der(certificate).into()], key)
        .unwrap();
    Arc::new(config)
}

/// The bench's witness over TLS.
fn served(bench: &Bench, config: Arc<ServerConfig>) -> Witness {
    let judge = bench.judge.clone();
    let port = serve_over(
        move |stream| StreamOwned::new(ServerConnection::new(config.clone()).unwrap(), stream),
        move |request| judge.http(request),
    );
    at(port, bench)
}

fn at(port: u16, bench: &Bench) -> Witness {
    let key = &bench.judge.key.verifier;
    format!("https://127.0.0.1:{port}/w1/ {key}")
        .parse()
        .unwrap()
}

#[test]
fn a_witness_signs_over_tls_with_a_certificate_of_a_private_authority() {
    let (bench, trust) = (Bench::new(), trust());
    let witness = served(&bench, server(certificates::GOOD));
    assert!(witness.has_tls());
    let mut saw = 0;
    for size in [1, 8, 300] {
        let signed = bench.signed(size);
        let signature = witness
            .cosign(&signed, &mut saw, &bench.all, &trust)
            .unwrap();
        assert_eq!((saw, bench.judge.latest.lock().unwrap().0), (size, size));
        let mut note = signed.note;
        note.signatures.push(signature);
        note.check(&bench.judge.key.verifier).unwrap();
    }
}

#[test]
fn a_wrong_certificate_is_refused_and_told_before_anything_is_asked() {
    let (bench, trust) = (Bench::new(), trust());
    let begins = "witness witness.example/w1: its certificate is refused: ";
    for (certificate, why) in [
        (certificates::FOREIGN, "UnknownIssuer"),
        (
            certificates::NAMED,
            "certificate not valid for name \"127.0.0.1\"",
        ),
        (certificates::EXPIRED, "certificate expired"),
    ] {
        let witness = served(&bench, server(certificate));
        let signed = bench.signed(8);
        let told = witness
            .cosign(&signed, &mut 0, &bench.all, &trust)
            .unwrap_err();
        assert!(told.starts_with(&format!("{begins}{why}")), "{told}");
        assert!(
            told.ends_with("(`witness_ca` names private authorities)"),
            "{told}"
        );
    }
    // None of them heard of the log.
    assert_eq!(bench.judge.latest.lock().unwrap().0, 0);
    let witness = served(&bench, server(certificates::FOREIGN));
    let theirs = trust_in(certificates::THEIRS);
    let signed = bench.signed(8);
    witness
        .cosign(&signed, &mut 0, &bench.all, &theirs)
        .unwrap();
}

#[test]
fn a_server_without_tls_or_without_an_end_is_told() {
    let (bench, trust) = (Bench::new(), trust());
    let signed = bench.signed(8);
    // It speaks HTTP.
    let judge = bench.judge.clone();
    let port = serve_over(|stream| stream, move |request| judge.http(request));
    let until = Instant::now() + Duration::from_secs(2);
    let told = at(port, &bench)
        .ask("", &signed.note, &trust, until)
        .err()
        .unwrap();
    assert!(
        told == "it does not answer in time" || told.starts_with("it cannot be reached"),
        "{told}"
    );
    // It says a byte of a handshake now and then.
    let slow = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = slow.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut stream, _) = slow.accept().unwrap();
        let _ = stream.write_all(b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc");
        while stream.write_all(b"\0").is_ok() {
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    let begun = Instant::now();
    let told = at(port, &bench).ask("", &signed.note, &trust, begun + Duration::from_secs(1));
    assert_eq!(told.err().unwrap(), "it does not answer in time");
    assert!(begun.elapsed() < Duration::from_secs(8));
    // Its answer has no end.
    let config = server(certificates::GOOD);
    let port = serve_over(
        move |stream| StreamOwned::new(ServerConnection::new(config.clone()).unwrap(), stream),
        |_| [&b"HTTP/1.1 200 OK\r\n\r\n"[..], &vec![b'x'; 10 * NOTE_MAX]].concat(),
    );
    let told = at(port, &bench)
        .cosign(&signed, &mut 0, &bench.all, &trust)
        .unwrap_err();
    assert!(told.ends_with("its answer is no signature"), "{told}");
}

#[test]
fn a_file_without_certificates_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ca.pem");
    let told = |file: &Path| Trust::here(Some(file)).unwrap_err();
    assert!(
        told(&path).starts_with(&path.display().to_string()),
        "{}",
        told(&path)
    );
    for (text, why) in [
        ("", "it has no certificate in PEM"),
        (
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "",
        ),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n", ""),
    ] {
        fs::write(&path, text).unwrap();
        let told = told(&path);
        assert!(
            told.starts_with(&path.display().to_string()) && told.ends_with(why),
            "{told}"
        );
    }
}
