//! The seeds of the fuzz targets of the log, of its questions, of checkpoints and of votes run through the targets' own checks.

#[path = "../../fuzz/src/ballot.rs"]
mod ballot;
#[path = "../../fuzz/src/log.rs"]
mod log;
#[path = "../../fuzz/src/note.rs"]
mod note;
#[path = "../../fuzz/src/query.rs"]
mod query;

use std::fs;
use std::path::Path;

/// Every seed, and every beginning of it up to a bound.
fn each(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    let mut count = 0;
    for file in fs::read_dir(folder.join(target)).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        check(&bytes);
        for end in (0..bytes.len()).step_by((bytes.len() / 40).max(1)) {
            check(&bytes[..end]);
            let mut flipped = bytes.clone();
            flipped[end] ^= 1 << (end % 8);
            check(&flipped);
        }
        count += 1;
    }
    assert!(count > 0, "no seeds of {target}");
}

#[test]
fn the_reader_of_the_log_bears_the_seeds() {
    each("log", log::check);
}

#[test]
fn the_query_language_bears_the_seeds() {
    each("query", query::check);
}

#[test]
fn keys_and_checkpoints_bear_the_seeds() {
    each("note", note::check);
    let signed = include_bytes!("../../fuzz/corpus/note/signed");
    let (key, text) = signed.split_at(signed.iter().position(|b| *b == b'\n').unwrap());
    let key = std::str::from_utf8(key).unwrap().parse().unwrap();
    assert!(countersign::audit::Signed::read(&text[1..], &key).is_ok());
}

#[test]
fn who_may_vote_and_signatures_bear_the_seeds() {
    use countersign::ballot::{Electorate, signed_by};

    each("ballot", ballot::check);
    let seed = std::str::from_utf8(include_bytes!("../../fuzz/corpus/ballot/signed")).unwrap();
    let parts: Vec<&str> = seed.split("%\n").collect();
    let [signers, people, revoked, armour] = parts[..] else {
        panic!("{} parts", parts.len());
    };
    let all = Electorate::read(signers.as_bytes(), people.as_bytes(), revoked.as_bytes()).unwrap();
    let ana = all.people().next().unwrap();
    let signed = |text: &[u8]| {
        let mut keys = all.keys(ana);
        keys.any(|signer| signed_by(&signer.key, armour, "grant@countersign", text).is_ok())
    };
    assert!(signed(b"text") && !signed(b"another"));
}
