//! Every sign of the program has a word, or is left out: readers skip most signs, or spell them.

use std::path::Path;

use super::*;

/// The text of the program's strings: lines of a file without its comments and tests.
fn sources(folder: &Path, out: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir()
            && !["plain", "tests", "snapshots", "theme", "sketch"].contains(&name.as_str())
        {
            sources(&path, out);
        } else if name.ends_with(".rs")
            && !name.contains("test")
            && !["bench.rs", "made.rs", "charset.rs"].contains(&name.as_str())
        {
            let text = std::fs::read_to_string(&path).unwrap();
            let own = text.split("#[cfg(test)]\nmod tests").next().unwrap();
            let lines = own
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            out.extend(lines.flat_map(|line| [line, "\n"]));
        }
    }
}

/// Signs that only the drawn screen has, or the page of a bundle.
const DRAWN: &str = "┃┌┐└┘├┤┬┴┼▀▁▂▃▄▅▆▇▉▊▋▌▍▎▏░▒▓“”";

#[test]
fn every_sign_in_a_sentence_of_the_program_has_a_word() {
    let mut text = String::new();
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for folder in ["tui", "broker", "policy", "runtime", "audit"] {
        sources(&src.join(folder), &mut text);
    }
    assert!(text.contains('▲') && text.contains('≠'));
    for c in text
        .chars()
        .filter(|c| !c.is_ascii() && !DRAWN.contains(*c))
    {
        let word = words::plain::sign(c);
        assert!(word.is_some_and(str::is_ascii), "{c:?} {:04X}", c as u32);
    }
}

/// What was said is letters, digits and punctuation.
fn spoken(v: &Voice, place: &str) {
    for line in v.all.split("\r\n") {
        let ok = line.chars().all(|c| c == ' ' || c.is_ascii_graphic());
        assert!(ok, "{place}: {line:?}");
    }
}

/// Through every pane and over every screen.
fn walk(v: &mut Voice, place: &str) {
    for _ in 0..13 {
        v.key(KeyCode::Tab);
        v.wait(700);
        v.key(KeyCode::PageDown);
    }
    v.key(KeyCode::Esc);
    for key in [
        "]", "i", "p", "v", "?", "3", "2", "1", "=", "s", "l", "d", "D", "q", "f", "/", "o", "S",
        "c", "e", "t",
    ] {
        v.keys(key);
        for _ in 0..6 {
            v.wait(700);
            v.keys(" ");
        }
        v.key(KeyCode::Up);
        v.key(KeyCode::Esc);
        v.key(KeyCode::Esc);
    }
    v.keys(":verdict");
    v.wait(600);
    v.key(KeyCode::Esc);
    spoken(v, place);
}

#[test]
fn every_line_that_the_program_can_say_is_letters_digits_and_punctuation() {
    for (place, making) in [
        ("clear", Making::clear(CODE)),
        ("flagged", Making::flagged()),
        ("blocked", Making::blocked()),
        ("more", Making::more_than_it_says()),
        (
            "brought",
            Making {
                brought: vec![("extra", "name,n\na,1\nb,2\n".to_owned())],
                ..Making::clear(CODE)
            },
        ),
    ] {
        let mut v = Voice::of(Making {
            ttl_s: 7_000,
            ..making
        });
        // One that is alike but for its numbers.
        v.b.propose(Making {
            ttl_s: 7_000,
            ..Making::clear("total = df[\"b\"].sum()\nprint(total, 2)\n")
        });
        v.b.propose(Making {
            ttl_s: 7_000,
            ..Making::clear("total = df[\"b\"].sum()\nprint(total, 3)\n")
        });
        v.wait(600);
        walk(&mut v, place);
        v.keys("j");
        walk(&mut v, "alike");
        assert!(v.all.contains("ALIKE about 1 more"), "{}", v.all);
    }
}

#[test]
fn every_line_about_a_run_and_an_end_is_letters_digits_and_punctuation() {
    let mut v = Voice::of(Making::clear(CODE));
    let id = v.start();
    v.b.output(id, StreamName::Stderr, "10%\r20%\r30%\n");
    v.speak();
    walk(&mut v, "running");
    v.b.exec(
        id,
        ExecNote::Used(crate::model::Usage {
            cpu_ms: 3_100,
            memory_kib: 1024,
            peak_kib: 212 * 1024,
            ..crate::model::Usage::default()
        }),
    );
    v.b.end(id, run("[REDACTED]\n"));
    v.speak();
    walk(&mut v, "ended");
    let mut v = Voice::of(Making {
        ttl_s: 30,
        ..Making::clear(CODE)
    });
    v.b.tick(40_000);
    walk(&mut v, "expired");
    let mut v = Voice::of(Making::clear(CODE));
    let id = v.b.ui.selected().unwrap();
    v.b.deny(id, "no");
    walk(&mut v, "denied");
}

#[test]
fn what_is_altered_is_said_before_the_code_with_its_line_and_on_the_sheet() {
    let mut v = Voice::of(Making::clear(
        "df[\"c1\"] = df[\"c1\"].where(df[\"c3\"] > 3, 0)\nprint(df[\"c1\"].mean())\n",
    ));
    v.wait(600);
    let code = v.read();
    assert!(
        v.all
            .contains("ALTERS c1 of sales = 0 unless \"df['c3'] > 3\" line 1"),
        "{}",
        v.all
    );
    assert!(code.contains(", alters"), "{code}");
    let sheet = v.ask();
    assert!(sheet.contains("as read before: alters,"), "{sheet}");
}

#[test]
fn where_sight_is_lost_is_said_before_the_code() {
    let mut v = Voice::of(Making::clear(
        "class A:\n    def __str__(self):\n        return str(df[\"c1\"])\nprint(A())\n",
    ));
    v.wait(600);
    v.read();
    assert!(v.all.contains("lost sight at line 1"), "{}", v.all);
}
