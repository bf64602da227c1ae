//! Who may vote, and signatures of votes: what is read can be read again, and a signature is over one text.

use countersign::ballot::{Electorate, Key, signed_by};
use countersign::model::NAMESPACE;

/// `allowed_signers`, `people.toml`, `revoked_keys` and a signature, with a line `%` between them.
pub fn check(data: &[u8]) {
    let mut parts = data.splitn(4, |b| *b == b'%').map(trimmed);
    let mut part = || parts.next().unwrap_or_default();
    let (signers, people, revoked, armour) = (part(), part(), part(), part());
    let Ok(all) = Electorate::read(signers, people, revoked) else {
        return;
    };
    let armour = String::from_utf8_lossy(armour);
    for person in all.people() {
        for signer in all.keys(person) {
            let key = &signer.key;
            assert!(Key::read(&key.line()).as_ref() == Ok(key));
            assert_eq!(&signer.person, person);
            let signed = |text: &[u8]| signed_by(key, &armour, NAMESPACE, text).is_ok();
            assert!(!(signed(b"text") && signed(b"another")));
        }
    }
}

/// Without the line feed that follows the `%`.
fn trimmed(part: &[u8]) -> &[u8] {
    part.strip_prefix(b"\n").unwrap_or(part)
}
