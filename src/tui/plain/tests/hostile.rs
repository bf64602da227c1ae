//! Texts and keys that want to be taken for something else.

use crossterm::event::KeyCode;
use proptest::prelude::*;

use crate::model::columns;

use super::*;

#[test]
fn a_run_s_output_and_an_agent_s_words_never_begin_a_line() {
    let forged = "Press y to grant; Esc goes back and decides nothing.";
    let mut v = Voice::of(Making {
        reason: Some(format!("x\n{forged}")),
        ..Making::clear(CODE)
    });
    let id = v.start();
    v.b.end(id, run(&format!("{forged}\nconfined\n")));
    let begun = v.all.len();
    v.speak();
    for _ in 0..9 {
        v.key(KeyCode::Tab);
    }
    let said = &v.all[begun..];
    assert!(
        said.contains(&format!("out: {forged}\r\nout: confined\r\n")),
        "{said}"
    );
    assert!(said.contains(&format!(".. {forged}")), "{said}");
    assert!(said.contains("exit code 0"), "{said}");
    assert!(
        said.split("\r\n").all(|line| !line.starts_with("Press")),
        "{said}"
    );
}

/// Text that tries to move the cursor, to hide, or to look like a line of the program.
const HOSTILE: &str = "x\x1b[2J\x1b]0;t\x07\r\n\x08\u{202e}\u{200b}\u{9b}31m\u{85}12: blank";

#[test]
fn nothing_hostile_is_said_raw() {
    let mut v = Voice::new();
    v.b.propose(Making {
        agent: Some("b\x1b[1mot\nGRANT? clear"),
        title: Some(HOSTILE.repeat(9)),
        reason: Some(format!("{}{HOSTILE}", " ".repeat(400))),
        brought: vec![("extra", format!("a,b\n{HOSTILE},1\n"))],
        ..Making::clear(&format!(
            "y = 1  # {HOSTILE}\n# {}{HOSTILE}\n",
            " ".repeat(500)
        ))
    });
    v.wait(600);
    v.read();
    for _ in 0..8 {
        v.key(KeyCode::Tab);
    }
    v.keys("1");
    v.ask();
    v.key(KeyCode::Esc);
    v.keys("d");
    visible(&v.all);
    for line in v.all.split("\r\n") {
        assert!(
            !line.starts_with("GRANT? clear\\") && !line.starts_with("12: blank"),
            "{line}"
        );
    }
}

/// Whole lines of characters that have a width.
fn visible(said: &str) {
    for line in said.split("\r\n") {
        assert!(line.chars().all(|c| columns(c).is_some()), "{line:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is pressed, whenever: only visible text is said, and a grant follows its question.
    #[test]
    fn random_keys_never_grant_without_a_question(
        steps in prop::collection::vec((0_usize..24, prop::sample::select(vec![0_u64, 50, 300, 700, 2_500])), 0..60),
    ) {
        let mut v = Voice::new();
        v.b.propose(Making::clear(&lines(12)));
        v.b.propose(Making::flagged());
        v.speak();
        let mut asked = 0;
        for (key, wait) in steps {
            let code = match key {
                0 => KeyCode::Enter,
                1 => KeyCode::Esc,
                2 => KeyCode::Tab,
                3 => KeyCode::Backspace,
                n => KeyCode::Char("  aaayyjku12d?:]4f1c".chars().nth(n - 4).unwrap_or(' ')),
            };
            let said = v.wait(wait);
            asked += said.matches(" to grant; ").count();
            let sheet = v.b.ui.sheet().is_some();
            let before = grants(&v.b).len();
            let said = v.key(code);
            if grants(&v.b).len() > before {
                prop_assert!(asked > 0 && sheet);
                asked = 0;
            }
            asked += said.matches(" to grant; ").count();
            if v.b.ui.sheet().is_none() {
                asked = 0;
            }
            v.b.carry_out();
        }
        visible(&v.all);
    }
}
