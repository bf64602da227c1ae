//! Numbers as libraries and people write them, read at the start of a text.

/// Characters within a number that may also separate two numbers.
const BETWEEN: [char; 2] = [',', '_'];

/// What some languages put between groups of three digits: blanks of four widths, and two
/// apostrophes.
const GROUPING: [char; 6] = [' ', '\u{a0}', '\u{2009}', '\u{202f}', '\'', '\u{2019}'];

/// Digits with single separators between them, at the start of a text.
pub(super) struct Run<'a> {
    text: &'a str,
    /// The same with its exponent, if any.
    whole: &'a str,
}

impl<'a> Run<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let is_mark = |at: usize| matches!(bytes.get(at), Some(b'.' | b',' | b'_'));
        let mut end = 0;
        while is_digit(end) || (is_mark(end) && is_digit(end + 1)) {
            end += 1;
        }
        let mut whole = end;
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let digits = end + 1 + sign;
            let mut at = digits;
            while is_digit(at) {
                at += 1;
            }
            // Letters follow, so it is a word such as `51e4b2`.
            let goes_on = text[at..].starts_with(char::is_alphanumeric);
            if at > digits && !goes_on {
                whole = at;
            }
        }
        Self {
            text: &text[..end],
            whole: &text[..whole],
        }
    }

    /// The part up to the first separator that may stand between two numbers.
    pub(super) fn first(&self) -> &'a str {
        self.text.split(BETWEEN).next().unwrap_or_default()
    }

    /// The parts that may be a number of their own, longest first: the whole, and the parts that
    /// end before a separator. Two points, including those before it, make each point a separator.
    pub(super) fn parts(&self, points: usize) -> impl Iterator<Item = &'a str> {
        let mut ends = vec![self.whole.len()];
        let mut start = 0;
        for piece in self.text.split_inclusive(BETWEEN) {
            let before = if start == 0 { points } else { 0 };
            for (at, c) in piece.char_indices().filter(|(at, _)| start + at > 0) {
                if BETWEEN.contains(&c) || (c == '.' && before + points_of(piece) > 1) {
                    ends.push(start + at);
                }
            }
            start += piece.len();
        }
        ends[1..].sort_unstable_by_key(|end| std::cmp::Reverse(*end));
        let whole = self.whole;
        ends.into_iter().map(move |end| &whole[..end])
    }
}

pub(super) fn points_of(text: &str) -> usize {
    text.matches('.').count()
}

/// The numbers that a spelling can mean.
pub(super) fn readings(part: &str) -> impl Iterator<Item = f64> {
    let (whole, fraction) = part.split_at(part.find('.').unwrap_or(part.len()));
    let plain: String = whole.replace(BETWEEN, "") + fraction;
    // Many languages write `51.234,50`.
    let comma = part.split_once(',').and_then(|(whole, fraction)| {
        let mut groups = whole.split(['.', '_']);
        let first = groups.next().is_some_and(|first| !first.is_empty());
        (first && groups.all(|group| group.len() == 3) && !fraction.contains(['.', ',', '_']))
            .then(|| format!("{}.{fraction}", whole.replace(['.', '_'], "")))
    });
    // Or `51.234` for a whole number.
    let groups = || part.split('.').skip(1);
    let dotted = (1..=3).contains(&part.find('.').unwrap_or(0))
        && groups().all(|group| group.len() == 3 && group.bytes().all(|b| b.is_ascii_digit()));
    let dotted = dotted.then(|| part.replace('.', ""));
    let spelled = std::iter::once(plain).chain(comma).chain(dotted);
    spelled.filter_map(|spelled| plain_number(&spelled))
}

/// The numbers whose digits stand in groups of three at the start of a text (`51 234,50`,
/// `51'234.50`), longest first, each with its length in bytes. `in_row`: a number stands before
/// them, so plain blanks only separate numbers, as they do before a further one.
pub(super) fn grouped(text: &str, in_row: bool) -> Vec<(usize, f64)> {
    let digits_at = |at: usize| {
        let rest = text.get(at..).unwrap_or_default();
        rest.bytes().take_while(u8::is_ascii_digit).count()
    };
    let mut end = digits_at(0);
    let mark = text[end..].chars().next();
    let Some(mark) = mark.filter(|mark| GROUPING.contains(mark) && (1..=3).contains(&end)) else {
        return Vec::new();
    };
    let mut plain = text[..end].to_owned();
    let mut found = Vec::new();
    while text[end..].starts_with(mark) && digits_at(end + mark.len_utf8()) == 3 {
        let start = end + mark.len_utf8();
        end = start + 3;
        plain.push_str(&text[start..end]);
        found.extend(plain_number(&plain).map(|number| (end, number)));
    }
    let fraction = digits_at(end + 1);
    if !found.is_empty() && text[end..].starts_with(['.', ',']) && fraction > 0 {
        let whole = end + 1 + fraction;
        let spelled = format!("{plain}.{}", &text[end + 1..whole]);
        found.extend(plain_number(&spelled).map(|number| (whole, number)));
    }
    let in_row = |end: usize| in_row || (text[end..].starts_with(' ') && digits_at(end + 1) > 0);
    found.retain(|(end, _)| mark != ' ' || !in_row(*end));
    found.reverse();
    found
}

