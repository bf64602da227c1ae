//! Screen 3: agents with what they did, and policies in words.

use std::collections::BTreeSet;
use std::sync::Arc;

use crossterm::event::KeyCode;

use crate::broker::Profile;
use crate::model::{AgentId, State};
use crate::policy::{Origin, Policy, SetBy};

use super::bench::*;
use super::snapshot_tests::at_sizes;
use super::ui::View;
use super::*;

fn by(agent: &'static str, code: &str) -> Making {
    Making {
        agent: Some(agent),
        ..Making::clear(code)
    }
}

/// Three agents: one that waits, one that was denied and is paused, and one that was blocked.
fn three(b: &mut Bench) {
    b.propose(by("etl-bot", "x = 1\n"));
    b.settle();
    b.keys("dno");
    b.press(KeyCode::Enter);
    b.carry_out();
    b.keys("D");
    b.press(KeyCode::Tab);
    b.carry_out();
    // The pause covers the process: the others have their own.
    for (pid, agent) in [(77, "notebook"), (78, "hr bot (approved)")] {
        b.apply(crate::broker::Event::Connected {
            conn: crate::model::ConnId(1),
            peer: crate::model::Peer {
                uid: 1000,
                gid: 1000,
                pid,
                exe: Some("python3".to_owned()),
                gateway: None,
            },
        });
        for i in 0..3 {
            b.propose(by(agent, &format!("y = {i} + {pid}\nz{i} = y\n")));
        }
    }
    b.propose(Making {
        agent: Some("hr bot (approved)"),
        ..Making::blocked()
    });
    b.settle();
}

/// A profile whose file extends `analysis`.
fn team(b: &mut Bench) {
    let base = b.state.settings.profiles[0].policy.clone();
    let mut policy = Policy::clone(&base);
    policy.name = "team".to_owned();
    policy.origin = Origin::Extends {
        base: "analysis".to_owned(),
        widened: 1,
    };
    policy.set_by = SetBy::User;
    let members = BTreeSet::from(["KaplanMeierFitter".to_owned()]);
    policy.imports.insert("lifelines".to_owned(), members);
    policy.unjudged.insert("lifelines".to_owned());
    policy.imports.remove("json");
    policy.limits.wall_s = 60;
    b.state.settings.profiles.push(Profile {
        policy: Arc::new(policy),
        given: Vec::new(),
        base: Some(base),
    });
}

#[test]
fn agents_are_listed_with_counts_and_policies_in_words() {
    at_sizes("agents", |b| {
        three(b);
        b.keys("3");
    });
    at_sizes("agents_of_one_name", |b| {
        processes(b, "etl-bot", 70..75);
        three(b);
        b.keys("3");
    });
    at_sizes("agents_policies", |b| {
        three(b);
        team(b);
        b.keys("3");
        b.press(KeyCode::Tab);
        b.draw();
        b.press(KeyCode::End);
    });
    at_sizes("agents_none", |b| {
        b.apply(crate::broker::Event::Disconnected {
            conn: crate::model::ConnId(1),
        });
        b.keys("3");
    });
}

#[test]
fn those_that_wait_come_first_and_the_selection_stays_with_its_agent() {
    let mut b = Bench::new(120, 40);
    three(&mut b);
    b.keys("3");
    let text = b.draw();
    let at = |text: &str, what: &str| text.lines().position(|l| l.contains(what)).unwrap();
    assert!(at(&text, "notebook  ") < at(&text, "etl-bot  "), "{text}");
    let row = |text: &str, what: &str| text.lines().nth(at(text, what)).unwrap().to_owned();
    assert!(row(&text, " etl-bot  ").contains("PAUSED"), "{text}");
    assert!(
        text.contains("\"hr bot (appr"),
        "a name that is more than a name is quoted: {text}"
    );
    // The first agent is selected; when another comes before it, the selection stays.
    let selected = text.lines().find(|l| l.contains('▸')).unwrap().to_owned();
    for i in 0..5 {
        let quick = if selected.contains("notebook") {
            "\"hr bot"
        } else {
            "notebook"
        };
        let name = if quick == "notebook" {
            "notebook"
        } else {
            "hr bot (approved)"
        };
        b.propose(by(name, &format!("q{i} = {i}\n")));
    }
    let after = b.draw();
    let now = after.lines().find(|l| l.contains('▸')).unwrap();
    assert_eq!(
        now.split_whitespace().nth(1),
        selected.split_whitespace().nth(1)
    );
}

