//! Private keys in PEM (RFC 7468), also with their line feeds written as `\n`.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// Longest block, in bytes: a key of 16,384 bits takes about 13,000.
pub(super) const LONGEST: usize = 16 * 1024;
/// Longest line of base64; RFC 7468 has 64, RFC 1421 and OpenPGP up to 76.
const LINE: usize = 76;

static BEGIN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"-----BEGIN ((?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?)-----").ok()
});

/// The blocks of a text that are nothing but a private key.
pub(super) fn find(text: &str, mut add: impl FnMut(Range<usize>)) {
    let Some(begin) = &*BEGIN else { return };
    for found in begin.captures_iter(text) {
        let (Some(all), Some(label)) = (found.get(0), found.get(1)) else {
            continue;
        };
        let rest =
            &text[all.end()..text.floor_char_boundary(text.len().min(all.start() + LONGEST))];
        let end = format!("-----END {}-----", label.as_str());
        // No line of a key has five of them.
        if let Some(length) = rest.find("-----")
            && rest[length..].starts_with(&end)
            && is_key(&rest[..length])
        {
            add(all.start()..all.end() + length + end.len());
        }
    }
}

/// Whether a block's content is base64 in lines, after headers.
fn is_key(content: &str) -> bool {
    let unescaped = content.replace("\\r", "").replace("\\n", "\n");
    let quotes = |c: char| c.is_whitespace() || "\"'\\+".contains(c);
    let mut lines = unescaped.lines().map(|line| {
        let line = line.trim_matches(|c: char| c != '+' && quotes(c));
        line.trim()
    });
    let base64 = |line: &str| {
        let body = line.strip_prefix('=').unwrap_or(line).trim_end_matches('=');
        body.chars()
            .all(|c| c.is_ascii_alphanumeric() || "+/".contains(c))
    };
    let header = |line: &str| {
        ["Proc-Type: ", "DEK-Info: ", "Version: ", "Comment: "]
            .iter()
            .any(|name| line.starts_with(name))
    };
    let mut any = false;
    let fits = lines.all(|line| {
        any |= !line.is_empty() && base64(line);
        // One line without breaks is how keys stand in variables.
        base64(line) && (line.len() <= LINE || !content.trim().contains('\n'))
            || header(line) && line.len() <= LINE
    });
    fits && any
}