/// The number with six significant digits, as `g` of a format gives it; only if that leaves enough
/// of them to tell it from other numbers.
pub(super) fn rounded(number: f64) -> Option<f64> {
    let text = format!("{number:.5e}");
    let mantissa = text.split('e').next().unwrap_or_default();
    let left = mantissa.replace(['-', '.'], "");
    (left.trim_end_matches('0').len() >= ROUNDED_MIN)
        .then(|| plain_number(&text))
        .flatten()
}

/// What a float of 32 bits leaves of the number, with all its digits (`astype('float32').tolist()`);
/// only if that is another number.
pub(super) fn short(number: f64) -> Option<f64> {
    #[expect(clippy::cast_possible_truncation, reason = "as numpy does it")]
    let narrow = f64::from(number as f32);
    (narrow.is_finite() && digits(number) > ROUNDED_MIN && key(narrow) != key(number))
        .then_some(narrow)
}

/// Significant digits that a rounded number has without the zeros at its end.
const ROUNDED_MIN: usize = 5;

pub(super) fn plain_number(text: &str) -> Option<f64> {
    let digit = text.bytes().any(|b| b.is_ascii_digit());
    text.parse().ok().filter(|n: &f64| digit && n.is_finite())
}

/// A number rounded to twelve digits: libraries that add in another order differ after that.
pub(super) fn key(number: f64) -> u64 {
    plain_number(&format!("{number:.11e}")).map_or(0, f64::to_bits)
}

/// Number of significant digits among the twelve that are compared ([`key`]): the last ones of
/// `1.0000000000000002` come from adding in another order. Leading zeros and the trailing zeros of a
/// fraction do not count, however the number is written.
pub(super) fn digits(number: f64) -> usize {
    let shown = f64::from_bits(key(number)).to_string();
    let all: String = shown.chars().filter(char::is_ascii_digit).collect();
    all.trim_start_matches('0').len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_three_digits_are_one_number() {
        for (text, want) in [
            ("51 234", &[(6, 51234.0)][..]),
            ("51 234,50 x", &[(9, 51234.5), (6, 51234.0)]),
            ("51 234,50 7", &[(6, 51234.0)]),
            (
                "1'512'345.7",
                &[(11, 1_512_345.7), (9, 1_512_345.0), (5, 1512.0)],
            ),
            ("51\u{202f}234,5", &[(10, 51234.5), (8, 51234.0)]),
            ("51 2345", &[]),
            ("1512 345", &[]),
            ("51 23", &[]),
            ("51", &[]),
            ("1'234'56", &[(5, 1234.0)]),
            ("12 345 6", &[]),
            ("12 345 678 9", &[]),
            ("1 234'567", &[(5, 1234.0)]),
        ] {
            assert_eq!(grouped(text, false), want, "{text}");
        }
    }

    #[test]
    fn blanks_in_a_row_of_numbers_separate_them() {
        assert_eq!(grouped("51 234", true), []);
        assert_eq!(grouped("51'234", true), [(6, 51234.0)]);
    }

    #[test]
    fn a_float_of_32_bits_is_another_number() {
        assert_eq!(short(51234.567), Some(51_234.566_406_25));
        assert_eq!(short(51234.5), None);
        assert_eq!(short(0.1), None);
        assert_eq!(short(1e300), None);
    }

    #[test]
    fn what_rounding_errors_add_are_no_digits() {
        for (number, want) in [
            (1.000_000_000_000_000_2, 1),
            (0.1 + 0.2, 1),
            (2.999_999_999_999_999_6, 1),
            (0.812_300_000_000_000_1, 4),
            (51_234.0, 5),
            (1.0 / 3.0, 12),
        ] {
            assert_eq!(digits(number), want, "{number:?}");
        }
    }

    #[test]
    fn a_rounded_number_is_one_of_many_digits() {
        assert_eq!(rounded(51234.567), Some(51234.6));
        assert_eq!(rounded(1_512_345.678), Some(1_512_350.0));
        assert_eq!(rounded(-0.012_345_678), Some(-0.012_345_7));
        assert_eq!(rounded(1999.9999), None);
        assert_eq!(rounded(2024.001), None);
    }
}
