//! Each test says what a question about earlier proposals answers.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::super::{
    AgentClaim, BoundInput, DataFormat, Drill, DrillEnd, DrilledLog, Harm, Peer, PolicyRef,
    Reviewer, Sensitivity, SourceStats, Tier, Verdict, Viewed,
};
use super::*;

#[path = "past_follow_tests.rs"]
mod follow;
#[path = "past_heads_tests.rs"]
mod heads;

fn at(minute: i64) -> Timestamp {
    Timestamp::from_second(minute * 60).unwrap()
}

fn id(n: u32) -> ProposalId {
    ProposalId::from_uuid(Uuid::from_u128(u128::from(n) + 1))
}

/// One proposal of a test: agent, title, code, data sets.
struct One<'a>(&'a str, &'a str, &'a str, &'a [&'a str]);

fn verdict() -> Verdict {
    Verdict {
        verdict: VerdictKind::Clear,
        policy: PolicyRef {
            profile: "analysis".to_owned(),
            sha256: String::new(),
        },
        findings: Vec::new(),
        capabilities: Vec::new(),
        source: SourceStats::of(b""),
        elapsed_us: 1,
        facts: None,
        places: Vec::new(),
        flows: Default::default(),
    }
}

fn propose(past: &mut Past, n: u32, one: &One<'_>) {
    propose_with(past, n, one, |_| {});
}

fn propose_with(past: &mut Past, n: u32, one: &One<'_>, change: impl FnOnce(&mut ProposedLog)) {
    let (mut event, blobs) = proposed(n, one, None);
    let LogEvent::Proposed(proposed) = &mut event else {
        unreachable!("a proposal is proposed");
    };
    change(proposed);
    past.learn_written(at(i64::from(n)), &event, &blobs);
}

fn proposed(n: u32, one: &One<'_>, drill: Option<Drill>) -> (LogEvent, [Blob; 1]) {
    let data = one.3.iter().map(|name| BoundInput {
        name: format!("of_{name}"),
        kind: InputKind::Dataset {
            dataset: (*name).to_owned(),
            format: DataFormat::Csv,
            rows: 1,
            columns: Vec::new(),
            sensitivity: Sensitivity::Private,
            texts: BTreeSet::new(),
            summary: None,
        },
        bytes: 1,
        sha256: Digest::of(b"d"),
    });
    let event = LogEvent::Proposed(Box::new(ProposedLog {
        id: id(n),
        digest: Digest::of(one.2.as_bytes()),
        kept: None,
        profile: "analysis".to_owned(),
        policy_sha256: String::new(),
        agent: Some(AgentClaim {
            name: one.0.to_owned(),
            ..AgentClaim::default()
        }),
        peer: Peer {
            uid: 1000,
            gid: 1000,
            pid: 1,
            exe: None,
            gateway: None,
        },
        title: Some(one.1.to_owned()),
        reason: None,
        traceparent: None,
        inputs: data.collect(),
        verdict: verdict(),
        expires_at: at(0),
        drill,
    }));
    (event, [Blob::of(one.2.as_bytes())])
}

#[test]
fn a_drill_leaves_no_trace_in_what_is_remembered_of_an_agent() {
    let mut past = some();
    let before = format!("{past:?}");
    let drill = Drill {
        template: "t".to_owned(),
        harm: Harm::Write,
        line: 1,
        does: "writes".to_owned(),
        wording: Default::default(),
    };
    let one = One("hr-bot", "Ages", "print(1)\n", &["staff"]);
    let (event, blobs) = proposed(90, &one, Some(drill.clone()));
    past.learn_written(at(90), &event, &blobs);
    let end = |end| {
        LogEvent::Drilled(Box::new(DrilledLog {
            id: id(90),
            end,
            drill: drill.clone(),
            by: Some(by(7)),
            viewed: Some(Viewed::default()),
        }))
    };
    past.learn(at(91), &end(DrillEnd::Granted), None);
    past.learn(at(92), &end(DrillEnd::Caught), None);
    assert_eq!(format!("{past:?}"), before);
}

fn by(uid: u32) -> Reviewer {
    Reviewer {
        uid,
        ..Reviewer::default()
    }
}

