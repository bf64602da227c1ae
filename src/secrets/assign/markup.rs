//! Names and values that stand in tags, in pairs, or each under a name of its own.

use std::ops::Range;

use super::super::scan;
use super::judge::Written;
use super::literal::{Quote, closes, opens, skip, strings};
use super::name::LONGEST;
use super::{Between, Place};

impl Place<'_> {
    /// `("password", "…")`, `["--password", "…"]`, `{"name": "PASSWORD", "value": "…"}`.
    pub(super) fn paired(
        &self,
        at: usize,
        quote: Option<(Quote, usize)>,
        add: &mut impl FnMut(Range<usize>),
    ) {
        let next = skip(self.text, at, true);
        if self.is_value(next, add) {
            return;
        }
        let Some((quote, _)) = quote else { return };
        let before = self.before(Some((quote, 0)));
        let opened = before > 0 && self.byte(before - 1) == b'(';
        let flag = self
            .text
            .get(..self.at.start)
            .is_some_and(|text| text.ends_with("--"));
        if !flag {
            self.set(next, add);
        }
        if !(opened || flag) {
            return;
        }
        let Some((all, end)) = strings(self.text, next, true) else {
            return self.default(next, add);
        };
        if flag || self.byte(skip(self.text, end, true)) == b')' {
            self.quoted(&all, Written::Listed, add);
        }
        if flag {
            self.default(end, add);
        }
    }

    /// `name: PASSWORD` and `value: …` on the next line.
    pub(super) fn named_value(&self, at: usize, add: &mut impl FnMut(Range<usize>)) {
        if self.byte(at) == b'\n' {
            self.is_value(skip(self.text, at, true), add);
        }
    }

    /// Whether `value: …` stands here.
    pub(super) fn is_value(&self, at: usize, add: &mut impl FnMut(Range<usize>)) -> bool {
        let quote = opens(self.text, at);
        let begin = quote.map_or(at, |(_, begin)| begin);
        if !self.says(begin, "value") {
            return false;
        }
        let end = begin + "value".len();
        let end = quote.map_or(Some(end), |(quote, _)| closes(self.text, end, quote));
        let Some(colon) = end.map(|end| skip(self.text, end, false)) else {
            return false;
        };
        if !matches!(self.byte(colon), b':' | b'=') {
            return false;
        }
        self.value(colon + 1, Between::Colon, add);
        true
    }

    /// `<password>…</password>`, `<setting name="password">…`
    pub(super) fn markup(
        &self,
        at: usize,
        quote: Option<(Quote, usize)>,
        add: &mut impl FnMut(Range<usize>),
    ) -> bool {
        let before = self.text.get(..self.before(quote)).unwrap_or_default();
        let begins = match quote {
            Some(_) => before.ends_with(" name=") || before.ends_with(" key="),
            None => {
                before.ends_with('<')
                    || before.ends_with(':') && {
                        let end = before.len() - 1;
                        let is_part = |b: u8| b.is_ascii_alphanumeric();
                        let name = scan::behind(before, end, LONGEST, is_part);
                        before[..end - name].ends_with('<')
                    }
            }
        };
        let rest = self.text.as_bytes().get(at..).unwrap_or_default();
        let tag = match begins {
            true => scan::ahead(self.text, at, 200, |b| !b"<>\n".contains(&b)),
            false => 0,
        };
        let opens = begins && rest.get(tag) == Some(&b'>') && (quote.is_none() || tag == 0);
        if opens {
            self.content(at + tag + 1, add);
        }
        opens
    }

    /// Up to the next tag.
    pub(super) fn content(&self, at: usize, add: &mut impl FnMut(Range<usize>)) {
        const CDATA: &str = "<![CDATA[";
        let at = if self.says(at, CDATA) {
            at + CDATA.len()
        } else {
            at
        };
        let rest = self.text.as_bytes().get(at..).unwrap_or_default();
        let length = scan::ahead(self.text, at, 600, |b| b != b'<');
        if rest.get(length) != Some(&b'<') {
            return;
        }
        let text = self.text.get(at..at + length).unwrap_or_default();
        let text = text.strip_suffix("]]>").unwrap_or(text);
        let start = at + text.len() - text.trim_start().len();
        let value = start..start + text.trim().len();
        if self.is(&value, Written::Quoted) {
            add(value);
        }
    }

    /// `<key>password</key><string>…</string>`
    pub(super) fn next_element(&self, at: usize, add: &mut impl FnMut(Range<usize>)) {
        let Some(end) = scan::next(self.text, at, 80, b'>') else {
            return;
        };
        let next = skip(self.text, end + 1, true);
        if self.byte(next) != b'<' || self.byte(next + 1) == b'/' {
            return;
        }
        if let Some(end) = scan::next(self.text, next, 80, b'>') {
            self.content(end + 1, add);
        }
    }
}
