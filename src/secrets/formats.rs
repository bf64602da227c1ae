//! The formats of tokens and keys.
//!
//! Prefixes and lengths are those of the issuers as published, for most of them collected in the rules of gitleaks
//! (`config/gitleaks.toml`, MIT): facts, no text of theirs. A token that says by its beginning what it is may stand behind
//! and before anything, such as `report_ghp_…csv`: as much of it is replaced as its format has, and what follows stays.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use aho_corasick::AhoCorasick;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use regex::Regex;

use super::ordinary::is_ordinary;
use super::{pem, pieces};

/// A format: its kind, what must stand in a text before it is looked for, its expression, and what else must hold of the
/// expression's first group, which is the secret.
struct Row {
    kind: &'static str,
    /// In lower case.
    words: &'static [&'static str],
    expression: &'static str,
    holds: fn(&str) -> bool,
}

const fn row(
    kind: &'static str,
    words: &'static [&'static str],
    expression: &'static str,
    holds: fn(&str) -> bool,
) -> Row {
    Row {
        kind,
        words,
        expression,
        holds,
    }
}

fn any(_: &str) -> bool {
    true
}

/// Letters and digits: no name that somebody made of words.
fn is_mixed(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit()) && text.contains(|c: char| c.is_ascii_alphabetic())
}

fn is_random(text: &str) -> bool {
    is_mixed(text) && !is_ordinary(text)
}

/// RFC 7515 and 7519: the header of a token is a JSON object that names its algorithm, and its claims are one too.
fn is_jwt(text: &str) -> bool {
    let object = |part: Option<&str>| {
        let json = URL_SAFE_NO_PAD.decode(part.unwrap_or_default()).ok();
        let value = json.and_then(|json| serde_json::from_slice::<serde_json::Value>(&json).ok());
        value.filter(serde_json::Value::is_object)
    };
    let mut parts = text.split('.');
    let header = object(parts.next());
    header.is_some_and(|header| header.get("alg").is_some()) && object(parts.next()).is_some()
}

/// What a name that says secret is given: no path, and none of the usual examples.
fn is_assigned(text: &str) -> bool {
    !text.starts_with(['/', '.', '~', '$']) && !text.contains("://")
}

/// Names, calls and attributes in code, and types of columns.
fn is_expression(text: &str) -> bool {
    let name = |part: &str| {
        let mut chars = part.chars();
        let begins = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_');
        begins && chars.all(|c| c.is_alphanumeric() || c == '_')
    };
    let is_name = text.split('.').all(name);
    let digits = text.contains(|c: char| c.is_ascii_digit());
    let is_type = [
        "int",
        "uint",
        "float",
        "complex",
        "datetime",
        "timedelta",
        "string",
    ]
    .iter()
    .any(|kind| {
        text.strip_prefix(kind)
            .is_some_and(|bits| bits.parse::<u16>().is_ok())
    });
    is_name && (!digits || text.contains('.')) || is_type
}

fn is_bare_password(text: &str) -> bool {
    is_assigned(text) && !is_expression(text)
}

fn is_bare_random(text: &str) -> bool {
    is_assigned_random(text) && !is_expression(text)
}

/// Not a single word in small letters, such as `required`.
fn is_no_word(text: &str) -> bool {
    text.contains(|c: char| !c.is_ascii_lowercase())
}

fn is_assigned_random(text: &str) -> bool {
    is_assigned(text) && is_random(text)
}

/// Between a name and its value, which may stand in JSON in a text in JSON.
macro_rules! given {
    () => {
        r#"\\?["']?\s{0,4}(?::=|=>|=|:)\s{0,4}\\?["'`]"#
    };
}
/// A value of a name that says secret: no blanks, no quotes and nothing that code needs.
macro_rules! value {
    () => {
        r#"([^\s"'`\\(){}<>\[\];,]{12,256})\\?["'`]"#
    };
}

/// The same without quotes, with what may stand behind it.
macro_rules! bare {
    ($least:literal) => {
        concat!(
            r#"([^\s"'`\\(){}<>\[\];,&|]{"#,
            $least,
            r#",256})(?:[\s"'`;,&|)}\]<\\]|$)"#
        )
    };
}

