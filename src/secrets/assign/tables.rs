//! Cells of tables below a heading that tells: CSV and what is like it, printed frames, Markdown, `INSERT`.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::super::scan;
use super::Place;
use super::judge::Written;
use super::literal::{elements, skip};
use super::name::{Meant, Name};

/// Most bytes of a line, and most columns.
const LINE: usize = 2_000;
const COLUMNS: usize = 100;
/// Most columns that tell.
const TELLING: usize = 16;

/// What stands between the cells of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Between {
    Sign(char),
    /// Columns that are told by where they stand.
    Blanks,
}

/// A column whose heading tells.
struct Column {
    name: Name,
    /// Its number, or the characters of the line that its heading takes.
    number: usize,
    at: Range<usize>,
}

/// Hands out the secrets of all tables. `tells`: where names that tell stand, in order.
pub(super) fn find(text: &str, tells: &[usize], mut add: impl FnMut(Range<usize>, Meant)) {
    let (mut done, mut start, mut read) = (0, 0, 0);
    for at in tells {
        // Each line's start is looked for once.
        let between = text.as_bytes().get(read..*at).unwrap_or_default();
        if let Some(end) = memchr::memrchr(b'\n', between) {
            start = read + end + 1;
        }
        read = *at;
        if *at < done || at - start > LINE {
            continue;
        }
        let Some((line, next)) = line(text, start) else {
            done = start + LINE;
            continue;
        };
        done = next;
        let Some((between, columns)) = heading(&text[line.clone()]) else {
            continue;
        };
        let count = cells(&text[line], between).len();
        let mut from = next;
        while let Some((line, next)) = self::line(text, from) {
            let row = &text[line.clone()];
            let rule = row.contains("--") && row.chars().all(|c| " -:|+\t".contains(c));
            let all = cells(row, between);
            let fits = match between {
                Between::Sign(_) => all.len() == count,
                Between::Blanks => all.len() > 1,
            };
            // The end of a printed series, and markup.
            let other =
                row.starts_with("Name: ") || row.starts_with("dtype: ") || row.starts_with('<');
            if other || !fits && !rule {
                break;
            }
            done = next;
            from = next;
            for column in &columns {
                let cell = match between {
                    Between::Sign(_) => all.get(column.number).cloned(),
                    Between::Blanks => below(row, &all, &column.at),
                };
                if let Some(cell) = cell.filter(|cell| !is_figure(&row[cell.clone()])) {
                    let cell = line.start + cell.start..line.start + cell.end;
                    let meant = column.name.meant;
                    let of = Place {
                        text,
                        at: cell.clone(),
                        name: column.name.clone(),
                    };
                    of.quoted(&[cell], Written::Listed, &mut |at| add(at, meant));
                }
            }
        }
    }
}

/// The line that begins here, and where the next one does.
fn line(text: &str, at: usize) -> Option<(Range<usize>, usize)> {
    if at >= text.len() {
        return None;
    }
    let length = scan::ahead(text, at, LINE, |b| b != b'\n');
    let end = at + length;
    let whole = length < LINE && text.get(at..end).is_some();
    whole.then(|| {
        (
            at..end - usize::from(text[at..end].ends_with('\r')),
            end + 1,
        )
    })
}

/// The columns of a heading that tell, if it is one: only names, and two of them at least.
fn heading(line: &str) -> Option<(Between, Vec<Column>)> {
    let signs = ['\t', ';', '|', '│', '┆', ','];
    let sign = signs.into_iter().find(|sign| line.contains(*sign));
    let between = sign.map_or(Between::Blanks, Between::Sign);
    let all = cells(line, between);
    let is_name = |cell: &Range<usize>| {
        let name = line[cell.clone()].trim();
        let sound = |c: char| c.is_alphanumeric() || "_- .#%/".contains(c);
        name.len() <= 64 && name.chars().all(sound) && name.split(' ').count() <= 3
    };
    if all.len() < 2 || all.len() > COLUMNS || !all.iter().all(is_name) {
        return None;
    }
    // A series of one.
    if between == Between::Blanks
        && all.iter().any(|cell| is_figure(&line[cell.clone()]))
        && all.len() == 2
    {
        return None;
    }
    // One column of words is prose, and so are many without a sign between.
    if between == Between::Blanks && !line.contains("  ") && !line.starts_with(' ') {
        return None;
    }
    let mut columns = Vec::new();
    for (number, cell) in all.into_iter().enumerate() {
        let written = line[cell.clone()].trim();
        if columns.len() < TELLING
            && let Some(name) = Name::of(&written.replace(' ', "_"))
            && !matches!(name.meant, Meant::Pair | Meant::Authorization)
        {
            let chars = |at: usize| line[..at].chars().count();
            let at = chars(cell.start)..chars(cell.end);
            columns.push(Column { name, number, at });
        }
    }
    (!columns.is_empty()).then_some((between, columns))
}

