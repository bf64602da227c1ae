//! `allowed_signers`: which keys are whose.
//!
//! The format is that of `ssh-keygen -Y verify` (ssh-keygen(1), ALLOWED SIGNERS), so an auditor can check a vote with
//! OpenSSH alone. What is read here is a part of it: whatever could mean two things, or another thing tomorrow, is refused.
//! OpenSSH logs a bad line and goes on; here one bad line refuses the file.

use std::collections::HashMap;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::model::{NAMESPACE, Person, did_you_mean};

use super::error::{BallotError, VotingFile};
use super::key::{Key, is_type};
use super::lines::{numbered, short, text, word};

/// One line: a key and whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signer {
    pub person: Person,
    pub key: Key,
    /// The first and the last second at which it may sign.
    pub valid_after: Option<Timestamp>,
    pub valid_before: Option<Timestamp>,
    pub(super) line: usize,
}

/// All lines, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signers(Vec<Signer>);

impl Signers {
    /// # Errors
    /// The first line that is not understood, that is not allowed, or that contradicts an earlier one.
    pub fn read(bytes: &[u8]) -> Result<Self, BallotError> {
        let text = text(VotingFile::Signers, bytes)?;
        let mut all: Vec<Signer> = Vec::new();
        let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
        for (number, line) in numbered(text) {
            let line = line.trim_matches([' ', '\t']);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let says = |message| BallotError::at(VotingFile::Signers, number, message);
            let signer = signer(line, number).map_err(says)?;
            if let Some(earlier) = known
                .insert(signer.key.point().to_vec(), all.len())
                .and_then(|at| all.get(at))
            {
                return Err(says(twice(earlier, &signer)));
            }
            all.push(signer);
        }
        Ok(Self(all))
    }

    pub fn iter(&self) -> impl Iterator<Item = &Signer> {
        self.0.iter()
    }

    /// The lines of one person.
    pub fn of<'a>(&'a self, person: &'a Person) -> impl Iterator<Item = &'a Signer> {
        self.iter().filter(move |signer| signer.person == *person)
    }
}

fn twice(earlier: &Signer, later: &Signer) -> String {
    let line = earlier.line;
    let key = later.key.fingerprint();
    match earlier.person == later.person {
        true => format!("the key {key} stands in line {line} already; remove one of the two lines"),
        false => two_names(key, &earlier.person, &later.person),
    }
}

fn two_names(key: &str, one: &Person, other: &Person) -> String {
    format!(
        "the key {key} is `{one}`'s and `{other}`'s: a key with two names could vote twice; each person has \
         one name and keys of their own"
    )
}

fn signer(line: &str, number: usize) -> Result<Signer, String> {
    let (names, rest) = word(line);
    let names = names
        .split(',')
        .map(person)
        .collect::<Result<Vec<_>, _>>()?;
    let Some(first) = names.first() else {
        return Err("has no name".to_owned());
    };
    let example = || format!("write `{first} namespaces=\"{NAMESPACE}\" ssh-ed25519 AAAA…`");
    if rest.is_empty() {
        return Err(format!("has only a name; {}", example()));
    }
    if is_type(word(rest).0) {
        return Err(format!(
            "has no namespaces, so its key would count for everything; {}",
            example()
        ));
    }
    let (options, rest) = options_and_rest(rest)?;
    let options = Options::read(options)?;
    let Some(namespaces) = options.namespaces else {
        return Err(format!(
            "has no namespaces, so its key would count for everything; {}",
            example()
        ));
    };
    check_namespaces(&namespaces)?;
    if let (Some(after), Some(before)) = (options.after, options.before)
        && before <= after
    {
        return Err(
            "valid-before is not after valid-after; then the key is never valid".to_owned(),
        );
    }
    let (kind, rest) = word(rest);
    if kind.is_empty() {
        return Err(format!("has no key; {}", example()));
    }
    let (base64, _comment) = word(rest);
    let key = Key::of(kind, base64).map_err(|e| e.to_string())?;
    if let Some(second) = names.get(1) {
        return Err(match second == first {
            true => format!("names `{first}` twice; once is enough"),
            false => two_names(key.fingerprint(), first, second),
        });
    }
    Ok(Signer {
        person: first.clone(),
        key,
        valid_after: options.after,
        valid_before: options.before,
        line: number,
    })
}

fn person(name: &str) -> Result<Person, String> {
    if name.contains(['*', '?', '!']) {
        return Err(format!(
            "`{}` is a pattern, which could stand for anybody; write the name of one person",
            short(name)
        ));
    }
    Person::new(name).map_err(|e| e.to_string())
}