const TABLE: &[Row] = &[
    row(
        "aws-access-key",
        &["akia", "asia", "abia", "acca", "a3t"],
        r"((?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})\b",
        any,
    ),
    // Words in capitals go on where a key ends.
    row(
        "aws-access-key",
        &["akia", "asia", "abia", "acca", "a3t"],
        r"((?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})",
        is_mixed,
    ),
    row(
        "aws-secret-key",
        &["secret"],
        r#"(?i)(?:aws[a-z0-9_.-]{0,20}secret|secret_?access)[a-z0-9_.-]{0,20}\\?["']?\s{0,4}(?:=>|=|:|,)\s{0,4}\\?["']?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)"#,
        is_mixed,
    ),
    row(
        "github-token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        r"((?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}))",
        any,
    ),
    row(
        "gitlab-token",
        &[
            "glpat-", "glptt-", "gldt-", "glrt-", "glcbt-", "gloas-", "glsoat-", "glft-", "glimt-",
            "glagent-",
        ],
        r"(gl(?:pat|ptt|dt|rt|cbt|oas|soat|ft|imt|agent)-[A-Za-z0-9_-]{20,64}(?:\.[0-9a-z]{2}\.[0-9a-z]{7,9})?)",
        any,
    ),
    row(
        "slack-token",
        &["xoxb-", "xoxp-", "xoxa-", "xoxe", "xoxr-", "xoxs-", "xapp-"],
        r"((?:xox[abeprs](?:\.xox[bp])?|xapp)-[0-9A-Za-z-]{15,250})",
        is_mixed,
    ),
    row(
        "slack-webhook",
        &["hooks.slack.com"],
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{43,80})",
        any,
    ),
    row(
        "anthropic-key",
        &["sk-ant-"],
        r"(sk-ant-[a-z]{2,6}[0-9]{2}-[A-Za-z0-9_-]{80,120})",
        any,
    ),
    row(
        "openai-key",
        &["t3blbkfj"],
        r"(sk-(?:[a-z]{2,10}-)?[A-Za-z0-9_-]{20,120}T3BlbkFJ[A-Za-z0-9_-]{20,120})",
        any,
    ),
    row(
        "sk-key",
        &["sk-"],
        r"\b(sk-[A-Za-z0-9_-]{32,250})",
        is_random,
    ),
    row("google-api-key", &["aiza"], r"(AIza[A-Za-z0-9_-]{35})", any),
    row(
        "google-oauth-secret",
        &["gocspx-", "ya29."],
        r"(GOCSPX-[A-Za-z0-9_-]{28}|ya29\.[A-Za-z0-9_-]{20,480})",
        any,
    ),
    row(
        "google-service-account",
        &["private_key_id"],
        r#"private_key_id\\?["']?\s{0,4}:\s{0,4}\\?["']([0-9a-f]{40})\\?["']"#,
        any,
    ),
    row(
        "stripe-key",
        &[
            "sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_", "whsec_",
        ],
        r"((?:[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,99}|whsec_[A-Za-z0-9+/]{32,64}))",
        is_mixed,
    ),
    row(
        "azure-key",
        &["accountkey=", "sharedaccesskey="],
        r"(?i)\b(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{43,88}={1,2})(?:[^A-Za-z0-9+/=]|$)",
        any,
    ),
    row(
        "azure-client-secret",
        &["q~"],
        r"(?:^|[^A-Za-z0-9_~.-])([A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34})(?:[^A-Za-z0-9_~.-]|$)",
        any,
    ),
    row("npm-token", &["npm_"], r"(npm_[A-Za-z0-9]{36})", any),
    row(
        "pypi-token",
        &["pypi-ageichlwa"],
        r"(pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,480})",
        any,
    ),
    row(
        "huggingface-token",
        &["hf_", "api_org_"],
        r"((?:hf_|api_org_)[A-Za-z0-9]{34,40})",
        any,
    ),
    row(
        "sendgrid-key",
        &["sg."],
        r"(SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43})",
        any,
    ),
    row("twilio-key", &["sk"], r"\b(SK[0-9a-f]{32})", any),
    row(
        "jwt",
        &["eyj"],
        r"(eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{20,})",
        is_jwt,
    ),
    row(
        "bearer-token",
        &["bearer"],
        r"(?i)\bbearer\s{1,4}([A-Za-z0-9._~+/-]{20,480}={0,2})",
        is_random,
    ),
    // RFC 9110; the value of other schemes is as good as a password.
    row(
        "authorization",
        &["authorization"],
        r#"(?i)\bauthorization\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?(?:(?:bearer|basic|token|apikey|negotiate|ntlm)\s{1,4})?([A-Za-z0-9._~+/-]{8,480}={0,2})"#,
        is_no_word,
    ),
    row(
        "cookie",
        &["cookie"],
        r#"(?i)\b(?:set-)?cookie\\?["']?\s{0,4}:\s{0,4}\\?["']?([^\s"'=;,]{1,64}=[^\s"';,]{8,400}(?:;\s{0,4}[^\s"'=;,]{1,64}=[^\s"';,]{1,200}){0,4})"#,
        any,
    ),
    row(
        "url-password",
        &["://"],
        r#"\b[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s:/@"'<>?#]{0,100}:([^\s/"'<>?#]{1,200})@[A-Za-z0-9\[]"#,
        any,
    ),
    // A token in the place of a name: `https://TOKEN@host`.
    row(
        "url-password",
        &["://"],
        r#"\b[A-Za-z][A-Za-z0-9+.-]{0,30}://([^\s:/@"'<>?#]{12,200})@[A-Za-z0-9\[]"#,
        is_random,
    ),
    row(
        "password",
        &["passw", "passphrase", "pwd"],
        concat!(
            r"(?i)(?:password|passwd|passphrase|pwd)[a-z0-9_]{0,20}",
            given!(),
            value!()
        ),
        is_assigned,
    ),
    row(
        "secret",
        &["secret", "token", "key", "credential"],
        concat!(
            r"(?i)(?:secret|token|api[_-]?key|access[_-]?key|auth[_-]?key|private[_-]?key|credentials?)[a-z0-9_]{0,20}",
            given!(),
            value!()
        ),
        is_assigned_random,
    ),
    // Without quotes: what code has in such a place are names and calls.
    row(
        "password",
        &["passw", "passphrase", "pwd"],
        concat!(
            r"(?i)(?:password|passwd|passphrase|pwd)[0-9]?[ \t]?[=:][ \t]?",
            bare!("6")
        ),
        is_bare_password,
    ),
    row(
        "password",
        &["passw", "passphrase", "pwd"],
        concat!(
            r"\b[A-Z0-9_]{0,40}(?:PASSWORD|PASSWD|PASSPHRASE|PWD)=",
            bare!("6")
        ),
        is_assigned,
    ),
    row(
        "secret",
        &["secret", "token", "key", "credential"],
        concat!(
            r"(?i)(?:secret|token|api[_-]?key|access[_-]?key|auth[_-]?key|private[_-]?key|credentials?)[a-z0-9_]{0,20}[ \t]?[=:][ \t]?",
            bare!("12")
        ),
        is_bare_random,
    ),
    row(
        "password",
        &["--"],
        concat!(
            r"--[a-z-]{0,20}(?:password|passwd|passphrase)[ =]",
            bare!("6")
        ),
        is_bare_password,
    ),
    row(
        "secret",
        &["--"],
        concat!(r"--[a-z-]{0,20}(?:secret|token|key)[ =]", bare!("12")),
        is_bare_random,
    ),
];

