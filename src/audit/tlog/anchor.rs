//! The user's command that takes each checkpoint to where it is kept, such as another machine.

use super::command::{Errand, WITHIN};

/// Gives a checkpoint to the command on its standard input.
///
/// # Errors
/// Why it was not taken, in words.
pub(super) fn hand_over(
    command: &[String],
    note: &str,
    ends: impl Fn() -> bool,
) -> Result<(), String> {
    errand(command).run(note, ends).map(drop)
}

fn errand(command: &[String]) -> Errand<'_> {
    Errand {
        key: "anchor_command",
        argv: command,
        within: WITHIN,
        only: None,
        answer: None,
    }
}

#[cfg(test)]
#[path = "anchor_tests.rs"]
mod tests;