fn grant(past: &mut Past, n: u32, minute: i64) {
    let event = LogEvent::Granted(Box::new(super::super::GrantedLog {
        id: id(n),
        digest: past
            .about(id(n))
            .map_or(Digest::of(b""), |earlier| earlier.code),
        grant_digest: crate::model::GrantDigest(Digest::of(b"")),
        profile: "analysis".to_owned(),
        policy_sha256: String::new(),
        limits: crate::model::Limits::default(),
        tier: Tier::Process,
        environment: Digest::of(b""),
        inputs: Vec::new(),
        private_told: false,
        by: by(7),
        viewed: Viewed::default(),
        votes: None,
    }));
    past.learn(at(minute), &event, None);
}

/// A person makes this of the code.
fn edit(past: &mut Past, n: u32, code: &str) {
    let from = past.about(id(n)).unwrap().code;
    let event = LogEvent::Edited(Box::new(super::super::EditedLog {
        id: id(n),
        from,
        digest: Digest::of(code.as_bytes()),
        kept: None,
        profile: "analysis".to_owned(),
        policy_sha256: String::new(),
        verdict: verdict(),
        by: by(7),
    }));
    past.learn_written(at(i64::from(n)), &event, &[Blob::of(code.as_bytes())]);
}

fn deny(past: &mut Past, n: u32, minute: i64, reason: &str) {
    let event = LogEvent::Denied {
        id: id(n),
        reason: (!reason.is_empty()).then(|| reason.to_owned()),
        by: by(7),
        viewed: Viewed::default(),
    };
    past.learn(at(minute), &event, None);
}

/// Granted, denied, and the minutes of the last of each.
fn counted(tally: &Tally<'_>) -> (u32, u32, Option<i64>, Option<i64>) {
    let minute = |earlier: Option<&Earlier>| {
        earlier.map(|e| e.decided.as_ref().unwrap().at.as_second() / 60)
    };
    let last = (minute(tally.last_granted), minute(tally.last_denied));
    (tally.granted, tally.denied, last.0, last.1)
}

fn some() -> Past {
    let mut past = Past::default();
    propose(&mut past, 0, &One("hr", "pay", "x = 1", &["staff"]));
    propose(
        &mut past,
        1,
        &One("hr", "pay", "x = 2", &["staff", "sales"]),
    );
    propose(&mut past, 2, &One("etl", "pay", "y = 'a'", &["sales"]));
    propose(&mut past, 3, &One("hr", "age", "x = 1", &[]));
    propose(&mut past, 4, &One("hr", "age", "y = 'b'", &[]));
    // Decided in another order than proposed.
    grant(&mut past, 1, 20);
    grant(&mut past, 0, 30);
    deny(&mut past, 2, 40, "why e-mail?");
    deny(&mut past, 3, 50, "no");
    past
}

#[test]
fn grants_and_denials_are_counted_by_agent_title_data_set_code_and_shape() {
    let past = some();
    let code = |text: &str| Of::Code(Digest::of(text.as_bytes()));
    let shape = |text: &str| Shape::of(text).unwrap();
    for (of, expected) in [
        (Of::Agent(1000, "hr"), (2, 1, Some(30), Some(50))),
        (Of::Agent(1000, "etl"), (0, 1, None, Some(40))),
        // Another uid is another agent.
        (Of::Agent(1001, "hr"), (0, 0, None, None)),
        (Of::Title("pay"), (2, 1, Some(30), Some(40))),
        (Of::Titled(1000, "hr", "pay"), (2, 0, Some(30), None)),
        (Of::Titled(1000, "h", "rpay"), (0, 0, None, None)),
        (Of::Data("staff"), (2, 0, Some(30), None)),
        (Of::Data("sales"), (1, 1, Some(20), Some(40))),
        (Of::Reads(1000, "etl", "sales"), (0, 1, None, Some(40))),
        (Of::Reads(1000, "etl", "staff"), (0, 0, None, None)),
        (code("x = 1"), (1, 1, Some(30), Some(50))),
        (Of::Numbers(shape("x = 9")), (2, 1, Some(30), Some(50))),
        (Of::Numbers(shape("y = 'c'")), (0, 0, None, None)),
        (Of::Texts(shape("y = 'c'")), (0, 1, None, Some(40))),
    ] {
        assert_eq!(counted(&past.tally(&of, None)), expected, "{of:?}");
    }
    let denied = past.tally(&Of::Data("sales"), None).last_denied.unwrap();
    let reason = denied.decided.as_ref().unwrap().reason.as_deref();
    assert_eq!(reason, Some("why e-mail?"));
}

