#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::super::checkpoint::Checkpoint;
use super::super::keys::SignerKey;
use super::super::notary::{Anchoring, Notary, NotaryEvent};
use super::super::store::Store;
use super::super::tree::{Frontier, InMemory, leaf};
use super::*;
use crate::audit;
use crate::model::{Digest, LogEvent};

/// A witness after the specification. It shares no code for proofs with what it judges.
pub(super) struct Judge {
    pub log: VerifierKey,
    pub key: SignerKey,
    /// Size and root of the latest checkpoint that it signed.
    pub latest: Mutex<(u64, Vec<u8>)>,
}

impl Judge {
    pub fn http(&self, request: &str) -> Vec<u8> {
        let (status, body) = self.answer(request);
        let length = body.len();
        format!("HTTP/1.1 {status} Some\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes()
    }

    fn answer(&self, request: &str) -> (u16, String) {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        if !head.starts_with("POST /w1/add-checkpoint HTTP/1.0\r\n") {
            return (404, String::new());
        }
        let (proof, note) = body.split_once("\n\n").unwrap();
        let mut lines = proof.split('\n');
        let old: u64 = lines
            .next()
            .unwrap()
            .strip_prefix("old ")
            .unwrap()
            .parse()
            .unwrap();
        let proof: Vec<Vec<u8>> = lines.map(|line| STANDARD.decode(line).unwrap()).collect();
        let parsed = Note::parse(note.as_bytes()).unwrap();
        let mut text = parsed.text.lines();
        let (origin, size, root) = (
            text.next().unwrap(),
            text.next().unwrap(),
            text.next().unwrap(),
        );
        let (size, root): (u64, _) = (size.parse().unwrap(), STANDARD.decode(root).unwrap());
        if origin != self.log.name {
            return (404, String::new());
        }
        if parsed.check(&self.log).is_err() {
            return (403, String::new());
        }
        if old > size {
            return (400, String::new());
        }
        let mut latest = self.latest.lock().unwrap();
        if latest.0 != old {
            return (409, format!("{}\n", latest.0));
        }
        if !extends(old, size, &latest.1, &root, &proof) {
            return (422, String::new());
        }
        *latest = (size, root);
        let time = 1_800_000_000_u64;
        let message = format!("cosignature/v1\ntime {time}\n{}", parsed.text);
        let mut bytes = time.to_be_bytes().to_vec();
        bytes.extend(self.key.sign(message.as_bytes()));
        let line = Signature {
            name: self.key.verifier.name.clone(),
            id: self.key.verifier.id,
            bytes,
        };
        (200, line.line())
    }
}

/// RFC 9162, section 2.1.4.2.
fn extends(old: u64, size: u64, before: &[u8], root: &[u8], proof: &[Vec<u8>]) -> bool {
    let hash = |a: &[u8], b: &[u8]| {
        Sha256::new()
            .chain_update([1])
            .chain_update(a)
            .chain_update(b)
            .finalize()
            .to_vec()
    };
    if old == 0 {
        return proof.is_empty();
    }
    if old == size {
        return proof.is_empty() && before == root;
    }
    let mut proof = proof.to_vec();
    if old.is_power_of_two() {
        proof.insert(0, before.to_vec());
    }
    let Some((first, rest)) = proof.split_first() else {
        return false;
    };
    let (mut f, mut s) = (old - 1, size - 1);
    while f & 1 == 1 {
        f >>= 1;
        s >>= 1;
    }
    let (mut of_old, mut of_new) = (first.clone(), first.clone());
    for beside in rest {
        if s == 0 {
            return false;
        }
        if f & 1 == 1 || f == s {
            of_old = hash(beside, &of_old);
            of_new = hash(beside, &of_new);
            while f & 1 == 0 && f != 0 {
                f >>= 1;
                s >>= 1;
            }
        } else {
            of_new = hash(&of_new, beside);
        }
        f >>= 1;
        s >>= 1;
    }
    of_old == before && of_new == root && s == 0
}

/// A log of so many records, its key, and a witness that serves on a port of its own.
pub(super) struct Bench {
    pub log: SignerKey,
    pub all: InMemory,
    pub judge: Arc<Judge>,
    witness: Witness,
}

fn serve(answer: impl Fn(&str) -> Vec<u8> + Send + 'static) -> u16 {
    serve_over(|stream| stream, answer)
}

/// Serves each connection as `wrap` makes it.
pub(super) fn serve_over<S: Read + Write>(
    wrap: impl Fn(TcpStream) -> S + Send + 'static,
    answer: impl Fn(&str) -> Vec<u8> + Send + 'static,
) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = wrap(stream.unwrap());
            let mut request = Vec::new();
            let mut piece = [0; 1024];
            let whole = |request: &[u8]| {
                let text = String::from_utf8_lossy(request).into_owned();
                let (head, body) = text.split_once("\r\n\r\n")?;
                let length = head
                    .split("Content-Length: ")
                    .nth(1)?
                    .split("\r\n")
                    .next()?;
                (body.len() >= length.parse().ok()?).then_some(text)
            };
            let text = loop {
                if let Some(text) = whole(&request) {
                    break text;
                }
                match stream.read(&mut piece) {
                    Ok(n) if n > 0 => request.extend_from_slice(&piece[..n]),
                    // Who refuses its certificate asks nothing.
                    _ => break String::new(),
                }
            };
            if text.is_empty() {
                continue;
            }
            let _ = stream.write_all(&answer(&text));
        }
    });
    port
}

