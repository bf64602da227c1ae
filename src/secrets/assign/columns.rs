//! Columns that are called as secrets are: what is compared with a column, or stands for it in a table of columns, is no
//! secret of the code.

use super::super::ordinary::Words;
use super::super::scan;
use super::Place;
use super::literal::Quote;

/// How far a question or a table of columns is looked for, in bytes.
const FAR: usize = 300;

/// What takes a question about columns as a text.
pub(in super::super) const QUESTIONS: [&str; 3] = [".query(", ".eval(", ".filter("];

/// What takes a table from columns to names or types of columns.
static TABLES: Words = Words::of(
    "agg aggregate astype columns converters dtype dtypes formatters labels names rename schema column_config hover_data",
);

impl Place<'_> {
    /// `df.query("password == 'x'")`, `df[df["password"] == "x"]`
    pub(super) fn selects_rows(&self, quote: Option<(Quote, usize)>) -> bool {
        self.is_in_question() || self.is_in_mask(quote)
    }

    fn is_in_question(&self) -> bool {
        let length = scan::behind(self.text, self.at.start, FAR, |b| b != b'\n');
        let from = self.text.ceil_char_boundary(self.at.start - length);
        let before = self.text.get(from..self.at.start).unwrap_or_default();
        let begin = QUESTIONS
            .iter()
            .filter_map(|word| Some(before.rfind(word)? + word.len()));
        let Some(argument) = begin.max().and_then(|begin| before.get(begin..)) else {
            return false;
        };
        let argument = argument.trim_start_matches(['f', 'r', 'b', ' ']);
        let sign = argument.chars().next().filter(|c| "\"'`".contains(*c));
        sign.is_some_and(|sign| argument.matches(sign).count() % 2 == 1)
    }

    fn is_in_mask(&self, quote: Option<(Quote, usize)>) -> bool {
        let is_part = |b: u8| b.is_ascii_alphanumeric() || b"_.".contains(&b);
        let bytes = self.text.as_bytes();
        let (start, table) = match quote {
            // `df["password"]`
            Some(_) => {
                let open = self.before(quote);
                if open == 0 || bytes[open - 1] != b'[' {
                    return false;
                }
                let start = open - 1 - scan::behind(self.text, open - 1, FAR, is_part);
                (start, self.text.get(start..open - 1).unwrap_or_default())
            }
            // `df.password`
            None => {
                let name = self.text.get(self.at.clone()).unwrap_or_default();
                let table = name.rsplit_once('.').map_or("", |(table, _)| table);
                (self.at.start, table)
            }
        };
        if table.is_empty() {
            return false;
        }
        let signs = scan::behind(self.text, start, 8, |b| b" (~".contains(&b));
        let before = self.text.get(..start - signs).unwrap_or_default();
        if before.ends_with(['&', '|']) {
            return true;
        }
        let Some(before) = before.strip_suffix('[') else {
            return false;
        };
        let before = before.strip_suffix(".loc").unwrap_or(before);
        before.ends_with(table)
    }

    /// `columns={"password": "Kennwort"}`
    pub(super) fn is_in_table(&self) -> bool {
        let length = scan::behind(self.text, self.at.start, FAR, |_| true);
        let from = self.text.ceil_char_boundary(self.at.start - length);
        let before = self.text.get(from..self.at.start).unwrap_or_default();
        let mut depth = 0_u32;
        for (at, b) in before.bytes().enumerate().rev() {
            match b {
                b'}' | b']' | b')' => depth += 1,
                b'{' if depth == 0 => {
                    let before = before[..at].trim_end();
                    let Some(before) = before.strip_suffix(['(', '=']) else {
                        return false;
                    };
                    let before = before.trim_end();
                    let is_part = |c: char| c.is_alphanumeric() || c == '_';
                    let name = before.len() - before.trim_end_matches(is_part).len();
                    return TABLES.has(&before[before.len() - name..]);
                }
                b'{' | b'[' | b'(' => match depth.checked_sub(1) {
                    Some(less) => depth = less,
                    None => return false,
                },
                _ => {}
            }
        }
        false
    }
}
