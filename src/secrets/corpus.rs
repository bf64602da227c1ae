//! What is found and what is not, row by row.

use std::fmt::Write as _;
use std::ops::Range;

use super::Secrets;

const FOUND: &str = include_str!("corpus/found.txt");
const ORDINARY: &str = include_str!("corpus/ordinary.txt");

/// The rows of a table: names and texts.
fn rows(table: &str) -> Vec<(&str, &str)> {
    let rows = table.split("\n== ").skip(1);
    let rows = rows.filter_map(|row| row.split_once('\n'));
    rows.map(|(name, text)| (name, text.trim_end_matches('\n')))
        .collect()
}

/// Letters and digits as keys have them.
fn letters(kind: char, count: usize) -> String {
    let all = match kind {
        '#' => "0a9f3c7be1d5",
        '^' => "A7KQX3ZM2B",
        _ => "a7KqxZ3m9BtR",
    };
    let all = all.as_bytes();
    // No two runs of them are alike, so that it is no repetition.
    (0..count)
        .map(|n| char::from(all[(n * 7 + n / all.len() * 5 + n / 3) % all.len()]))
        .collect()
}

/// The text of a row and where its secrets stand.
fn made(row: &str) -> (String, Vec<Range<usize>>) {
    let (mut text, mut secrets) = (String::new(), Vec::new());
    let mut start = None;
    let mut chars = row.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '«' => start = Some(text.len()),
            '»' => secrets.push(start.take().unwrap()..text.len()),
            '~' | '#' | '^' if chars.peek().is_some_and(char::is_ascii_digit) => {
                let mut count = String::new();
                while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                    count.push(digit);
                }
                text.push_str(&letters(c, count.parse().unwrap()));
            }
            c => text.push(c),
        }
    }
    (text, secrets)
}

/// What is wrong with what is found in a text.
fn fault(text: &str, expected: &[Range<usize>]) -> Option<String> {
    let found = Secrets::default().find(text);
    let covered = |at: usize| found.iter().any(|span| span.at.contains(&at));
    let meant = |at: usize| expected.iter().any(|range| range.contains(&at));
    let mut wrong = String::new();
    for (at, c) in text.char_indices() {
        match (meant(at), covered(at)) {
            (true, false) if c.is_alphanumeric() => wrong.push(c),
            (false, true) => write!(wrong, "[{c}]").unwrap(),
            _ => {}
        }
    }
    (!wrong.is_empty()).then(|| format!("{wrong:?} in {text:?}"))
}

#[test]
fn each_secret_of_the_table_is_found_and_nothing_beside_it() {
    let rows = rows(FOUND);
    assert!(rows.len() >= 260, "{}", rows.len());
    let mut faults = String::new();
    for (name, row) in rows {
        let (text, expected) = made(row);
        assert!(!expected.is_empty(), "{name}");
        for (text, before) in [(text.clone(), 0), (format!("x = 1\n{text}\nprint(x)\n"), 6)] {
            let expected: Vec<_> = expected
                .iter()
                .map(|at| at.start + before..at.end + before)
                .collect();
            if let Some(fault) = fault(&text, &expected) {
                writeln!(faults, "{name}: {fault}").unwrap();
                break;
            }
        }
    }
    assert_eq!(faults, "", "left, [taken] too much:\n{faults}");
}

/// A format without a row is one that nobody tried.
#[test]
fn each_kind_has_a_row() {
    let secrets = Secrets::default();
    let mut missing = super::kinds();
    missing.remove(super::ENVIRONMENT);
    for (_, row) in rows(FOUND) {
        for span in secrets.find(&made(row).0) {
            missing.remove(&*span.kind);
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn nothing_ordinary_is_replaced() {
    let rows = rows(ORDINARY);
    assert!(rows.len() >= 190, "{}", rows.len());
    let mut faults = String::new();
    for (name, text) in rows {
        if let Some(fault) = fault(text, &[]) {
            writeln!(faults, "{name}: {fault}").unwrap();
        }
    }
    assert_eq!(faults, "", "taken:\n{faults}");
}

/// Snippets that other tests and benches have.
#[test]
fn nothing_is_replaced_in_the_ordinary_snippets_of_the_repository() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [
        "tests/data/ordinary",
        "benches/guard/snippets",
        "benches/served/snippets",
    ];
    let (mut read, mut faults) = (0, String::new());
    for folder in folders {
        for file in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = file.unwrap().path();
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            read += 1;
            if let Some(fault) = fault(&text, &[]) {
                writeln!(
                    faults,
                    "{}: {}",
                    path.display(),
                    &fault[..fault.len().min(300)]
                )
                .unwrap();
            }
        }
    }
    assert!(read > 100, "{read}");
    assert_eq!(faults, "");
}

/// What nobody made of words is known as such, whatever its letters are.
#[test]
fn random_tokens_are_told_from_words() {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const BASE32: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let secrets = Secrets::default();
    let mut state = 7_u64;
    let mut digit = |of: &[u8]| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        char::from(of[(state >> 33) as usize % of.len()])
    };
    for (letters, length, most) in [
        (&LETTERS[..62], 20, 8),
        (LETTERS, 32, 12),
        (b"0123456789abcdef", 32, 1),
        (&LETTERS[26..62], 24, 6),
        (BASE32, 26, 20),
    ] {
        let mut missed = 0;
        for _ in 0..400 {
            let token: String = (0..length).map(|_| digit(letters)).collect();
            let found = secrets.find(&format!("api_token = \"{token}\""));
            missed += u32::from(found.is_empty());
        }
        assert!(
            missed <= most,
            "{missed} of 400 with {} letters",
            letters.len()
        );
    }
}