/// Most bytes of a token: servers take headers of 8 KiB. Only JSON web tokens can be as long.
const LONGEST: usize = 8 * 1024;

struct Format {
    kind: Arc<str>,
    expression: Regex,
    holds: fn(&str) -> bool,
}

/// The formats, and a search for the words that must stand in a text before one of them is looked for.
struct Formats {
    all: Vec<Format>,
    words: AhoCorasick,
    /// The format of each word.
    of: Vec<usize>,
    pem: Arc<str>,
}

/// The one word that is no format's: that of PEM.
const PEM: &str = "private key";

static FORMATS: LazyLock<Option<Formats>> = LazyLock::new(|| {
    let mut all = Vec::new();
    let (mut words, mut of) = (vec![PEM], vec![usize::MAX]);
    for row in TABLE {
        words.extend(row.words);
        of.extend(row.words.iter().map(|_| all.len()));
        all.push(Format {
            kind: row.kind.into(),
            expression: Regex::new(row.expression).ok()?,
            holds: row.holds,
        });
    }
    let mut builder = AhoCorasick::builder();
    let words = builder.ascii_case_insensitive(true).build(words).ok()?;
    Some(Formats {
        all,
        words,
        of,
        pem: super::PRIVATE_KEY.into(),
    })
});

pub(super) fn find(text: &str, add: &mut impl FnMut(Range<usize>, &Arc<str>)) {
    let Some(formats) = &*FORMATS else { return };
    let (mut meant, mut pem) = (0_u64, false);
    for word in formats.words.find_overlapping_iter(text) {
        match formats.of.get(word.pattern().as_usize()) {
            Some(&usize::MAX) => pem = true,
            Some(&format) => meant |= 1 << format,
            None => {}
        }
    }
    if pem {
        pem::find(text, |at| add(at, &formats.pem));
    }
    for (number, format) in formats.all.iter().enumerate() {
        if meant & (1 << number) == 0 {
            continue;
        }
        let mut from = 0;
        // What ends one token may begin the next.
        while let Some(found) = format.expression.captures_at(text, from) {
            let Some(secret) = found.get(1) else { break };
            from = secret.end();
            if (format.holds)(secret.as_str()) {
                // Of a longer one the end, which signs it, in pieces.
                let start = secret.start().max(secret.end().saturating_sub(LONGEST));
                pieces(text, start..secret.end(), |piece| add(piece, &format.kind));
            }
        }
    }
}

/// The kinds of the table.
pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|row| row.kind)
}

#[cfg(test)]
#[test]
fn every_format_can_be_looked_for() {
    assert!(TABLE.len() < 64 && FORMATS.is_some());
    for row in TABLE {
        assert!(Regex::new(row.expression).is_ok(), "{}", row.kind);
        assert!(
            row.words.iter().all(|w| *w == w.to_lowercase()),
            "{}",
            row.kind
        );
    }
}
