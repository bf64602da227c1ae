//! Classifies a value by its bytes alone.

/// The most digits of a plain number before the point; `FRACTION` limits those after it.
const DIGITS: usize = 15;
const FRACTION: usize = 17;
/// The longest plain word, in characters.
const WORD: usize = 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    Whole,
    Decimal,
    Date,
    Word,
    Missing,
    /// Never condensed.
    Other,
}

/// `missing` is the format's text for a missing value.
pub fn kind(cell: &str, missing: &str) -> CellKind {
    if cell == missing {
        CellKind::Missing
    } else if let Some(kind) = number(cell) {
        kind
    } else if is_date(bare(cell)) {
        CellKind::Date
    } else if is_word(bare(cell)) {
        CellKind::Word
    } else {
        CellKind::Other
    }
}

/// The cell without surrounding quotes.
pub fn bare(cell: &str) -> &str {
    cell.strip_prefix('"')
        .and_then(|c| c.strip_suffix('"'))
        .unwrap_or(cell)
}

/// A number that every reader reads alike: no leading zero, plus sign, exponent or negative zero.
fn number(cell: &str) -> Option<CellKind> {
    let digits = cell.strip_prefix('-').unwrap_or(cell);
    let (whole, fraction) = match digits.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (digits, None),
    };
    let all = |s: &str, most: usize| {
        (1..=most).contains(&s.len()) && s.bytes().all(|b| b.is_ascii_digit())
    };
    if !all(whole, DIGITS) || (whole.len() > 1 && whole.starts_with('0')) {
        return None;
    }
    if fraction.is_some_and(|f| !all(f, FRACTION)) {
        return None;
    }
    let zero = digits.bytes().all(|b| matches!(b, b'0' | b'.'));
    if zero && cell.starts_with('-') {
        return None;
    }
    Some(match fraction {
        None => CellKind::Whole,
        Some(_) => CellKind::Decimal,
    })
}

/// `2024-01-31`, optionally with a time of day: `T` or a blank, `12:30`, `12:30:00`, `.123456`,
/// `Z`.
fn is_date(cell: &str) -> bool {
    let b = cell.as_bytes();
    let two = |at: usize, least: u8, most: u8| match b.get(at..at + 2) {
        Some([x, y]) if x.is_ascii_digit() && y.is_ascii_digit() => {
            (least..=most).contains(&((x - b'0') * 10 + (y - b'0')))
        }
        _ => false,
    };
    let is = |at: usize, wanted: &[u8]| b.get(at).is_some_and(|c| wanted.contains(c));
    let day = two(0, 0, 99) && two(2, 0, 99) && is(4, b"-") && two(5, 1, 12) && is(7, b"-");
    if !day || !two(8, 1, 31) || !is_day(&cell[..10]) {
        return false;
    }
    if b.len() == 10 {
        return true;
    }
    if !is(10, b"T ") || !two(11, 0, 23) || !is(13, b":") || !two(14, 0, 59) {
        return false;
    }
    let mut at = 16;
    if is(at, b":") && two(at + 1, 0, 59) {
        at += 3;
        if is(at, b".") {
            let digits = b[at + 1..]
                .iter()
                .take_while(|c| c.is_ascii_digit())
                .count();
            if !(1..=6).contains(&digits) {
                return false;
            }
            at += 1 + digits;
        }
    }
    if is(at, b"Z") {
        at += 1;
    }
    at == b.len()
}

/// Whether the day exists: 30 February is not a date.
fn is_day(date: &str) -> bool {
    date.parse::<jiff::civil::Date>().is_ok()
}

/// A letter, then letters, digits, `_`, `.`, `-` and single inner blanks.
fn is_word(cell: &str) -> bool {
    cell.len() <= WORD
        && cell.starts_with(|c: char| c.is_ascii_alphabetic())
        && !cell.ends_with(' ')
        && !cell.contains("  ")
        && cell
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-' | b' '))
}

/// Whether two dates have the same form.
pub fn same_form(a: &str, b: &str) -> bool {
    a.len() == b.len()
        && a.bytes()
            .zip(b.bytes())
            .all(|(x, y)| x == y || (x.is_ascii_digit() && y.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_values_are_those_that_every_reader_reads_alike() {
        use CellKind::*;
        for (cell, expected) in [
            ("0", Whole),
            ("-17", Whole),
            ("999999999999999", Whole),
            ("0.5", Decimal),
            ("-12.340", Decimal),
            ("2024-02-29", Date),
            ("\"2024-12-31T23:59:59.123456Z\"", Date),
            ("2024-12-31 23:59", Date),
            ("2023-02-29", Other),
            ("2024-06-31", Other),
            ("2024-02-30T12:00:00Z", Other),
            ("north", Word),
            ("\"north west\"", Word),
            ("true", Word),
            ("NaN", Word),
            ("1e999", Other),
            ("1e5", Other),
            ("0x1f", Other),
            ("-0", Other),
            ("-0.0", Other),
            ("007", Other),
            ("+1", Other),
            (".5", Other),
            ("5.", Other),
            ("1_000", Other),
            ("1.2.3", Other),
            ("--1", Other),
            ("\"1\"", Other),
            ("1000000000000000", Other),
            (" 1", Other),
            ("1 ", Other),
            ("١", Other),
            ("2024-13-01", Other),
            ("2024-01-32", Other),
            ("2024-01-01T25:00", Other),
            ("2024-01-01x", Other),
            ("=cmd()", Other),
            ("@sum", Other),
            ("-north", Other),
            ("a  b", Other),
            ("a ", Other),
            ("na\u{ef}ve", Other),
            ("\"", Other),
            ("", Missing),
        ] {
            assert_eq!(kind(cell, ""), expected, "{cell}");
        }
        assert_eq!(kind(&"9".repeat(400), ""), Other);
        assert_eq!(kind(&format!("0.{}", "1".repeat(400)), ""), Other);
        assert_eq!(kind(&"x".repeat(25), ""), Other);
        assert_eq!((kind("null", "null"), kind("", "null")), (Missing, Other));
    }

    #[test]
    fn a_form_is_the_places_of_the_digits() {
        assert!(same_form("2024-01-01", "1999-12-31"));
        assert!(!same_form("2024-01-01", "2024-01-01T00:00"));
        assert!(!same_form("2024-01-01T00:00", "2024-01-01 00:00"));
    }
}
