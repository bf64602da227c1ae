//! A seat says of an offer what its host says is new, as the host's word, and shows the earlier code that the host sent.

use super::bench::*;
use super::seat_tests::seat;
use crate::broker::Event;
use crate::broker::offer::Offer;
use crate::broker::tests::offered_again;

fn offered(columns: u16, rows: u16, change: impl FnOnce(&mut Offer)) -> Bench {
    let mut b = seat(columns, rows, None);
    let mut offer = offered_again();
    offer.deadline = "2026-01-02T11:40:00Z".parse().unwrap();
    change(&mut offer);
    b.verdicts.push_back(offer.verdict.clone());
    let bytes = offer.bytes().into();
    let offer = Box::new(offer);
    b.apply(Event::Offered { offer, bytes });
    b.settle();
    b
}

#[test]
fn what_is_new_is_told_as_the_hosts_word_and_never_from_the_seats_own_log() {
    let mut b = offered(120, 40, |_| {});
    let text = b.draw();
    assert!(text.contains("at lab-1: same title granted"), "{text}");
    assert!(text.contains("1 of 1 granted"), "{text}");
    // The host is older than this field, or had not read its log.
    for (is_old, said) in [
        (true, "lab-1 does not say what is new"),
        (false, "at lab-1: the log is still read: not known yet"),
    ] {
        for (columns, rows) in [(120, 40), (80, 24)] {
            let mut b = offered(columns, rows, |offer| match is_old {
                true => offer.before = None,
                false => offer.before = Some(Default::default()),
            });
            let text = b.draw();
            assert!(text.contains(said), "{said}:\n{text}");
            assert!(!text.contains("never granted"), "{text}");
            assert!(!text.contains("nothing decided yet"), "{text}");
        }
    }
}

#[test]
fn the_diff_of_a_seat_is_against_the_code_that_its_host_sent_or_says_why_there_is_none() {
    let mut b = offered(120, 40, |_| {});
    b.keys("v");
    b.carry_out();
    let text = b.draw();
    assert!(text.contains("DIFF 1/1  -1 +1"), "{text}");
    assert!(text.contains("print(-total)"), "{text}");
    for (what, said) in [
        ("old", "lab-1 does not say what it granted before"),
        ("unread", "at lab-1: the log is still read"),
        ("none", "at lab-1: nothing like it was granted yet"),
        ("not sent", "lab-1 did not send the code"),
        // Of a text that is not what its digest says, nothing is shown.
        ("forged", "lab-1 did not send the code"),
    ] {
        let mut b = offered(120, 40, |offer| match what {
            "old" => offer.before = None,
            "unread" => offer.before = Some(Default::default()),
            _ => {
                let granted = &mut offer.before.as_mut().unwrap().granted;
                match what {
                    "none" => granted.clear(),
                    "forged" => granted[0].text = Some("import os\n".into()),
                    _ => granted[0].text = None,
                }
            }
        });
        b.keys("v");
        let text = b.draw();
        assert!(
            text.contains(said) && !text.contains("DIFF"),
            "{what}:\n{text}"
        );
    }
}

/// Also what another program says can be no more than text.
#[test]
fn names_of_a_host_cannot_paint_over_the_screen() {
    let mut b = offered(120, 40, |offer| {
        let before = offer.before.as_mut().unwrap();
        before.news.insert(
            0,
            crate::model::News::OtherData {
                data: vec!["a\u{1b}[2J\u{202e}b".into()],
            },
        );
        before.granted[0].title = Some("\u{1b}[2J".into());
    });
    for keys in ["", "v"] {
        b.keys(keys);
        b.carry_out();
        let text = b.draw();
        assert!(
            !text.contains('\u{1b}') && !text.contains('\u{202e}'),
            "{text}"
        );
    }
}

#[test]
fn what_is_stuck_opens_no_sheet_and_says_why() {
    let why = "2 people of steward have to grant, and there is 1";
    let mut b = offered(120, 40, |offer| {
        offer.hopeless = Some(why.to_owned());
        offer.asks.clear();
    });
    let text = b.draw();
    assert!(text.contains("STUCK"), "{text}");
    b.read();
    b.keys("a");
    let text = b.draw();
    assert!(
        text.contains("no votes can grant it: 2 people of steward"),
        "{text}"
    );
    assert!(b.ui.sheet_for().is_none(), "{text}");
}

/// `OTHERS` says that the person may vote all the same.
#[test]
fn others_stands_for_nobody_whose_vote_can_never_count() {
    let others = |able: &[&str], vetoes: bool| {
        let mut b = offered(120, 40, |offer| {
            offer.asks = vec!["ben".parse().unwrap()];
            offer.able = Some(able.iter().map(|one| one.parse().unwrap()).collect());
            if vetoes {
                offer.vetoers = vec!["ana@example.org".parse().unwrap()];
            }
        });
        b.draw().contains("OTHERS")
    };
    assert!(others(&["ben", "ana@example.org"], false));
    assert!(!others(&["ben"], false));
    assert!(others(&["ben"], true));
}
