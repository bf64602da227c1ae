#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::{Duration, Instant};

use super::*;

fn sh(script: &str) -> Vec<String> {
    ["sh", "-c", script].map(str::to_owned).to_vec()
}

fn over(command: &[String]) -> Result<(), String> {
    hand_over(command, "a note\n", || false)
}

#[test]
fn the_command_gets_the_checkpoint_on_its_input() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kept");
    over(&sh(&format!("cat > '{}'", file.display()))).unwrap();
    assert_eq!(std::fs::read_to_string(file).unwrap(), "a note\n");
    over(&[]).unwrap();
}

#[test]
fn a_command_that_fails_is_told_with_its_own_words_made_visible() {
    assert_eq!(
        over(&sh(
            "cat >/dev/null; printf 'no \\033[31mroute\\nmore' >&2; exit 3"
        ))
        .unwrap_err(),
        "anchor_command: `sh` failed, exit status: 3: no ␛[31mroute"
    );
    let none = over(&["/no/such/command".to_owned()]).unwrap_err();
    assert!(none.contains("cannot be started"), "{none}");
}

#[test]
fn a_slow_command_is_stopped_with_all_it_started() {
    let begun = Instant::now();
    let command = sh("sleep 60 & sleep 60");
    let slow = Errand {
        within: Duration::from_millis(100),
        ..errand(&command)
    };
    let why = slow.run("", || false).unwrap_err();
    assert!(why.ends_with("took too long, and was stopped"), "{why}");
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn what_outlives_a_failed_command_is_not_waited_for() {
    let begun = Instant::now();
    over(&sh("sleep 30 & exit 1")).unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn at_the_end_a_command_has_less_time() {
    let begun = Instant::now();
    hand_over(&sh("sleep 60"), "", || true).unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(20));
}
