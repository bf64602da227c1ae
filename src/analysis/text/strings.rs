//! Strings that a reader may mistake for the review screen or for another string.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use unicode_normalization::char::is_combining_mark;
use unicode_security::confusable_detection::skeleton;

use super::comments::{ENDS, GLYPHS, STATES, WORDS, verdict};
use super::names::joined_symbol;
use crate::analysis::facts::Facts;
use crate::analysis::rules;
use crate::analysis::scan::Outline;

/// Longer texts are prose: their words are compared, not the whole text.
const WHOLE: usize = 200;
/// Labels in front of the values on the review screen.
const LABELS: &[&str] = &[
    "agent says",
    "kernel says",
    "proposal",
    "profile",
    "policy",
    "tier",
    "layers",
    "not stopped",
    "verdict",
    "digest",
    "binds all of it",
];

pub(super) fn check(text: &str, outline: &Outline, facts: &mut Facts) {
    for range in &outline.strings {
        if text.get(range.clone()).is_some_and(|s| draws(inside(s))) {
            facts.add(&rules::TEXT_DRAWN, (range.start, range.end), "");
        }
    }
    if outline
        .strings
        .iter()
        .filter_map(|range| text.get(range.clone()))
        .any(|string| !string.is_ascii())
    {
        lookalikes(text, outline, facts);
    }
}

/// Whether a string imitates a part of the review screen. Phrases used only by the screen are
/// enough by themselves; words that data may also contain count only if two kinds of them occur
/// together.
fn draws(string: &str) -> bool {
    let lower = string.to_lowercase();
    let certain = string.lines().any(verdict_row)
        || asks(&lower)
        || string.contains("GRANT?")
        || (lower.contains("a grant") && lower.contains("d deny"));
    if certain {
        return true;
    }
    let kinds = [
        WORDS.iter().chain(ENDS).any(|words| lower.contains(words)),
        verdict(&lower),
        string.lines().any(framed),
        lower.lines().filter(|line| labelled(line)).count() >= 2,
        numbered(string),
    ];
    kinds.into_iter().filter(|kind| *kind).count() >= 2
}

/// Whether a glyph of ours is directly followed by a state: `● clear`, `✓ granted`.
fn verdict_row(line: &str) -> bool {
    line.match_indices(GLYPHS).any(|(at, glyph)| {
        let rest = line.get(at + glyph.len()..).unwrap_or("");
        let word = rest.trim_start_matches([' ', '\u{a0}']);
        let end = word
            .find(|c: char| !c.is_alphabetic())
            .unwrap_or(word.len());
        let state = word.get(..end).unwrap_or("").to_lowercase();
        rest.len() - word.len() <= 3 && STATES.contains(&state.as_str())
    })
}

/// Whether the text asks for a key: `type 4f1c to grant`, `press y to grant`.
fn asks(lower: &str) -> bool {
    lower.match_indices(" to grant").any(|(at, _)| {
        let before = lower.get(..at).unwrap_or("");
        let mut words = before.split_whitespace().rev();
        let (key, verb) = (words.next(), words.next());
        let key = key.is_some_and(|key| key.chars().count() <= 6);
        let verb = verb.map(|verb| verb.trim_start_matches(|c: char| !c.is_alphabetic()));
        key && matches!(verb, Some("type" | "press" | "enter"))
    })
}

/// Whether the line looks like part of a frame: lines drawn along it or at both ends.
fn framed(line: &str) -> bool {
    let drawn = |c: char| ('\u{2500}'..='\u{257f}').contains(&c);
    let mut run = 0;
    for c in line.chars() {
        run = if drawn(c) { run + 1 } else { 0 };
        if run == 3 {
            return true;
        }
    }
    let row = line.trim();
    row.chars().count() > 2 && row.starts_with(drawn) && row.ends_with(drawn)
}

fn labelled(line: &str) -> bool {
    let row = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    LABELS.iter().any(|label| {
        row.strip_prefix(label)
            .is_some_and(|rest| rest.starts_with("  ") && !rest.trim().is_empty())
    })
}

