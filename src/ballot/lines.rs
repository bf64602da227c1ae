//! The text of a file about who may vote: bounded, UTF-8, and without anything that an editor would not show.

use crate::model::visible;

use super::error::{BallotError, VotingFile};

/// Thousands of people with several keys each.
pub const FILE_MAX: usize = 256 << 10;
pub const LINE_MAX: usize = 4 << 10;

/// The text, whose lines are all bounded and visible.
pub fn text(file: VotingFile, bytes: &[u8]) -> Result<&str, BallotError> {
    if bytes.len() > FILE_MAX {
        let n = bytes.len();
        return Err(BallotError::new(
            file,
            format!("has {n} bytes; at most {FILE_MAX} are read"),
        ));
    }
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let before = bytes.get(..e.valid_up_to()).unwrap_or_default();
        let line = before.iter().filter(|b| **b == b'\n').count() + 1;
        BallotError::at(file, line, "is not UTF-8; save the file as UTF-8 or ASCII")
    })?;
    for (number, line) in numbered(text) {
        let says = |message| Err(BallotError::at(file, number, message));
        if line.len() > LINE_MAX {
            let n = line.len();
            return says(format!(
                "has {n} bytes; a line has at most {LINE_MAX}: is a line break missing?"
            ));
        }
        if line.ends_with('\r') {
            return says("ends with a carriage return; save the file with Unix line ends".into());
        }
        let plain = line.replace('\t', " ");
        let shown = visible(&plain);
        if shown != plain {
            return says(format!(
                "has a character that is not shown: `{}`; remove it",
                short(&shown)
            ));
        }
    }
    Ok(text)
}

/// Lines with their numbers, counted from 1.
pub fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split('\n')
        .enumerate()
        .map(|(at, line)| (at + 1, line))
}

/// The beginning of what somebody wrote, for a message.
pub fn short(text: &str) -> String {
    const MOST: usize = 60;
    let mut cut: String = text.chars().take(MOST).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    visible(&cut).into_owned()
}

/// The first word and the rest without the space between.
pub fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start_matches([' ', '\t']);
    match text.find([' ', '\t']) {
        Some(at) => {
            let (first, rest) = text.split_at(at);
            (first, rest.trim_start_matches([' ', '\t']))
        }
        None => (text, ""),
    }
}
