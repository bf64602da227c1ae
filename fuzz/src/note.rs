//! Keys and checkpoints: what is read is what is printed, and nothing counts as signed that is not.

use countersign::audit::{Signed, VerifierKey};

/// The first line is a key, the rest a checkpoint.
pub fn check(data: &[u8]) {
    let cut = data.iter().position(|b| *b == b'\n').unwrap_or(data.len());
    let (key, rest) = data.split_at(cut);
    let note = rest.strip_prefix(b"\n").unwrap_or(rest);
    let Ok(key) = String::from_utf8_lossy(key).parse::<VerifierKey>() else {
        return;
    };
    assert_eq!(
        key.to_string().parse::<VerifierKey>().ok().as_ref(),
        Some(&key)
    );
    if let Ok(signed) = Signed::read(note, &key) {
        assert_eq!(
            signed.note.print().as_bytes(),
            note,
            "it is read in two ways"
        );
        assert_eq!(signed.checkpoint.origin, key.name);
    }
}
