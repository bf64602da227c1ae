//! Numbers, spans of time and sizes on the command line. What is wrong is answered with what would be right.

/// A number of days: `30`, `30d`, `4w`.
pub(super) fn days(text: &str) -> Result<u64, String> {
    with_unit(text, &[("d", 1), ("w", 7)])
        .ok_or_else(|| "give a number of days, such as 30, 30d or 4w".to_owned())
}

/// A number of bytes: `500000000`, `500MB`, `2GB`. Units are powers of ten.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let units = [("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)];
    with_unit(text, &units)
        .ok_or_else(|| "give a number of bytes, such as 500000000, 500MB or 2GB".to_owned())
}

/// A number of things.
pub(super) fn count(text: &str) -> Result<usize, String> {
    text.parse()
        .map_err(|_| "give a whole number, such as 50".to_owned())
}

fn with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let begins = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(begins);
    let times = match unit {
        "" => 1,
        unit => {
            units
                .iter()
                .find(|(name, _)| name.eq_ignore_ascii_case(unit))?
                .1
        }
    };
    number.parse::<u64>().ok()?.checked_mul(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_take_their_units_and_errors_say_what_would_be_right() {
        for (text, is) in [("0", 0), ("30", 30), ("30d", 30), ("4w", 28), ("2W", 14)] {
            assert_eq!(days(text), Ok(is), "{text}");
        }
        for (text, is) in [
            ("17", 17),
            ("3kb", 3_000),
            ("500MB", 500_000_000),
            ("2GB", 2_000_000_000),
        ] {
            assert_eq!(bytes(text), Ok(is), "{text}");
        }
        let long = "9".repeat(30);
        for wrong in [
            "",
            "x",
            "-1",
            "1.5",
            "5h",
            "30 d",
            "d",
            &long,
            "9999999999999999999w",
        ] {
            assert!(
                days(wrong).unwrap_err().contains("such as 30, 30d or 4w"),
                "{wrong}"
            );
            assert!(bytes(wrong).unwrap_err().contains("500MB"), "{wrong}");
            assert!(
                count(wrong).unwrap_err().contains("whole number"),
                "{wrong}"
            );
        }
    }
}
