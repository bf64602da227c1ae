//! Looks for the formats of tokens and keys of the [`table`].
//!
//! A token that says by its beginning what it is may stand behind and before anything, such as `report_ghp_…csv`: as much
//! of it is replaced as its format has, and what follows stays.

use std::ops::Range;
use std::sync::{Arc, LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use regex::Regex;

use super::carriers::CARRIERS;
use super::issuers::ISSUERS;
use super::table::TABLE;
use super::{keys, pieces, scan};

/// A format: its kind, what must stand in a text before it is looked for, its expression, and what else must hold of the
/// expression's first group, which is the secret.
pub(super) struct Row {
    kind: &'static str,
    /// Who says that it has this form.
    #[cfg_attr(not(test), expect(dead_code, reason = "for who checks the table"))]
    source: &'static str,
    /// In lower case.
    words: &'static [&'static str],
    expression: &'static str,
    holds: fn(&str) -> bool,
}

pub(super) const fn row(
    kind: &'static str,
    source: &'static str,
    words: &'static [&'static str],
    expression: &'static str,
    holds: fn(&str) -> bool,
) -> Row {
    Row {
        kind,
        source,
        words,
        expression,
        holds,
    }
}

pub(super) fn any(_: &str) -> bool {
    true
}

/// Letters and digits: no name that somebody made of words.
pub(super) fn is_mixed(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit()) && text.contains(|c: char| c.is_ascii_alphabetic())
}

/// Letters of both cases and digits.
pub(super) fn is_mixed_case(text: &str) -> bool {
    is_mixed(text)
        && text.contains(|c: char| c.is_ascii_uppercase())
        && text.contains(|c: char| c.is_ascii_lowercase())
}

/// No place for a password, such as `{password}`, and no word for one.
pub(super) fn is_no_template(text: &str) -> bool {
    let words = ["password", "passwd", "pass", "pwd", "pw", "secret", "token"];
    !super::assign::stands_for_another(text) && !words.contains(&text.to_ascii_lowercase().as_str())
}

/// 64 random bytes in base64: many different ones, and not all of them text.
pub(super) fn is_key_of_64(text: &str) -> bool {
    let Ok(bytes) = STANDARD.decode(text) else {
        return false;
    };
    let different: std::collections::BTreeSet<&u8> = bytes.iter().collect();
    bytes.len() == 64 && different.len() > 40 && bytes.iter().filter(|b| !b.is_ascii()).count() > 12
}

/// RFC 7515 and 7519: the header of a token is a JSON object that names its algorithm, and its claims are one too.
pub(super) fn is_jwt(text: &str) -> bool {
    let object = |part: Option<&str>| {
        let json = URL_SAFE_NO_PAD.decode(part.unwrap_or_default()).ok();
        let value = json.and_then(|json| serde_json::from_slice::<serde_json::Value>(&json).ok());
        value.filter(serde_json::Value::is_object)
    };
    let mut parts = text.split('.');
    let header = object(parts.next());
    header.is_some_and(|header| header.get("alg").is_some()) && object(parts.next()).is_some()
}

/// Most bytes of a token: servers take headers of 8 KiB. Only JSON web tokens can be as long.
const LONGEST: usize = 8 * 1024;
/// How near to the identifier of a key of AWS its secret is looked for, in bytes.
const NEAR: usize = 256;

struct Format {
    kind: Arc<str>,
    /// Made when a text first has one of its words.
    expression: OnceLock<Option<Regex>>,
    row: &'static Row,
}

/// The formats, and a search for the words that must stand in a text before one of them is looked for.
struct Formats {
    all: Vec<Format>,
    words: AhoCorasick,
    /// The format of each word; those of private keys have none.
    of: Vec<usize>,
    key: Arc<str>,
    aws: Arc<str>,
}

