//! A notary whose checkpoints a command signs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;

use super::super::signer::tests::{card, key};
use super::tests::Bench;
use super::*;

fn by(command: &[String]) -> Anchoring {
    Anchoring {
        signer: Some(KeyCommand::new(command, key().verifier).unwrap()),
        ..Anchoring::default()
    }
}

fn sh(script: &str) -> Vec<String> {
    ["sh", "-c", script].map(str::to_owned).to_vec()
}

#[test]
fn a_command_signs_every_checkpoint_and_no_key_is_made() {
    let bench = Bench::with(10);
    let folder = tempfile::tempdir().unwrap();
    let command = card(folder.path(), |text| key().sign(text.as_bytes()).to_vec());
    assert_eq!(bench.notarize_with(by(&command)), []);
    let signed = bench.latest();
    assert_eq!(signed.checkpoint.size, 10);
    assert_eq!(signed.checkpoint.origin, "log.example/card");
    signed.note.check(&key().verifier).unwrap();
    assert!(!bench.store().dir().join("key").exists());
    bench.grow(5);
    assert_eq!(bench.notarize_with(by(&command)), []);
    assert_eq!(bench.latest().checkpoint.size, 15);
    assert_eq!(bench.compare(&[signed, bench.latest()]), "extends");
}

#[test]
fn a_command_that_fails_is_told_stores_nothing_and_is_asked_again() {
    let bench = Bench::with(10);
    let folder = tempfile::tempdir().unwrap();
    let works = folder.path().join("works");
    let right = card(folder.path(), |text| key().sign(text.as_bytes()).to_vec());
    let script = format!(
        "test -e '{}' || {{ echo no card >&2; exit 1; }}; {}",
        works.display(),
        right[2]
    );
    let anchoring = by(&sh(&script));
    let told = bench.notarize_with(anchoring.clone());
    let why = "key_command: `sh` failed, exit status: 1: no card";
    assert!(
        told.iter()
            .all(|event| *event == NotaryEvent::Failed(why.to_owned())),
        "{told:?}"
    );
    assert!(!told.is_empty());
    assert_eq!(bench.store().fault().as_deref(), Some(why));
    assert!(!bench.store().dir().join("latest").exists());
    fs::write(works, "").unwrap();
    assert_eq!(bench.notarize_with(anchoring), []);
    assert_eq!(bench.latest().checkpoint.size, 10);
    assert_eq!(bench.store().fault(), None);
}

#[test]
fn a_key_and_a_command_do_not_both_sign() {
    let bench = Bench::with(10);
    assert_eq!(bench.notarize(), []);
    let public = fs::read(bench.store().dir().join("key.pub")).unwrap();
    let failed = |events: &[NotaryEvent]| match events {
        [NotaryEvent::Failed(why)] => why.clone(),
        other => panic!("{other:?}"),
    };
    let why = failed(&bench.notarize_with(by(&sh("exit 1"))));
    let path = bench.store().dir().join("key").display().to_string();
    assert!(
        why.starts_with("`key_command` signs checkpoints") && why.contains(&path),
        "{why}"
    );
    // Without its key, the folder is still that of the key that signed.
    fs::remove_file(&path).unwrap();
    let why = failed(&bench.notarize_with(by(&sh("exit 1"))));
    assert!(why.contains("`key_public` is log.example/card+"), "{why}");
    let why = failed(&bench.notarize());
    assert!(why.contains("the key that signs is gone"), "{why}");
    assert_eq!(
        fs::read(bench.store().dir().join("key.pub")).unwrap(),
        public
    );
}

/// What waits for the disk does not wait for a signature.
#[test]
fn a_command_that_hangs_keeps_the_writer_from_nothing() {
    let bench = Bench::with(64);
    let folder = tempfile::tempdir().unwrap();
    let asked = folder.path().join("asked");
    let anchoring = by(&sh(&format!("touch '{}'; sleep 600", asked.display())));
    let notary = Notary::start(&bench.state, anchoring, bench.records(), Box::new(|_| {}));
    while !asked.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let begun = Instant::now();
    bench.grow(20);
    // It has 30 seconds.
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert!(!notary.thread.as_ref().unwrap().is_finished());
    let begun = Instant::now();
    notary.close();
    assert!(begun.elapsed() < CLOSING + Duration::from_secs(10));
}
