#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::super::checkpoint::{Checkpoint, Signed};
use super::super::keys::SignerKey;
use super::*;
use crate::model::Digest;

/// The note and the key of the specification.
const NOTE: &str = "This is an example message.\n\n— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n";
const KEY: &str = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";

fn signer(name: &str, n: u8) -> SignerKey {
    SignerKey::new(name, Kind::Note, &[n; 32])
}

fn signed(size: u64, key: &SignerKey) -> Signed {
    let checkpoint = Checkpoint {
        origin: key.verifier.name.clone(),
        size,
        root: Digest::of(if size == 0 { b"" } else { b"root" }),
    };
    Signed::new(checkpoint, key)
}

#[test]
fn the_specifications_note_is_good_and_prints_as_it_was() {
    let key: VerifierKey = KEY.parse().unwrap();
    assert_eq!(key.to_string(), KEY);
    let note = Note::parse(NOTE.as_bytes()).unwrap();
    note.check(&key).unwrap();
    assert_eq!(note.print(), NOTE);
}

#[test]
fn every_changed_byte_of_a_checkpoint_is_found() {
    let key = signer("log.example", 1);
    let note = signed(7, &key).note.print();
    Signed::read(note.as_bytes(), &key.verifier).unwrap();
    for at in 0..note.len() {
        for bit in 0..8 {
            let mut bytes = note.clone().into_bytes();
            bytes[at] ^= 1 << bit;
            let read = Signed::read(&bytes, &key.verifier);
            assert!(read.is_err(), "byte {at}, bit {bit}: {read:?}");
        }
    }
}

#[test]
fn each_fault_has_its_name() {
    let (key, other) = (signer("log.example", 1), signer("log.example", 2));
    let elsewhere = signer("elsewhere.example", 1);
    let read = |text: &str| match Signed::read(text.as_bytes(), &key.verifier) {
        Ok(signed) => format!("good: {}", signed.checkpoint.size),
        Err(e) => e.to_string(),
    };
    let good = signed(7, &key).note;
    assert_eq!(read(&good.print()), "good: 7");
    let by_other = signed(7, &other).note;
    assert!(read(&by_other.print()).starts_with("unknown key: it is signed by log.example+"));
    let of_another = signed(7, &elsewhere).note;
    assert_eq!(
        read(&of_another.print()),
        "other origin: it is a checkpoint of elsewhere.example, and the log here is log.example"
    );
    // A signature that names the key and is of another one.
    let mut forged = by_other.clone();
    forged.signatures[0].id = key.verifier.id;
    assert_eq!(
        read(&forged.print()),
        "bad signature: log.example did not sign this text"
    );
    // Beside a right one too.
    let mut both = good.clone();
    both.signatures.extend(forged.signatures.clone());
    assert!(read(&both.print()).starts_with("bad signature"));
    // Signatures of unknown keys do no harm, in any number that is read.
    let mut more = good.clone();
    more.signatures
        .extend(by_other.signatures.iter().cycle().take(16).cloned());
    assert_eq!(read(&more.print()), "good: 7");
    more.signatures
        .extend(by_other.signatures.iter().cycle().take(64).cloned());
    assert_eq!(
        read(&more.print()),
        "not a signed note: it has more than 64 signatures"
    );
}