/// A witness that trusts this log.
fn served(log: VerifierKey) -> (Arc<Judge>, Witness) {
    let judge = Arc::new(Judge {
        log,
        key: SignerKey::new("witness.example/w1", Kind::Cosignature, &[2; 32]),
        latest: Mutex::default(),
    });
    let its = judge.clone();
    let port = serve(move |request| its.http(request));
    let witness = at(port, &judge.key.verifier);
    (judge, witness)
}

impl Bench {
    pub fn new() -> Self {
        let log = SignerKey::new("log.example", Kind::Note, &[1; 32]);
        let (judge, witness) = served(log.verifier.clone());
        let (mut edge, mut all) = (Frontier::default(), InMemory::default());
        for n in 0..300_u32 {
            edge.push(leaf(&n.to_le_bytes()), |hash| all.0.push(hash));
        }
        Self {
            log,
            all,
            judge,
            witness,
        }
    }

    pub fn signed(&self, size: u64) -> Signed {
        let checkpoint = Checkpoint {
            origin: self.log.verifier.name.clone(),
            size,
            root: tree::root(&self.all, size).unwrap(),
        };
        Signed::new(checkpoint, &self.log)
    }

    fn cosign(&self, size: u64, saw: &mut u64) -> Result<Signature, String> {
        self.witness
            .cosign(&self.signed(size), saw, &self.all, &Trust::default())
    }
}

fn at(port: u16, key: &VerifierKey) -> Witness {
    format!("http://127.0.0.1:{port}/w1/ {key}")
        .parse()
        .unwrap()
}

#[test]
fn a_witness_signs_each_checkpoint_that_extends_what_it_saw() {
    let bench = Bench::new();
    let mut saw = 0;
    for size in [1, 2, 7, 8, 64, 64, 65, 300] {
        let signature = bench.cosign(size, &mut saw).unwrap();
        assert_eq!((saw, bench.judge.latest.lock().unwrap().0), (size, size));
        let mut note = bench.signed(size).note;
        note.signatures.push(signature);
        let again = Signed::read(note.print().as_bytes(), &bench.log.verifier).unwrap();
        again.note.check(&bench.judge.key.verifier).unwrap();
    }
}

