//! Proposals that differ in numbers only stand folded under the first one, and each is decided by itself.

use crossterm::event::KeyCode;

use crate::broker::Event;
use crate::model::{ConnId, Peer, ProposalId, State};

use super::bench::*;
use super::snapshot_tests::at_sizes;

fn above(limit: u32) -> Making {
    Making {
        agent: Some("loop-bot"),
        title: Some(format!("Orders above {limit}")),
        ttl_s: 400 + u64::from(limit),
        ..Making::clear(&format!(
            "big = df[df.amount > {limit}]\nprint(\"orders\", len(big))\n"
        ))
    }
}

/// Four alike of one agent, and one of another.
fn five(b: &mut Bench) -> Vec<ProposalId> {
    let mut ids = vec![b.propose(above(100))];
    b.propose(Making::clear("x = 1\n"));
    ids.extend([101, 250, 999].map(|limit| b.propose(above(limit))));
    b.settle();
    ids
}

fn queue(b: &mut Bench) -> Vec<String> {
    let column = |line: &str| {
        line.chars()
            .take(36)
            .collect::<String>()
            .trim_end()
            .to_owned()
    };
    b.draw()
        .lines()
        .map(column)
        .filter(|line| line.contains("Orders") || line.contains("alike"))
        .collect()
}

#[test]
fn the_alike_stand_folded_under_the_first() {
    at_sizes("group_folded", |b| drop(five(b)));
    at_sizes("group_open", |b| {
        five(b);
        b.keys("=");
        b.press(KeyCode::Down);
        b.settle();
    });
    let mut b = Bench::new(120, 40);
    five(&mut b);
    let rows = queue(&mut b);
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(
        rows[1].contains("├ 3 alike: 100 … ▲ 999; = opens"),
        "{rows:?}"
    );
    // All are counted, and the rows below the group come next.
    assert!(
        b.draw()
            .lines()
            .any(|l| l.starts_with(" PENDING") && l.contains(" 5 "))
    );
    b.press(KeyCode::Down);
    assert_eq!(title(&b), "row count");
}

/// `× 80` under a title that says `× 100` must not stand folded under its honest twin.
#[test]
fn what_changes_values_by_another_number_is_not_alike() {
    let mut b = Bench::new(120, 40);
    let mut rate = |factor: u32| {
        b.propose(Making {
            agent: Some("loop-bot"),
            title: Some(format!("Orders rate {factor}")),
            ..Making::clear(&format!(
                "df[\"c1\"] = df[\"c1\"] * {factor}\nprint(df[\"c1\"].sum())\n"
            ))
        })
    };
    let ids = [rate(100), rate(80)];
    b.settle();
    let alters = |id| {
        b.state
            .entry(id)
            .unwrap()
            .verdict()
            .unwrap()
            .flows
            .alters
            .len()
    };
    assert_eq!(ids.map(alters), [1, 1]);
    let rows = queue(&mut b);
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(!rows.iter().any(|row| row.contains("alike")), "{rows:?}");
}

fn title(b: &Bench) -> String {
    let entry = b.state.entry(b.ui.selected().unwrap()).unwrap();
    entry.proposal.title.clone().unwrap()
}

#[test]
fn an_open_group_is_walked_one_by_one_and_closes_to_its_first() {
    let mut b = Bench::new(120, 40);
    let ids = five(&mut b);
    b.press(KeyCode::Right);
    assert_eq!(queue(&mut b).len(), 5);
    let mut walked = vec![b.ui.selected().unwrap()];
    for _ in 0..3 {
        b.press(KeyCode::Down);
        walked.push(b.ui.selected().unwrap());
    }
    assert_eq!(walked, ids);
    b.press(KeyCode::Left);
    assert_eq!(queue(&mut b).len(), 2);
    assert_eq!(b.ui.selected(), Some(ids[0]));
    b.keys("a");
    assert!(b.ui.sheet().is_none(), "the grace is fresh");
    b.press(KeyCode::Down);
    b.keys("=");
    assert!(
        notice(&b).contains("nothing of this agent"),
        "{}",
        notice(&b)
    );
}

#[test]
fn each_of_a_group_is_granted_and_denied_by_itself() {
    let mut b = Bench::new(120, 40);
    let ids = five(&mut b);
    let id = b.start();
    assert_eq!(id, ids[0]);
    let state = |b: &Bench, i: usize| b.state.entry(ids[i]).unwrap().state();
    assert_eq!(state(&b, 0), State::Running);
    for i in 1..4 {
        assert_eq!(state(&b, i), State::Pending);
    }
    // The one that runs is in no group any more, and the next one is the first of those that are left.
    assert!(!b.draw().contains("│►"));
    assert!(queue(&mut b).iter().any(|row| row.contains("├ 2 alike")));
    b.choose(ids[1]);
    b.keys("dno");
    b.press(KeyCode::Enter);
    b.carry_out();
    assert_eq!(state(&b, 1), State::Denied);
    assert_eq!(state(&b, 2), State::Pending);
}

