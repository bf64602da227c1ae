//! Whoever can write the folder forges, swaps, removes or moves a vote: the record is named, with the reason.

use jiff::Timestamp;

use super::super::samples::{denied, granted_by, proposed};
use super::tests::{line, read_from};
use super::*;
use crate::ballot::testing::TestKey;
use crate::model::{GrantDigest, Nonce, Quorum, Rule, Terms, VoteKind, VotedLog, When};

fn rule() -> Rule {
    Rule {
        when: When::Always,
        quorum: Quorum::People(2),
        roles: ["data".parse().unwrap()].into(),
        not_self: true,
        veto: Default::default(),
        touch: false,
        pin: false,
    }
}

fn key(name: &str) -> TestKey {
    TestKey::new(name.as_bytes()[0])
}

/// A vote on the first version of the offer, not signed yet.
fn unsigned(id: ProposalId, name: &str) -> VotedLog {
    VotedLog {
        terms: Terms(vec![rule()]),
        ..super::super::samples::voted(id, name)
    }
}

/// Signs what the record says.
fn signed(mut v: VotedLog, key: &TestKey) -> LogEvent {
    let ballot = v.ballot();
    let (kind, voter) = (v.vote.kind, v.vote.voter.to_string());
    v.vote.signature = key.vote(&ballot, kind, &voter).signature;
    v.key = crate::ballot::key_of(&v.vote.signature)
        .unwrap()
        .fingerprint()
        .to_owned();
    LogEvent::Voted(Box::new(v))
}

fn voted(id: ProposalId, name: &str) -> LogEvent {
    signed(unsigned(id, name), &key(name))
}

/// Ana and Ben grant what is asked as record 1.
fn right(id: ProposalId) -> Vec<LogEvent> {
    let grant = granted_by(id, &["ana", "ben"]);
    vec![
        proposed(id, "t").0,
        voted(id, "ana"),
        voted(id, "ben"),
        grant,
    ]
}

/// The vote that stands there.
fn vote(events: &mut [LogEvent], at: usize) -> &mut VotedLog {
    match &mut events[at] {
        LogEvent::Voted(v) => v,
        other => panic!("{other:?}"),
    }
}