#[test]
fn a_conflict_tells_what_it_saw_and_is_asked_again() {
    let bench = Bench::new();
    bench.cosign(100, &mut 0).unwrap();
    // After a restart nothing is known of it.
    for size in [100, 130] {
        bench.cosign(size, &mut 0).unwrap();
    }
    let why = bench.cosign(120, &mut 0).unwrap_err();
    let fault = "witness witness.example/w1: it saw 130 records of this log, which now has 120: the log was cut or rolled back";
    assert_eq!(why, fault);
}

#[test]
fn a_witness_does_not_sign_another_past() {
    let bench = Bench::new();
    let mut saw = 0;
    bench.cosign(100, &mut saw).unwrap();
    let mut other = Bench::new();
    other
        .all
        .0
        .iter_mut()
        .for_each(|hash| *hash = Digest::of(hash.as_bytes()));
    let forged = other.signed(150);
    let why = bench
        .witness
        .cosign(&forged, &mut saw, &other.all, &Trust::default())
        .unwrap_err();
    assert!(
        why.ends_with("the log does not extend what it saw, it says (422)"),
        "{why}"
    );
}

/// Answers that are none of a witness.
#[test]
fn each_failure_has_its_words() {
    let bench = Bench::new();
    let signed = bench.signed(8);
    let ask = |answer: &[u8], key: &VerifierKey| {
        let answer = answer.to_vec();
        let witness = at(serve(move |_| answer.clone()), key);
        witness
            .cosign(&signed, &mut 0, &bench.all, &Trust::default())
            .unwrap_err()
    };
    let key = &bench.judge.key.verifier;
    let other = SignerKey::new("witness.example/w1", Kind::Cosignature, &[9; 32]);
    let by_other = {
        let mut bytes = 5_u64.to_be_bytes().to_vec();
        bytes
            .extend(other.sign(format!("cosignature/v1\ntime 5\n{}", signed.note.text).as_bytes()));
        Signature {
            name: key.name.clone(),
            id: other.verifier.id,
            bytes,
        }
    };
    let forged = Signature {
        id: key.id,
        ..by_other.clone()
    };
    let ok = |body: &str| format!("HTTP/1.1 200 OK\r\n\r\n{body}").into_bytes();
    for (answer, why) in [
        (
            ok(&by_other.line()),
            "it signed with another key than the configured one",
        ),
        (
            ok(&forged.line()),
            "bad signature: witness.example/w1 did not sign this text",
        ),
        (ok("thanks\n"), "its answer is no signature"),
        (ok(""), "its answer is no signature"),
        (b"\xff\xfe".to_vec(), "its answer is not HTTP"),
        (b"SSH-2.0-x\r\n\r\n".to_vec(), "its answer is not HTTP"),
        (
            b"HTTP/1.1 409 C\r\n\r\nmany\n".to_vec(),
            "its conflict names no size",
        ),
        (
            b"HTTP/1.1 409 C\r\n\r\n08\n".to_vec(),
            "its conflict names no size",
        ),
        (
            b"HTTP/1.1 409 C\r\n\r\n5\n".to_vec(),
            "it contradicts itself about what it saw",
        ),
        (
            b"HTTP/1.1 403 F\r\n\r\n".to_vec(),
            "it does not trust this log's key (403)",
        ),
        (
            b"HTTP/1.1 404 N\r\n\r\n".to_vec(),
            "it does not know this log (404)",
        ),
        (
            b"HTTP/1.1 500 E\r\n\r\n".to_vec(),
            "it answers with status 500",
        ),
        (vec![b'x'; 200_000], "its answer is not HTTP"),
    ] {
        let told = ask(&answer, key);
        assert_eq!(told, format!("witness witness.example/w1: {why}"));
    }
    // It signed, and somebody else as well: others are ignored.
    let good = bench.cosign(8, &mut 0).unwrap();
    let both = ok(&format!("{}{}", by_other.line(), good.line()));
    let witness = at(serve(move |_| both.clone()), key);
    assert_eq!(
        witness
            .cosign(&signed, &mut 0, &bench.all, &Trust::default())
            .unwrap(),
        good
    );
}

