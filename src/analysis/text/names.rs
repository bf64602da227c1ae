//! Identifiers that look like others (UTS 39).

use std::collections::HashSet;

use unicode_security::{MixedScript, confusable_detection::skeleton};

use crate::analysis::facts::Facts;
use crate::analysis::fold::fold;
use crate::analysis::library::is_builtin;
use crate::analysis::rules;
use crate::analysis::scan::Outline;

pub(super) fn check(text: &str, outline: &Outline, facts: &mut Facts) {
    if outline.foreign_words.is_empty() {
        return;
    }
    let plain = words(text);
    // A text written in another alphabet contains words that look like no others.
    let native = outline
        .foreign_words
        .iter()
        .filter_map(|range| text.get(range.clone()))
        .any(|word| {
            !is_symbol(word)
                && word.is_single_script()
                && !skeleton(&fold(word)).all(|c| c.is_ascii())
        });
    let mut seen = HashSet::new();
    for range in &outline.foreign_words {
        let Some(word) = text.get(range.clone()) else {
            continue;
        };
        let folded = fold(word);
        if folded.is_ascii() || !seen.insert(folded.clone()) {
            continue;
        }
        let mixed = !word.is_single_script();
        // A single letter of another alphabet is mathematics. A word that looks like an ASCII word
        // of this text, or like one of Python's, is not.
        let twin: String = skeleton(&folded).collect();
        let imitates = twin.is_ascii()
            && ((plain.contains(twin.as_str()) && (twin.len() > 1 || is_drawn_alike(&folded)))
                || is_builtin(&twin)
                || (twin.len() > 1 && mixed)
                || !(native || is_symbol(&folded)));
        if imitates || (mixed && !joined_symbol(&folded)) {
            facts.add(
                &rules::TEXT_CONFUSABLE,
                (range.start, range.end),
                format!("`{folded}`"),
            );
        }
    }
}

/// The ASCII words of the text.
fn words(text: &str) -> HashSet<&str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|w| !w.is_empty())
        .collect()
}

/// Whether the letter is drawn like its Latin twin in the usual fonts. `ρ` beside `p` and `α` beside `a` are told apart.
fn is_drawn_alike(letter: &str) -> bool {
    const ALIKE: &str = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧνου";
    letter.chars().all(|c| ALIKE.contains(c))
}

/// Whether the word joins Greek symbols and Latin letters like a formula: `Δt`, `x_μ`, `σ2`.
pub(super) fn joined_symbol(word: &str) -> bool {
    const LOOKALIKES: &str = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγικνορτυχω";
    word.chars().all(|c| {
        c.is_ascii_alphanumeric()
            || c == '_'
            || (('\u{370}'..='\u{3ff}').contains(&c)
                && !(LOOKALIKES.contains(c) && word.chars().count() > 8))
            || ('\u{c0}'..='\u{24f}').contains(&c)
    })
}

/// Whether the word consists of Greek letters, as in formulas, or Latin letters with diacritics.
fn is_symbol(word: &str) -> bool {
    word.chars().all(|c| {
        c.is_ascii()
            || matches!(c, '\u{c0}'..='\u{24f}' | '\u{370}'..='\u{3ff}' | '\u{1e00}'..='\u{1eff}')
    })
}
