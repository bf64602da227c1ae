#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::Path;
use std::time::Instant;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use super::*;

/// A command that asks a thread of this test, which has the key, as a smartcard's does.
pub fn card(folder: &Path, answer: impl Fn(&str) -> Vec<u8> + Send + 'static) -> Vec<String> {
    let (asked, told) = (folder.join("asked"), folder.join("told"));
    for fifo in [&asked, &told] {
        mkfifo(fifo, Mode::S_IRWXU).unwrap();
    }
    let script = format!("cat > '{}'; cat '{}'", asked.display(), told.display());
    std::thread::spawn(move || {
        while let Ok(text) = fs::read_to_string(&asked) {
            let _ = fs::write(&told, answer(&text));
        }
    });
    sh(&script)
}

fn sh(script: &str) -> Vec<String> {
    ["sh", "-c", script].map(str::to_owned).to_vec()
}

pub fn key() -> SignerKey {
    SignerKey::new("log.example/card", Kind::Note, &[7; 32])
}

fn signed(command: &[String]) -> Result<[u8; 64], String> {
    let command = KeyCommand::new(command, key().verifier).unwrap();
    command.sign("a text\n", || false)
}

#[test]
fn a_command_signs_in_bytes_and_in_base64() {
    let right = key().sign(b"a text\n");
    for as_text in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let command = card(folder.path(), move |text| {
            let bytes = key().sign(text.as_bytes());
            match as_text {
                true => format!(" {}\n", STANDARD.encode(bytes)).into_bytes(),
                false => bytes.to_vec(),
            }
        });
        assert_eq!(signed(&command).unwrap(), right, "{as_text}");
    }
}

#[test]
fn what_key_public_does_not_verify_is_no_signature() {
    let folder = tempfile::tempdir().unwrap();
    let other = SignerKey::new("log.example/card", Kind::Note, &[8; 32]);
    let command = card(folder.path(), move |text| {
        other.sign(text.as_bytes()).to_vec()
    });
    let why = signed(&command).unwrap_err();
    let said = "key_command answered a signature that `key_public` (log.example/card) does not verify: another key signed, or \
                another text";
    assert_eq!(why, said);
    // Of the right key, over another text.
    let folder = tempfile::tempdir().unwrap();
    let command = card(folder.path(), |_| key().sign(b"another text\n").to_vec());
    assert_eq!(signed(&command).unwrap_err(), said);
}

#[test]
fn a_command_that_does_not_sign_is_told_by_its_fault() {
    for (script, said) in [
        (
            "echo no card >&2; exit 1",
            "key_command: `sh` failed, exit status: 1: no card",
        ),
        (
            "true",
            "key_command answered 0 bytes that are no Ed25519 signature",
        ),
        (
            "echo garbage",
            "key_command answered 8 bytes that are no Ed25519 signature",
        ),
        (
            "printf '%065d' 0",
            "key_command answered 65 bytes that are no",
        ),
        (
            "printf '%064d' 0",
            "key_command answered a signature that `key_public`",
        ),
        (
            "yes",
            "key_command: `sh` answers with more than 1024 bytes, and was stopped",
        ),
        (
            "head -c 1025 /dev/zero",
            "key_command: `sh` answers with more than 1024 bytes",
        ),
        ("kill -9 $$", "key_command: `sh` failed, signal: 9"),
    ] {
        let why = signed(&sh(script)).unwrap_err();
        assert!(why.starts_with(said), "{script}: {why}");
    }
    let why = signed(&["/no/such/signer".to_owned()]).unwrap_err();
    assert!(
        why.starts_with("key_command: `/no/such/signer` cannot be started"),
        "{why}"
    );
}

#[test]
fn a_command_that_hangs_is_stopped_with_all_it_started() {
    let begun = Instant::now();
    let hangs = KeyCommand {
        within: Duration::from_millis(100),
        ..KeyCommand::new(&sh("sleep 60 & sleep 60"), key().verifier).unwrap()
    };
    let why = hangs.sign("a text\n", || false).unwrap_err();
    assert_eq!(why, "key_command: `sh` took too long, and was stopped");
    // What it left open is not waited for either.
    signed(&sh("sleep 60 & exit 0")).unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_command_gets_few_variables() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("variables");
    signed(&sh(&format!("env > '{}'", file.display()))).unwrap_err();
    let got = fs::read_to_string(file).unwrap();
    assert!(got.contains("PATH="), "{got}");
    // Cargo sets this one for every test.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    for line in got.lines() {
        let (name, _) = line.split_once('=').unwrap();
        // Shells set the last three.
        let known = VARIABLES.contains(&name) || ["PWD", "SHLVL", "_"].contains(&name);
        assert!(known, "{got}");
    }
}

#[test]
fn a_witnesss_key_signs_no_log() {
    let key = SignerKey::new("w", Kind::Cosignature, &[7; 32]);
    assert!(KeyCommand::new(&sh("true"), key.verifier).is_err());
}