#[test]
fn a_witness_that_is_not_there_or_slow_is_not_waited_for() {
    let bench = Bench::new();
    let signed = bench.signed(8);
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let key = &bench.judge.key.verifier;
    let why = at(closed, key)
        .cosign(&signed, &mut 0, &bench.all, &Trust::default())
        .unwrap_err();
    assert!(why.contains("it cannot be reached"), "{why}");
    // It takes the question and says nothing, or a byte now and then.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut stream, _) = silent.accept().unwrap();
        while stream.write_all(b"H").is_ok() {
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    let witness = at(port, key);
    let until = Instant::now() + Duration::from_secs(1);
    let begun = Instant::now();
    let why = witness
        .ask("", &signed.note, &Trust::default(), until)
        .err()
        .unwrap();
    assert_eq!(why, "it does not answer in time");
    assert!(begun.elapsed() < Duration::from_secs(8));
}

#[test]
fn addresses_that_are_none_are_refused() {
    let key = SignerKey::new("w", Kind::Cosignature, &[2; 32])
        .verifier
        .to_string();
    for good in [
        "http://w.example",
        "http://w.example/",
        "http://w.example:8080/a/b",
        "http://[::1]:80",
        "https://w.example",
        "https://w.example:8443/a",
    ] {
        format!("{good} {key}").parse::<Witness>().unwrap();
    }
    for bad in [
        "ftp://w.example",
        "w.example",
        "http://",
        "http://:80",
        "http://w:x",
        "http://w:99999",
        "http://a@b",
        "http://w/\u{7f}",
    ] {
        assert!(format!("{bad} {key}").parse::<Witness>().is_err(), "{bad}");
    }
    let of_log = SignerKey::new("w", Kind::Note, &[2; 32])
        .verifier
        .to_string();
    assert!(
        format!("http://w {of_log}")
            .parse::<Witness>()
            .unwrap_err()
            .contains("is one of a log")
    );
    assert!("http://w".parse::<Witness>().is_err());
}

#[test]
fn the_notary_has_its_checkpoints_signed_and_tells_who_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let grow = || {
        let event = LogEvent::EnvironmentChanged {
            environment: Digest::of(b"x"),
            what: "lib/x.py was changed".to_owned(),
        };
        audit::append(&state, event).unwrap();
    };
    let notarize = |witnesses| {
        let (tell, told) = std::sync::mpsc::channel();
        let durable = audit::Log::open(&state).unwrap().verify().unwrap().records;
        let anchoring = Anchoring {
            witnesses,
            ..Anchoring::default()
        };
        let report = Box::new(move |event| tell.send(event).unwrap());
        Notary::start(&state, anchoring, durable, report).close();
        told.into_iter().collect::<Vec<_>>()
    };
    grow();
    assert_eq!(notarize(Vec::new()), [NotaryEvent::Began(1)]);
    let store = Store::beside(&state);
    let key = store.key().unwrap().unwrap();
    let (judge, witness) = served(key.clone());
    for size in [2, 3, 4] {
        grow();
        assert_eq!(notarize(vec![witness.clone()]), []);
        let latest = store.latest(&key).unwrap().unwrap();
        assert_eq!(
            (latest.checkpoint.size, latest.note.signatures.len()),
            (size, 2)
        );
        latest.note.check(&judge.key.verifier).unwrap();
    }
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    grow();
    let told = notarize(vec![at(closed, &judge.key.verifier), witness]);
    let [NotaryEvent::Failed(why)] = &told[..] else {
        panic!("{told:?}");
    };
    assert!(
        why.starts_with("witness witness.example/w1: it cannot be reached"),
        "{why}"
    );
    // The other one signed nevertheless.
    let latest = store.latest(&key).unwrap().unwrap();
    assert_eq!(
        (latest.checkpoint.size, latest.note.signatures.len()),
        (5, 2)
    );
}
