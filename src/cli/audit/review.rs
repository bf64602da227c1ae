//! `countersign audit` without a subcommand: the review screen.

use std::io::IsTerminal as _;
use std::path::Path;

use crate::app::reviewing;
use crate::error::Failure;

use super::super::Globals;
use super::super::out::{is_seen, needs_size};
use super::anchors::Place;

/// What answers the same questions in lines.
const INSTEAD: &str = "`countersign audit list [QUERY]`, `audit show ID`, `audit stats`, `audit export` and \
                       `audit verify` need none";

pub fn run(plain: bool, globals: &Globals, state_dir: &Path) -> Result<u8, Failure> {
    if !std::io::stdin().is_terminal() || !is_seen() {
        return Err(Failure::usage(format!(
            "the review screen needs a terminal on standard input and output; {INSTEAD}"
        )));
    }
    if !plain && std::env::var_os("TERM").is_some_and(|term| term == "dumb") {
        return Err(Failure::usage(format!(
            "the review screen cannot be drawn on this terminal (TERM=dumb); `countersign audit --plain` says it in \
             lines; {INSTEAD}"
        )));
    }
    if !plain {
        needs_size("; `countersign audit --plain` needs none")?;
    }
    let checkpoints = Place::default().store(globals, state_dir);
    let config = crate::config::load(&globals.options());
    let verify = verify(globals, state_dir);
    reviewing::run(reviewing::prepare(
        state_dir,
        checkpoints,
        config,
        verify,
        plain,
    )?)
}

/// The command that tells all that is wrong with this log.
fn verify(globals: &Globals, state_dir: &Path) -> String {
    const VERIFY: &str = "countersign audit verify";
    if globals.state_dir.is_none() {
        return VERIFY.to_owned();
    }
    let path = state_dir.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    let path = match path.chars().all(plain) {
        true => path,
        false => format!("'{}'", path.replace('\'', r"'\''")),
    };
    format!("{VERIFY} --state-dir {path}")
}