#[test]
fn a_proposal_does_not_count_for_itself() {
    let past = some();
    let hr = Of::Agent(1000, "hr");
    assert_eq!(
        counted(&past.tally(&hr, Some(id(0)))),
        (1, 1, Some(20), Some(50))
    );
    assert_eq!(
        counted(&past.tally(&hr, Some(id(3)))),
        (2, 0, Some(30), None)
    );
    // One that waits, and one of another agent.
    for other in [4, 2] {
        assert_eq!(
            counted(&past.tally(&hr, Some(id(other)))),
            (2, 1, Some(30), Some(50))
        );
    }
}

#[test]
fn earlier_proposals_are_found_newest_first_without_those_that_wait() {
    let past = some();
    let found = |of: &Of<'_>| -> Vec<ProposalId> { past.found(of).map(|e| e.id).collect() };
    assert_eq!(found(&Of::Agent(1000, "hr")), [id(3), id(1), id(0)]);
    assert_eq!(found(&Of::Data("sales")), [id(2), id(1)]);
    assert_eq!(found(&Of::Code(Digest::of(b"x = 1"))), [id(3), id(0)]);
}

#[test]
fn the_first_decision_counts_and_the_last_state() {
    let mut past = some();
    deny(&mut past, 0, 60, "late");
    past.learn(at(61), &LogEvent::Expired { id: id(4) }, None);
    let hr = past.tally(&Of::Agent(1000, "hr"), None);
    assert_eq!((hr.granted, hr.denied), (2, 1));
    assert_eq!(past.about(id(4)).unwrap().state, State::Expired);
    assert!(past.about(id(4)).unwrap().decided.is_none());
    // A record of a proposal that retention removed is no proposal.
    grant(&mut past, 99, 62);
    assert_eq!(past.len(), 5);
}

#[test]
fn reasons_are_one_person_s_newest_first_and_each_once() {
    let mut past = Past::default();
    for n in 0..6 {
        propose(&mut past, n, &One("hr", "pay", "x", &[]));
    }
    for (n, reason) in [(0, "a"), (1, "b"), (2, "a"), (3, ""), (4, "c")] {
        deny(&mut past, n, i64::from(n), reason);
    }
    let other = LogEvent::Denied {
        id: id(5),
        reason: Some("theirs".to_owned()),
        by: by(8),
        viewed: Viewed::default(),
    };
    past.learn(at(9), &other, None);
    let reasons = |uid, most| -> Vec<String> {
        let reasons = past.reasons(uid, most);
        reasons.iter().map(ToString::to_string).collect()
    };
    assert_eq!(reasons(7, 10), ["c", "a", "b"]);
    assert_eq!(reasons(7, 2), ["c", "a"]);
    assert_eq!(reasons(8, 10), ["theirs"]);
}

#[test]
fn reasons_go_by_the_denials_not_by_the_arrivals() {
    let mut past = Past::default();
    for n in 0..4 {
        propose(&mut past, n, &One("hr", "pay", "x", &[]));
    }
    for (n, minute, reason) in [(3, 10, "a"), (0, 11, "b"), (1, 12, "c"), (2, 13, "b")] {
        deny(&mut past, n, minute, reason);
    }
    let reasons = past.reasons(7, 10);
    let reasons: Vec<&str> = reasons.iter().map(|r| &**r).collect();
    assert_eq!(reasons, ["b", "c", "a"]);
}

#[test]
fn shapes_that_are_read_later_count_like_those_read_at_once() {
    let mut past = some();
    let mut without = some();
    without.heads.retain(|key| {
        let shapes = past.all.iter().filter_map(|e| e.shape);
        !shapes
            .flat_map(|shape| shape_keys(&shape))
            .any(|k| k == key)
    });
    without.all.iter_mut().for_each(|e| e.shape = None);
    assert_eq!(without.shapeless(10).len(), 4);
    assert_eq!(without.shapeless(1), [Digest::of(b"y = 'b'")]);
    for code in ["x = 1", "y = 'a'", "x = 2", "y = 'b'"] {
        let shape = Shape::of(code).unwrap();
        without.shape(Digest::of(code.as_bytes()), shape);
    }
    assert!(without.shapeless(10).is_empty());
    for of in [
        Of::Numbers(Shape::of("x = 5").unwrap()),
        Of::Texts(Shape::of("y = ''").unwrap()),
    ] {
        let (a, b) = (past.tally(&of, None), without.tally(&of, None));
        assert_eq!(counted(&a), counted(&b), "{of:?}");
    }
    // Later decisions count in both.
    for past in [&mut past, &mut without] {
        grant(past, 4, 70);
        let of = Of::Texts(Shape::of("y = ''").unwrap());
        assert_eq!(counted(&past.tally(&of, None)), (1, 1, Some(70), Some(40)));
    }
}

