//! A person pauses an agent and resumes it.

use crossterm::event::KeyCode;

use crate::broker::Event;
use crate::model::{AgentId, State};

use super::bench::*;
use super::snapshot_tests::at_sizes;
use super::*;

fn etl_bot() -> AgentId {
    AgentId {
        uid: 1000,
        pid: 4312,
        name: "etl-bot".to_owned(),
        gateway: None,
    }
}

fn two_agents(b: &mut Bench) {
    b.propose(Making::flagged());
    b.propose(Making::flagged());
    b.propose(Making::clear("x = 1\n"));
    b.settle();
}

#[test]
fn a_paused_agent_is_told_in_queue_and_header() {
    at_sizes("paused", |b| {
        two_agents(b);
        b.keys("D");
        b.press(KeyCode::Tab);
        b.carry_out();
    });
    at_sizes("resume_prompt", |b| {
        two_agents(b);
        b.keys("D");
        b.press(KeyCode::Tab);
        b.carry_out();
        b.keys("D");
    });
}

#[test]
fn tab_in_the_prompt_of_all_pauses_and_denies_nothing() {
    let mut b = Bench::new(120, 40);
    two_agents(&mut b);
    b.keys("Dask first");
    b.press(KeyCode::Tab);
    assert_eq!(b.actions, [Action::Pause(etl_bot())]);
    b.carry_out();
    assert_eq!(
        notice(&b),
        "etl-bot is paused, also as notebook; 3 waiting stay, new ones are refused"
    );
    assert_eq!(b.state.pending_count(), 3);
    b.keys("D");
    assert!(b.draw().contains("Tab resumes"));
    b.press(KeyCode::Tab);
    assert_eq!(b.actions, [Action::Resume(etl_bot())]);
    b.carry_out();
    assert!(b.state.pauses().is_empty());
    assert_eq!(
        notice(&b),
        "etl-bot may propose again, also as notebook; 3 wait"
    );
    // Without a pause, the prompt denies as before.
    b.deny_all("no");
    b.press(KeyCode::Enter);
    b.carry_out();
    assert_eq!(b.state.pending_count(), 1);
}

#[test]
fn an_agent_with_nothing_pending_can_be_paused() {
    let mut b = Bench::new(120, 40);
    let id = b.propose(Making::flagged());
    b.settle();
    b.keys("d");
    b.press(KeyCode::Enter);
    b.carry_out();
    assert_eq!(b.state.entry(id).unwrap().state(), State::Denied);
    b.keys("D");
    assert!(b.draw().contains("Tab pauses it"));
    b.press(KeyCode::Tab);
    b.carry_out();
    assert_eq!(b.state.pauses().len(), 1);
}

#[test]
fn pause_and_resume_are_commands_without_a_key() {
    let mut b = Bench::new(120, 40);
    two_agents(&mut b);
    let by_name = |b: &mut Bench, name: &str| {
        b.keys(":");
        b.keys(name);
        b.press(KeyCode::Enter);
        b.carry_out();
    };
    by_name(&mut b, "resume");
    assert_eq!(notice(&b), "etl-bot is not paused");
    by_name(&mut b, "pause");
    assert_eq!(b.state.pauses()[0].agent, etl_bot());
    by_name(&mut b, "pause");
    assert_eq!(notice(&b), "etl-bot is paused already");
    by_name(&mut b, "resume");
    assert!(b.state.pauses().is_empty());
    b.keys("?");
    assert!(b.draw().contains(":pause"), "the help says how");
}

#[test]
fn without_the_log_no_agent_is_paused() {
    let mut b = Bench::new(120, 40);
    two_agents(&mut b);
    b.apply(Event::AuditDown {
        reason: "no space left".to_owned(),
    });
    b.keys("D");
    b.press(KeyCode::Tab);
    assert!(b.actions.is_empty());
    assert!(notice(&b).contains("without the log"), "{}", notice(&b));
}

/// Another process uses the name of one that is paused; that process speaks under a name of its own too.
#[test]
fn a_pause_names_what_it_covers_and_its_end_what_it_frees() {
    let mut b = Bench::new(120, 40);
    let by = |agent| Making {
        agent: Some(agent),
        ..Making::clear("x = 1\n")
    };
    for agent in ["etl-bot", "a", "b", "c", "d", "e", "f", "g"] {
        b.propose(by(agent));
    }
    b.apply(Event::Connected {
        conn: crate::model::ConnId(1),
        peer: crate::model::Peer {
            uid: 1000,
            gid: 1000,
            pid: 77,
            exe: Some("python3".to_owned()),
            gateway: None,
        },
    });
    for agent in ["etl-bot", "notebook"] {
        b.propose(by(agent));
    }
    b.settle();
    b.keys("D");
    b.press(KeyCode::Tab);
    b.carry_out();
    let said = "etl-bot is paused, also as a, b, c, d, e, f and 1 more name; 9 waiting stay, new ones are refused";
    assert_eq!(notice(&b), said);
    // The other process, under both of its names.
    b.keys("G");
    b.draw();
    b.keys("D");
    b.press(KeyCode::Tab);
    b.carry_out();
    let said = "notebook is paused, also as etl-bot; 2 waiting stay, new ones are refused";
    assert_eq!(notice(&b), said);
    // The first pause still covers the name.
    b.keys("D");
    b.press(KeyCode::Tab);
    assert_eq!(notice(&b), "notebook may propose again; 1 waits");
}

#[test]
fn a_paused_agent_s_name_cannot_pass_for_the_screen_s_words() {
    let mut b = Bench::new(120, 40);
    b.propose(Making {
        agent: Some("cl\u{430}ude may propose again"),
        ..Making::clear("x = 1\n")
    });
    b.settle();
    b.keys("D");
    b.press(KeyCode::Tab);
    b.carry_out();
    let text = notice(&b);
    assert!(text.starts_with("\"cl\\u{0430}ude may"), "{text}");
}
