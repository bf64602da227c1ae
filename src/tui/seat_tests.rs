//! A reviewer's seat says as whom one sits and which hosts are there, and nothing of agents, Python or runs.

use super::action::{Followed, Seated};
use super::bench::*;
use super::contrast_tests::assert_readable;
use super::snapshot_tests::snap;
use crate::broker::Attendance;
use crate::broker::seat::Seat;

/// A seat of ana's. `away`: why its host is not reached.
pub(super) fn seat(columns: u16, rows: u16, away: Option<&str>) -> Bench {
    let mut b = Bench::new(columns, rows);
    b.state.settings.attendance = Attendance::Reviewer(Seat {
        person: "ana@example.org".parse().unwrap(),
    });
    b.facts.agents_share_uid = false;
    b.facts.tiers.clear();
    b.facts.seat = Some(Seated {
        person: "ana@example.org".to_owned(),
        hosts: vec![Followed {
            name: "lab-1".to_owned(),
            place: "/run/countersign/desk.sock".to_owned(),
            away: away.map(str::to_owned),
        }],
        doubted: Vec::new(),
    });
    b
}

#[test]
fn an_empty_seat_says_as_whom_one_sits_and_whether_its_host_is_there() {
    let gone = "no host answers at /run/countersign/desk.sock: Connection refused";
    for (name, away) in [("there", None), ("gone", Some(gone))] {
        for (columns, rows) in [(50, 15), (80, 24), (100, 30)] {
            let mut b = seat(columns, rows, away);
            let text = b.draw();
            for word in [
                "submit",
                "Agents",
                "uid",
                "process",
                "kernel",
                "running",
                "does not stop",
            ] {
                assert!(!text.contains(word), "{name}: {word:?}\n{text}");
            }
            for word in ["ana@example.org", "lab-1"] {
                assert!(text.contains(word), "{name}: {word:?}\n{text}");
            }
            let reached = text.contains(" reached at") && !text.contains("not reached");
            assert_eq!(reached, away.is_none(), "{text}");
            snap(&format!("seat_empty_{name}_{columns}x{rows}"), &text);
            assert_readable(&mut b);
        }
    }
}

#[test]
fn what_a_seat_lets_in_is_its_hosts_to_say() {
    let mut b = seat(100, 30, None);
    let text = b.keys("3");
    assert!(text.is_empty());
    let text = b.draw();
    assert!(text.contains("Hosts"), "{text}");
    assert!(
        !text.contains("Isolation") && !text.contains("agent.sock"),
        "{text}"
    );
}

/// What a host whose log was rolled back says of it, as it comes.
const ROLLED_BACK: &str = "ROLLED BACK, by its own word: its log has 16 records after 58 had been signed; nothing is granted there";

#[test]
fn a_doubted_host_is_told_as_long_as_it_is_doubted_whatever_is_pressed() {
    for (columns, rows) in [(50, 15), (80, 24), (100, 30)] {
        let mut b = seat(columns, rows, None);
        let well = b.draw();
        assert!(
            !well.contains("DOUBTED") && !well.contains("ROLLED"),
            "{well}"
        );
        let doubted = vec![("lab-1".to_owned(), ROLLED_BACK.to_owned())];
        b.facts.seat.as_mut().unwrap().doubted = doubted;
        let text = b.draw();
        let words: Vec<&str> = text.split_whitespace().collect();
        let words = words.join(" ");
        // On the smallest, the end of the sentence has no room.
        let said = if rows < 16 {
            "ROLLED BACK, by its own word"
        } else {
            ROLLED_BACK
        };
        for part in [said, "✗ lab-1 DOUBTED"] {
            assert!(words.contains(part), "{part:?}\n{text}");
        }
        snap(&format!("seat_doubted_{columns}x{rows}"), &text);
        assert_readable(&mut b);
        // No key takes it away, on no screen.
        for keys in ["j", "2", "3", "1"] {
            b.keys(keys);
            let text = b.draw();
            assert!(text.contains("ROLLED BACK"), "{keys}\n{text}");
        }
        b.facts.seat.as_mut().unwrap().doubted.clear();
        assert_eq!(b.draw(), well, "it is well again");
    }
}

#[test]
fn many_doubted_hosts_leave_room_for_what_waits() {
    let mut b = seat(80, 24, None);
    let doubted = (1..=9).map(|n| (format!("lab-{n}"), ROLLED_BACK.to_owned()));
    b.facts.seat.as_mut().unwrap().doubted = doubted.collect();
    let text = b.draw();
    assert!(text.contains("✗ 9 hosts DOUBTED"), "{text}");
    assert_eq!(text.matches("ROLLED BACK").count(), 1, "{text}");
    assert!(
        text.contains("lab-2, lab-3, lab-4, lab-5, lab-6, lab-7, lab-8, lab-9: "),
        "{text}"
    );
}