#[test]
fn the_oldest_are_forgotten_and_nothing_of_them_stays() {
    let mut past = Past::of_at_most(3);
    for n in 0..10_000 {
        let title = format!("title {n}");
        let code = format!("x{n} = 1");
        propose(&mut past, n, &One("hr", &title, &code, &["staff"]));
        grant(&mut past, n, i64::from(n));
    }
    assert_eq!(past.len(), 3);
    assert_eq!(past.numbers.len(), 3);
    let staff = past.tally(&Of::Data("staff"), None);
    assert_eq!(counted(&staff), (3, 0, Some(9_999), None));
    assert_eq!(past.found(&Of::Agent(1000, "hr")).count(), 3);
    assert_eq!(past.tally(&Of::Title("title 5"), None).granted, 0);
    // Agent, data set, both together; title, the agent's title, code and three shapes of each.
    assert_eq!(past.heads.keys().count(), 3 + 3 * 6);
    assert!(past.names.len() < 2 * SWEEP as usize);
}

#[test]
fn a_long_text_is_cut_and_compared_whole() {
    let mut past = Past::default();
    let long = "ä".repeat(5_000);
    propose(&mut past, 0, &One("hr", &long, "x", &[]));
    grant(&mut past, 0, 1);
    let title = past.about(id(0)).unwrap().title.clone().unwrap();
    assert_eq!(title.chars().count(), TEXT);
    assert_eq!(past.tally(&Of::Title(&long), None).granted, 1);
    assert_eq!(past.tally(&Of::Title(&title), None).granted, 0);
}

/// Writes the memory of one proposal down; see the module documentation.
#[test]
fn one_proposal_takes_no_more_memory_than_is_said() {
    assert!(size_of::<Earlier>() <= 280, "{}", size_of::<Earlier>());
    assert!(size_of::<Link>() <= 12);
    const { assert!(Heads::ONE <= 12) };
    let mut past = Past::default();
    for n in 0..3_000 {
        propose(&mut past, n, &One("hr", "pay", "x", &[]));
    }
    assert!(past.all.capacity() < 2 * 3_000, "{}", past.all.capacity());
}

fn code(text: &str) -> Of<'static> {
    Of::Code(Digest::of(text.as_bytes()))
}

fn listed(past: &Past, of: &Of<'_>) -> Vec<ProposalId> {
    past.found(of).map(|earlier| earlier.id).collect()
}

/// The worst that could be said: that code was granted which a person took the harm out of.
#[test]
fn what_a_person_edited_counts_as_what_ran() {
    let mut past = Past::default();
    propose(&mut past, 0, &One("hr", "pay", "harm = 1", &[]));
    edit(&mut past, 0, "mild = 1");
    grant(&mut past, 0, 10);
    propose(&mut past, 1, &One("hr", "pay", "harm = 1", &[]));
    let own = Some(id(1));
    assert_eq!(
        counted(&past.tally(&code("harm = 1"), own)),
        (0, 0, None, None)
    );
    assert_eq!(listed(&past, &code("harm = 1")), []);
    assert_eq!(
        counted(&past.tally(&code("mild = 1"), own)),
        (1, 0, Some(10), None)
    );
    assert_eq!(listed(&past, &code("mild = 1")), [id(0)]);
    let shape = |text| Shape::of(text).unwrap();
    let numbers = |text| counted(&past.tally(&Of::Numbers(shape(text)), own)).0;
    assert_eq!((numbers("harm = 2"), numbers("mild = 2")), (0, 1));
    let like: Vec<_> = past
        .granted_like(id(1), (1000, "hr"), Some("pay"), None, 9)
        .iter()
        .map(|earlier| earlier.code)
        .collect();
    assert_eq!(like, [Digest::of(b"mild = 1")]);
}

#[test]
fn a_denied_edit_denies_what_was_proposed() {
    let mut past = Past::default();
    propose(&mut past, 0, &One("hr", "pay", "harm = 1", &[]));
    edit(&mut past, 0, "mild = 1");
    deny(&mut past, 0, 10, "no");
    assert_eq!(counted(&past.tally(&code("harm = 1"), None)).1, 1);
    assert_eq!(counted(&past.tally(&code("mild = 1"), None)).1, 0);
    assert_eq!(listed(&past, &code("harm = 1")), [id(0)]);
    assert_eq!(past.about(id(0)).unwrap().shape, Shape::of("harm = 1"));
}

