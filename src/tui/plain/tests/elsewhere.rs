//! Filter, words and keys: what an eye would see by itself is said.

use crossterm::event::{KeyEvent, KeyModifiers};

use super::*;

fn titled(title: &str, code: &str) -> Making {
    Making {
        title: Some(title.to_owned()),
        ttl_s: 1_800,
        ..Making::clear(code)
    }
}

fn three() -> Voice {
    let mut v = Voice::of(titled("apples", "print(1 + 2)\n"));
    v.b.propose(titled("pears", "x = df\n"));
    v.b.propose(titled("more pears", "for a in df:\n    a\n"));
    v.wait(6_000);
    v
}

#[test]
fn the_filter_is_spoken_with_its_results_and_its_end() {
    let mut v = three();
    assert!(
        v.keys("f")
            .starts_with("filter, only proposals that say these words: ")
    );
    v.keys("pears");
    let said = v.wait(600);
    assert!(
        said.starts_with("\nfilter \"pears\": 2 of 3; first: 1 of 2, clear, 29 minutes left; agent notebook says: pears\n"),
        "{said}"
    );
    // Enter goes to the first; the filter was told.
    let said = v.key(KeyCode::Enter);
    assert!(said.starts_with("\n1 of 2, clear"), "{said}");
    // The list says its first row once.
    let said = v.keys("1");
    assert!(
        said.starts_with("filter \"pears\": 2 of 3\nselected, 1 of 2, clear"),
        "{said}"
    );
    assert_eq!(said.matches("says: pears\n").count(), 1, "{said}");
    assert!(v.key(KeyCode::Esc).starts_with("the filter is off\n"));
    // Typed fast, it is told with Enter, and the row once.
    v.keys("fmore");
    let said = v.key(KeyCode::Enter);
    assert!(
        said.ends_with("filter \"more\": 1 of 3\n1 of 1, clear, 29 minutes left; agent notebook says: more pears\n"),
        "{said}"
    );
    v.key(KeyCode::Esc);
    v.keys("fmore \"");
    let said = v.key(KeyCode::Enter);
    assert!(
        said.contains("filter \"more \\\"\": none of 3; Esc shows all again\n"),
        "{said}"
    );
    // The words that Esc gives back are told too.
    v.keys("fx");
    v.wait(600);
    let said = v.key(KeyCode::Esc);
    assert!(said.contains("filter \"more \\\"\": none of 3"), "{said}");
}

#[test]
fn a_filter_that_hides_what_expires_soon_says_so() {
    let mut v = three();
    v.b.propose(Making {
        ttl_s: 40,
        ..titled("plums", "pass\n")
    });
    v.wait(3_000);
    v.keys("fpears");
    let said = v.wait(600);
    assert!(
        said.contains("\": 2 of 4, warning: one that it hides has 3"),
        "{said}"
    );
}

#[test]
fn words_are_explained_on_the_help_and_by_their_letters() {
    let mut v = three();
    let mut help = v.keys("?");
    for _ in 0..6 {
        v.wait(4_000);
        help.push_str(&v.keys(" "));
    }
    for row in [
        "tier means: how a run is shut in",
        "withdrawn means: its agent took it back",
        "Ctrl-l: say again what was read last",
        ":pause: pause this agent",
        "l: say the time left",
    ] {
        assert!(help.contains(&format!("\n{row}")), "{row}: {help}");
    }
    v.key(KeyCode::Esc);
    v.keys(":unanalyz");
    let said = v.wait(600);
    assert!(
        said.contains("unanalyzable means: it could not be read"),
        "{said}"
    );
    v.key(KeyCode::Esc);
    v.keys(":ki");
    assert!(v.key(KeyCode::Esc).contains("1 of 3, clear"));
    v.keys(":xyzzy");
    assert!(v.wait(600).contains("no command"));
}

#[test]
fn reading_again_says_that_it_does() {
    let mut v = three();
    v.keys(" ");
    v.wait(4_000);
    let key = KeyEvent::new(KeyCode::Char('l'), KeyModifiers::CONTROL);
    v.b.input(&Input::Key(key));
    assert!(
        v.speak().starts_with("Again:\n1: print(1 + 2)\n"),
        "{}",
        v.all
    );
}

#[test]
fn a_key_that_does_nothing_says_what_it_is_for() {
    for key in "jklGusfpi[]dDx23:?/nNtwzm vyoSb=hgqFBE".chars() {
        for place in ["", " ", "?", "2", "3", "\t", "\n"] {
            let mut v = Voice::of(titled("apples", CODE));
            v.wait(600);
            for c in place.chars() {
                match c {
                    '\t' => v.key(KeyCode::Tab),
                    '\n' => v.key(KeyCode::Enter),
                    c => v.keys(&c.to_string()),
                };
            }
            v.wait(600);
            let said = v.keys(&key.to_string());
            assert!(!said.trim().is_empty(), "{key:?} on {place:?}");
        }
    }
    // A key that does something is not said to do nothing before it is done.
    let mut v = Voice::of(titled("apples", CODE));
    v.wait(600);
    v.read();
    v.ask();
    assert_eq!(v.keys("y"), "");
    assert_eq!(grants(&v.b).len(), 1);
    let mut v = three();
    assert_eq!(v.keys("y"), "y confirms on the sheet: press a first\n");
}

#[test]
fn the_end_of_a_run_is_told_once() {
    let mut v = Voice::of(titled("apples", CODE));
    v.b.propose(titled("pears", "x = df\n"));
    let id = v.start();
    v.b.end(id, run("3\n"));
    let mut said = v.speak();
    assert!(said.contains("\nsucceeded\n"), "{said}");
    said = v.keys("u");
    said.push_str(&v.wait(20_000));
    said.push_str(&v.keys("1"));
    assert!(!said.contains("ucceeded"), "{said}");
}

#[test]
fn what_differs_from_the_code_that_was_read_last_is_said() {
    let mut v = Voice::of(titled("apples", "x = 1\nprint(x)\n"));
    v.b.propose(titled("apples", "x = 2\nprint(x)\n"));
    v.wait(3_000);
    v.read();
    v.keys("=");
    v.wait(600);
    v.keys("j");
    v.wait(600);
    let said = v.read();
    assert!(
        said.contains("\nunlike the one read last: 1 number in 1 line\n"),
        "{said}"
    );
    assert!(
        said.contains("\n1, differs: x = 2\n2: print(x)\n"),
        "{said}"
    );
}
