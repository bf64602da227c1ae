//! What shows a person how they decide: this session's decisions and looks, and whether flagged code
//! was on the screen for as long as reading takes. It asks once more; it never prevents a grant.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;

use crate::broker::BrokerState;
use crate::clock::Now;
use crate::model::{DrillEnd, ProposalId};

use super::{Challenge, SHEET_GRACE, Sheet, UiState};

/// The fastest silent reading of most adults, in words per minute: 175 to 300 for non-fiction
/// (Brysbaert, "How many words do we read per minute?", Journal of Memory and Language 109, 2019).
/// No such figure is known for code, which takes longer.
pub const FASTEST: u64 = 300;
/// Code with fewer new words says nothing about its reader: it is taken in at a glance.
const GLANCE: usize = 60;
/// A longer piece of a literal is taken in as several words.
const LONG: usize = 40;
/// As many grants in a row are pointed out.
pub(in crate::tui) const STREAK: u64 = 10;
/// The number of looks of which the median is taken.
const LOOKS: usize = 1_000;
/// The most lines that are remembered as decided on.
const LINES: usize = 200_000;

/// A grant of code that was on the screen for less time than reading it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hurry {
    /// Words in lines that this session did not decide on before.
    pub words: usize,
    pub looked: Duration,
    pub reading: Duration,
}

/// This session's decisions in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tui) struct Tally {
    pub granted: u64,
    pub denied: u64,
    /// Grants since the last denial.
    pub in_a_row: u64,
    pub median_look: Duration,
    pub drills: Drills,
}

/// How this session's drills ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::tui) struct Drills {
    pub shown: u64,
    pub caught: u64,
}

/// This session's decisions.
#[derive(Default)]
pub(in crate::tui) struct Vigilance {
    granted: u64,
    denied: u64,
    in_a_row: u64,
    looks: VecDeque<Duration>,
    drills: Drills,
    /// Hashes of the lines of code that were decided on.
    lines: HashSet<u64>,
    keys: RandomState,
    /// Confirmed, and not counted before its vote is: whether it was a grant, the code, and the look.
    voting: BTreeMap<ProposalId, (bool, Arc<str>, Duration)>,
}

impl Vigilance {
    /// Whether `code` was looked at for less time than reading its new words takes.
    pub fn hurry(&self, code: &str, looked: Duration) -> Option<Hurry> {
        let known = |line: &&str| self.lines.contains(&self.keys.hash_one(line));
        let new = code.lines().map(str::trim).filter(|line| !known(line));
        let words: usize = new.map(count_words).sum();
        let reading = Duration::from_millis(words as u64 * 60_000 / FASTEST);
        (words >= GLANCE && looked < reading).then_some(Hurry {
            words,
            looked,
            reading,
        })
    }

    fn decided(&mut self, granted: bool, code: &str, look: Duration) {
        if granted {
            self.granted += 1;
            self.in_a_row += 1;
        } else {
            self.denied += 1;
            self.in_a_row = 0;
        }
        self.looks.push_back(look);
        if self.looks.len() > LOOKS {
            self.looks.pop_front();
        }
        if self.lines.len() > LINES {
            self.lines.clear();
        }
        for line in code.lines() {
            self.lines.insert(self.keys.hash_one(line.trim()));
        }
    }

    /// Counts what `counts` says is in, forgets what it says is not, and keeps the rest.
    pub fn settle(&mut self, mut counts: impl FnMut(ProposalId) -> Option<bool>) {
        for (id, (granted, code, look)) in std::mem::take(&mut self.voting) {
            match counts(id) {
                None => drop(self.voting.insert(id, (granted, code, look))),
                Some(true) => self.decided(granted, &code, look),
                Some(false) => {}
            }
        }
    }

    /// A drill ended. A caught one is a denial to the row of grants.
    pub fn drilled(&mut self, end: DrillEnd) {
        self.drills.shown += 1;
        if end == DrillEnd::Caught {
            self.drills.caught += 1;
            self.in_a_row = 0;
        }
    }

    /// `None` before the first decision.
    pub fn tally(&self) -> Option<Tally> {
        let mut looks: Vec<Duration> = self.looks.iter().copied().collect();
        looks.sort_unstable();
        Some(Tally {
            granted: self.granted,
            denied: self.denied,
            in_a_row: self.in_a_row,
            median_look: *looks.get(looks.len() / 2)?,
            drills: self.drills,
        })
    }
}

/// The words of a line of code as a reader takes them in: names and numbers, and in a literal what blanks separate. A
/// pattern or a path is one word, for each so many columns of it.
fn count_words(line: &str) -> usize {
    let mut words = 0;
    let mut rest = line;
    while let Some(quote) = rest.find(['"', '\'', '#']) {
        words += code_words(without_prefix(&rest[..quote]));
        if rest[quote..].starts_with('#') {
            return words + text_words(&rest[quote..]);
        }
        let inside = &rest[quote + 1..];
        let end = end_of(inside, rest.as_bytes()[quote]);
        words += text_words(&inside[..end]);
        rest = inside.get(end + 1..).unwrap_or_default();
    }
    words + code_words(rest)
}

/// Without the letters that belong to the literal behind them: `rb`.
fn without_prefix(code: &str) -> &str {
    let cut = code.trim_end_matches(['r', 'b', 'f', 'u', 'R', 'B', 'F', 'U']);
    match cut.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
        true => code,
        false => cut,
    }
}

/// Where the literal ends that begins here; a line ends it too.
fn end_of(inside: &str, quote: u8) -> usize {
    let mut escaped = false;
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            byte if byte == quote => return at,
            _ => {}
        }
    }
    inside.len()
}

