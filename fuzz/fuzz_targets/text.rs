//! The checks on the text itself: clear text contains nothing that a reader cannot see, a finding
//! covers each hidden character, and lines that run off the screen are reported.
#![no_main]

use countersign::analysis::analyse;
use countersign::model::{Finding, VerdictKind};
use countersign_fuzz::{THREAD, is_hidden, on_stack, policies};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    on_stack(THREAD, || check(text));
});

fn check(text: &str) {
    let verdict = analyse(text.as_bytes(), &policies()[0]);
    let (mut line, mut column) = (1, 0);
    let mut chars = text.chars().peekable();
    let mut before = ' ';
    while let Some(c) = chars.next() {
        column += 1;
        if must_be_told(c, before, chars.peek().copied()) {
            assert_ne!(verdict.verdict, VerdictKind::Clear, "{c:?} is not told");
            // The list of findings is cut at a length that nobody would read.
            if verdict.findings.len() < 500 {
                assert!(
                    verdict.findings.iter().any(|f| tells(f, line, column)),
                    "{c:?} in line {line}, column {column} is not told"
                );
            }
        }
        if c == '\n' {
            if column > 1_001 && verdict.findings.len() < 500 && !before.is_whitespace() {
                assert!(
                    verdict.findings.iter().any(|f| f.line == line),
                    "line {line} of {column} columns is not told"
                );
            }
            (line, column) = (line + 1, 0);
        }
        before = c;
    }
}

/// Joiners are legitimate within the scripts and emoji that use them.
fn must_be_told(c: char, before: char, next: Option<char>) -> bool {
    match c {
        '\n' | '\t' => false,
        '\r' => next != Some('\n'),
        '\u{200c}' | '\u{200d}' => before.is_ascii(),
        _ => is_hidden(c),
    }
}

/// Whether a finding about the text, or one that refuses all of it, covers this position.
fn tells(f: &Finding, line: u32, column: u32) -> bool {
    let covers =
        (f.line, f.column) <= (line, column) && (line, column) <= (f.end_line, f.end_column);
    (f.rule.starts_with("TEXT") && covers) || f.rule.starts_with("PARSE")
}