#[test]
fn an_edit_between_others_keeps_every_list_in_order() {
    let mut past = Past::default();
    for n in 0..5 {
        let text = if n % 2 == 0 { "a = 1" } else { "b = 1" };
        propose(&mut past, n, &One("hr", "pay", text, &[]));
    }
    edit(&mut past, 2, "b = 1");
    edit(&mut past, 1, "a = 1");
    edit(&mut past, 4, "c = 1");
    edit(&mut past, 4, "b = 1");
    edit(&mut past, 4, "a = 1");
    for n in 0..5 {
        grant(&mut past, n, i64::from(n));
    }
    let ids = |all: &[u32]| all.iter().map(|n| id(*n)).collect::<Vec<_>>();
    assert_eq!(listed(&past, &code("a = 1")), ids(&[4, 1, 0]));
    assert_eq!(listed(&past, &code("b = 1")), ids(&[3, 2]));
    assert_eq!(listed(&past, &code("c = 1")), []);
    let granted = |text| past.tally(&code(text), None).granted;
    assert_eq!((granted("a = 1"), granted("b = 1")), (3, 2));
}

/// Keys of forgotten proposals go with them, edited or not.
#[test]
fn a_memory_with_edits_forgets_all_of_the_oldest() {
    let mut past = Past::of_at_most(3);
    for n in 0..40 {
        propose(
            &mut past,
            n,
            &One("hr", "pay", &format!("a{} = 1", n % 3), &[]),
        );
        if n % 2 == 0 {
            edit(&mut past, n, &format!("b{} = 1", n % 5));
        }
        match n % 3 {
            0 => grant(&mut past, n, i64::from(n)),
            1 => deny(&mut past, n, i64::from(n), ""),
            _ => {}
        }
    }
    assert_eq!(past.len(), 3);
    let known: std::collections::HashSet<Key> = past.all.iter().flat_map(keys).collect();
    assert!(past.heads.keys().all(|key| known.contains(&key)));
}

#[test]
fn the_same_code_is_told_apart_by_its_policy_its_data_and_what_it_brings() {
    let one = One("bot", "t", "x = 1", &["sales"]);
    let mut past = Past::default();
    propose(&mut past, 0, &one);
    let mut others = |change: &dyn Fn(&mut ProposedLog)| {
        let n = past.len() as u32;
        propose_with(&mut past, n, &one, change);
        let (this, other) = (past.about(id(0)).unwrap(), past.about(id(n)).unwrap());
        assert_eq!(this.others(other), other.others(this));
        this.others(other)
    };
    let brought = |name: &str, content: &[u8]| BoundInput {
        name: name.to_owned(),
        kind: InputKind::Json {
            text: String::new(),
        },
        bytes: 1,
        sha256: Digest::of(content),
    };
    assert_eq!(others(&|_| {}), []);
    assert_eq!(
        others(&|p| p.profile = "script".to_owned()),
        [Other::Profile]
    );
    assert_eq!(
        others(&|p| p.policy_sha256 = "1".to_owned()),
        [Other::Policy]
    );
    assert_eq!(others(&|p| p.inputs.clear()), [Other::DataSets]);
    assert_eq!(
        others(&|p| p.inputs[0].sha256 = Digest::of(b"e")),
        [Other::Contents]
    );
    assert_eq!(
        others(&|p| p.inputs[0].name = "df".to_owned()),
        [Other::Contents]
    );
    assert_eq!(
        others(&|p| p.inputs.push(brought("cfg", b"1"))),
        [Other::Brought]
    );
    propose_with(&mut past, 100, &one, |p| {
        p.inputs.push(brought("cfg", b"1"));
    });
    propose_with(&mut past, 101, &one, |p| {
        p.inputs.push(brought("cfg", b"2"));
    });
    let about = |n| past.about(id(n)).unwrap();
    assert_eq!(about(100).others(about(101)), [Other::Brought]);
}

#[test]
fn what_was_blocked_is_counted_until_it_is_forgotten() {
    let mut past = Past::of_at_most(2);
    let one = One("bot", "t", "x = 1", &[]);
    for n in 0..2 {
        propose_with(&mut past, n, &one, |p| {
            p.verdict.verdict = VerdictKind::Blocked;
        });
    }
    let blocked = |past: &Past, but| past.tally(&Of::Agent(1000, "bot"), but).blocked;
    assert_eq!((blocked(&past, None), blocked(&past, Some(id(0)))), (2, 1));
    propose(&mut past, 2, &one);
    assert_eq!(blocked(&past, None), 1);
}