#[test]
fn a_folded_one_is_not_granted_by_what_was_seen_of_another() {
    let mut b = Bench::new(80, 24);
    let ids = [100, 200].map(|limit| {
        let code = format!("x = {limit}\n{}", lines(60));
        b.propose(Making {
            agent: Some("loop-bot"),
            ..Making::clear(&code)
        })
    });
    b.settle();
    b.read();
    b.keys("=");
    b.press(KeyCode::Down);
    assert_eq!(b.ui.selected(), Some(ids[1]));
    b.settle();
    b.keys("a");
    assert!(b.ui.sheet().is_none());
    assert!(notice(&b).contains("not seen"), "{}", notice(&b));
}

#[test]
fn u_and_search_open_the_group_of_what_they_reach() {
    let mut b = Bench::new(120, 40);
    let ids = five(&mut b);
    let soon = b.propose(Making {
        ttl_s: 60,
        ..above(7)
    });
    b.keys("u");
    assert_eq!(b.ui.selected(), Some(soon));
    assert_eq!(queue(&mut b).len(), 6);
    let mut b = Bench::new(120, 40);
    five(&mut b);
    b.keys("/above 250");
    b.press(KeyCode::Enter);
    assert_eq!(b.ui.selected(), Some(ids[2]));
    assert_eq!(queue(&mut b).len(), 5);
}

#[test]
fn a_folded_one_that_expires_soon_is_told() {
    let mut b = Bench::new(120, 40);
    five(&mut b);
    b.propose(Making {
        ttl_s: 42,
        ..above(7)
    });
    let rows = queue(&mut b);
    assert!(rows[1].contains("4 alike: 7 … ▲ 999 0:4"), "{rows:?}");
}

#[test]
fn only_what_is_the_same_besides_its_numbers_is_folded() {
    let mut b = Bench::new(120, 40);
    b.propose(above(100));
    // The same code reads private data, is flagged, or touches something else.
    b.propose(Making {
        private: true,
        ..above(101)
    });
    b.propose(Making {
        kind: crate::model::VerdictKind::Flagged,
        ..above(102)
    });
    b.propose(Making {
        agent: Some("another"),
        ..above(103)
    });
    let text = b.settle();
    assert!(!text.contains("├ "), "{text}");
    // Another uid with the same name is another agent.
    b.apply(Event::Connected {
        conn: ConnId(1),
        peer: Peer {
            uid: 1001,
            gid: 1001,
            pid: 4312,
            exe: None,
            gateway: None,
        },
    });
    b.propose(above(104));
    assert!(!b.settle().contains("├ "));
    b.propose(above(105));
    assert!(b.settle().contains("├ 1 alike"));
}

#[test]
fn what_differs_from_the_one_read_last_is_marked_also_without_colours() {
    let read_two = |b: &mut Bench| {
        five(b);
        b.read();
        b.keys("=");
        b.press(KeyCode::Down);
        b.settle();
    };
    at_sizes("group_unlike", read_two);
    let mut b = Bench::new(120, 40);
    read_two(&mut b);
    let text = b.draw();
    assert!(text.contains("1≠"), "{text}");
    assert!(!text.contains("2≠"), "{text}");
    assert!(
        text.contains("≠ unlike the one read last: 1 number in 1 line"),
        "{text}"
    );
    let styled = b.styled();
    let marked = styled
        .lines()
        .any(|line| line.ends_with(": 101") && line.contains("UNDERLINED"));
    assert!(marked, "{styled}");
    // What was only passed is not what was read: the third is compared with the first.
    let mut b = Bench::new(120, 40);
    five(&mut b);
    b.read();
    b.keys("=");
    b.press(KeyCode::Down);
    b.press(KeyCode::Down);
    b.settle();
    let unlike = b.ui.queue.unlike.clone().unwrap();
    assert_eq!(unlike.numbers.len(), 1);
    assert_eq!(unlike.numbers[0], 21..24);
}

fn of_loop(code: &str, config: &str) -> Making {
    Making {
        agent: Some("loop-bot"),
        brought: vec![("cfg", config.to_owned())],
        ..Making::clear(code)
    }
}

#[test]
fn numbers_that_changed_places_are_marked_in_both_lines() {
    let mut b = Bench::new(120, 40);
    b.propose(of_loop("keep = 10\ndrop = 90\nprint(keep, drop)\n", "a"));
    b.propose(of_loop("keep = 90\n\ndrop = 10\nprint(keep, drop)\n", "a"));
    b.settle();
    b.read();
    b.keys("=");
    b.press(KeyCode::Down);
    let text = b.settle();
    let unlike = b.ui.queue.unlike.clone().unwrap();
    assert_eq!(unlike.lines.iter().copied().collect::<Vec<_>>(), [1, 3]);
    assert_eq!(unlike.numbers.len(), 2);
    assert!(text.contains("1≠") && text.contains("3≠"), "{text}");
}

