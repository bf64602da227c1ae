//! One term: a key and a value.

use std::time::Duration;

use jiff::Timestamp;

use super::super::cases::{Case, Course, Shown};
use super::super::stats::Since;
use super::keys::Key;
use super::own;
use crate::model::{Capability, LimitKind, State, Tier, VerdictKind, nearest};

/// What must be so of a proposal.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::audit) enum Test {
    State(State),
    /// Whatever became of it afterwards.
    Granted,
    Verdict(VerdictKind),
    Limit(LimitKind),
    Tier(Tier),
    Shown(Shown),
    /// It has this record.
    Seq(u64),
    /// The capability's name matches.
    Text(Key, Glob),
    Uid(u32),
    Flag(Key, bool),
    /// Longer or shorter than this.
    Span(Key, Side, Duration),
    Since(Timestamp),
    Until(Timestamp),
    /// Records of these kinds, which belong to no proposal.
    Kind(&'static [&'static str]),
}

/// On which side of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::audit) enum Side {
    Below,
    AtMost,
    Above,
    AtLeast,
}

impl Test {
    /// # Errors
    /// What is wrong with the value, and what would be right.
    pub fn of(
        key: Key,
        value: &str,
        is_quoted: bool,
        now: Option<Timestamp>,
    ) -> Result<Self, String> {
        let lower = value.to_lowercase();
        Ok(match key {
            Key::State if lower == "granted" => Self::Granted,
            Key::State => Self::State(word(key, &lower, &State::ALL, State::as_str)?),
            Key::Verdict => Self::Verdict(word(key, &lower, &VERDICTS, VerdictKind::as_str)?),
            Key::Limit => Self::Limit(word(key, &lower, &LIMITS, LimitKind::as_str)?),
            Key::Tier => Self::Tier(word(key, &lower, &Tier::ALL, Tier::as_str)?),
            Key::Shown => Self::Shown(word(key, &lower, &Shown::ALL, Shown::as_str)?),
            Key::Seq => {
                let number = lower.parse().ok().filter(|seq| *seq > 0);
                Self::Seq(number.ok_or("`seq` takes the number of a record, such as seq:17")?)
            }
            Key::Private | Key::Edited | Key::Drill => Self::Flag(
                key,
                match lower.as_str() {
                    "yes" | "true" => true,
                    "no" | "false" => false,
                    _ => return Err(format!("`{}` takes yes or no", key.name())),
                },
            ),
            Key::Took | Key::Look | Key::Ran => {
                let (side, time) = span(key, &lower)?;
                Self::Span(key, side, time)
            }
            Key::Since => Self::Since(time(&lower, now)?),
            Key::Until => Self::Until(time(&lower, now)?),
            Key::On => return Err("`on` is read as since: and until:".to_owned()),
            Key::Kind => Self::Kind(
                own::kinds(&lower)
                    .ok_or_else(|| format!("`kind` takes one of {}", own::names().join(", ")))?,
            ),
            Key::Uid => Self::Uid(lower.parse().map_err(|_| "a uid is a number".to_owned())?),
            Key::Cap => Self::Text(key, capability(value, is_quoted)?),
            Key::Id | Key::Digest => {
                let digits = lower.strip_prefix("sha256:").unwrap_or(&lower);
                let plain = |c: char| c.is_ascii_hexdigit() || c == '-';
                if digits.is_empty() || !digits.chars().all(plain) {
                    return Err(format!("`{}` takes hexadecimal digits", key.name()));
                }
                Self::Text(key, Glob::exactly(digits))
            }
            Key::Rule
            | Key::Agent
            | Key::By
            | Key::Profile
            | Key::Title
            | Key::Says
            | Key::Reason
            | Key::Data
            | Key::File
            | Key::Error
            | Key::Host
            | Key::Output => Self::Text(
                key,
                match is_quoted {
                    true => Glob::exactly(&lower),
                    false => Glob::of(&lower),
                },
            ),
        })
    }