#[test]
fn enter_selects_the_first_waiting_proposal_of_the_agent() {
    let mut b = Bench::new(120, 40);
    three(&mut b);
    b.keys("3");
    b.draw();
    let row = |b: &mut Bench| {
        let text = b.draw();
        text.lines().find(|l| l.contains('▸')).unwrap().to_owned()
    };
    while !row(&mut b).contains("notebook") {
        b.press(KeyCode::Down);
    }
    b.press(KeyCode::Enter);
    assert_eq!(b.ui.view(), View::Queue);
    let entry = b.state.entry(b.ui.selected().unwrap()).unwrap();
    assert_eq!(entry.proposal.agent_name(), "notebook");
    assert_eq!(entry.state(), State::Pending);
    // One that has nothing waiting says so.
    b.keys("3");
    b.draw();
    b.press(KeyCode::End);
    assert!(row(&mut b).contains("etl-bot"));
    b.press(KeyCode::Enter);
    assert_eq!(b.ui.view(), View::Agents);
    assert_eq!(notice(&b), "nothing of etl-bot waits");
}

#[test]
fn agents_are_denied_paused_and_resumed_there() {
    let mut b = Bench::new(120, 40);
    three(&mut b);
    b.keys("3");
    b.draw();
    b.press(KeyCode::End);
    b.keys("D");
    assert!(b.draw().contains("nothing of etl-bot waits"));
    b.press(KeyCode::Tab);
    let etl_bot = AgentId {
        uid: 1000,
        pid: 4312,
        name: "etl-bot".to_owned(),
        gateway: None,
    };
    assert_eq!(b.actions, [Action::Resume(etl_bot)]);
    b.carry_out();
    assert!(b.state.pauses().is_empty());
    b.press(KeyCode::Home);
    b.draw();
    b.deny_all("all of it");
    assert!(b.draw().contains("deny all 3 of"));
    b.press(KeyCode::Enter);
    b.carry_out();
    assert_eq!(b.state.pending_count(), 3);
    // Nothing there grants.
    b.advance(2_000);
    b.keys("a");
    assert!(b.ui.sheet().is_none());
    assert_eq!(notice(&b), "a (grant) works in the queue: press 1 first");
}

#[test]
fn a_policy_says_what_its_file_adds_and_takes_away_and_its_digest_only_on_request() {
    let mut b = Bench::new(120, 60);
    team(&mut b);
    b.keys("3");
    let text = b.draw();
    assert!(
        text.contains("team") && text.contains("your file, extends analysis"),
        "{text}"
    );
    assert!(
        text.contains("imports lifelines (KaplanMeierFitter)"),
        "{text}"
    );
    assert!(text.contains("no json; seconds 60, was 300"), "{text}");
    assert!(text.contains("nothing is known of lifelines"), "{text}");
    assert!(!text.contains("sha256"), "{text}");
    b.keys("i");
    let digest = b.state.settings.profiles[0].policy.sha256.hex();
    assert!(b.draw().contains(&digest));
    b.keys("i");
    assert!(!b.draw().contains(&digest));
}

#[test]
fn a_profile_that_tells_private_values_says_so_aloud() {
    let mut b = Bench::new(120, 60);
    b.tell_private();
    b.keys("3");
    assert!(b.draw().contains("TOLD: their values go to the agent"));
}

/// Processes of one user under one name.
fn processes(b: &mut Bench, name: &'static str, pids: std::ops::Range<i32>) {
    for pid in pids {
        b.apply(crate::broker::Event::Connected {
            conn: crate::model::ConnId(1),
            peer: crate::model::Peer {
                uid: 1000,
                gid: 1000,
                pid,
                exe: Some("python3".to_owned()),
                gateway: None,
            },
        });
        b.propose(by(name, &format!("y = {pid}\n")));
    }
}

#[test]
fn processes_of_one_name_are_one_row_until_they_are_unfolded() {
    let mut b = Bench::new(120, 40);
    processes(&mut b, "etl-bot", 70..75);
    processes(&mut b, "other", 80..81);
    b.keys("3");
    let rows = |b: &mut Bench, name: &str| {
        let text = b.draw();
        text.lines().filter(|l| l.contains(name)).count()
    };
    assert_eq!((rows(&mut b, "etl-bot  "), rows(&mut b, "other  ")), (1, 1));
    let text = b.draw();
    assert!(text.contains("1000 ×5           5"), "{text}");
    assert!(text.contains("5 processes under this name, "), "{text}");
    // A decision is about one process.
    for key in ["D", ":pause\n"] {
        for c in key.chars() {
            match c {
                '\n' => b.press(KeyCode::Enter),
                c => b.keys(&c.to_string()),
            };
        }
        assert_eq!(
            notice(&b),
            "5 processes have this name: Enter shows each, then choose one"
        );
    }
    assert!(b.actions.is_empty());
    b.press(KeyCode::Enter);
    assert_eq!(rows(&mut b, "etl-bot  "), 5);
    b.press(KeyCode::Down);
    b.keys("D");
    assert!(
        b.draw().contains("deny the only one of etl-bot"),
        "{}",
        b.draw()
    );
    b.press(KeyCode::Esc);
    // Back into one row, which stays selected.
    b.keys("i");
    assert_eq!(rows(&mut b, "etl-bot  "), 1);
    b.keys("i");
    assert_eq!(rows(&mut b, "etl-bot  "), 5);
    // Each goes to its own proposal.
    b.press(KeyCode::Enter);
    assert_eq!(b.ui.view(), View::Queue);
}
