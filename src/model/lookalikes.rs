//! Letters in an agent's words that imitate Latin ones (UTS 39): a name in which one letter is Cyrillic reads
//! like the name of another agent.

use std::ops::Range;

use unicode_security::MixedScript as _;
use unicode_security::confusable_detection::skeleton;
use unicode_security::mixed_script::AugmentedScriptSet;

use super::Mark;

/// Longer texts are not searched further: names and titles are short, and a screen is drawn often.
const SEARCHED: usize = 2_000;

/// A piece of an agent's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claimed<'a> {
    Text(&'a str),
    /// In place of a letter that imitates another.
    Mark(Mark),
}

/// The text with marks for letters that imitate others.
pub fn claimed(text: &str) -> Vec<Claimed<'_>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for letter in lookalikes(text) {
        if letter.start > at {
            pieces.push(Claimed::Text(&text[at..letter.start]));
        }
        let letters = text[letter.clone()].chars();
        pieces.extend(letters.map(|c| Claimed::Mark(Mark::of(c))));
        at = letter.end;
    }
    if at < text.len() {
        pieces.push(Claimed::Text(&text[at..]));
    }
    pieces
}

/// A letter as it must be told to somebody who cannot see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    pub c: char,
    /// Where it stands in its word, counted from 1.
    pub at: usize,
    /// The ASCII text that it looks like; empty if there is none.
    pub looks: String,
    /// `Cyrillic`; empty for ASCII.
    pub script: String,
}

impl Letter {
    fn new(at: usize, c: char) -> Self {
        let mut bytes = [0; 4];
        let looks: String = match c.is_ascii() {
            true => c.to_string(),
            false => skeleton(c.encode_utf8(&mut bytes)).collect(),
        };
        Self {
            c,
            at,
            looks: if looks.is_ascii() {
                looks
            } else {
                String::new()
            },
            script: match c.is_ascii() {
                true => String::new(),
                false => AugmentedScriptSet::for_char(c).to_string(),
            },
        }
    }
}

/// A word with letters that imitate others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imitation {
    /// What it looks like.
    pub word: String,
    pub letters: Vec<Letter>,
}

/// The words of a text that have letters that imitate others, with these letters.
pub fn imitations(text: &str) -> Vec<Imitation> {
    let odd = lookalikes(text);
    let mut out = Vec::new();
    for word in words(text) {
        let starts: Vec<usize> = odd
            .iter()
            .map(|letter| letter.start)
            .filter(|at| word.contains(at))
            .collect();
        if starts.is_empty() {
            continue;
        }
        let each = text[word.clone()].char_indices().enumerate();
        let letters = each
            .filter(|(_, (at, _))| starts.contains(&(word.start + at)))
            .map(|(nth, (_, c))| Letter::new(nth + 1, c))
            .collect();
        out.push(Imitation {
            word: skeleton(&text[word]).collect(),
            letters,
        });
    }
    out
}

/// Where two texts of equal length differ, letter by letter; `None` if their lengths differ.
pub fn differences(a: &str, b: &str) -> Option<Vec<(Letter, Letter)>> {
    if a.chars().count() != b.chars().count() {
        return None;
    }
    let pairs = a.chars().zip(b.chars()).enumerate();
    let unlike = pairs.filter(|(_, (a, b))| a != b);
    Some(
        unlike
            .map(|(i, (a, b))| (Letter::new(i + 1, a), Letter::new(i + 1, b)))
            .collect(),
    )
}

/// The byte ranges of letters that look like an ASCII letter and are none, in words that pass for Latin: words of
/// several scripts, and words of another script that could be read as Latin throughout, unless another word
/// shows that the text is written in that script.
fn lookalikes(text: &str) -> Vec<Range<usize>> {
    if text.is_ascii() {
        return Vec::new();
    }
    let text = &text[..text.floor_char_boundary(SEARCHED)];
    let words = words(text);
    let native = words.iter().any(|word| {
        let word = &text[word.clone()];
        word.is_single_script() && !is_latin(word) && !imitates(word)
    });
    words
        .into_iter()
        .filter(|word| {
            let word = &text[word.clone()];
            !word.is_single_script() || (!native && !is_symbol(word) && imitates(word))
        })
        .flat_map(|word| letters(text, word))
        .collect()
}

/// The runs of letters that are not plain ASCII.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (c.is_alphanumeric(), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    words.retain(|word| !text[word.clone()].is_ascii());
    words
}

fn imitates(word: &str) -> bool {
    skeleton(word).all(|c| c.is_ascii())
}

/// A single Greek letter is mathematics.
fn is_symbol(word: &str) -> bool {
    let greek = |c: char| ('\u{370}'..='\u{3ff}').contains(&c);
    word.chars().filter(|c| c.is_alphabetic()).count() == 1 && word.chars().any(greek)
}

/// Whether the letters are Latin ones with their diacritics, whatever they look like.
fn is_latin(word: &str) -> bool {
    word.chars().all(accented)
}

fn accented(c: char) -> bool {
    c.is_ascii() || matches!(c, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}')
}

fn letters(text: &str, word: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let from = word.start;
    text[word].char_indices().filter_map(move |(at, c)| {
        let mut bytes = [0; 4];
        let odd = !accented(c) && imitates(c.encode_utf8(&mut bytes));
        odd.then(|| from + at..from + at + c.len_utf8())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str) -> String {
        lookalikes(text).into_iter().map(|at| &text[at]).collect()
    }

    #[test]
    fn letters_that_pass_for_latin_ones_are_found() {
        for (text, odd) in [
            ("cl\u{430}ude", "\u{430}"),
            ("etl-b\u{43e}t", "\u{43e}"),
            // A whole word of look-alikes.
            (
                "\u{441}\u{43e}\u{440}\u{443}",
                "\u{441}\u{43e}\u{440}\u{443}",
            ),
            ("c\u{3bf}dex", "\u{3bf}"),
            ("\u{ff41}gent", "\u{ff41}"),
        ] {
            assert_eq!(marked(text), odd, "{text}");
        }
    }

    #[test]
    fn words_of_other_languages_and_formulas_are_left_alone() {
        for text in [
            "etl-bot",
            "Caf\u{e9} \u{dc}bersicht s\u{131}n\u{131}f",
            "\u{421}\u{443}\u{43c}\u{43c}\u{430} \u{43f}\u{43e} \u{440}\u{435}\u{433}\u{438}\u{43e}\u{43d}\u{430}\u{43c}",
            "\u{3b1} error",
            "\u{394}t of both",
            "\u{58f2}\u{4e0a} 2024",
            "\u{1f41f} fish",
        ] {
            assert_eq!(marked(text), "", "{text}");
        }
        assert_eq!(lookalikes(&"\u{430}x ".repeat(1_000_000)).len(), 500);
    }

    #[test]
    fn letters_that_imitate_are_named_with_their_place() {
        let found = imitations("the s\u{441}\u{43e}pe of Δt and 数据");
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].word, "scope");
        let letters: Vec<_> = found[0]
            .letters
            .iter()
            .map(|l| (l.at, l.c, &l.looks[..], &l.script[..]))
            .collect();
        assert_eq!(
            letters,
            [
                (2, '\u{441}', "c", "Cyrillic"),
                (3, '\u{43e}', "o", "Cyrillic")
            ]
        );
        let unlike = differences("orders_clean.csv", "orders_cIean.csv").unwrap();
        assert_eq!(unlike.len(), 1);
        assert_eq!(
            (unlike[0].0.at, unlike[0].0.c, unlike[0].1.c),
            (9, 'l', 'I')
        );
        assert_eq!(differences("rn", "m"), None);
    }
}
