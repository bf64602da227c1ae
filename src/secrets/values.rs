//! Values of environment variables, as they are and in encodings.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

use super::ordinary::{is_ordinary, is_path_or_number};
use super::{ENVIRONMENT, SPAN};

/// Shorter values occur by chance.
const SHORTEST: usize = 8;
/// Shorter lines of a value of several lines are not looked for.
const SHORTEST_LINE: usize = 16;

/// Parts of the names of variables whose values are secrets even if they are ordinary words.
const TELLING: [&str; 10] = [
    "KEY", "TOKEN", "SECRET", "PASS", "PWD", "CRED", "AUTH", "PRIVATE", "COOKIE", "DSN",
];

/// What is looked for of an environment.
#[derive(Clone, Default)]
pub(super) struct Values(Option<AhoCorasick>);

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Values")
    }
}

impl Values {
    pub fn of(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut all = BTreeSet::new();
        for (name, value) in variables {
            for value in secrets(&name, &value) {
                all.extend(forms(value));
            }
        }
        all.retain(|form| form.len() >= SHORTEST);
        if all.is_empty() {
            return Self(None);
        }
        let mut builder = AhoCorasick::builder();
        let built = builder.match_kind(MatchKind::LeftmostLongest).build(all);
        Self(built.ok())
    }

    pub fn find(&self, text: &str, add: &mut impl FnMut(Range<usize>, &Arc<str>)) {
        let Some(all) = &self.0 else { return };
        let mut kind = None;
        for one in all.find_iter(text) {
            // Only the start of a character begins a form, and only its end ends one.
            add(one.range(), kind.get_or_insert_with(|| ENVIRONMENT.into()));
        }
    }
}

/// The parts of a value that are looked for.
fn secrets<'a>(name: &str, value: &'a str) -> Vec<&'a str> {
    let name = name.to_uppercase();
    let telling = !["PWD", "OLDPWD"].contains(&name.as_str())
        && TELLING.iter().any(|part| name.contains(part));
    let shortest = match value.trim().contains('\n') {
        true => SHORTEST_LINE,
        false => SHORTEST,
    };
    let lines = value.lines().map(str::trim);
    let secret = |line: &&str| {
        line.chars().count() >= shortest
            && line.len() <= SPAN
            && !is_path_or_number(line)
            && (telling || !is_ordinary(line))
    };
    lines.filter(secret).collect()
}

/// A value as it is, in JSON, in base64 at each of the three places that it can have among other bytes, in
/// hexadecimal digits and percent-encoded.
fn forms(value: &str) -> Vec<String> {
    let bytes = value.as_bytes();
    let mut all = vec![value.to_owned()];
    let json = serde_json::to_string(value).unwrap_or_default();
    all.push(json.trim_matches('"').to_owned());
    for engine in [&STANDARD, &URL_SAFE] {
        let whole = engine.encode(bytes);
        all.push(whole.trim_end_matches('=').to_owned());
        all.push(whole);
        for before in 0..3 {
            let mut shifted = vec![0; before];
            shifted.extend_from_slice(bytes);
            shifted.truncate(shifted.len() / 3 * 3);
            let text = engine.encode(shifted);
            // The first digits are shared with what stands before.
            let own = [0, 2, 3][before];
            all.push(text.get(own..).unwrap_or_default().to_owned());
        }
    }
    let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
    all.push(hex.to_uppercase());
    all.push(hex);
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.~".contains(&b);
    for (space, slash) in [("%20", "%2F"), ("+", "%2F"), ("%20", "/")] {
        let encoded = |b: &u8| match b {
            b' ' => space.to_owned(),
            b'/' => slash.to_owned(),
            b if plain(*b) => char::from(*b).to_string(),
            b => format!("%{b:02X}"),
        };
        all.push(bytes.iter().map(encoded).collect());
    }
    all
}