/// Reads events as the log has them.
fn read(events: Vec<LogEvent>) -> Vec<String> {
    let again = |event: LogEvent| {
        let text = serde_json::to_string(&event).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let timed = events.into_iter().map(|event| (0, "a", again(event)));
    read_from(Plausible::default(), timed.collect())
}

#[test]
fn each_vote_that_was_forged_swapped_removed_or_moved_is_named() {
    let id = ProposalId::new();
    type Forge = fn(&mut Vec<LogEvent>, ProposalId);
    const OTHER_TEXT: &str =
        "`voted` of ana has no signature that counts: the signature is not over this text";
    type Row = (&'static str, Forge, Option<(u64, &'static str)>);
    let rows: &[Row] = &[
        ("nothing", |_, _| {}, None),
        (
            "another kind",
            |e, _| vote(e, 1).vote.kind = VoteKind::Veto,
            Some((2, OTHER_TEXT)),
        ),
        (
            "another voter",
            |e, _| vote(e, 1).vote.voter = "cyd".parse().unwrap(),
            Some((
                2,
                "`voted` of cyd has no signature that counts: the signature is not over this text",
            )),
        ),
        (
            "another look",
            |e, _| vote(e, 1).vote.viewed.lines_seen = 9,
            Some((2, OTHER_TEXT)),
        ),
        (
            "a reason",
            |e, _| vote(e, 1).vote.reason = Some("r".to_owned()),
            Some((
                2,
                "`voted` of ana has no signature that counts: a grant has no reason",
            )),
        ),
        (
            "another host",
            |e, _| vote(e, 1).host_key.push('x'),
            Some((2, OTHER_TEXT)),
        ),
        (
            "another offer",
            |e, _| vote(e, 1).offer = Digest::of(b"x"),
            Some((2, OTHER_TEXT)),
        ),
        (
            "other code",
            |e, _| vote(e, 1).code = Digest::of(b"x"),
            Some((2, OTHER_TEXT)),
        ),
        (
            "another grant",
            |e, _| vote(e, 1).grant = GrantDigest(Digest::of(b"x")),
            Some((2, OTHER_TEXT)),
        ),
        (
            "milder terms",
            |e, _| vote(e, 1).terms.0[0].quorum = Quorum::People(1),
            Some((2, OTHER_TEXT)),
        ),
        (
            "another nonce",
            |e, _| vote(e, 1).nonce = Nonce(Digest::of(b"x")),
            Some((2, OTHER_TEXT)),
        ),
        (
            "another deadline",
            |e, _| vote(e, 1).deadline = Timestamp::UNIX_EPOCH,
            Some((2, OTHER_TEXT)),
        ),
        (
            "no signature",
            |e, _| vote(e, 1).vote.signature.clear(),
            Some((
                2,
                "`voted` of ana has no signature that counts: the signature cannot be read",
            )),
        ),
        (
            "another key is named",
            |e, _| vote(e, 1).key.push('x'),
            Some((
                2,
                "`voted` of ana has no signature that counts: the record names the key SHA256:",
            )),
        ),
        (
            "a touch that was none",
            |e, _| vote(e, 1).touched = Some(true),
            Some((
                2,
                "`voted` of ana has no signature that counts: the record says of its key what that key did not sign",
            )),
        ),
        (
            "two signatures swapped",
            |e, _| {
                let one = vote(e, 1).vote.signature.clone();
                let two = std::mem::replace(&mut vote(e, 2).vote.signature, one);
                vote(e, 1).vote.signature = two;
            },
            Some((
                2,
                "`voted` of ana has no signature that counts: the record names the key SHA256:",
            )),
        ),
        (
            "a vote removed",
            |e, _| drop(e.remove(2)),
            Some((3, "`granted` by a vote of ben that is not there")),
        ),
        (
            "a vote behind the grant",
            |e, _| e.swap(2, 3),
            Some((3, "`granted` by a vote of ben that is not there")),
        ),
        (
            "a vote twice",
            |e, id| e.insert(3, voted(id, "ana")),
            Some((
                4,
                "`voted` repeats the vote of seq 2: ana's to grant version 1",
            )),
        ),
        (
            "a vote of another offer",
            |e, id| {
                let mut other = unsigned(id, "ben");
                other.offer = Digest::of(b"x");
                e[2] = signed(other, &key("ben"));
            },
            Some((
                3,
                "`voted` on version 1 is about another offer than the votes on it before",
            )),
        ),
        (
            "a vote as one of another version",
            |e, _| vote(e, 2).version = 2,
            Some((
                3,
                "`voted` on version 2 has the nonce or the offer of version 1",
            )),
        ),
        (
            "a denial that is counted",
            |e, id| {
                let mut denial = unsigned(id, "ben");
                denial.vote.kind = VoteKind::Deny;
                e[2] = signed(denial, &key("ben"));
            },
            Some((4, "`granted` by a vote of ben that is not there")),
        ),
        (
            "one person counted twice",
            |e, id| e[3] = granted_by(id, &["ana", "ana"]),
            Some((4, "`granted` counts ana twice")),
        ),
        (
            "one person alone",
            |e, id| e[3] = granted_by(id, &["ana"]),
            Some((
                4,
                "`granted` by 1 of the votes that `2 people of data` asks for",
            )),
        ),
        (
            "somebody who did not vote",
            |e, id| e[3] = granted_by(id, &["ana", "ben", "cyd"]),
            Some((4, "`granted` by a vote of cyd that is not there")),
        ),
        (
            "nobody named",
            |e, _| {
                if let LogEvent::Granted(g) = &mut e[3] {
                    g.votes = None;
                }
            },
            Some((
                4,
                "`granted` names no votes, and what it grants was put to the vote",
            )),
        ),
        (
            "votes on what nobody offered",
            |e, _| {
                if let LogEvent::Granted(g) = &mut e[3] {
                    g.votes.as_mut().unwrap().offer = Digest::of(b"x");
                }
            },
            Some((4, "`granted` by votes on an offer on which nobody voted")),
        ),
        (
            "one key of two people",
            |e, id| e[2] = signed(unsigned(id, "ben"), &key("ana")),
            Some((4, "`granted` by two people with one key, SHA256:")),
        ),
        (
            "keys that nobody touched",
            |e, id| {
                for (at, name) in [(1, "ana"), (2, "ben")] {
                    let mut touch = unsigned(id, name);
                    touch.terms.0[0].touch = true;
                    e[at] = signed(touch, &key(name));
                }
            },
            Some((
                4,
                "`granted` by 0 of the votes that `2 people of data, with a touched security key` asks for",
            )),
        ),
        (
            "votes that nothing asks for",
            |e, id| {
                for (at, name) in [(1, "ana"), (2, "ben")] {
                    let mut free = unsigned(id, name);
                    free.terms = Terms::default();
                    e[at] = signed(free, &key(name));
                }
            },
            Some((4, "`granted` by votes that nothing asks for")),
        ),
        // What retention removed cannot be missed; a signature stays one.
        ("an end of a life", |e, _| drop(e.drain(..2)), None),
        (
            "a forged one there",
            |e, _| {
                e.remove(0);
                vote(e, 0).nonce = Nonce(Digest::of(b"x"));
            },
            Some((1, OTHER_TEXT)),
        ),
    ];
    let mut wrong = Vec::new();
    for (name, forge, odd) in rows {
        let mut events = right(id);
        forge(&mut events, id);
        let found = read(events);
        let right = match odd {
            None => found.is_empty(),
            Some((seq, what)) => found
                .first()
                .is_some_and(|first| first.starts_with(&format!("{seq}: {what}"))),
        };
        if !right {
            wrong.push(format!("{name}: {found:?}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn a_touched_key_and_a_denial_are_what_they_say() {
    let id = ProposalId::new();
    let token = TestKey::new(1).on_token(1, 7);
    let mut touched = unsigned(id, "ana");
    (touched.touched, touched.verified) = (Some(true), Some(false));
    let touched = signed(touched, &token);
    let mut denial = unsigned(id, "ben");
    denial.vote.kind = VoteKind::Deny;
    let denial = signed(denial, &key("ben"));
    let events = |touched| vec![proposed(id, "t").0, touched, denial.clone(), denied(id)];
    assert_eq!(read(events(touched.clone())), [""; 0]);
    let LogEvent::Voted(mut lie) = touched else {
        panic!("a vote");
    };
    lie.touched = Some(false);
    let found = read(events(LogEvent::Voted(lie)));
    assert!(found[0].contains("did not sign"), "{found:?}");
}

/// The text of a vote on code with a secret cannot be made again: it is counted apart, and everything else is judged.
#[test]
fn votes_on_code_with_secrets_are_counted_apart() {
    let id = ProposalId::new();
    let count = |kept: bool, forge: fn(&mut VotedLog)| {
        let mut judge = Plausible::default();
        let mut events = right(id);
        for event in &mut events {
            match event {
                LogEvent::Proposed(p) if kept => {
                    p.kept = Some(p.digest);
                    p.verdict.source.sha256 = p.digest.hex();
                }
                LogEvent::Voted(v) => forge(v),
                _ => {}
            }
        }
        for (n, event) in events.into_iter().enumerate() {
            let seq = n as u64 + 1;
            let record = Record {
                seq,
                batch: None,
                boot_id: "a".to_owned(),
                mono_ns: 0,
                ts: Timestamp::UNIX_EPOCH,
                event,
                actor: String::new(),
                redacted: Default::default(),
                line: String::new(),
            };
            judge.read(&line(seq), &record);
        }
        (judge.votes(), judge.odd.count)
    };
    let hidden: fn(&mut VotedLog) = |v| v.nonce = Nonce(Digest::of(b"salted"));
    assert_eq!(count(false, |_| {}), ((2, 0), 0));
    // A vote without its signature counts for no grant.
    assert_eq!(count(false, hidden), ((2, 0), 3));
    assert_eq!(count(true, hidden), ((0, 2), 0));
    let (votes, odd) = count(true, |v| v.key.clear());
    assert_eq!((votes, odd), ((0, 2), 3));
}