/// Texts are signed rightly, so that only their form is wrong.
#[test]
fn a_rightly_signed_text_that_is_no_checkpoint_is_refused() {
    let key = signer("log.example", 1);
    let empty = STANDARD.encode(Digest::of(b"").as_bytes());
    let root = STANDARD.encode(Digest::of(b"root").as_bytes());
    for (text, why) in [
        (format!("log.example\n7\n{root}\n"), ""),
        (format!("log.example\n0\n{empty}\n"), ""),
        (format!("log.example\n9223372036854775807\n{root}\n"), ""),
        (
            format!("log.example\n9223372036854775808\n{root}\n"),
            "size",
        ),
        (
            format!("log.example\n18446744073709551616\n{root}\n"),
            "size",
        ),
        (format!("log.example\n07\n{root}\n"), "size"),
        (format!("log.example\n+7\n{root}\n"), "size"),
        (format!("log.example\n-7\n{root}\n"), "size"),
        (format!("log.example\n\n{root}\n"), "size"),
        (format!("log.example\n0\n{root}\n"), "without records"),
        ("log.example\n7\nAAAA\n".to_owned(), "root hash"),
        (format!("log.example\n7\n{root}\nmore\n"), "more lines"),
        (format!("\n7\n{root}\n"), "origin"),
        ("log.example\n7\n".to_owned(), "three lines"),
    ] {
        let note = Note::signed(text.clone(), &key.verifier, &key.sign(text.as_bytes())).print();
        match Signed::read(note.as_bytes(), &key.verifier) {
            Ok(_) => assert_eq!(why, "", "{text:?}"),
            Err(e) => assert!(
                !why.is_empty() && e.to_string().contains(why),
                "{text:?}: {e}"
            ),
        }
    }
}

#[test]
fn what_is_no_note_is_no_note() {
    let key = signer("log.example", 1);
    let good = signed(7, &key).note.print();
    let end = good.strip_suffix('\n').unwrap();
    let signature = good.lines().last().unwrap();
    for text in [
        String::new(),
        "\n\n".to_owned(),
        end.to_owned(),
        good.replace('—', "-"),
        good.replace("\n\n", "\n"),
        good.replace('7', "7\r"),
        good.replace("— log", "—  log"),
        format!("{good}\n"),
        format!("{good}— x AAAA\n"),
        format!("{good}{}", &signature[..signature.len() - 4]),
        format!("{}{good}", "x".repeat(NOTE_MAX)),
    ] {
        let read = Signed::read(text.as_bytes(), &key.verifier);
        assert!(read.is_err(), "{text:?}");
    }
}

#[test]
fn keys_that_are_none_are_refused() {
    let good = signer("log.example", 1).verifier.to_string();
    assert!(good.parse::<VerifierKey>().is_ok());
    let weak = {
        let mut bytes = vec![1];
        bytes.extend([1_u8].into_iter().chain([0; 31]));
        format!("log.example+00000000+{}", STANDARD.encode(bytes))
    };
    for text in [
        "",
        "log.example",
        &good.replace("log.example", "log example"),
        &good.replace("log.example", "other.example"),
        &good.replace("+A", "+B"),
        &good[..good.len() - 4],
        &weak,
        KEY.strip_suffix('k').unwrap(),
    ] {
        assert!(text.parse::<VerifierKey>().is_err(), "{text}");
    }
    let key = signer("log.example", 1);
    let again = SignerKey::parse(&key.text()).unwrap();
    assert_eq!(again.verifier, key.verifier);
    assert_eq!(again.sign(b"x"), key.sign(b"x"));
    assert!(SignerKey::parse(&key.text().replace("log", "lug")).is_err());
}

#[test]
fn a_witness_signs_with_the_time() {
    let key = signer("log.example", 1);
    let witness = SignerKey::new("witness.example", Kind::Cosignature, &[3; 32]);
    let mut note = signed(7, &key).note;
    let cosigned = |time: u64, said: u64| {
        let message = format!("cosignature/v1\ntime {said}\n{}", note.text);
        let mut bytes = time.to_be_bytes().to_vec();
        bytes.extend(witness.sign(message.as_bytes()));
        Signature {
            name: "witness.example".to_owned(),
            id: witness.verifier.id,
            bytes,
        }
    };
    let lines = [
        cosigned(5, 5),
        cosigned(5, 6),
        cosigned(0, 0),
        cosigned(1 << 63, 1 << 63),
    ];
    for (n, line) in lines.into_iter().enumerate() {
        note.signatures.truncate(1);
        note.signatures.push(line);
        assert_eq!(note.check(&witness.verifier).is_ok(), n == 0, "{n}");
        note.check(&key.verifier).unwrap();
    }
}
