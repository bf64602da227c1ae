//! Private keys: PEM (RFC 7468), OpenPGP, OpenSSH and PuTTY, with or without the lines around them, as they stand in files,
//! comments, quotes, lists of strings and in one line.

use std::ops::Range;
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use regex::Regex;

use super::scan;

/// Longest block, in bytes: a key of 16,384 bits takes about 13,000.
pub(super) const LONGEST: usize = 16 * 1024;
/// Longest line of base64; RFC 7468 has 64, RFC 1421 and OpenPGP up to 76.
const LINE: usize = 76;
/// Shortest line of base64 of a block that has no end.
const SHORTEST: usize = 16;
/// Most signs that stand behind a line, in bytes.
const AROUND: usize = 200;
/// Fewest digits of base64 that are a key without the lines around it.
const ALONE: usize = 60;

/// One of these stands where a key does. In lower case.
pub(super) const WORDS: [&str; 9] = [
    "private key",
    "private-lines",
    // The beginnings of DER in base64: sequences of these lengths.
    "mii",
    "migh",
    "mhcc",
    "mc4c",
    // `openssh-key-v1`, and `-----BEGIN ` once more in base64.
    "b3blbnnzac1rzxktdje",
    "ls0tls1crudjtib",
    "mc8c",
];

struct Expressions {
    begin: Regex,
    end: Regex,
}

static EXPRESSIONS: LazyLock<Option<Expressions>> = LazyLock::new(|| {
    let begin = Regex::new(concat!(
        r"(?P<begin>-{4,5} ?BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5})",
        r"|(?P<putty>Private-Lines:[ \t]{0,4}[0-9]{1,3})",
        r"|(?:MI[IG]|MHcC|MC[48]C|b3BlbnNzaC1rZXktdjE|LS0tLS1CRUdJTi)[A-Za-z0-9+/]{29,}",
    ));
    let end = Regex::new(r"-{4,5} ?END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}");
    Some(Expressions {
        begin: begin.ok()?,
        end: end.ok()?,
    })
});

/// The private keys of a text. Of lines of code with parts of one, these parts.
pub(super) fn find(text: &str, mut add: impl FnMut(Range<usize>)) {
    let Some(expressions) = &*EXPRESSIONS else {
        return;
    };
    let mut from = 0;
    let mut ends = None;
    scan::read(text.len());
    while let Some(found) = expressions.begin.captures_at(text, from) {
        let Some(all) = found.get(0) else { return };
        from = all.end();
        let (begin, putty) = (found.name("begin").is_some(), found.name("putty").is_some());
        let mut parts = Vec::new();
        let body = match (begin, putty) {
            (true, _) => {
                parts.push(all.range());
                all.end()
            }
            (_, true) => all.end(),
            _ if is_key(all.as_str()) => all.start(),
            _ => continue,
        };
        let block = Block {
            text,
            from: body,
            ends: ends.get_or_insert_with(|| Ends::of(text, &expressions.end)),
        };
        let Some(lines) = block.lines(begin, putty) else {
            continue;
        };
        let digits: usize = lines.iter().map(Range::len).sum();
        if !begin && digits < ALONE {
            continue;
        }
        parts.extend(lines);
        from = parts.last().map_or(from, |last| last.end.max(from));
        together(text, &parts, &mut add);
    }
}

/// Whether base64 without a label begins as a private key does, and as no certificate and no public key.
fn is_key(digits: &str) -> bool {
    let some = digits
        .get(..digits.len().min(80) / 4 * 4)
        .unwrap_or_default();
    let Ok(bytes) = STANDARD_NO_PAD.decode(some) else {
        return false;
    };
    if bytes.starts_with(b"-----BEGIN ") {
        return bytes.windows(11).any(|part| part == b"PRIVATE KEY");
    }
    if bytes.starts_with(b"openssh-key-v1") {
        return true;
    }
    // SEQUENCE, and within it the version, a small INTEGER: PKCS #1 and #8, SEC 1.
    let content = match bytes.as_slice() {
        [0x30, 0x82, _, _, content @ ..] | [0x30, 0x81, _, content @ ..] => content,
        [0x30, length, content @ ..] if *length < 0x80 => content,
        _ => return false,
    };
    // PKCS #8 with a password: the identifier of PKCS #5 or #12 comes first.
    let encrypted = |ids: &[u8]| {
        ids.windows(8).take(8).any(|id| {
            id == b"\x2a\x86\x48\x86\xf7\x0d\x01\x05" || id == b"\x2a\x86\x48\x86\xf7\x0d\x01\x0c"
        })
    };
    match content {
        [0x02, 0x01, version, ..] => *version < 4,
        // A number of many bytes: a public key.
        [0x02, ..] => false,
        [0x30, _, ids @ ..] => encrypted(ids),
        _ => bytes.starts_with(&[0x30, 0x82]),
    }
}

/// Where the lines of a text and the keys in it end, looked for once. Line ends may be written as `\n`.
struct Ends {
    lines: Vec<usize>,
    keys: Vec<Range<usize>>,
}

