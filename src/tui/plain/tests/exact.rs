//! Lines tell codes apart: each code can be written down again from what was said.

use proptest::prelude::*;

use super::*;

/// The lines that were said, each as if the terminal had no width.
pub(super) fn whole(said: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for row in said.lines() {
        let Some(rest) = row.strip_prefix("..") else {
            out.push(row.to_owned());
            continue;
        };
        let (blanks, text) = match (rest.strip_prefix(' '), rest.strip_prefix("+ ")) {
            (Some(text), _) => (1, text),
            (_, Some(text)) => (0, text),
            _ => {
                let (n, text) = rest.split_once(" blanks ").unwrap();
                (n.parse().unwrap(), text)
            }
        };
        let line = out.last_mut().unwrap();
        line.push_str(&" ".repeat(blanks));
        line.push_str(text);
    }
    out
}

/// A text of [`exact`] as it was.
fn unmarked(text: &str) -> String {
    let mut parts = text.split("\\u{");
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        let (mark, rest) = part.split_once('}').unwrap();
        let c = match mark {
            "tab" => '\t',
            number => char::from_u32(u32::from_str_radix(number, 16).unwrap()).unwrap(),
        };
        out.push(c);
        out.push_str(rest);
    }
    out
}

/// The code whose lines were said.
fn code_of(said: &str) -> String {
    let mut out = String::new();
    let mut ended = true;
    for line in said.lines().map(str::to_owned) {
        let (head, text) = match line.split_once(": ") {
            Some((head, text)) => (head.to_owned(), unmarked(text)),
            None => (line, String::new()),
        };
        let mut parts = head.split(", ");
        let first = !parts.next().unwrap().ends_with("goes on");
        if first && !out.is_empty() && ended {
            out.push('\n');
        }
        ended = true;
        let mut after = 0;
        for part in parts {
            if let Some(indent) = part.strip_prefix("indent ") {
                for run in indent.split(" and ") {
                    let (n, c) = match run.split_once(' ') {
                        Some((n, _)) => (n, "\t"),
                        None => (run, " "),
                    };
                    out.push_str(&c.repeat(n.parse().unwrap()));
                }
            } else if let Some(blanks) = part.strip_prefix("ends with ") {
                after = blanks.split(' ').next().unwrap().parse().unwrap();
            } else if part == "no line end" {
                ended = false;
            }
        }
        out.push_str(&text);
        out.push_str(&" ".repeat(after));
    }
    if ended {
        out.push('\n');
    }
    out
}

fn heard(code: &str, columns: u16) -> String {
    let mut v = Voice::new();
    v.columns = columns;
    v.b.propose(Making::clear(code));
    v.wait(600);
    let mut all = String::new();
    for _ in 0..50 {
        all.push_str(&v.keys(" "));
        v.wait(25);
        let lines = whole(&all);
        if let Some(end) = lines.iter().position(|line| line.starts_with("End of")) {
            let code = lines[..end].iter();
            let begun = code.skip_while(|line| !line.starts_with('1'));
            let lines = begun.filter(|line| !line.starts_with("More"));
            return lines.map(|line| format!("{line}\n")).collect();
        }
    }
    panic!("{all}");
}

#[test]
fn blanks_at_a_break_are_heard_and_a_break_within_a_word_is_none() {
    for blanks in [1, 2, 5] {
        let code = format!("x = \"{}{}bbbbbb\"\n", "a".repeat(75), " ".repeat(blanks));
        assert_eq!(code_of(&heard(&code, 80)), code);
    }
    let long = format!("p = \\\n'{}", "L".repeat(300));
    for end in ["*.csv'\n", " *.csv'\n"] {
        let code = format!("{long}{end}");
        assert_eq!(code_of(&heard(&code, 80)), code);
    }
}

#[test]
fn no_code_can_say_what_the_program_says_of_another() {
    for code in [
        "x = 1   \n",
        "x = 1 (ends with 3 blanks)\n",
        "x = 1, ends with 3 blanks\n",
        "# \u{202e}\n",
        "# \\u{202E}\n",
        "# \\u{202E}\u{202e}\n",
        "# \u{202e}\\u{202E}\n",
        "\tx\n",
        "\\tx\n",
        "\\u{tab}x\n",
        "x\ty = 1",
        "x\ty = 1\n",
        "x = 1\ry\n",
        "x = 1\r\ny\n",
    ] {
        assert_eq!(code_of(&heard(code, 60)), code, "{code:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_code_can_be_written_down_from_what_was_said(
        parts in prop::collection::vec(prop::sample::select(vec![
            " ", "  ", "     ", "a", "bb", "=", "..", "..+ ", "漢", "\n", "\n    ", "\t", "\\u{", ": ", "word", "\u{202e}",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        ]), 0..40),
        columns in 20_u16..=200,
    ) {
        let code = format!("x{}\n", parts.concat());
        prop_assert_eq!(code_of(&heard(&code, columns)), code);
    }
}