#[test]
fn proposals_with_other_inputs_or_comments_are_not_alike() {
    let code = "big = cfg\nprint(big, 100)\n";
    for (other, config) in [
        ("big = cfg\nprint(big, 200)\n", "b"),
        ("big = cfg  # vim: set et:\nprint(big, 200)\n", "a"),
        ("#!/bin/sh\nbig = cfg\nprint(big, 200)\n", "a"),
    ] {
        let mut b = Bench::new(120, 40);
        b.propose(of_loop(code, "a"));
        b.propose(of_loop(other, config));
        let text = b.settle();
        assert!(!text.contains("alike") && !text.contains("ALIKE"), "{text}");
    }
    let mut b = Bench::new(120, 40);
    b.propose(of_loop(code, "a"));
    b.propose(of_loop("big = cfg\nprint(big, 200)\n", "a"));
    let text = b.settle();
    assert!(text.contains("1 alike") && text.contains("ALIKE"), "{text}");
}

#[test]
fn code_that_a_person_edited_is_in_no_group() {
    let mut b = Bench::new(120, 40);
    let ids = five(&mut b);
    b.edit(ids[2], &Making::clear("print(\"other code\")\n"));
    let rows = queue(&mut b);
    assert!(rows.iter().any(|row| row.contains("├ 2 alike")), "{rows:?}");
    assert!(rows.iter().any(|row| row.contains("EDIT")), "{rows:?}");
    b.keys("=");
    assert_eq!(queue(&mut b).len(), 5);
    assert!(b.ui.queue.lists.live.contains(&ids[2]));
}

/// Proposals of one agent that differ in this number only.
fn alike_but(b: &mut Bench, numbers: &[&str]) -> Vec<ProposalId> {
    let propose = |number: &&str| {
        let code = format!("rate = df.mean() * {number}\nprint(\"rate\", rate * {number}, 1)\n");
        b.propose(Making {
            agent: Some("loop-bot"),
            title: Some("Return rate".to_owned()),
            ..Making::clear(&code)
        })
    };
    numbers.iter().map(propose).collect()
}

#[test]
fn a_closed_group_names_the_numbers_that_differ_and_the_one_that_is_far() {
    for (numbers, said) in [
        (&["100", "80"][..], "1 alike: 80, 100"),
        (&["100", "100", "80"], "2 alike: ▲ 80, 100"),
        (&["100", "100", "80", "80"], "3 alike: 80, 100"),
        (&["12", "14", "13"], "2 alike: 12 … 14"),
        (&["12", "14", "100_000", "13"], "3 alike: 12 … ▲ 100_000"),
        (&["12", "13", "14", "15"], "3 alike: 12 … 15"),
        (&["0x10", "1e9", "16.5"], "2 alike: 0x10 … ▲ 1e9"),
    ] {
        let mut b = Bench::new(120, 40);
        alike_but(&mut b, numbers);
        b.settle();
        let rows = queue(&mut b);
        let found = rows.iter().any(|row| row.contains(said));
        assert!(found, "{said}: {rows:?}");
    }
    // It is not in the code that is shown, so the line of the folded queue says that there is one, and NEW which.
    let mut b = Bench::new(80, 24);
    alike_but(&mut b, &["100", "100", "80"]);
    let text = b.settle();
    assert!(
        text.lines().nth(1).unwrap().contains("+2 alike ▲"),
        "{text}"
    );
    assert!(text.contains("≈ 2 more: ▲ 80, 100; = opens"), "{text}");
}

#[test]
fn the_one_that_is_far_is_marked_in_an_open_group() {
    let far = |b: &mut Bench| {
        let ids = alike_but(b, &["100", "100", "80", "100"]);
        b.settle();
        b.keys("=");
        ids
    };
    at_sizes("group_far", |b| {
        let ids = far(b);
        b.choose(ids[2]);
    });
    let mut b = Bench::new(120, 40);
    let ids = far(&mut b);
    let text = b.draw();
    let marked = text.lines().filter(|line| line.contains("▲ 80"));
    assert_eq!(marked.count(), 3, "its row, the group's and NEW: {text}");
    b.choose(ids[2]);
    let text = b.draw();
    assert!(text.contains("▲ 80, 100 ▲ is this one"), "{text}");
    // Once it is decided the others are all the same.
    b.deny(ids[2], "why 80?");
    let text = b.draw();
    assert!(text.contains("├ 2 alike 2:08"), "{text}");
}