impl Ends {
    fn of(text: &str, end: &Regex) -> Self {
        let bytes = text.as_bytes();
        let is_end = |at: &usize| match bytes[*at] {
            b'\n' | b'\r' => true,
            b'\\' => matches!(bytes.get(at + 1), Some(b'n' | b'r')),
            _ => false,
        };
        scan::read(2 * text.len());
        Self {
            lines: (0..bytes.len()).filter(is_end).collect(),
            keys: end.find_iter(text).map(|end| end.range()).collect(),
        }
    }

    /// The first end of a key within a line.
    fn within(&self, line: &Range<usize>) -> Option<&Range<usize>> {
        let first = self.keys.partition_point(|end| end.start < line.start);
        self.keys.get(first).filter(|end| end.end <= line.end)
    }
}

/// The lines behind the first one of a key.
struct Block<'a> {
    text: &'a str,
    from: usize,
    ends: &'a Ends,
}

/// What a line of a block is.
enum Line {
    Nothing,
    Header,
    /// Digits of base64, and whether they are the last ones.
    Digits(bool),
    End,
}

impl Block<'_> {
    /// The parts of the text that are the key: up to its end, else as far as lines of base64 go.
    fn lines(&self, labelled: bool, any: bool) -> Option<Vec<Range<usize>>> {
        let most = self
            .text
            .floor_char_boundary(self.text.len().min(self.from + LONGEST));
        let mut parts = Vec::new();
        // Where a block without an end stops, and whether it begins as one.
        let (mut cut, mut open, mut sound) = (0, true, any || !labelled);
        let mut width = 0_usize;
        let mut at = self.from;
        while at < most {
            let (line, next) = self.line(at, most);
            let begin = line.start;
            let (kind, mut at_text) = self.read(line);
            // `+` and `/` are digits too.
            let is_sign = |b: u8| b"+/".contains(&b);
            let short = width.saturating_sub(at_text.len());
            if matches!(kind, Some(Line::Digits(_))) {
                let signs = scan::behind(self.text, at_text.start, short, is_sign);
                at_text.start = begin.max(at_text.start - signs);
            }
            let part = &self.text[at_text.clone()];
            match kind {
                Some(Line::Nothing) => {}
                Some(Line::End) if labelled && (!parts.is_empty() || !part.starts_with('-')) => {
                    parts.push(at_text);
                    return Some(parts);
                }
                Some(Line::Header) if labelled && width == 0 => {
                    sound = true;
                    parts.push(at_text);
                    cut = parts.len();
                }
                Some(Line::Digits(last)) => {
                    let first = width == 0;
                    if first {
                        sound |= [
                            "MI",
                            "MH",
                            "MC",
                            "b3BlbnNzaC1rZXktdjE",
                            "lQ",
                            "lI",
                            "lF",
                            "xc",
                            "xV",
                            "xY",
                        ]
                        .iter()
                        .any(|begin| part.starts_with(begin));
                        width = part.len();
                    }
                    let long = part.len() > LINE && !first;
                    if long {
                        break;
                    }
                    open &= first || part.len() <= width;
                    parts.push(at_text);
                    if open && (part.len() >= SHORTEST || last) {
                        cut = parts.len();
                    }
                    // What is shorter than the others is the last one.
                    open &= part.len() == width && !last || part.starts_with('=');
                }
                _ => break,
            }
            at = next;
        }
        parts.truncate(cut);
        (sound && width > 0 && cut > 0).then_some(parts)
    }

    /// The line that begins here, and where the next one does.
    fn line(&self, at: usize, most: usize) -> (Range<usize>, usize) {
        let first = self.ends.lines.partition_point(|end| *end < at);
        scan::read(1);
        match self.ends.lines.get(first) {
            Some(end) if *end < most => {
                let written = self.text.as_bytes()[*end] == b'\\';
                (at..*end, most.min(end + 1 + usize::from(written)))
            }
            _ => (at..most, most),
        }
    }

    /// What this line is without quotes, signs of comments and what code has around a string.
    fn read(&self, line: Range<usize>) -> (Option<Line>, Range<usize>) {
        let text = &self.text[line.clone()];
        if let Some(at) = self.ends.within(&line).cloned() {
            let before = &text[..at.start - line.start];
            let digits = trimmed(before, line.start);
            // In one line, with digits before it.
            return match is_digits(&self.text[digits.clone()]) {
                true => (
                    Some(Line::End),
                    if digits.is_empty() {
                        at
                    } else {
                        digits.start..at.end
                    },
                ),
                false => (
                    code(before)
                        .is_some_and(|rest| rest.len() == 1)
                        .then_some(Line::End),
                    at,
                ),
            };
        }
        let at = trimmed(text, line.start);
        let part = &self.text[at.clone()];
        if part.is_empty() {
            return (Some(Line::Nothing), at);
        }
        if is_digits(part) {
            return (Some(Line::Digits(part.ends_with('='))), at);
        }
        // `MIIE…  # the first line`
        let digits = part.find([' ', '\t', '"', '\'']).unwrap_or(0);
        let behind = part[digits..].trim_start_matches([' ', '\t', '"', '\'', ',', '+']);
        if digits >= SHORTEST
            && ["#", "//", "--", ";", "/*", "<!--"]
                .iter()
                .any(|sign| behind.starts_with(sign))
            && is_base64(&part[..digits])
        {
            return (
                Some(Line::Digits(part[..digits].ends_with('='))),
                at.start..at.start + digits,
            );
        }
        const HEADERS: [&str; 7] = [
            "Proc-Type: ",
            "DEK-Info: ",
            "Version: ",
            "Comment: ",
            "Hash: ",
            "Charset: ",
            "MessageID: ",
        ];
        if HEADERS.iter().any(|name| part.starts_with(name)) && part.len() <= LINE {
            return (Some(Line::Header), at);
        }
        if let Some(rest) = code(text) {
            let string = trimmed(rest, line.end - rest.len());
            let part = &self.text[string.clone()];
            if is_base64(part) && part.len() >= SHORTEST {
                return (Some(Line::Digits(part.ends_with('='))), string);
            }
        }
        (None, at)
    }
}

