//! The argument QUERY: its words, and the table of its keys.

use std::io::{self, Write};

use jiff::Timestamp;

use crate::audit::query::{KEYS, Query};
use crate::error::Failure;
use crate::model::visible;

/// Reads a question. A shell may have cut it into arguments.
pub(super) fn question(words: &[String]) -> Result<Query, Failure> {
    let text = words.join(" ");
    let seen = visible(&text);
    Query::parse(&seen, Timestamp::now()).map_err(|e| {
        let [question, marks] = e.marked();
        Failure::usage(format!("the query cannot be read: {e}"))
            .and(question)
            .and(marks)
            .and("`countersign audit list --keys` explains every key")
    })
}

/// Every key with an example, then the other signs.
pub(super) fn keys(out: &mut dyn Write) -> io::Result<()> {
    for key in &KEYS {
        writeln!(out, "{:24}  {}", key.example, key.what)?;
    }
    for (example, what) in SIGNS {
        writeln!(out, "{example:24}  {what}")?;
    }
    Ok(())
}

const SIGNS: [(&str, &str); 7] = [
    (
        "read_csv",
        "a word of the code, the title or the agent's reason; read_* begins one",
    ),
    ("\"pd.read_csv(\"", "words that stand one after the other"),
    ("state:denied,expired", "one of several values"),
    (
        "-agent:etl*",
        "not: also NOT, which a shell's first argument may be",
    ),
    (
        "a OR b",
        "either; what stands side by side, or with AND between, must both hold",
    ),
    ("(a OR b) c", "brackets"),
    (
        "* ?",
        "in values: any characters, one character; not within quotation marks",
    ),
];