    pub fn holds(&self, case: &Case) -> bool {
        match self {
            Self::State(state) => case.state == *state,
            Self::Granted => case.course == Course::Granted,
            Self::Verdict(verdict) => case.judged().verdict == *verdict,
            Self::Limit(limit) => case
                .ran
                .as_ref()
                .is_some_and(|ran| ran.limit == Some(*limit)),
            Self::Tier(tier) => case.tier == Some(*tier),
            Self::Shown(shown) => case.shown() == Some(*shown),
            Self::Seq(seq) => case.seqs.contains(seq),
            Self::Uid(uid) => case.agent.0 == *uid,
            Self::Flag(Key::Private, wanted) => case.asked.private == *wanted,
            Self::Flag(Key::Edited, wanted) => case.edited.is_some() == *wanted,
            Self::Flag(_, wanted) => case.drill.is_some() == *wanted,
            Self::Span(key, side, time) => {
                let real = match key {
                    Key::Took => case.took(),
                    Key::Look => case.looked(),
                    _ => case.ran.as_ref().map(|ran| ran.time),
                };
                real.is_some_and(|real| side.holds(real, *time))
            }
            Self::Since(from) => case.at >= *from,
            Self::Until(to) => case.at < *to,
            Self::Kind(_) => false,
            Self::Text(key, glob) => text(*key, glob, case),
        }
    }
}

/// The values that a key can have, if they are few.
pub(super) fn values(key: Key) -> Vec<&'static str> {
    match key {
        Key::State => {
            let states = State::ALL.iter().map(|state| state.as_str());
            let mut all: Vec<&str> = states.chain(["granted"]).collect();
            all.sort_unstable();
            all.dedup();
            all
        }
        Key::Verdict => VERDICTS.iter().map(|verdict| verdict.as_str()).collect(),
        Key::Limit => LIMITS.iter().map(|limit| limit.as_str()).collect(),
        Key::Cap => Capability::ALL.iter().map(|cap| cap.as_str()).collect(),
        Key::Tier => Tier::ALL.iter().map(|tier| tier.as_str()).collect(),
        Key::Kind => own::names(),
        Key::Shown => Shown::ALL.iter().map(|shown| shown.as_str()).collect(),
        Key::Private | Key::Edited | Key::Drill => vec!["no", "yes"],
        _ => Vec::new(),
    }
}

fn text(key: Key, glob: &Glob, case: &Case) -> bool {
    let one =
        |text: &Option<std::sync::Arc<str>>| text.as_deref().is_some_and(|t| glob.stands_in(t));
    match key {
        Key::Rule => case.judged().rules.iter().any(|rule| glob.is(rule)),
        Key::Cap => case.judged().caps.iter().any(|cap| glob.is(cap.as_str())),
        Key::Agent => glob.is(&case.agent.1),
        Key::By => case.by.as_ref().is_some_and(|by| {
            by.login.as_deref().is_some_and(|login| glob.is(login)) || glob.is(&by.uid.to_string())
        }),
        Key::Host => case.host.as_deref().is_some_and(|host| glob.is(host)),
        Key::Profile => glob.is(&case.asked.profile),
        Key::Title => one(&case.asked.title),
        Key::Says => one(&case.asked.reason),
        Key::Reason => one(&case.denial),
        Key::Data => case.asked.data.iter().any(|name| glob.is(name)),
        Key::File => case
            .ran
            .iter()
            .flat_map(|ran| &ran.files)
            .any(|name| glob.is(name)),
        Key::Error => case
            .ran
            .iter()
            .flat_map(|ran| &ran.errors)
            .any(|name| glob.is(name)),
        Key::Id => {
            let id = case.id.to_string();
            id.starts_with(glob.text()) || id.ends_with(glob.text())
        }
        _ => {
            let codes = [
                Some(case.asked.digest),
                case.edited.as_ref().map(|e| e.digest),
            ];
            codes
                .iter()
                .flatten()
                .any(|code| code.hex().starts_with(glob.text()))
        }
    }
}

const VERDICTS: [VerdictKind; 4] = [
    VerdictKind::Clear,
    VerdictKind::Flagged,
    VerdictKind::Blocked,
    VerdictKind::Unanalyzable,
];
const LIMITS: [LimitKind; 7] = [
    LimitKind::Wall,
    LimitKind::Cpu,
    LimitKind::Memory,
    LimitKind::Processes,
    LimitKind::Files,
    LimitKind::Output,
    LimitKind::Ticks,
];