/// The cells of a line without blanks and quotes around them.
fn cells(line: &str, between: Between) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    let mut push = |at: Range<usize>| {
        let cell = &line[at.clone()];
        let start = at.start + cell.len() - cell.trim_start().len();
        let cell = cell.trim();
        let bare = cell.trim_matches(['"', '\'']);
        let start = start + cell.find(bare).unwrap_or_default();
        all.push(start..start + bare.len());
    };
    scan::read(line.len());
    match between {
        Between::Sign(sign) => {
            let (mut from, mut quoted) = (0, false);
            for (at, c) in line.char_indices() {
                quoted ^= c == '"';
                if (c == sign || (sign, c) == ('│', '┆')) && !quoted {
                    push(from..at);
                    from = at + c.len_utf8();
                }
            }
            push(from..line.len());
        }
        Between::Blanks => {
            let mut from = None;
            for (at, c) in line.char_indices() {
                match (c.is_whitespace(), from) {
                    (true, Some(begin)) => {
                        push(begin..at);
                        from = None;
                    }
                    (false, None) => from = Some(at),
                    _ => {}
                }
            }
            if let Some(begin) = from {
                push(begin..line.len());
            }
        }
    }
    all
}

/// A count or a measure; longer numbers may be passwords.
fn is_figure(cell: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit() || "+-.,%".contains(c);
    cell.chars().all(is_digit) && (cell.len() < 6 || cell.contains(['.', ',', '%']))
}

/// The cell that stands below a heading.
fn below(row: &str, all: &[Range<usize>], heading: &Range<usize>) -> Option<Range<usize>> {
    let mut chars = 0;
    let mut last = 0;
    let mut found = None;
    for cell in all {
        chars += row[last..cell.start].chars().count();
        let begin = chars;
        chars += row[cell.clone()].chars().count();
        last = cell.end;
        // Columns of numbers and texts of a frame end together.
        if begin < heading.end && chars > heading.start {
            if chars == heading.end {
                return Some(cell.clone());
            }
            found = found.or(Some(cell.clone()));
        }
    }
    found
}

/// `INSERT INTO t (user, password) VALUES ('ana', '…'), …`
pub(super) fn inserted(text: &str, mut add: impl FnMut(Range<usize>, Meant)) {
    /// Most bytes of the names of columns.
    const NAMES: usize = 1_000;
    let Some(values) = &*VALUES else { return };
    scan::read(text.len());
    let mut done = 0;
    for found in values.find_iter(text) {
        let blanks = scan::behind(text, found.start(), 80, |b| b.is_ascii_whitespace());
        let close = found.start() - blanks;
        if found.start() < done || close == 0 || text.as_bytes()[close - 1] != b')' {
            continue;
        }
        let names = scan::behind(text, close - 1, NAMES, |b| !b"()".contains(&b));
        let names = text.get(close - 1 - names..close - 1).unwrap_or_default();
        let columns: Vec<Option<Name>> = names
            .split(',')
            .map(|name| Name::of(name.trim().trim_matches(['"', '`', '[', ']', '\''])))
            .collect();
        if columns.iter().all(Option::is_none) {
            continue;
        }
        let mut here = skip(text, found.end(), true);
        while text.as_bytes().get(here) == Some(&b'(') {
            let (all, end) = elements(text, here + 1, true);
            for (name, value) in columns.iter().zip(&all) {
                let Some(name) = name else { continue };
                let of = Place {
                    text,
                    at: here..here,
                    name: name.clone(),
                };
                let mut add = |at| add(at, name.meant);
                of.quoted(&value.strings, Written::Quoted, &mut add);
            }
            done = end;
            let behind = skip(text, end + 1, true);
            if text.as_bytes().get(end) != Some(&b')') || text.as_bytes().get(behind) != Some(&b',')
            {
                break;
            }
            here = skip(text, behind + 1, true);
        }
    }
}

static VALUES: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let mut builder = AhoCorasick::builder();
    builder.ascii_case_insensitive(true).build(["values"]).ok()
});
