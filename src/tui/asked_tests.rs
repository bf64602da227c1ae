//! A row and the details say whose votes are asked for, and when everybody's are.

use super::bench::*;
use super::snapshot_tests::snap;
use super::votes_tests::{PEOPLE, asks_for_two, details, electorate};

/// The terminal's person is ana; two of these three are asked.
fn third(ana: &str) -> String {
    let people = format!("{PEOPLE}[people.cyd]\nroles = [\"data\"]\nuids = [1502]\n");
    people.replacen("uids = [0]", &format!("uids = [0]\n{ana}"), 1)
}

#[test]
fn a_row_says_whether_it_asks_the_person_and_the_details_whom() {
    let away = "absent = [\"2000-01-01/2100-01-01\"]";
    for (ana, tag, asks) in [
        ("", " VOTE", "asks     ana (you), ben"),
        (away, " OTHERS", "asks     ben, cyd"),
    ] {
        let mut b = asks_for_two(120, 40);
        b.apply(electorate(&third(ana), &["ana", "ben", "cyd"]));
        b.propose(Making {
            ttl_s: 600,
            ..Making::clear("print(len(df))\n")
        });
        b.settle();
        let text = b.draw();
        assert!(text.contains(tag), "{tag}:\n{text}");
        let shown = details(&mut b);
        assert!(shown.contains(asks), "{asks}:\n{shown}");
        // Everybody is asked after half of the time, and a person who was not is now.
        b.tick(301_000);
        b.settle();
        let text = b.draw();
        assert!(text.contains(" VOTE") && !text.contains("OTHERS"), "{text}");
        let shown = details(&mut b);
        assert!(shown.contains("everybody who may decide it"), "{shown}");
        if tag == " OTHERS" {
            assert!(
                shown.contains("asks     ben, cyd, ana (you); since "),
                "{shown}"
            );
            snap("asked_details_120x40", &shown);
        }
    }
}
