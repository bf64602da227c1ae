//! Terms put into a question and taken out of it, by its text.

use super::lex::{Piece, What, pieces};

/// `key:value`, with quotation marks where the value needs them. It asks for exactly this value.
pub fn term(key: &str, value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-@/".contains(c);
    match !value.is_empty() && value.chars().all(plain) {
        true => format!("{key}:{value}"),
        false => {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"");
            format!("{key}:\"{value}\"")
        }
    }
}

/// Whether everything that the question selects is what this term asks for, because it stands there.
pub fn has(question: &str, term: &str) -> bool {
    place(question, term).is_some()
}

/// The question with the term, or without it if it has it.
pub fn turned(question: &str, term: &str) -> String {
    let question = question.trim();
    if let Some((from, to)) = place(question, term) {
        let part = |range: &[char]| range.iter().collect::<String>().trim().to_owned();
        let chars: Vec<char> = question.chars().collect();
        let (before, after) = (part(&chars[..from]), part(&chars[to..]));
        return match (before.is_empty(), after.is_empty()) {
            (true, _) => after,
            (_, true) => before,
            _ => format!("{before} {after}"),
        };
    }
    let all = pieces(question).unwrap_or_default();
    let parted = outermost(&all).any(|(_, piece)| piece.what == What::Or);
    match (question.is_empty(), parted) {
        (true, _) => term.to_owned(),
        (_, true) => format!("({question}) {term}"),
        _ => format!("{question} {term}"),
    }
}

/// Where the term stands on its own: in no brackets, not negated, and no alternative of another. Counted in characters.
fn place(question: &str, term: &str) -> Option<(usize, usize)> {
    let (all, wanted) = (pieces(question).ok()?, pieces(term).ok()?);
    if wanted.is_empty() || outermost(&all).any(|(_, piece)| piece.what == What::Or) {
        return None;
    }
    let is = |at: usize| {
        let found = all.get(at..at + wanted.len());
        found.is_some_and(|found| found.iter().zip(&wanted).all(|(a, b)| alike(a, b)))
    };
    let at = outermost(&all).map(|(at, _)| at).find(|at| {
        let negated = at
            .checked_sub(1)
            .is_some_and(|before| all[before].what == What::Not);
        let goes_on = all
            .get(at + wanted.len())
            .is_some_and(|next| next.what == What::Comma);
        is(*at) && !negated && !goes_on
    })?;
    let last = &all[at + wanted.len() - 1];
    Some((all[at].at, last.at + last.length))
}

/// The pieces that stand in no brackets, with their numbers.
fn outermost(all: &[Piece]) -> impl Iterator<Item = (usize, &Piece)> {
    let mut depth = 0_usize;
    all.iter().enumerate().filter(move |(_, piece)| {
        match piece.what {
            What::Open => depth += 1,
            What::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && piece.what != What::Close
    })
}

fn alike(one: &Piece, other: &Piece) -> bool {
    let lower = |what: &What| match what {
        What::Word(text) => What::Word(text.to_lowercase()),
        What::Quoted(text) => What::Quoted(text.to_lowercase()),
        what => what.clone(),
    };
    lower(&one.what) == lower(&other.what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_goes_in_and_out_again() {
        for (question, term, with) in [
            ("", "state:denied", "state:denied"),
            ("by:ana", "state:denied", "by:ana state:denied"),
            (
                "by:ana OR by:bo",
                "state:denied",
                "(by:ana OR by:bo) state:denied",
            ),
            ("\"a OR b\"", "rule:dyn001", "\"a OR b\" rule:dyn001"),
            (
                "-state:denied",
                "state:denied",
                "-state:denied state:denied",
            ),
            (
                "NOT state:denied",
                "state:denied",
                "NOT state:denied state:denied",
            ),
            (
                "state:denied,expired",
                "state:denied",
                "state:denied,expired state:denied",
            ),
            (
                "(state:denied)",
                "state:denied",
                "(state:denied) state:denied",
            ),
            (
                "x",
                "agent:\"a \\\"b\\\" OR\"",
                "x agent:\"a \\\"b\\\" OR\"",
            ),
            (
                "x",
                "since:2026-11-01 until:2026-11-02",
                "x since:2026-11-01 until:2026-11-02",
            ),
        ] {
            assert!(!has(question, term), "{question}");
            assert_eq!(turned(question, term), with);
            assert!(has(with, term), "{with}");
            let bare = |text: &str| text.replace(['(', ')'], "");
            assert_eq!(bare(&turned(with, term)), bare(question), "{with}");
        }
        assert_eq!(turned("a State:DENIED b", "state:denied"), "a b");
    }

    #[test]
    fn a_value_is_asked_for_as_it_is() {
        assert_eq!(term("agent", "etl-bot"), "agent:etl-bot");
        for odd in [
            "*",
            "a b",
            "",
            "x\"y",
            "back\\",
            "a,b",
            "<5s",
            "state:denied OR",
            "é",
        ] {
            let term = term("agent", odd);
            let all = pieces(&term).unwrap();
            assert_eq!(all.len(), 2, "{term}");
            assert_eq!(all[1].what, What::Quoted(odd.to_owned()));
        }
    }
}
