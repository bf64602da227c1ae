//! Dates as programs write them: read where they stand in a text, instead of listed in every spelling. So a data set
//! of many dates costs one entry each.
//!
//! A date has a year of four or two digits, a month as a number, a name or its first three letters, and a day, numbers
//! with or without a zero before them: `10/1/1950`, `1950.01.10`, `10-Jan-50`, `10. January 1950`, `Jan 10, 1950`,
//! `1950, 1, 10`. What is between them is one mark, a blank, both, or nothing beside a name. Weeks, days of a year and
//! `10th` are not read.

use jiff::civil::Date;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// What may stand between two parts, the longest first: `\/` is JSON's.
const BETWEEN: [&str; 7] = [". ", ", ", "\\/", ".", "/", "-", " "];
/// Those between which three small numbers may be anything.
const LOOSE: [&str; 3] = [". ", ", ", " "];
/// The centuries of a year of two digits.
const CENTURIES: [i16; 4] = [1800, 1900, 2000, 2100];

/// Bytes of the longest spelling, which is that of `ctime` with a long name.
pub(super) const LONGEST: usize = "September 10 00:00:00 1950".len();

/// More than the bytes of any part.
const PART: usize = "September".len() + 1;

/// One part of a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// A number and how many digits it is written with.
    Number(i16, usize),
    Month(i16),
}

/// The length of the date that a text begins with, if it is one of `known`.
pub(super) fn date_at(text: &str, known: impl Fn(Date) -> bool) -> Option<usize> {
    let (first, rest) = part(text)?;
    let (before, rest) = between(rest);
    // `ctime` writes small days with a second blank.
    let rest = if matches!(first, Part::Month(_)) && before == " " {
        rest.strip_prefix(' ').unwrap_or(rest)
    } else {
        rest
    };
    let (second, rest) = part(rest)?;
    let (after, rest) = between(without_time(rest, first));
    let (third, rest) = part(rest)?;
    let is_known = |year: i16, month: i16, day: i16| {
        let small = |n: i16| i8::try_from(n).ok();
        let date = small(month).zip(small(day));
        date.and_then(|(month, day)| Date::new(year, month, day).ok())
            .is_some_and(&known)
    };
    let found = match (first, second, third) {
        (Part::Number(a, long), Part::Month(month), Part::Number(b, length)) => {
            years(b, length).any(|year| is_known(year, month, a) && long < 3)
                || years(a, long).any(|year| is_known(year, month, b) && length < 3)
        }
        (Part::Month(month), Part::Number(day, 1 | 2), Part::Number(year, length)) => {
            !before.is_empty()
                && !after.is_empty()
                && years(year, length).any(|year| is_known(year, month, day))
        }
        (Part::Number(a, long), Part::Number(b, 1 | 2), Part::Number(c, length)) => {
            let loose = LOOSE.contains(&before) && long < 4 && length < 4;
            let year_first = || length < 3 && years(a, long).any(|year| is_known(year, b, c));
            let year_last = || {
                let mut all = years(c, length);
                long < 3 && all.any(|year| is_known(year, b, a) || is_known(year, a, b))
            };
            !before.is_empty() && before == after && !loose && (year_first() || year_last())
        }
        _ => false,
    };
    found.then(|| text.len() - rest.len())
}

/// The years that a number of so many digits may mean.
fn years(number: i16, digits: usize) -> impl Iterator<Item = i16> {
    let short = CENTURIES.into_iter().map(move |century| century + number);
    let whole = (digits == 4).then_some(number);
    whole.into_iter().chain(short.filter(move |_| digits == 2))
}

