//! What can be told of code outside of its strings and comments without parsing it.

use std::ops::Range;

/// The keywords of Python, the soft ones too
/// (<https://docs.python.org/3/reference/lexical_analysis.html#keywords>).
const KEYWORDS: [&[u8]; 40] = [
    b"False",
    b"None",
    b"True",
    b"and",
    b"as",
    b"assert",
    b"async",
    b"await",
    b"break",
    b"case",
    b"class",
    b"continue",
    b"def",
    b"del",
    b"elif",
    b"else",
    b"except",
    b"finally",
    b"for",
    b"from",
    b"global",
    b"if",
    b"import",
    b"in",
    b"is",
    b"lambda",
    b"lazy",
    b"match",
    b"nonlocal",
    b"not",
    b"or",
    b"pass",
    b"raise",
    b"return",
    b"try",
    b"type",
    b"while",
    b"with",
    b"yield",
    b"_",
];
/// Most digits of a number that may be a secret. Larger ones are data.
const DIGITS: usize = 20;

const fn is_of_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80
}

/// `None` for a piece of code, without strings and comments, that no Python reads: a sign that it does not have, or two names
/// side by side. So are commands and sentences.
pub(super) fn may_run(code: &[u8]) -> Option<()> {
    if code.iter().any(|b| b"$?`".contains(b)) {
        return None;
    }
    let mut before: Option<Range<usize>> = None;
    let mut at = 0;
    while at < code.len() {
        if !is_of_word(code[at]) {
            // Only blanks between them.
            if !b" \t".contains(&code[at]) {
                before = None;
            }
            at += 1;
            continue;
        }
        let length = code[at..].iter().take_while(|b| is_of_word(**b)).count();
        let word = at..at + length;
        let is_name = |at: &Range<usize>| {
            let word = &code[at.clone()];
            // Letters beyond ASCII may be others to Python, and the last word the prefix of a string.
            word.is_ascii() && !word[0].is_ascii_digit() && at.end < code.len()
        };
        let is_name = |at: &Range<usize>| is_name(at) && !KEYWORDS.contains(&&code[at.clone()]);
        if is_name(&word) && before.as_ref().is_some_and(is_name) {
            return None;
        }
        at = word.end;
        before = Some(word);
    }
    Some(())
}

/// Whether a piece of code, without strings and comments, consists of words, `=` and blanks, without a keyword: it calls
/// nothing and has no operator.
pub(super) fn only_binds(code: &[u8]) -> bool {
    let signs = code
        .iter()
        .all(|b| b.is_ascii() && (is_of_word(*b) || b"= \t\r\n".contains(b)));
    let mut words = code.split(|b| !is_of_word(*b));
    signs && words.all(|word| !KEYWORDS.contains(&word))
}

/// Whether all of a word of the code stands here.
pub(super) fn is_word(code: &[u8], at: &Range<usize>) -> bool {
    let goes_on = |at: Option<usize>| {
        at.and_then(|at| code.get(at))
            .is_some_and(|b| is_of_word(*b))
    };
    code[at.clone()].iter().all(|b| is_of_word(*b))
        && !goes_on(at.start.checked_sub(1))
        && !goes_on(Some(at.end))
}

/// Whether a decimal number stands here, of as many digits as secrets have. What stands in other digits may be data, and
/// data may run.
pub(super) fn is_number(code: &[u8], at: &Range<usize>) -> bool {
    let beside = [at.start.checked_sub(1), Some(at.end)];
    let beside = beside.into_iter().flatten().filter_map(|at| code.get(at));
    let mut beside = beside.filter(|b| b".\"'".contains(b));
    at.len() <= DIGITS
        && code[at.clone()].iter().all(u8::is_ascii_digit)
        && is_word(code, at)
        && beside.next().is_none()
}
