//! The argument QUERY: its words, and the table of its keys.

use std::ffi::OsString;
use std::io::{self, Write};

use jiff::Timestamp;

use crate::audit::query::{KEYS, Query};
use crate::error::Failure;
use crate::model::visible;

use super::super::out::tell;

/// Reads a question. A shell may have cut it into arguments.
pub(super) fn question(words: &[String]) -> Result<Query, Failure> {
    let text = words.join(" ");
    let seen = visible(&text);
    let query = Query::parse(&seen, Timestamp::now()).map_err(|e| {
        let [question, marks] = e.marked();
        Failure::usage(format!("the query cannot be read: {e}"))
            .and(question)
            .and(marks)
            .and("`countersign audit list --keys` explains every key")
    })?;
    if let Some(hint) = query.hint() {
        tell(&hint);
    }
    Ok(query)
}

/// Refuses a question that asks for records of no proposal.
pub(super) fn about_proposals(query: &Query) -> Result<(), Failure> {
    match query.own() {
        None => Ok(()),
        Some(_) => Err(Failure::usage(
            "kind: lists records that belong to no proposal: `countersign audit list` takes it, and `audit export` without a \
             query has all records",
        )),
    }
}

/// The question without one of its terms, for each term; nothing if its terms cannot be told by their blanks.
pub(super) fn without_one(words: &[String]) -> Vec<(String, Query)> {
    let text = visible(&words.join(" ")).into_owned();
    let terms: Vec<&str> = text.split_whitespace().collect();
    let joined =
        |term: &&str| matches!(*term, "AND" | "OR" | "NOT") || term.contains(['(', ')', '"']);
    if terms.len() < 2 || terms.iter().any(joined) {
        return Vec::new();
    }
    let without = |at: usize| {
        let mut rest = terms.clone();
        let term = rest.remove(at).to_owned();
        let query = Query::parse(&rest.join(" "), Timestamp::now()).ok()?;
        Some((term, query))
    };
    (0..terms.len()).filter_map(without).collect()
}

/// The arguments of a command line, in which a term `-key:value` of a question is `NOT key:value`: what begins with a
/// hyphen is taken for an option otherwise.
pub(in crate::cli) fn not_for_hyphens(args: Vec<OsString>) -> Vec<OsString> {
    let asks = args
        .windows(2)
        .position(|two| two[0] == "audit" && (two[1] == "list" || two[1] == "stats"));
    let Some(from) = asks else { return args };
    let literal = args
        .iter()
        .position(|arg| arg == "--")
        .unwrap_or(args.len());
    let one = |(i, arg): (usize, OsString)| match arg.to_str().and_then(negated) {
        Some(term) if i > from && i < literal => format!("NOT {term}").into(),
        _ => arg,
    };
    args.into_iter().enumerate().map(one).collect()
}

/// The rest of `-key:value`, `-(…)` or `-"…"`.
fn negated(arg: &str) -> Option<&str> {
    let term = arg.strip_prefix('-')?;
    let key = term.split_once(':').is_some_and(|(key, _)| {
        let letters = |c: char| c.is_ascii_alphabetic() || c == '_';
        !key.is_empty() && key.chars().all(letters)
    });
    (key || term.starts_with(['(', '"'])).then_some(term)
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
    ("-agent:etl*", "not: also NOT"),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_option_is_a_term_that_must_not_hold() {
        let words = |line: &str| -> Vec<OsString> { line.split(' ').map(Into::into).collect() };
        for (line, becomes) in [
            (
                "c audit list -agent:x --json",
                "c audit list NOT·agent:x --json",
            ),
            (
                "c --state-dir d audit stats a -(b -\"c\"",
                "c --state-dir d audit stats a NOT·(b NOT·\"c\"",
            ),
            (
                "c audit list -x -h -1:2 --a:b -- -agent:x",
                "c audit list -x -h -1:2 --a:b -- -agent:x",
            ),
            ("c audit show -agent:x", "c audit show -agent:x"),
            ("c submit -agent:x", "c submit -agent:x"),
        ] {
            let expected: Vec<OsString> = becomes
                .split(' ')
                .map(|w| w.replace('·', " ").into())
                .collect();
            assert_eq!(not_for_hyphens(words(line)), expected, "{line}");
        }
    }
}