/// A number of at most four digits or a month's name at the start of a text, and what follows.
fn part(text: &str) -> Option<(Part, &str)> {
    // No part is longer, and a row of letters may be.
    let count = |is: fn(&u8) -> bool| text.bytes().take(PART).take_while(is).count();
    let digits = count(u8::is_ascii_digit);
    if digits > 0 {
        let (number, rest) = text.split_at_checked(digits)?;
        let number = Part::Number(number.parse().ok().filter(|_| digits <= 4)?, digits);
        return Some((number, rest));
    }
    let (name, rest) = text.split_at_checked(count(u8::is_ascii_alphabetic))?;
    let is =
        |month: &str| name.eq_ignore_ascii_case(month) || name.eq_ignore_ascii_case(&month[..3]);
    let at = MONTHS.iter().position(|month| is(month))?;
    Some((Part::Month(i16::try_from(at + 1).ok()?), rest))
}

fn between(text: &str) -> (&'static str, &str) {
    let with = |mark: &'static str| Some((mark, text.strip_prefix(mark)?));
    BETWEEN.into_iter().find_map(with).unwrap_or(("", text))
}

/// What follows a time of day, which `ctime` writes between a day and its year.
fn without_time(rest: &str, first: Part) -> &str {
    let time = |text: &str| {
        text.bytes().enumerate().all(|(at, b)| match at {
            0 => b == b' ',
            3 | 6 => b == b':',
            _ => b.is_ascii_digit(),
        })
    };
    match rest.split_at_checked(9) {
        Some((start, after)) if matches!(first, Part::Month(_)) && time(start) => after,
        _ => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    const FORMATS: &[&str] = &[
        "%B %d, %Y",
        "%b %d %Y",
        "%B %-d, %Y",
        "%b %-d %y",
        "%d %B %Y",
        "%-d %b %Y",
        "%d. %B %Y",
        "%-d. %b %Y",
        "%Y, %B %d",
        "%Y %b %d",
        "%y %b %d",
        "%Y, %-m, %-d",
        "%b %e %H:%M:%S %Y",
        "%b. %d, %Y",
        "%d %B, %Y",
    ];

    #[test]
    fn a_date_is_read_in_each_combination_of_its_parts() {
        let day = date(1950, 1, 5);
        let read = |text: &str| date_at(text, |known| known == day);
        let (mut all, mut product) = (Vec::new(), 0);
        for between in [".", "/", "-"] {
            for y in ["%Y", "%y"] {
                for d in ["%d", "%-d"] {
                    for m in ["%m", "%-m", "%B", "%b"] {
                        for order in [[d, m, y], [m, d, y], [y, m, d]] {
                            all.push(order.join(between));
                            product += 1;
                        }
                    }
                }
            }
        }
        for d in ["%d", "%-d"] {
            for m in ["%m", "%-m", "%B", "%b"] {
                all.extend([[d, m, "%Y"], [m, d, "%Y"], ["%Y", m, d]].map(|order| order.join(" ")));
            }
            for (m, y) in [("%b", "%Y"), ("%b", "%y"), ("%B", "%Y")] {
                all.push(format!("{d}{m}{y}"));
            }
        }
        assert_eq!(product, 144);
        all.extend(FORMATS.iter().map(|&form| form.to_owned()));
        for form in all {
            let text = day.at(10, 11, 12, 0).strftime(&form).to_string();
            assert_eq!(read(&text), Some(text.len()), "{form}: {text}");
            assert_eq!(read(&text.to_uppercase()), Some(text.len()), "{form}");
            assert_eq!(read(&format!("{text} and")), Some(text.len()), "{form}");
            assert!(text.len() <= LONGEST, "{text}");
            let other = date(1951, 2, 6).strftime(&form).to_string();
            assert_eq!(read(&other), None, "{form}: {other}");
        }
    }

    #[test]
    fn what_is_no_date_is_not_read_as_one() {
        let read = |text: &str| date_at(text, |known| known == date(1950, 1, 5));
        for text in [
            "5 1 50",
            "5, 1, 50",
            "5.1/1950",
            "5.1.150",
            "5.1.19500",
            "1950 January",
            "Jan 1950",
            "Janu 5 1950",
            "05011950",
            "5.1",
            "",
            "January5 1950",
            "5th January 1950",
            "1950-W01-4",
            "1950-005",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
