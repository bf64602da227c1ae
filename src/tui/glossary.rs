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
        "reads a data set that its owner marked private; values are hidden from the agent unless told",
    ),
    (
        "W S D X N",
        "writes files, uses the system, deletes, runs programs, uses the network",
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
    ("≈", "the same code as the selected one but for its numbers"),
    (
        "\\u{...}",
        "a character that terminals draw differently, by its number",
    ),
];

#[cfg(test)]
mod tests {
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
}
