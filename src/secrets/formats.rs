//! The formats of tokens and keys.
//!
//! Prefixes and lengths are those of the issuers as published, for most of them collected in the rules of gitleaks
//! (`config/gitleaks.toml`, MIT): facts, no text of theirs. A token must fit its format to its end. Where its beginning says
//! what it is, it may stand behind anything, such as `report_ghp_…` in the name of a file.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use aho_corasick::AhoCorasick;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use regex::Regex;

use super::ordinary::is_ordinary;
use super::{SPAN, pem};

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

/// RFC 7515: the header of a token is a JSON object that names its algorithm.
fn is_jwt(text: &str) -> bool {
    let header = text.split('.').next().unwrap_or_default();
    let header = URL_SAFE_NO_PAD.decode(header).ok();
    let header = header.and_then(|json| serde_json::from_slice::<serde_json::Value>(&json).ok());
    header.is_some_and(|header| header.get("alg").is_some())
}

/// What a name that says secret is given: no path, and none of the usual examples.
fn is_assigned(text: &str) -> bool {
    !text.starts_with(['/', '.', '~', '$']) && !text.contains("://")
}

fn is_assigned_random(text: &str) -> bool {
    is_assigned(text) && is_random(text)
}

/// The end of a token of letters, digits, `_` and `-`.
macro_rules! end {
    () => {
        r"(?:[^A-Za-z0-9_-]|$)"
    };
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

const TABLE: &[Row] = &[
    row(
        "aws-access-key",
        &["akia", "asia", "abia", "acca", "a3t"],
        r"((?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})\b",
        any,
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
        r"((?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}))\b",
        any,
    ),
    row(
        "gitlab-token",
        &[
            "glpat-", "glptt-", "gldt-", "glrt-", "glcbt-", "gloas-", "glsoat-", "glft-", "glimt-",
            "glagent-",
        ],
        concat!(
            r"(gl(?:pat|ptt|dt|rt|cbt|oas|soat|ft|imt|agent)-[A-Za-z0-9_-]{20,64}(?:\.[0-9a-z]{2}\.[0-9a-z]{7,9})?)",
            end!()
        ),
        any,
    ),
    row(
        "slack-token",
        &["xoxb-", "xoxp-", "xoxa-", "xoxe", "xoxr-", "xoxs-", "xapp-"],
        concat!(
            r"((?:xox[abeprs](?:\.xox[bp])?|xapp)-[0-9A-Za-z-]{15,250})",
            end!()
        ),
        is_mixed,
    ),
    row(
        "slack-webhook",
        &["hooks.slack.com"],
        concat!(
            r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{43,80})",
            end!()
        ),
        any,
    ),
    row(
        "anthropic-key",
        &["sk-ant-"],
        concat!(r"(sk-ant-[a-z]{2,6}[0-9]{2}-[A-Za-z0-9_-]{80,120})", end!()),
        any,
    ),
    row(
        "openai-key",
        &["t3blbkfj"],
        concat!(
            r"\b(sk-(?:[a-z]{2,10}-)?[A-Za-z0-9_-]{20,120}T3BlbkFJ[A-Za-z0-9_-]{20,120})",
            end!()
        ),
        any,
    ),
    row(
        "sk-key",
        &["sk-"],
        concat!(r"\b(sk-[A-Za-z0-9_-]{32,250})", end!()),
        is_random,
    ),
    row(
        "google-api-key",
        &["aiza"],
        concat!(r"(AIza[A-Za-z0-9_-]{35})", end!()),
        any,
    ),
    row(
        "google-oauth-secret",
        &["gocspx-", "ya29."],
        concat!(
            r"(GOCSPX-[A-Za-z0-9_-]{28}|ya29\.[A-Za-z0-9_-]{20,480})",
            end!()
        ),
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
        r"((?:[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,99}|whsec_[A-Za-z0-9+/]{32,64}))\b",
        any,
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
    row("npm-token", &["npm_"], r"(npm_[A-Za-z0-9]{36})\b", any),
    row(
        "pypi-token",
        &["pypi-ageichlwa"],
        concat!(r"(pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{50,480})", end!()),
        any,
    ),
    row(
        "huggingface-token",
        &["hf_", "api_org_"],
        r"((?:hf_|api_org_)[A-Za-z0-9]{34,40})\b",
        any,
    ),
    row(
        "sendgrid-key",
        &["sg."],
        concat!(r"(SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43})", end!()),
        any,
    ),
    row("twilio-key", &["sk"], r"\b(SK[0-9a-f]{32})\b", any),
    row(
        "jwt",
        &["eyj"],
        concat!(
            r"(eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{20,})",
            end!()
        ),
        is_jwt,
    ),
    row(
        "bearer-token",
        &["bearer"],
        r"(?i)\bbearer\s{1,4}([A-Za-z0-9._~+/-]{20,480}={0,2})",
        is_random,
    ),
    row(
        "url-password",
        &["://"],
        r#"\b[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s:/@"'<>?#]{0,100}:([^\s/@"'<>]{3,200})@[A-Za-z0-9\[]"#,
        any,
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
            r"(?i)(?:secret|token|api_?key|access_?key|auth_?key|private_?key|credentials?)[a-z0-9_]{0,20}",
            given!(),
            value!()
        ),
        is_assigned_random,
    ),
    row(
        "secret",
        &["passw", "secret", "token", "key"],
        r#"(?m)^(?:export )?[A-Z0-9_]{0,40}(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|ACCESS_?KEY)[A-Z0-9_]{0,20}=([^\s"'`\\(){}<>\[\];,]{12,256})[ \t\r]*$"#,
        is_assigned_random,
    ),
];

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
        pem: "private-key".into(),
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
                // A longer token is of no use without its end, which signs it.
                let start = secret.start().max(secret.end().saturating_sub(SPAN));
                add(start..secret.end(), &format.kind);
            }
        }
    }
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