/// Whether rows start with line numbers, as on the review screen.
fn numbered(string: &str) -> bool {
    const ROWS: usize = 3;
    let mut run = 0;
    let mut before: Option<u32> = None;
    for line in string.lines() {
        let row = line.trim_start();
        let end = row.find(|c: char| !c.is_ascii_digit()).unwrap_or(row.len());
        let (number, rest) = row.split_at(end);
        let number = number.parse::<u32>().ok();
        let gap = rest.starts_with("  ") || rest.starts_with([' ', '│', '|']) && rest.contains('│');
        let next = gap && number.is_some() && before.and_then(|n| n.checked_add(1)) == number;
        run = if next { run + 1 } else { 0 };
        if run + 1 >= ROWS {
            return true;
        }
        before = number;
    }
    false
}

/// Reports strings, and words in strings, that look like others in this text (UTS 39).
fn lookalikes(text: &str, outline: &Outline, facts: &mut Facts) {
    let mut found: HashSet<usize> = HashSet::new();
    let wholes: Vec<(Range<usize>, &str)> = outline
        .strings
        .iter()
        .filter_map(|range| Some((range.clone(), inside(text.get(range.clone())?))))
        .filter(|(_, content)| {
            let short = content.chars().count() <= WHOLE && !content.contains('\n');
            short && content.chars().any(char::is_alphanumeric)
        })
        .collect();
    let seen = Seen::of(wholes.iter().map(|(_, content)| *content));
    for (range, content) in &wholes {
        if !content.is_ascii() && !lone_symbol(content) && seen.has_twin(content) {
            found.insert(range.start);
            let at = (range.start, range.end);
            facts.add(&rules::TEXT_CONFUSABLE_STRING, at, "");
        }
    }
    let identifiers = outline.foreign_words.iter();
    let others = identifiers.filter_map(|range| text.get(range.clone()));
    let foreign: Vec<(Range<usize>, &str)> = outline
        .strings
        .iter()
        .filter(|range| !found.contains(&range.start))
        .flat_map(|range| words(text, range.clone()))
        .filter(|(_, word)| !word.is_ascii() && word.chars().nth(1).is_some())
        .collect();
    let plain = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let seen = Seen::of(
        plain
            .filter(|word| word.len() > 1)
            .chain(foreign.iter().map(|(_, word)| *word))
            .chain(others),
    );
    let mut told = HashSet::new();
    for (range, word) in &foreign {
        let twin = !formula(word) && seen.has_twin(word);
        if (mixes(word) || twin) && told.insert(*word) {
            let at = (range.start, range.end);
            facts.add(&rules::TEXT_CONFUSABLE_STRING, at, format!("`{word}`"));
        }
    }
}

/// Texts grouped by their appearance.
struct Seen<'t>(HashMap<String, HashSet<&'t str>>);

impl<'t> Seen<'t> {
    fn of(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut all: HashMap<String, HashSet<&str>> = HashMap::new();
        let each: HashSet<&str> = texts.collect();
        for text in each {
            all.entry(look(text)).or_default().insert(text);
        }
        Self(all)
    }

    /// Whether another text looks the same.
    fn has_twin(&self, text: &str) -> bool {
        self.0.get(&look(text)).is_some_and(|same| same.len() > 1)
    }
}

fn look(text: &str) -> String {
    let seen: String = text.chars().filter(|c| !joins(*c)).collect();
    skeleton(&seen).collect()
}

/// Joiners and variation selectors, which make no visible difference.
fn joins(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}')
}

/// Whether the content is a single symbol: one Greek letter is mathematics, and one sign is typical
/// of code that cleans texts.
fn lone_symbol(content: &str) -> bool {
    let mut chars = content.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) => !c.is_alphabetic() || ('\u{370}'..='\u{3ff}').contains(&c),
        _ => false,
    }
}

/// Whether the word is a formula symbol (`α1`, `x_μ`) rather than an imitation of another name.
fn formula(word: &str) -> bool {
    let symbol = |c: char| c.is_ascii() || ('\u{370}'..='\u{3ff}').contains(&c);
    word.chars().count() <= 3 && word.chars().all(symbol)
}

