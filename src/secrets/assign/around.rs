//! Names whose values are told by what stands around them: words, tuples, comparisons, calls.

use std::ops::Range;

use super::super::scan;
use super::judge::{self, Bare, Written, is_identifier};
use super::literal::{Quote, before, elements, skip, strings};
use super::name::{LONGEST, Meant};
use super::{Between, Place};

impl Place<'_> {
    /// `password = name or "…"`, `name if x else "…"`.
    pub(super) fn otherwise(&self, at: usize, add: &mut impl FnMut(Range<usize>)) {
        let line = scan::ahead(self.text, at, 160, |b| b != b'\n');
        let Some(line) = self.text.as_bytes().get(at..at + line) else {
            return;
        };
        for word in [" or ", " else ", " || ", " ?? "] {
            if let Some(found) = memchr::memmem::find(line, word.as_bytes())
                && let Some((all, _)) = strings(self.text, at + found + word.len(), false)
            {
                self.quoted(&all, Written::Quoted, add);
            }
        }
    }

    /// `password = SecretStr("…")`: a call that hands its argument on.
    pub(super) fn wrapped(&self, open: usize, add: &mut impl FnMut(Range<usize>)) {
        const SAME: [&str; 19] = [
            "str",
            "bytes",
            "quote",
            "quote_plus",
            "b64decode",
            "SecretStr",
            "Secret",
            "fromhex",
            "unhexlify",
            "bytearray",
            "repr",
            "String",
            "dedent",
            "StringIO",
            "Field",
            "Default",
            "Param",
            "Parameter",
            "SecretBytes",
        ];
        let name = scan::behind(self.text, open, 40, |b| {
            b.is_ascii_alphanumeric() || b == b'_'
        });
        let callee = self.text.get(open - name..open).unwrap_or_default();
        if SAME.contains(&callee)
            && let Some((all, end)) = strings(self.text, skip(self.text, open + 1, true), true)
            && matches!(self.byte(skip(self.text, end, true)), b')' | b',')
        {
            return self.quoted(&all, Written::Quoted, add);
        }
        self.fallback(open + 1, callee, add);
        self.default(open + 1, add);
        // Behind the call: `getpass("for " + (host or "localhost"))` has none.
        let (mut depth, mut at) = (0_u32, open);
        while at < open + 160 && !matches!(self.byte(at), b'\n' | 0) {
            match self.byte(at) {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            at += 1;
            if depth == 0 {
                return self.otherwise(at, add);
            }
        }
    }

    /// `--password …`, `PASSWORD '…'`, `password is …`, netrc.
    pub(super) fn blank(
        &self,
        near: usize,
        quote: Option<(Quote, usize)>,
        add: &mut impl FnMut(Range<usize>),
    ) {
        let before = self.before(quote);
        let bytes = self.text.as_bytes();
        let flag = bytes[before..self.at.start] == *b"--" || self.is_set_by_command();
        if quote.is_none() && flag {
            return self.value(near, Between::Flag, add);
        }
        if quote.is_some() && self.is_value(near, add) {
            return;
        }
        let alone = self.text.get(self.at.clone()).unwrap_or_default();
        let short = alone.eq_ignore_ascii_case("pw");
        if self.name.meant != Meant::Password && !short || self.name.more || quote.is_some() {
            return;
        }
        for word in ["in", "IN"] {
            let list = near + word.len();
            let open = skip(self.text, list, false);
            if self.says(near, word) && open > list && matches!(self.byte(open), b'(' | b'[' | b'{')
            {
                return self.list(open + 1, add);
            }
        }
        // `password hunter2`, `Passwort ist …`
        const WORDS: [&str; 16] = [
            "", "is ", "is: ", "was ", "to ", "are ", "ist ", "ist: ", "war ", "lautet ",
            "lautet: ", "es ", "est ", "est : ", "= ", "- ",
        ];
        for word in WORDS {
            if !self.says(near, word) {
                continue;
            }
            let value = near + word.len();
            if let Some((all, _)) = strings(self.text, value, false) {
                return self.quoted(&all, Written::Quoted, add);
            }
            let length = scan::ahead(self.text, value, LONGEST, |b| !b.is_ascii_whitespace());
            let all = self.text.get(value..value + length).unwrap_or_default();
            let all = all.trim_end_matches(['.', ',', ';', ':', ')', '!', '?']);
            let has = |is: fn(char) -> bool| all.contains(is);
            let mixed = has(|c| c.is_ascii_digit()) && has(char::is_alphabetic);
            let netrc = word.is_empty() && self.is_netrc();
            let mixed = mixed
                && !(word.is_empty() && super::super::ordinary::is_ordinary(all) && all.len() < 6);
            let sound = !all.contains(['(', '=', '[', '{', '<', '"', '\'']);
            let bare = Bare {
                tight: false,
                flag: netrc,
                argument: false,
            };
            let found = value..value + all.len();
            if sound && (netrc || mixed) && self.is(&found, Written::Bare(bare)) {
                return add(found);
            }
        }
    }

    /// `ENV DB_PASSWORD …`, `setx TOKEN …`
    fn is_set_by_command(&self) -> bool {
        const COMMANDS: [&str; 6] = ["ENV", "setx", "setenv", "set -x", "set -gx", "config set"];
        let length = scan::behind(self.text, self.at.start, 40, |b| b != b'\n');
        let line = self.text.get(self.at.start - length..self.at.start);
        let line = line.unwrap_or_default().trim();
        COMMANDS.iter().any(|command| line.ends_with(command))
    }

    /// Whether a machine's name stands before.
    pub(super) fn is_netrc(&self) -> bool {
        let from = self
            .text
            .floor_char_boundary(self.at.start.saturating_sub(300));
        let before = self.text.get(from..self.at.start).unwrap_or_default();
        scan::read(before.len());
        before.contains("machine ") || before.trim_start().starts_with("default ")
    }

    /// `"…" == password`
    pub(super) fn compared(
        &self,
        quote: Option<(Quote, usize)>,
        add: &mut impl FnMut(Range<usize>),
    ) {
        let bytes = self.text.as_bytes();
        let mut at = self.before(quote);
        // The name of what has it: `conf["password"]`.
        if quote.is_some() && at > 0 && bytes[at - 1] == b'[' {
            at -= 1;
            let is_part = |b: u8| b.is_ascii_alphanumeric() || b"_.".contains(&b);
            at -= scan::behind(self.text, at, LONGEST, is_part);
        }
        let blanks = |at: usize| at - scan::behind(self.text, at, 8, |b| b == b' ');
        at = blanks(at);
        if at < 4 || !(bytes[..at].ends_with(b"==") || bytes[..at].ends_with(b"!=")) {
            return;
        }
        let end = blanks(at - 2);
        let Some(quote) = before(self.text, end) else {
            return;
        };
        let close = end - 1 - quote.slashes;
        let open = |b: u8| b != b'\n' && b != quote.sign;
        let length = scan::behind(self.text, close, judge::LONGEST, open);
        if close == length || bytes[close - length - 1] != quote.sign {
            return;
        }
        let value = close - length..close;
        if self.is(&value, Written::Quoted) {
            add(value);
        }
    }

    /// Whether only blanks and `export` stand before the name on its line.
    pub(super) fn begins_line(&self) -> bool {
        let length = scan::behind(self.text, self.at.start, 40, |b| b != b'\n');
        let line = self.text.get(self.at.start - length..self.at.start);
        let line = line.unwrap_or("?");
        length < 40 && ["", "export", "set", "env", "ENV", "ARG", "-e"].contains(&line.trim())
    }

    /// `user, password = "ana", "…"`: whether the name is one of several, and its value is found by its place.
    pub(super) fn of_several(&self, add: &mut impl FnMut(Range<usize>)) -> bool {
        const LINE: usize = 200;
        // A comma stands beside a name that is one of several.
        let blanks = scan::behind(self.text, self.at.start, 8, |b| b == b' ');
        let comma = self.at.start > blanks && self.byte(self.at.start - blanks - 1) == b',';
        if !comma && self.byte(skip(self.text, self.at.end, false)) != b',' {
            return false;
        }
        let before = scan::behind(self.text, self.at.start, LINE + 1, |b| b != b'\n');
        let behind = scan::ahead(self.text, self.at.end, LINE, |b| b != b'\n' && b != b'=');
        let equals = self.at.end + behind;
        if self.byte(equals) != b'=' || before > LINE || self.byte(equals + 1) == b'=' {
            return false;
        }
        let first = self
            .text
            .get(self.at.start - before..self.at.start)
            .unwrap_or_default();
        let last = self.text.get(self.at.end..equals).unwrap_or_default();
        let first = first.trim_start().trim_start_matches(['(', '[']);
        let last = last.trim_end().trim_end_matches([')', ']']);
        let is_target = |part: &str| {
            let part = part.trim();
            !part.is_empty() && part.split('.').all(is_identifier)
        };
        // The name itself stands behind the last comma of the first part.
        let mut targets: Vec<&str> = first.split(',').collect();
        let rest: Vec<&str> = last.split(',').collect();
        if !targets.pop().is_some_and(|own| own.trim().is_empty())
            || !rest.first().is_some_and(|own| own.trim().is_empty())
            || !targets
                .iter()
                .chain(rest.iter().skip(1))
                .all(|part| is_target(part))
            || targets.len() + rest.len() < 2
        {
            return false;
        }
        let mut at = skip(self.text, equals + 1, false);
        let open = matches!(self.byte(at), b'(' | b'[');
        at += usize::from(open);
        let (all, _) = elements(self.text, at, open);
        let Some(own) = all.get(targets.len()).filter(|_| all.len() > 1) else {
            return false;
        };
        self.quoted(&own.strings, Written::Quoted, add);
        true
    }
}
