//! `on:`: a day, a month or a year as a whole, and questions about no time at all.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use super::Node;
use super::test::Test;

/// Why `since:` and `until:` cannot stand together.
pub(super) const NONE: &str = "no time lies between since: and until:, which ends where its day begins; \
     on:2026-11-30 is a whole day, on:2026-11 a month";

/// From when to when (the end is not in it) a day, a month or a year goes on this machine.
///
/// # Errors
/// What would be right.
pub(super) fn of(text: &str) -> Result<(Timestamp, Timestamp), String> {
    let wrong = || {
        format!(
            "`on` takes a day, a month or a year, such as on:2026-11-30, on:2026-11 or on:2026; not `{text}`"
        )
    };
    let first = first(text).ok_or_else(wrong)?;
    let next = match text.len() {
        4 => first.checked_add(1.year()),
        7 => first.checked_add(1.month()),
        _ => first.tomorrow(),
    };
    let at = |day: Date| Some(day.to_zoned(TimeZone::system()).ok()?.timestamp());
    at(first).zip(next.ok().and_then(at)).ok_or_else(wrong)
}

/// The first day of a day, a month or a year as RFC 3339 writes its date, or the beginning of one.
pub(in crate::audit) fn first(text: &str) -> Option<Date> {
    let digits = |from: usize, to: usize| -> Option<i16> {
        let part = text.get(from..to)?;
        part.bytes()
            .all(|b| b.is_ascii_digit())
            .then(|| part.parse().ok())?
    };
    let dash = |at: usize| text.as_bytes().get(at) == Some(&b'-');
    let (month, day) = match text.len() {
        4 => (1, 1),
        7 if dash(4) => (digits(5, 7)?, 1),
        10 if dash(4) && dash(7) => (digits(5, 7)?, digits(8, 10)?),
        _ => return None,
    };
    Date::new(
        digits(0, 4)?,
        i8::try_from(month).ok()?,
        i8::try_from(day).ok()?,
    )
    .ok()
}

/// Whether the terms that must all hold leave no time between them.
pub(super) fn is_empty(root: &Node) -> bool {
    let (mut since, mut until) = (None, None);
    bounds(root, &mut since, &mut until);
    since
        .zip(until)
        .is_some_and(|(since, until)| since >= until)
}

fn bounds(node: &Node, since: &mut Option<Timestamp>, until: &mut Option<Timestamp>) {
    match node {
        Node::All(all) => all.iter().for_each(|one| bounds(one, since, until)),
        Node::Is(Test::Since(at)) => *since = (*since).max(Some(*at)),
        Node::Is(Test::Until(at)) => *until = Some(until.map_or(*at, |until| until.min(*at))),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn a_day_a_month_and_a_year_are_whole() {
        let days = |text: &str| {
            let (from, to) = of(text).unwrap();
            let day = |at: Timestamp| at.to_zoned(TimeZone::system()).date();
            (day(from), day(to))
        };
        assert_eq!(days("2026-11-30"), (date(2026, 11, 30), date(2026, 12, 1)));
        assert_eq!(days("2026-12"), (date(2026, 12, 1), date(2027, 1, 1)));
        assert_eq!(days("2028"), (date(2028, 1, 1), date(2029, 1, 1)));
        for wrong in [
            "",
            "7d",
            "2026-13",
            "2026-02-30",
            "26-11",
            "2026-11-3",
            "2026/11",
            "november",
            "99999",
            "+026",
        ] {
            let why = of(wrong).unwrap_err();
            assert!(
                why.contains("on:2026-11-30") && why.contains(&format!("`{wrong}`")),
                "{why}"
            );
        }
    }
}