/// The string of a line of code such as `key += "…"`, from its quote on.
fn code(line: &str) -> Option<&str> {
    let open = scan::window(line, 0, 64).find(['"', '\''])?;
    let (code, string) = line.split_at(open);
    let code = code.trim().trim_end_matches(['b', 'r', 'f', 'u']);
    let sound = |c: char| c.is_ascii_alphanumeric() || "_.+=( ".contains(c);
    let begins = code.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    (begins && code.chars().all(sound) && code.ends_with(['=', '(', '+', ' '])).then_some(string)
}

/// Whether a line has only digits of base64; the checksum of OpenPGP begins with `=`.
fn is_base64(line: &str) -> bool {
    let body = line.strip_prefix('=').unwrap_or(line);
    let body = body
        .strip_suffix("==")
        .or_else(|| body.strip_suffix('='))
        .unwrap_or(body);
    let is_digit = |b: u8| b.is_ascii_alphanumeric() || b"+/".contains(&b);
    scan::ahead(body, 0, body.len(), is_digit) == body.len()
}

/// Digits of base64, or groups of them with blanks between.
fn is_digits(line: &str) -> bool {
    if is_base64(line) {
        return true;
    }
    let mut groups = line.split_ascii_whitespace().peekable();
    while let Some(group) = groups.next() {
        let short = groups.peek().is_some() && group.len() < SHORTEST;
        if short || !is_base64(group) {
            return false;
        }
    }
    true
}

/// A line without what stands around its content.
fn trimmed(line: &str, at: usize) -> Range<usize> {
    let around = |c: char| c.is_whitespace() || "#>*|;%\"'`,[](){}\\:&".contains(c);
    let mut start = line.len()
        - line
            .trim_start_matches(|c| around(c) || "/-+.".contains(c))
            .len();
    // The number of the line, and the prefix of a string.
    let rest = &line[start..];
    let number = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if (1..=4).contains(&number) && rest[number..].starts_with(['\t', ':', '|', ' ', '.', ')', ']'])
    {
        start += number;
    }
    let rest = &line[start..];
    let prefix = rest.len()
        - rest
            .trim_start_matches(['b', 'r', 'f', 'u', 'B', 'R', 'F', 'U'])
            .len();
    if prefix <= 2 && rest[prefix..].starts_with(['"', '\'']) {
        start += prefix;
    }
    let rest = &line[start..];
    start += rest.len() - rest.trim_start_matches(around).len();
    let rest = &line[start..];
    // Of a line without an end, as much as signs take.
    let last = rest.ceil_char_boundary(rest.len().saturating_sub(AROUND));
    let end = &rest[..last + rest[last..].trim_end_matches(around).len()];
    // A `+` between strings.
    let end = match end.strip_suffix('+').map(str::trim_end) {
        Some(less) if less.ends_with(['"', '\'']) => less.trim_end_matches(around),
        _ => end,
    };
    at + start..at + start + end.len()
}

/// Hands parts out as one where only signs stand between them.
fn together(text: &str, parts: &[Range<usize>], add: &mut impl FnMut(Range<usize>)) {
    let mut parts = parts.iter().filter(|part| !part.is_empty());
    let Some(mut last) = parts.next().cloned() else {
        return;
    };
    for part in parts {
        let between = text.get(last.end..part.start).unwrap_or_default();
        let between = between.replace("\\n", "").replace("\\r", "");
        let mut signs = between.chars().peekable();
        let mut code = false;
        while let Some(c) = signs.next() {
            code |= c.is_alphanumeric()
                && !("bBrRuUfF".contains(c) && matches!(signs.peek(), Some('"' | '\'')));
        }
        if code {
            add(std::mem::replace(&mut last, part.clone()));
        } else {
            last.end = part.end;
        }
    }
    add(last);
}
