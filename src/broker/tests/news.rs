//! What a host's offers say of earlier proposals.

use std::collections::BTreeSet;

use super::super::before::Remembered;
use super::voters::*;
use crate::model::{
    Before, BoundInput, DataFormat, Draft, InputKind, InputRequest, Like, News, Sensitivity,
};

const FIRST: &str = "total = 1\nprint(total)\n";
const SECOND: &str = "total = 1\nprint(-total)\n";

fn titled(code: &str) -> Draft {
    Draft {
        title: Some("sums".to_owned()),
        ..draft(code)
    }
}

/// A host that has read its log, which is empty.
fn reader(settings: Settings) -> World {
    let mut w = World::with(settings);
    w.send(Event::Electorate(Ok(everybody())));
    w.send(Event::Remembered(Remembered::Past(Box::default())));
    w
}

fn last(w: &World) -> Before {
    offers(w).pop().unwrap().before.unwrap()
}

fn granted(w: &mut World, code: &str) -> ProposalId {
    let id = w.pending(A, titled(code));
    grants(w, id, "ana");
    grants(w, id, "ben");
    w.durable();
    assert_eq!(w.state_of(id), State::Granted);
    id
}

fn codes(w: &mut World, text: &str) {
    let code = (Digest::of(text.as_bytes()), text.into());
    w.send(Event::Remembered(Remembered::Codes(vec![code])));
}

/// An offer of a proposal whose title was granted before, with the earlier code.
pub(crate) fn offered_again() -> Offer {
    let mut w = reader(with_rules(vec![rule()]));
    granted(&mut w, FIRST);
    codes(&mut w, FIRST);
    w.pending(A, titled(SECOND));
    offers(&w).pop().unwrap()
}

#[test]
fn an_offer_says_what_is_new_once_its_host_has_read_its_log() {
    let mut w = host();
    w.pending(A, titled(FIRST));
    assert_eq!(last(&w), Before::default());
    let mut w = reader(with_rules(vec![rule()]));
    let first = granted(&mut w, FIRST);
    let before = last(&w);
    let agent = |granted| News::OfAgent {
        granted,
        denied: 0,
        blocked: 0,
    };
    assert_eq!(
        before.news,
        [News::Never { titled: false }, agent(0)],
        "it does not count itself"
    );
    assert!(before.is_read && before.granted.is_empty());
    // The code is in the log, and not at hand yet.
    w.pending(A, titled(SECOND));
    let before = last(&w);
    assert!(
        matches!(
            before.news.as_slice(),
            [News::Titled { .. }, News::Never { titled: true }, n] if *n == agent(1)
        ),
        "{before:?}"
    );
    let one = &before.granted[0];
    assert_eq!(
        (one.proposal, one.code),
        (first, Digest::of(FIRST.as_bytes()))
    );
    assert_eq!(one.text, None);
    codes(&mut w, FIRST);
    w.pending(A, titled(SECOND));
    let offer = offers(&w).pop().unwrap();
    let before = offer.before.clone().unwrap();
    assert_eq!(before.granted[0].checked().map(|text| &**text), Some(FIRST));
    // What is signed says it, and an offer that says nothing of it is read as well.
    let bytes = offer.bytes();
    assert_eq!(Offer::read(&bytes).unwrap(), offer);
    let mut value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    for name in ["before", "able"] {
        assert!(value.as_object_mut().unwrap().remove(name).is_some());
    }
    let old = Offer::read(value.to_string().as_bytes()).unwrap();
    assert_eq!((old.before, old.able), (None, None));
    // A text under another digest is none.
    let mut other = before.granted[0].clone();
    other.text = Some("x".into());
    assert_eq!(other.checked(), None);
}