/// One of a few words.
fn word<T: Copy>(
    key: Key,
    value: &str,
    all: &[T],
    name: fn(T) -> &'static str,
) -> Result<T, String> {
    if let Some(found) = all.iter().find(|one| name(**one) == value) {
        return Ok(*found);
    }
    let names: Vec<&str> = all.iter().map(|one| name(*one)).collect();
    Err(unknown(key, value, &names))
}

fn unknown(key: Key, value: &str, names: &[&str]) -> String {
    let near = nearest(value, names.iter().copied());
    let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    format!(
        "there is no {} `{value}`{near} One of {}",
        key.name(),
        names.join(", ")
    )
    .replace("` One of", "`; one of")
}

/// A capability that exists, or a pattern that some match.
fn capability(value: &str, is_quoted: bool) -> Result<Glob, String> {
    let glob = match is_quoted {
        true => Glob::exactly(&value.to_lowercase()),
        false => Glob::of(&value.to_lowercase()),
    };
    let names: Vec<&str> = Capability::ALL.iter().map(|cap| cap.as_str()).collect();
    match names.iter().any(|name| glob.is(name)) {
        true => Ok(glob),
        false => Err(unknown(Key::Cap, value, &names)),
    }
}

fn span(key: Key, value: &str) -> Result<(Side, Duration), String> {
    let sides = [
        ("<=", Side::AtMost),
        (">=", Side::AtLeast),
        ("<", Side::Below),
        (">", Side::Above),
    ];
    let found = sides
        .iter()
        .find_map(|(sign, side)| Some((*side, value.strip_prefix(sign)?)));
    found
        .and_then(|(side, time)| Some((side, duration(time)?)))
        .ok_or_else(|| {
            format!(
                "`{}` takes <, <=, > or >= and a time with ms, s, m, h or d, such as {}",
                key.name(),
                key.example()
            )
        })
}

/// `1.5s`, `300ms`.
fn duration(text: &str) -> Option<Duration> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let number: f64 = text[..end].parse().ok()?;
    let unit = match &text[end..] {
        "ms" => 0.001,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 24.0 * 3600.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(number * unit).ok()
}

fn time(text: &str, now: Option<Timestamp>) -> Result<Timestamp, String> {
    let upper = text.to_uppercase();
    let since = upper.parse().or_else(|_| text.parse::<Since>())?;
    match (since, now) {
        (Since::At(at), _) => Ok(at),
        (since, Some(now)) => Ok(since.at(now)),
        (Since::Ago(_), None) => Err(format!(
            "`{text}` goes along with the clock, and what it selects today it would not select tomorrow; \
             give a day or a time that stays, such as 2026-11-01"
        )),
    }
}

impl Side {
    fn holds(self, real: Duration, value: Duration) -> bool {
        match self {
            Self::Below => real < value,
            Self::AtMost => real <= value,
            Self::Above => real > value,
            Self::AtLeast => real >= value,
        }
    }
}

/// A pattern: `*` stands for any characters, `?` for one. In lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::audit) struct Glob {
    text: String,
    is_plain: bool,
}

impl Glob {
    fn of(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            is_plain: !text.contains(['*', '?']),
        }
    }

    fn exactly(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            is_plain: true,
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Whether it is the whole text.
    fn is(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        match self.is_plain {
            true => self.text == text,
            false => fits(&self.text, &text),
        }
    }

    /// Whether it is a part of the text.
    fn stands_in(&self, text: &str) -> bool {
        match self.is_plain {
            true => text.to_lowercase().contains(&self.text),
            false => Self::of(&format!("*{}*", self.text)).is(text),
        }
    }
}

/// In time proportional to the product of both lengths.
fn fits(pattern: &str, text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    // `ends[n]`: whether the pattern so far can end before the character `n`.
    let mut ends = vec![false; text.len() + 1];
    ends[0] = true;
    for p in pattern.chars() {
        let mut after = vec![false; text.len() + 1];
        if p == '*' {
            let mut any = false;
            for (end, before) in after.iter_mut().zip(&ends) {
                any |= *before;
                *end = any;
            }
        } else {
            for (n, c) in text.iter().enumerate() {
                after[n + 1] = ends[n] && (p == '?' || p == *c);
            }
        }
        ends = after;
    }
    ends[text.len()]
}
