//! Tells what is made of ordinary words and numbers from what may be a secret.

use std::collections::HashSet;
use std::sync::OnceLock;

/// A table of words in small letters, with blanks between.
pub(super) struct Words {
    all: &'static str,
    set: OnceLock<HashSet<&'static str>>,
}

impl Words {
    pub const fn of(all: &'static str) -> Self {
        let set = OnceLock::new();
        Self { all, set }
    }

    pub fn has(&self, word: &str) -> bool {
        let all = || self.all.split_ascii_whitespace().collect();
        self.set.get_or_init(all).contains(word)
    }

    /// Whether a word ends with one of these.
    pub fn ends(&self, word: &str) -> bool {
        let mut begins = word.char_indices().map(|(at, _)| at);
        begins.any(|at| self.has(&word[at..]))
    }
}

/// Most digits beside the letters of an ordinary word: `python3`, `256color`; a year may stand beside a longer one.
const DIGITS: usize = 3;
/// Fewest letters beside four digits: `Bundestagswahl2025`.
const LETTERS: usize = 6;

/// Whether a text consists of words, numbers and what stands between them. Column names, versions, locales and hosts
/// are ordinary; keys and most passwords are not.
pub(super) fn is_ordinary(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).all(is_word)
}

/// A number, or letters in the case of a word with a few digits before or after them.
pub(super) fn is_word(part: &str) -> bool {
    let letters = part.trim_matches(|c: char| c.is_ascii_digit());
    if letters.is_empty() {
        return true;
    }
    let digits = part.len() - letters.len();
    let mut rest = letters.chars();
    let first = rest.next().is_some_and(char::is_uppercase);
    let rest = rest.as_str();
    let one_case =
        rest.chars().all(char::is_lowercase) || first && rest.chars().all(char::is_uppercase);
    one_case && (digits <= DIGITS || digits == DIGITS + 1 && letters.chars().count() >= LETTERS)
}

/// How many bytes of a part without signs belong to no word: `iPhone15Pro` has few, keys have most.
pub(super) fn strange(part: &str) -> usize {
    if is_word(part) {
        return 0;
    }
    let class = |c: char| match c {
        _ if c.is_numeric() => 0,
        _ if c.is_uppercase() => 1,
        _ => 2,
    };
    let (mut from, mut last) = (0, None);
    let mut runs: Vec<&str> = Vec::new();
    for (at, c) in part.char_indices() {
        let now = class(c);
        // A capital begins a word.
        if last.is_some_and(|last| last != now && (last, now) != (1, 2)) {
            runs.push(&part[from..at]);
            from = at;
        }
        last = Some(now);
    }
    let year = &part[from..];
    let is_number = |run: &str| run.starts_with(char::is_numeric);
    let number = is_number(year) && year.len() <= 4;
    if !number {
        runs.push(year);
    }
    // Words are few and long.
    let (count, numbers) = (runs.len(), runs.iter().filter(|run| is_number(run)).count());
    let broken = numbers > 1 || count > 4 && part.len() < 4 * count || 2 * part.len() < 5 * count;
    if broken {
        return part.len();
    }
    let strange = runs.iter().filter(|run| !is_like_a_word(run));
    strange.map(|run| run.len()).sum()
}

/// Letters with as many vowels as words have.
fn is_like_a_word(run: &str) -> bool {
    let letters = run.chars().count();
    let is_vowel = |c: &char| "aeiouyAEIOUY".contains(*c) || !c.is_ascii();
    let vowels = run.chars().filter(is_vowel).count();
    letters >= 3 && vowels * 6 >= letters
}

/// Whether a text is a path, a list of paths, or a number.
pub(super) fn is_path_or_number(text: &str) -> bool {
    let path = |part: &str| {
        let roots = ["/", "./", "../", "~/"];
        part.is_empty() || roots.iter().any(|root| part.starts_with(root))
    };
    let number = |c: char| c.is_ascii_digit() || " .,:;+-_/".contains(c);
    text.split([':', ';']).all(path) || text.chars().all(number)
}
