//! A vote counts for its voter, its ballot and what it says, and for nothing else.

use jiff::Timestamp;

use super::testing::{TestKey, armour};
use super::*;
use crate::model::{
    Ballot, Digest, HOST_NAMESPACE, NAMESPACE, Nonce, Person, ProposalId, Vote, VoteKind,
};

fn now() -> Timestamp {
    "2026-11-28T12:00:00Z".parse().unwrap()
}

const PEOPLE: &str = "[people.ana]\n[people.ben]\n[people.cleo]\n";

fn electorate(signers: &str, revoked: &str) -> Electorate {
    Electorate::read(signers.as_bytes(), PEOPLE.as_bytes(), revoked.as_bytes()).unwrap()
}

#[test]
fn a_vote_of_each_type_of_key_is_its_voters() {
    let keys = [
        (TestKey::new(1), None),
        (TestKey::p256(2), None),
        (TestKey::new(3).on_token(5, 7), Some((true, true, 7))),
        (TestKey::p256(4).on_token(1, 0), Some((true, false, 0))),
    ];
    for (key, token) in keys {
        let all = electorate(&key.signer("ana"), "");
        for kind in VoteKind::ALL {
            let vote = key.vote(&Ballot::sample(), kind, "ana");
            let checked = verify(&Ballot::sample(), &vote, &all, now()).unwrap();
            assert_eq!((checked.kind(), checked.voter().as_str()), (kind, "ana"));
            let own = Key::read(&key.line()).unwrap();
            assert_eq!(checked.key(), own.fingerprint());
            let said = checked.security_key();
            assert_eq!(said.map(|s| (s.touched, s.verified, s.counter)), token);
            assert_eq!(own.is_security_key(), token.is_some());
        }
    }
}

#[test]
fn what_a_security_key_says_of_a_signature_is_read_and_signed() {
    for (flags, said) in [
        (0, Ok((false, false))),
        (1, Ok((true, false))),
        (4, Ok((false, true))),
        (5, Ok((true, true))),
        (0x1d, Ok((true, true))),
        (0x41, Err(Invalid::Flags(0x41))),
        (0x80, Err(Invalid::Flags(0x80))),
    ] {
        for key in [TestKey::new(1), TestKey::p256(1)] {
            let key = key.on_token(flags, 9);
            let all = electorate(&key.signer("ana"), "");
            let vote = key.vote(&Ballot::sample(), VoteKind::Grant, "ana");
            let checked = verify(&Ballot::sample(), &vote, &all, now());
            let found = checked.map(|c| c.security_key().unwrap());
            assert_eq!(
                found.clone().map(|s| (s.touched, s.verified)),
                said,
                "{flags:#x}"
            );
            assert!(found.is_ok_and(|s| s.counter == 9) || flags > 0x1d);
        }
    }
    // Flags that somebody else wrote into it.
    let key = TestKey::new(1).on_token(0, 0);
    let vote = key.vote(&Ballot::sample(), VoteKind::Grant, "ana");
    let body: String = vote
        .signature
        .lines()
        .filter(|l| !l.starts_with('-'))
        .collect();
    use base64::Engine as _;
    let mut blob = base64::engine::general_purpose::STANDARD
        .decode(body)
        .unwrap();
    let at = blob.len() - 5;
    blob[at] = 1;
    let touched = Vote {
        signature: armour(&blob),
        ..vote
    };
    let all = electorate(&key.signer("ana"), "");
    let invalid = verify(&Ballot::sample(), &touched, &all, now()).unwrap_err();
    assert_eq!(invalid, Invalid::OtherText);
}