static FORMATS: LazyLock<Option<Formats>> = LazyLock::new(|| {
    let mut all = Vec::new();
    let mut words = keys::WORDS.to_vec();
    let mut of = vec![usize::MAX; words.len()];
    for row in rows() {
        words.extend(row.words);
        of.extend(row.words.iter().map(|_| all.len()));
        all.push(Format {
            kind: row.kind.into(),
            expression: OnceLock::new(),
            row,
        });
    }
    let mut builder = AhoCorasick::builder();
    let words = builder.ascii_case_insensitive(true).build(words).ok()?;
    Some(Formats {
        all,
        words,
        of,
        key: super::PRIVATE_KEY.into(),
        aws: AWS_SECRET.into(),
    })
});

const AWS_ID: &str = "aws-access-key";
const AWS_SECRET: &str = "aws-secret-key";

pub(super) fn find(text: &str, add: &mut impl FnMut(Range<usize>, &Arc<str>)) {
    let Some(formats) = &*FORMATS else { return };
    let (mut meant, mut keys) = (vec![false; formats.all.len()], false);
    scan::read(text.len());
    for word in formats.words.find_overlapping_iter(text) {
        match formats.of.get(word.pattern().as_usize()) {
            Some(&usize::MAX) => keys = true,
            Some(&format) => {
                if let Some(meant) = meant.get_mut(format) {
                    *meant = true;
                }
            }
            None => {}
        }
    }
    if keys {
        keys::find(text, |at| add(at, &formats.key));
    }
    for (format, _) in formats.all.iter().zip(meant).filter(|(_, meant)| *meant) {
        let expression = format
            .expression
            .get_or_init(|| Regex::new(format.row.expression).ok());
        let Some(expression) = expression else {
            continue;
        };
        let mut from = 0;
        scan::read(text.len());
        // What ends one token may begin the next.
        while let Some(found) = expression.captures_at(text, from) {
            let Some(secret) = found.get(1) else { break };
            from = secret.end();
            scan::read(secret.len());
            if (format.row.holds)(secret.as_str()) {
                // Of a longer one the end, which signs it, in pieces.
                let start = secret.start().max(secret.end().saturating_sub(LONGEST));
                pieces(text, start..secret.end(), |piece| add(piece, &format.kind));
                if format.row.kind == AWS_ID {
                    near(text, secret.range(), |at| add(at, &formats.aws));
                }
            }
        }
    }
}

/// The secrets beside the identifier of a key of AWS: forty digits of base64 that are no digest.
fn near(text: &str, id: Range<usize>, mut add: impl FnMut(Range<usize>)) {
    let from = text.floor_char_boundary(id.start.saturating_sub(NEAR));
    let to = text.floor_char_boundary(text.len().min(id.end + NEAR));
    let is_digit = |b: u8| b.is_ascii_alphanumeric() || b"+/".contains(&b);
    let mut at = from;
    while at < to {
        let digits = scan::ahead(text, at, to - at, is_digit);
        let end = at + digits;
        let whole = (at > from || from == 0) && (end < to || to == text.len());
        if digits == 40 && whole && text.get(at..end).is_some_and(is_mixed_case) {
            add(at..end);
        }
        at = end + 1;
    }
}

fn rows() -> impl Iterator<Item = &'static Row> {
    TABLE.iter().chain(ISSUERS).chain(CARRIERS)
}

/// The kinds of the tables.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    rows().map(|row| row.kind)
}

#[cfg(test)]
#[test]
fn every_format_can_be_looked_for() {
    assert!(FORMATS.is_some());
    for row in rows() {
        // A public list and the rule in it, an RFC, or the issuer's own pages.
        let named = ["gitleaks: ", "trufflehog: ", "RFC "];
        let named = named.iter().any(|begin| row.source.starts_with(begin));
        assert!(named || row.source.contains('.'), "{}", row.kind);
        assert!(Regex::new(row.expression).is_ok(), "{}", row.kind);
        assert!(
            row.words.iter().all(|w| *w == w.to_lowercase()),
            "{}",
            row.kind
        );
    }
}