/// Cuts at the first space outside quotes.
fn options_and_rest(text: &str) -> Result<(&str, &str), String> {
    let mut quoted = false;
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '\\' if quoted => {
                return Err(
                    "has a `\\` in quotes; no name of a namespace and no date has one".into(),
                );
            }
            ' ' | '\t' if !quoted => {
                let (options, rest) = text.split_at(at);
                return Ok((options, rest.trim_start_matches([' ', '\t'])));
            }
            _ => {}
        }
    }
    match quoted {
        true => Err("has a quote that is not closed; add the second `\"`".to_owned()),
        false => Ok((text, "")),
    }
}

const OPTIONS: [&str; 3] = ["namespaces", "valid-after", "valid-before"];

#[derive(Default)]
struct Options {
    namespaces: Option<String>,
    after: Option<Timestamp>,
    before: Option<Timestamp>,
}

impl Options {
    /// Quotes are in pairs, which [`options_and_rest`] saw to.
    fn read(text: &str) -> Result<Self, String> {
        let mut options = Self::default();
        for option in outside_quotes(text) {
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (option, None),
            };
            let name = name.to_ascii_lowercase();
            if name == "cert-authority" {
                return Err(
                    "has cert-authority: keys of authorities could make any voter; list each person's own key"
                        .to_owned(),
                );
            }
            if !OPTIONS.contains(&&*name) {
                return Err(format!(
                    "`{}` is no option{}; there are {}",
                    short(&name),
                    did_you_mean(&name, OPTIONS),
                    OPTIONS.join(", ")
                ));
            }
            let inside = value
                .and_then(|v| v.strip_prefix('"'))
                .and_then(|v| v.strip_suffix('"'))
                .filter(|v| !v.contains('"'));
            let Some(value) = inside else {
                return Err(format!(
                    "{name} has no value in quotes; write `{name}=\"…\"`"
                ));
            };
            let again = match &*name {
                "namespaces" => options.namespaces.replace(value.to_owned()).is_some(),
                "valid-after" => options.after.replace(instant(&name, value)?).is_some(),
                _ => options.before.replace(instant(&name, value)?).is_some(),
            };
            if again {
                return Err(format!("has {name} twice; remove one of them"));
            }
        }
        Ok(options)
    }
}

/// Splits at commas outside quotes.
fn outside_quotes(text: &str) -> Vec<&str> {
    let mut quoted = false;
    text.split(|c| {
        quoted ^= c == '"';
        c == ',' && !quoted
    })
    .collect()
}

fn check_namespaces(list: &str) -> Result<(), String> {
    for name in list.split(',') {
        // A namespace that may be one is written like a person's name.
        if Person::new(name).is_err() {
            return Err(format!(
                "`{}` is no name of a namespace; write namespaces=\"{NAMESPACE}\", without patterns or spaces",
                short(name)
            ));
        }
    }
    match list.split(',').any(|name| name == NAMESPACE) {
        true => Ok(()),
        false => Err(format!(
            "the key is for namespaces=\"{}\" and not for votes; write namespaces=\"{NAMESPACE}\"",
            short(list)
        )),
    }
}

/// `YYYYMMDDZ`, `YYYYMMDDHHMMZ` or `YYYYMMDDHHMMSSZ`.
fn instant(name: &str, text: &str) -> Result<Timestamp, String> {
    let wrong = |why: &str| {
        Err(format!(
            "{name}=\"{}\" {why}; write UTC as 20261231Z, 202612312359Z or 20261231235959Z",
            short(text)
        ))
    };
    let Some(digits) = text.strip_suffix('Z') else {
        let local = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        return wrong(match local {
            true => "is the local time of whoever reads it",
            false => "is no time",
        });
    };
    if !matches!(digits.len(), 8 | 12 | 14) || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return wrong("is no time");
    }
    let number = |from: usize, to: usize| -> i16 {
        let part = digits.get(from..to).unwrap_or("0");
        part.parse().unwrap_or(0)
    };
    let part = |from: usize| number(from, from + 2) as i8;
    let time = DateTime::new(
        number(0, 4),
        part(4),
        part(6),
        part(8),
        part(10),
        part(12),
        0,
    )
    .and_then(|time| time.to_zoned(TimeZone::UTC));
    match time {
        Ok(time) if time.timestamp() > Timestamp::UNIX_EPOCH => Ok(time.timestamp()),
        _ => wrong("is no time after 1970"),
    }
}