/// Whether a letter of another alphabet that looks Latin occurs among Latin letters. Letters that
/// look like no other may: `AI技術`, `Δt`.
fn mixes(word: &str) -> bool {
    let plain = word.chars().any(|c| c.is_ascii_alphabetic());
    plain && word.chars().any(imitates_latin) && !joined_symbol(word)
}

fn imitates_latin(c: char) -> bool {
    let latin = matches!(c, '\0'..='\u{24f}' | '\u{1e00}'..='\u{1eff}');
    if latin || !c.is_alphabetic() {
        return false;
    }
    let mut buffer = [0; 4];
    let mut twin = skeleton(c.encode_utf8(&mut buffer)).peekable();
    twin.peek().is_some() && twin.all(|c| c.is_ascii_alphabetic())
}

/// The words in a range of the text.
fn words(text: &str, range: Range<usize>) -> Vec<(Range<usize>, &str)> {
    let Some(piece) = text.get(range.clone()) else {
        return Vec::new();
    };
    let part = |c: char| c.is_alphanumeric() || c == '_' || joins(c) || is_combining_mark(c);
    let mut all = Vec::new();
    let mut start = None;
    for (at, c) in piece.char_indices().chain([(piece.len(), ' ')]) {
        match (part(c), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                let whole = range.start + from..range.start + at;
                all.extend(text.get(whole.clone()).map(|word| (whole, word)));
                start = None;
            }
            _ => {}
        }
    }
    all
}

/// A string without its prefix and quotes.
fn inside(string: &str) -> &str {
    let bare = string.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let quotes = |n: usize| bare.get(n..bare.len().saturating_sub(n));
    let triple = ["\"\"\"", "'''"]
        .iter()
        .any(|q| bare.len() >= 6 && bare.starts_with(q) && bare.ends_with(q));
    quotes(if triple { 3 } else { 1 }).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_imitates_the_screen_is_found_and_ordinary_text_is_not() {
        for fake in [
            "\"✓ granted\"",
            "'● clear'",
            "\"  ▲  flagged   2 findings\"",
            "\"type 4f1c to grant\"",
            "'press y to grant'",
            "'GRANT?'",
            "\"a grant  d deny  q quit\"",
            "\"\"\"\n┌──────────┐\n│ verdict: clear │\n\"\"\"",
            "\"\"\"\n┌──────────┐\nend of snippet\n\"\"\"",
            "\"\"\"\nprofile     analysis\ntier        kernel\nno findings\n\"\"\"",
            "\"\"\"\n  7  import pandas\n  8  print(1)\n  9  x = 2\nend of code\n\"\"\"",
        ] {
            assert!(draws(fake), "{fake}");
        }
        for honest in [
            "\"✓ succeeded\"",
            "\"✓ cleared the cache\"",
            "\"● all data is clear of outliers\"",
            "\"approved by\"",
            "\"verdict: clear\"",
            "\"┌──────┬──────┐\\n│ a │ b │\"",
            "\"\"\"\nprofile  of the user\npolicy  of the house\n\"\"\"",
            "\"we chose to grant access\"",
            "\"permission to grant\"",
            "\"\"\"\n1  apple\n2  pear\n3  plum\n\"\"\"",
            "\"grant and deny\"",
        ] {
            assert!(!draws(honest), "{honest}");
        }
    }

    #[test]
    fn a_single_foreign_letter_is_distinguished_from_a_foreign_word() {
        for mixed in ["p\u{430}id", "\u{441}ount", "v\u{430}lue1", "\u{ff50}aid"] {
            assert!(mixes(mixed), "{mixed}");
        }
        for one in [
            "paid",
            "оплата",
            "Δt",
            "σ2",
            "AI技術",
            "Tシャツ",
            "café",
            "кВтч",
            "CO₂",
            "μm",
        ] {
            assert!(!mixes(one), "{one}");
        }
    }

    #[test]
    fn a_string_is_read_without_its_quotes() {
        for (string, content) in [
            ("\"a\"", "a"),
            ("rb'a'", "a"),
            ("\"\"\"a\"\"\"", "a"),
            ("''", ""),
            ("\"", ""),
            ("\"\"\"\"\"\"", ""),
        ] {
            assert_eq!(inside(string), content, "{string}");
        }
    }
}
