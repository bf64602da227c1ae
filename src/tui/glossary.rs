//! What words on the screens mean.

/// A word and its meaning; the help lists them after the keys.
pub const GLOSSARY: &[(&str, &str)] = &[
    ("clear", "no rule matched; that does not make it safe"),
    (
        "flagged",
        "a rule matched; a person may grant it, with the characters that the sheet shows",
    ),
    ("blocked", "a rule matched that nobody can set aside here"),
    (
        "unanalyzable",
        "it could not be read or judged; treated as blocked",
    ),
    (
        "PRIV, P",
        "reads private data: a set that its owner marked so; values are hidden from the agent unless told",
    ),
    (
        "A W S D X N",
        "alters values before they are shown, writes files, uses the system, deletes, runs programs, uses the network",
    ),
    (
        "profile",
        "the rules and limits that a proposal asks for; `team (analysis + 1)` is a file of yours that lets in \
         one thing more than `analysis`, `own rules` one that builds on none",
    ),
    (
        "tier",
        "how a run is shut in: process (weak), kernel, container, microvm",
    ),
    (
        "layer",
        "one wall of a tier, read from outside before the run: userns, pidns, netns (its own users, processes, \
         network), landlock:7 (files by the kernel's rules, version 7), seccomp (which calls to the kernel)",
    ),
    (
        "guard",
        "checks inside the run, for early and clear errors; no wall",
    ),
    (
        "durable",
        "on disk, so that a crash cannot lose it; nothing runs before its record is",
    ),
    (
        "not anchored",
        "nothing outside this folder knows the log's end, so a cut end cannot be noticed",
    ),
    (
        "NO GRANTS",
        "the log cannot be read, or is not the one that was signed; records are still written",
    ),
    (
        "AUDIT DOWN",
        "the log cannot be written; nothing is granted or runs",
    ),
    (
        "sha256, digest",
        "a fingerprint: other bytes, another digest; written in the digits 0-9 and a-f",
    ),
    (
        "shared uid",
        "agents run under your user, so one that is not shut in could type into this terminal",
    ),
    (
        "seen",
        "stood on the screen long enough to be read; a grant needs all of the code",
    ),
    (
        "┊, err┊",
        "before each row of what a run printed, on standard output or standard error; the program's own rows have none",
    ),
    ("CAN", "what the code is able to do, with its lines"),
    ("GIVEN", "the data that the code gets"),
    (
        "SAYS",
        "what the agent says of itself and of the code, and what the kernel says of the agent",
    ),
    (
        "PAST",
        "earlier proposals of this agent, code, title and data",
    ),
    (
        "ALTERS",
        "columns whose values the code replaces, and how numbers are printed, if other numbers may be",
    ),
    ("RETURNS", "what the agent gets back from a run"),
    (
        "as is, per row",
        "a column whose values may leave as they are; one of which a class, a condition or a hash of each value leaves, \
         which may still say what the value was",
    ),
    (
        "summed up",
        "a column of which a count, a mean, a median and the like leave",
    ),
    (
        "lost sight",
        "from this line values may go where the analyser does not look; all that the code reads may leave",
    ),
    (
        "NEW",
        "what differs from what the log says of this agent, title, code and data",
    ),
    (
        "EDIT",
        "the code was edited by you; the edited code is what runs",
    ),
    (
        "VOTE, VOTED",
        "its policy asks for signed votes of people; yours is in. In a seat a denial is one too, or a veto where you may give one",
    ),
    (
        "OTHERS, STUCK",
        "others are asked for their votes, and not you (yours counts as before); no votes can grant it, as its host's files are, and `a` says why",
    ),
    (
        "READING",
        "somebody else reads it at the moment; a hint, which changes nothing",
    ),
    (
        "look",
        "the time between a proposal's first row on the screen and its decision",
    ),
    (
        "binds",
        "the sheet's digest is of all of this; if any of it changes, nothing is granted",
    ),
    ("unfolds", "shows in full what a row says in short"),
    ("· pending", "waits for a decision, until its time is over"),
    (
        "▷ granted, ► running",
        "a person granted it; its child is made, then runs",
    ),
    ("✓ succeeded", "it ran to its end"),
    (
        "✗ failed, error",
        "it ran and its code or a limit ended it; or Countersign could not run it",
    ),
    (
        "⊘ denied",
        "a person said no, with the reason that the agent gets",
    ),
    ("⧗ expired", "nobody decided in time, so it is refused"),
    ("← withdrawn", "its agent took it back or went away"),
    (
        "○ unattended",
        "no person was there to decide, so it is refused",
    ),
    ("◇ drilled", "a drill's end: nothing ran"),
    (
        "■ ▲ △ ·",
        "a finding's weight: critical or high, medium, low, a note; ■ is also what is blocked",
    ),
    ("▮▮▯", "the share of the code's rows that counts as seen"),
    (
        "2/9",
        "the second of nine; `decided 2/9` of those that were decided",
    ),
    ("8 × 344", "8 columns and 344 rows"),
    (
        "log ✓ 26",
        "the log holds 26 records, all on disk; in ASCII `log ok 26`",
    ),
    (
        "analysis 11db39fe",
        "a profile and the beginning of its digest",
    ),
    ("≈", "the same code as the selected one but for its numbers"),
    (
        "\\u{...}",
        "a character that terminals draw differently, by its number",
    ),
];