#[test]
fn what_was_before_gives_way_to_what_is_asked() {
    let long = format!("{FIRST}#{}\n", "x".repeat(30 * 1024));
    let mut w = reader(with_rules(vec![rule()]));
    granted(&mut w, &long);
    codes(&mut w, &long);
    let too_long = "#".repeat(33 * 1024);
    granted(&mut w, &too_long);
    codes(&mut w, &too_long);
    w.pending(A, titled(SECOND));
    let mut offer = offers(&w).pop().unwrap();
    let texts = |offer: &Offer| {
        let granted = &offer.before.as_ref().unwrap().granted;
        let texts = granted.iter().map(|g| g.text.is_some());
        texts.collect::<Vec<_>>()
    };
    // The newest is too long, and the one before it is not.
    assert_eq!(texts(&offer), [false, true]);
    let room = super::super::offer::OFFER_MAX - offer.bytes().len();
    offer.reason = Some("r".repeat(room + 4));
    assert!(offer.fitting().is_some());
    assert_eq!(texts(&offer), [false, false]);
    let room = super::super::offer::OFFER_MAX - offer.bytes().len();
    offer
        .reason
        .as_mut()
        .unwrap()
        .push_str(&"r".repeat(room + 1));
    assert!(offer.fitting().is_some());
    assert_eq!(offer.before, None);
    offer
        .reason
        .as_mut()
        .unwrap()
        .push_str(&"r".repeat(32 * 1024));
    assert!(offer.fitting().is_none());
}

fn data(w: &mut World, code: &str, dataset: &str) -> ProposalId {
    let request = InputRequest::Dataset {
        dataset: dataset.to_owned(),
    };
    let (id, _) = w.propose(
        A,
        Draft {
            inputs: [("df".to_owned(), request)].into(),
            ..titled(code)
        },
    );
    let inputs = vec![BoundInput {
        name: "df".to_owned(),
        kind: InputKind::Dataset {
            dataset: dataset.to_owned(),
            format: DataFormat::Csv,
            rows: 1,
            columns: Vec::new(),
            sensitivity: Sensitivity::Public,
            texts: BTreeSet::new(),
            summary: None,
        },
        bytes: 1,
        sha256: Digest::of(b"x"),
    }];
    w.send(Event::InputsBound {
        id,
        inputs: Ok(inputs),
    });
    w.analyse(VerdictKind::Clear);
    w.durable();
    id
}

/// What only some may see is told to nobody else in the offer of something else.
#[test]
fn an_offer_tells_nothing_of_what_its_readers_may_not_see() {
    let denied = |w: &mut World, id| {
        let mut vote = vote(w, id, VoteKind::Deny, "ana");
        let reason = "names of patients";
        let viewed = all_of_it(w, id);
        let text = poll(w, id)
            .ballot()
            .text(VoteKind::Deny, &vote.voter, &viewed, Some(reason));
        vote.reason = Some(reason.to_owned());
        vote.signature = key("ana").sign(NAMESPACE, text.as_bytes());
        cast(w, id, vote, via("ana"));
        w.durable();
        assert_eq!(w.state_of(id), State::Denied);
    };
    for routed in [false, true] {
        let mut settings = with_rules(vec![rule()]);
        if routed {
            let voting = Arc::make_mut(settings.voting.as_mut().unwrap());
            let only = ["security".parse().unwrap()].into();
            voting.routes.0 = [("penguins".to_owned(), only)].into();
        }
        let mut w = reader(settings);
        let id = data(&mut w, FIRST, "penguins");
        denied(&mut w, id);
        // The same code, another one of the same shape, and another one under the same title.
        for code in [FIRST, "total = 2\nprint(total)\n", SECOND] {
            w.pending(A, titled(code));
            let before = last(&w);
            match (routed, before.news.first()) {
                (false, Some(News::Denied { other, reason, .. })) => {
                    assert!(other.is_some() && reason.is_some(), "{before:?}");
                }
                (true, Some(News::Never { titled: false })) => {}
                _ => panic!("{routed}: {before:?}"),
            }
            let of_agent = News::OfAgent {
                granted: 0,
                denied: u32::from(!routed),
                blocked: 0,
            };
            assert_eq!(before.news.last(), Some(&of_agent));
        }
        // Those who may see the data may see what became of it.
        data(&mut w, FIRST, "penguins");
        let Some(News::Denied { what, reason, .. }) = last(&w).news.first().cloned() else {
            panic!("it was denied");
        };
        assert_eq!(what, Like::Code);
        assert_eq!(reason.as_deref(), Some("names of patients"));
    }
}