/// Runs of letters, digits and underscores; a number's point does not end it.
fn code_words(code: &str) -> usize {
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let mut before = None;
    let mut inside = false;
    let mut words = 0;
    let mut rest = code.chars();
    while let Some(c) = rest.next() {
        let point = c == '.' && digit(before) && digit(rest.clone().next());
        let part = c.is_alphanumeric() || c == '_' || point;
        words += usize::from(part && !inside);
        (inside, before) = (part, Some(c));
    }
    words
}

/// What blanks separate, if it has a letter or a digit.
fn text_words(text: &str) -> usize {
    let words = text.split_whitespace();
    let words = words.filter(|word| word.contains(char::is_alphanumeric));
    words.map(|word| word.chars().count().div_ceil(LONG)).sum()
}

impl UiState {
    /// Remembers a decision that the person just made.
    pub(super) fn remember_decision(
        &mut self,
        state: &BrokerState,
        id: ProposalId,
        granted: bool,
        now: Now,
    ) {
        self.accrue(now);
        let look = self.look_at(id);
        // What a drill was is counted once it ended.
        if let Some(entry) = state.entry(id).filter(|entry| !entry.is_drill()) {
            let vigilance = &mut self.attention.vigilance;
            let code = entry.code().text();
            let is_vote = match granted {
                true => !state.terms_of(entry).is_empty(),
                false => state.settings.seat().is_some(),
            };
            match is_vote {
                true => drop(vigilance.voting.insert(id, (granted, code.clone(), look))),
                false => vigilance.decided(granted, code, look),
            }
        }
    }

    /// Asks once more for [`Key::ENTER`] if the right digits of a flagged proposal came sooner than its code can be read.
    /// They stay. True if it asked.
    pub(super) fn asks_again(&mut self, state: &BrokerState, now: Now) -> bool {
        self.accrue(now);
        let Some(id) = self.sheet().map(Sheet::id) else {
            return false;
        };
        let look = self.look_at(id);
        let Some(entry) = state.entry(id) else {
            return false;
        };
        let vigilance = &self.attention.vigilance;
        let Some(found) = vigilance.hurry(entry.code().text(), look) else {
            return false;
        };
        let Some(sheet) = self.over.sheet_mut() else {
            return false;
        };
        let Challenge::Digits {
            hurry: hurry @ None,
            ..
        } = &mut sheet.challenge
        else {
            return false;
        };
        *hurry = Some(found);
        sheet.hold(now.boot.saturating_add(SHEET_GRACE));
        true
    }

    /// How the person decided in this session so far.
    pub(in crate::tui) fn tally(&self) -> Option<Tally> {
        self.attention.vigilance.tally()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_new_words_count_and_short_code_is_never_hurried() {
        let mut v = Vigilance::default();
        let line = |n: usize| format!("total_{n} = frame_{n}.sum() + {n}\n");
        let code: String = (0..30).map(line).collect();
        let found = v.hurry(&code, Duration::from_secs(3)).unwrap();
        assert_eq!((found.words, found.reading.as_secs()), (120, 24));
        assert!(v.hurry(&code, Duration::from_secs(24)).is_none());
        let short: String = (0..14).map(line).collect();
        assert!(v.hurry(&short, Duration::ZERO).is_none());
        // Indentation does not make a line new; other numbers do.
        v.decided(true, &code, Duration::from_secs(3));
        let again = format!("if True:\n    {}", code.replace('\n', "\n    "));
        assert!(v.hurry(&again, Duration::ZERO).is_none());
        let others: String = (100..130).map(line).collect();
        assert!(v.hurry(&others, Duration::ZERO).is_some());
    }

    #[test]
    fn words_are_counted_as_a_reader_takes_them_in() {
        for (line, words) in [
            ("total_1 = frame_1.sum() + 1", 4),
            (r#"ok = re.match(r"^[A-Z]{2}\d{4}(-\d{2})?$", code)"#, 5),
            ("rate = base * 0.975", 3),
            ("print('sum of all', x)  # it isn't much", 8),
            (r#"s = "a \" b""#, 3),
            ("path = 'out/by_region/2024.csv'", 2),
            ("- + {}", 0),
        ] {
            assert_eq!(count_words(line), words, "{line}");
        }
        let long = format!("x = '{}'", "a".repeat(100));
        assert_eq!(count_words(&long), 4, "code hidden in a text is read too");
    }

    #[test]
    fn the_tally_counts_looks_and_grants_since_the_last_denial() {
        let mut v = Vigilance::default();
        assert_eq!(v.tally(), None);
        for (granted, seconds) in [(true, 1), (false, 9), (true, 4), (true, 2)] {
            v.decided(granted, "x = 1\n", Duration::from_secs(seconds));
        }
        let tally = Tally {
            granted: 3,
            denied: 1,
            in_a_row: 2,
            median_look: Duration::from_secs(4),
            drills: Drills::default(),
        };
        assert_eq!(v.tally(), Some(tally));
        v.drilled(DrillEnd::Granted);
        v.drilled(DrillEnd::Unanswered);
        let after = |shown, caught, in_a_row| {
            let drills = Drills { shown, caught };
            Some(Tally {
                in_a_row,
                drills,
                ..tally
            })
        };
        assert_eq!(v.tally(), after(2, 0, 2), "a granted drill is no grant");
        v.drilled(DrillEnd::Caught);
        assert_eq!(v.tally(), after(3, 1, 0));
    }
}