#[test]
fn nothing_of_a_vote_can_be_changed_on_the_way() {
    let (ana, ben) = (TestKey::new(1), TestKey::new(2));
    let all = electorate(&[ana.signer("ana"), ben.signer("ben")].concat(), "");
    let vote = ana.vote(&Ballot::sample(), VoteKind::Grant, "ana");
    assert!(verify(&Ballot::sample(), &vote, &all, now()).is_ok());
    let changes: [fn(&mut Vote); 5] = [
        |v| v.kind = VoteKind::Deny,
        |v| v.reason = Some(String::new()),
        |v| v.viewed.lines_seen = 1,
        |v| v.viewed.asked_again = true,
        |v| v.viewed.focused_ms = Some(0),
    ];
    for change in changes {
        let mut changed = vote.clone();
        change(&mut changed);
        let invalid = verify(&Ballot::sample(), &changed, &all, now()).unwrap_err();
        assert_eq!(invalid, Invalid::OtherText);
    }
    let ballots: [fn(&mut Ballot); 4] = [
        |b| b.nonce = Nonce(Digest::of(b"other")),
        |b| b.terms = Digest::of(b"other"),
        |b| b.host.push('d'),
        |b| b.proposal = ProposalId::from_uuid(uuid::Uuid::from_u128(2)),
    ];
    for change in ballots {
        let mut other = Ballot::sample();
        change(&mut other);
        let invalid = verify(&other, &vote, &all, now()).unwrap_err();
        assert_eq!(invalid, Invalid::OtherText);
    }
    let says = |vote: &Vote| {
        verify(&Ballot::sample(), vote, &all, now())
            .unwrap_err()
            .to_string()
    };
    let voter = |name: &str| Vote {
        voter: Person::new(name).unwrap(),
        ..vote.clone()
    };
    assert!(says(&voter("ben")).contains("is `ana`'s and not `ben`'s"));
    assert!(says(&voter("cleo")).contains("`cleo` has no key"));
    assert!(says(&voter("zoe")).contains("`zoe` is not in people.toml"));
    let signed = |signature: String| Vote {
        signature,
        ..vote.clone()
    };
    let text = Ballot::sample().text(vote.kind, &vote.voter, &vote.viewed, None);
    let text = text.as_bytes();
    let stranger = TestKey::new(9).sign(NAMESPACE, text);
    assert!(says(&signed(stranger)).contains("not in allowed_signers"));
    let elsewhere = ana.sign(HOST_NAMESPACE, text);
    assert!(says(&signed(elsewhere)).contains("namespace `host@countersign`, not for `grant@"));
    let kind = ana.kind();
    for (armour, wanted) in [
        (ana.sign_as(kind, 0, &[], NAMESPACE, text), "version 0"),
        (ana.sign_as(kind, 2, &[], NAMESPACE, text), "cannot be read"),
        (
            ana.sign_as(kind, 1, b"x", NAMESPACE, text),
            "reserved bytes",
        ),
        (
            ana.sign_as("rsa-sha2-512", 1, &[], NAMESPACE, text),
            "signature is by",
        ),
        (format!(" {}", vote.signature), "does not begin"),
        (format!("{}x", vote.signature), "does not begin"),
        (vote.signature.replace('\n', "\r\n"), "does not begin"),
        (String::new(), "does not begin"),
        (vote.signature.repeat(20), "at most 4096"),
        (vote.signature.repeat(2), "cannot be read"),
        (
            vote.signature.replacen("U1NIU0lH", "U1NIU0lI", 1),
            "cannot be read",
        ),
    ] {
        let said = says(&signed(armour.clone()));
        assert!(said.contains(wanted), "{armour}\n{said}");
    }
    // A token's key does not pass as the plain key with the same point, nor the other way round.
    let token = ana.clone().on_token(5, 0);
    assert!(says(&signed(token.sign(NAMESPACE, text))).contains("not in allowed_signers"));
    let plain = ana.sign_as("sk-ssh-ed25519@openssh.com", 1, &[], NAMESPACE, text);
    assert!(verify(&Ballot::sample(), &signed(plain), &all, now()).is_err());
}

#[test]
fn a_key_counts_while_it_is_valid_and_not_revoked() {
    let key = TestKey::new(1);
    let vote = key.vote(&Ballot::sample(), VoteKind::Grant, "ana");
    let valid = format!(
        "ana namespaces=\"{NAMESPACE}\",valid-after=\"20260101Z\",valid-before=\"20261231235959Z\" {}",
        key.line()
    );
    let all = electorate(&valid, "");
    let at = |time: &str| verify(&Ballot::sample(), &vote, &all, time.parse().unwrap()).map(|_| ());
    assert!(matches!(
        at("2025-12-31T23:59:59.9Z"),
        Err(Invalid::NotYet { .. })
    ));
    assert_eq!(at("2026-01-01T00:00:00Z"), Ok(()));
    assert_eq!(at("2026-12-31T23:59:59.9Z"), Ok(()));
    assert!(matches!(
        at("2027-01-01T00:00:00Z"),
        Err(Invalid::Expired { .. })
    ));
    let print = Key::read(&key.line()).unwrap().fingerprint().to_owned();
    let on_a_token = key.clone().on_token(1, 0).line();
    for revoked in [key.line(), print, on_a_token] {
        let all = electorate(&key.signer("ana"), &revoked);
        let invalid = verify(&Ballot::sample(), &vote, &all, now());
        assert!(matches!(invalid, Err(Invalid::Revoked(_))), "{revoked}");
    }
}
