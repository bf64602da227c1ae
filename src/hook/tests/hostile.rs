//! Texts that are made to break the reading.

use proptest::prelude::*;

use crate::hook::Answer;
use crate::hook::shell::{judged, steps_max};

/// Pieces that mean something to a shell.
const PIECES: &[&str] = &[
    "python",
    "x.py",
    " ",
    "\n",
    ";",
    "&",
    "|",
    "(",
    ")",
    "((",
    "))",
    "{",
    "}",
    "$",
    "$(",
    "${",
    "`",
    "'",
    "\"",
    "\\",
    "<<EOF\n",
    "\nEOF\n",
    "<<-",
    "<<<",
    "<(",
    ">",
    "<",
    "=",
    "a=",
    "#",
    "case x in ",
    "esac",
    ";;",
    "for x in ",
    "do ",
    "done",
    "if ",
    "then ",
    "fi",
    "[[ ",
    " ]]",
    "bash -c ",
    "eval ",
    "xargs ",
    "env ",
    "sudo ",
    "find . -exec ",
    "$'",
    "\\x41",
    "é",
    "\u{1F600}",
    "*",
    "?",
    "[",
    "sh",
    "git ",
    "ssh h ",
];

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        9 => prop::sample::select(PIECES).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|p| p.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn no_text_breaks_the_reading_or_takes_more_steps_than_its_length_allows(text in pieces()) {
        let found = judged(&text);
        // One step too many ends it; a name is counted at once.
        prop_assert!(found.steps <= 2 * steps_max(text.len()), "{} steps", found.steps);
    }
}

#[test]
fn long_hostile_texts_take_linear_work_and_are_never_left_alone_unread() {
    const LENGTH: usize = 200_000;
    for piece in [
        "(",
        "$(",
        "${",
        "`",
        "\"$(",
        "((",
        "$((",
        "<(",
        "{ ",
        "if ",
        "case x in a) ",
        "bash -c '",
        "eval ",
        "env ",
        "sudo -u a ",
        "xargs ",
        "find . -exec ",
        "cat <<A\n",
        "cat <<A <<B\n",
        "[[ ",
        "a=(",
        "f() ",
        "\\",
        "'",
        "\"",
        "$'\\x",
        "x|",
        "x;",
        "\"${a:-",
        "! ",
        "=",
        "timeout 1 ",
        "git rebase -x ",
        "watch ",
        "a b ",
        "echo `echo \\`",
    ] {
        let text = piece.repeat(LENGTH / piece.len());
        let found = judged(&text);
        assert!(
            found.steps <= 2 * steps_max(text.len()),
            "{piece:?}: {} steps",
            found.steps
        );
        // And a Python behind it passes nowhere.
        let behind = format!("{}\npython x.py", piece.repeat(500));
        let answer = crate::hook::shell::judge(&behind);
        assert_ne!(answer, Answer::Silent, "{piece:?}");
    }
}