/// Words for signs and abbreviations that only a drawn screen has.
const DRAWN: [&str; 11] = [
    "┊, err┊",
    "PRIV, P",
    "A W S D X N",
    "EDIT",
    "VOTE, VOTED",
    "OTHERS, STUCK",
    "READING",
    "■ ▲ △ ·",
    "▮▮▯",
    "log ✓ 26",
    "≈",
];

/// The words that plain lines say, without their signs.
pub fn spoken(all: &'static [(&str, &str)]) -> impl Iterator<Item = (String, &'static str)> {
    let said = all.iter().filter(|(name, _)| !DRAWN.contains(name));
    said.map(|(name, meaning)| {
        let names = name.split(", ");
        let bare = names.map(|n| n.trim_start_matches(|c: char| !c.is_ascii()).trim_start());
        (bare.collect::<Vec<_>>().join(", "), *meaning)
    })
}

/// The words that begin with these letters, or have a word that does.
pub fn explain(all: &'static [(&str, &str)], typed: &str) -> Vec<(String, &'static str)> {
    let typed = typed.trim().to_lowercase();
    let begins = |(name, _): &(String, &str)| {
        let name = name.to_lowercase();
        let mut words = name.split([' ', ',']);
        name.starts_with(&typed) || words.any(|word| word.starts_with(&typed))
    };
    match typed.len() {
        0..3 => Vec::new(),
        _ => spoken(all).filter(begins).collect(),
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{EffectMark, State};

    use super::super::words;
    use super::*;

    #[test]
    fn the_jargon_of_the_screens_is_explained() {
        for word in [
            "durable",
            "landlock:7",
            "seccomp",
            "userns",
            "not anchored",
            "digest",
            "tier",
            "guard",
            "own rules",
            "PRIV",
            "unanalyzable",
            "shared uid",
            "AUDIT DOWN",
        ] {
            let known =
                |(name, meaning): &(&str, &str)| name.contains(word) || meaning.contains(word);
            assert!(GLOSSARY.iter().any(known), "{word}");
        }
    }

    #[test]
    fn words_are_explained_by_their_letters() {
        assert!(DRAWN.iter().all(|d| GLOSSARY.iter().any(|(n, _)| n == d)));
        let names = |typed| -> Vec<String> {
            explain(GLOSSARY, typed)
                .into_iter()
                .map(|(n, _)| n)
                .collect()
        };
        assert_eq!(names("tier"), ["tier"]);
        assert_eq!(names("Running"), ["granted, running"]);
        assert_eq!(names("anchored"), ["not anchored"]);
        assert!(names("ti").is_empty() && names("xyz").is_empty());
    }

    #[test]
    fn every_state_and_effect_is_explained() {
        for state in State::ALL {
            let (glyph, word, _) = words::state(state);
            let known = |(name, _): &(&str, &str)| name.contains(word);
            assert!(GLOSSARY.iter().any(known), "{word}");
            assert!(
                GLOSSARY.iter().any(|(name, _)| name.contains(glyph)),
                "{glyph}"
            );
        }
        for mark in [
            EffectMark::Private,
            EffectMark::Alters,
            EffectMark::Writes,
            EffectMark::System,
            EffectMark::Deletes,
            EffectMark::Runs,
            EffectMark::Network,
        ] {
            let word = words::effect(mark).trim_end_matches(':');
            let known = |(_, meaning): &(&str, &str)| meaning.contains(word);
            assert!(GLOSSARY.iter().any(known), "{word}");
        }
    }
}
