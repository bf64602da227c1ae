//! How libraries write a text that a snippet prints as it is: escaped for JSON, Python, HTML or CSV, a date in
//! another order, a long text cut into lines. What a snippet encodes by itself is not here.

/// Texts from here on are looked for in pieces too: `pprint` and `textwrap` cut them at blanks.
const LONG: usize = 40;
/// A piece that is hidden by itself has at least so many bytes and words: shorter ones are anybody's.
const PIECE: usize = 16;
const WORDS: usize = 3;

/// The other spellings of a text of one line. Plain ASCII without marks has none.
pub(super) fn escaped(text: &str) -> Vec<String> {
    let marked = |c: char| !c.is_ascii() || c.is_ascii_control() || "\"\\/'&<>".contains(c);
    if !text.contains(marked) {
        return Vec::new();
    }
    let mut found: Vec<String> = vec![
        each(text, |c, to| json(c, to, true)),
        each(text, |c, to| json(c, to, false)),
        each(text, |c, to| python(c, to, true)),
        each(text, |c, to| python(c, to, false)),
        bytes(text),
        html(text, "\"", "'"),
        html(text, "&quot;", "&#x27;"),
        html(text, "&#34;", "&#39;"),
        text.replace('"', "\"\""),
    ];
    // pandas' JSON.
    let slashed: Vec<String> = found[..2].iter().map(|f| f.replace('/', "\\/")).collect();
    let quoted: Vec<String> = found[2..5].iter().map(|f| f.replace('\'', "\\'")).collect();
    found.extend(slashed.into_iter().chain(quoted));
    found.sort_unstable();
    found.dedup();
    found.retain(|form| form != text);
    found
}

fn each(text: &str, write: impl Fn(char, &mut String)) -> String {
    let mut to = String::with_capacity(text.len() + 16);
    text.chars().for_each(|c| write(c, &mut to));
    to
}

/// As `json.dumps` writes it, with and without `ensure_ascii`.
fn json(c: char, to: &mut String, ascii: bool) {
    match c {
        '"' | '\\' => to.extend(['\\', c]),
        '\t' => to.push_str("\\t"),
        '\u{8}' => to.push_str("\\b"),
        '\u{c}' => to.push_str("\\f"),
        _ if c.is_control() || (ascii && !c.is_ascii()) => {
            for unit in c.encode_utf16(&mut [0; 2]) {
                to.push_str(&format!("\\u{unit:04x}"));
            }
        }
        _ => to.push(c),
    }
}

/// As `ascii()` and `repr()` write it, without what stands around it.
fn python(c: char, to: &mut String, ascii: bool) {
    match u32::from(c) {
        _ if c == '\\' => to.push_str("\\\\"),
        _ if c == '\t' => to.push_str("\\t"),
        code if c.is_ascii_control()
            || (code < 0x100 && (ascii || c.is_control()) && !c.is_ascii()) =>
        {
            to.push_str(&format!("\\x{code:02x}"));
        }
        code if ascii && code > 0xffff => to.push_str(&format!("\\U{code:08x}")),
        code if ascii && !c.is_ascii() => to.push_str(&format!("\\u{code:04x}")),
        _ => to.push(c),
    }
}

/// As the `repr()` of its UTF-8.
fn bytes(text: &str) -> String {
    let mut to = String::with_capacity(text.len() + 16);
    for byte in text.bytes() {
        match byte {
            b'\\' => to.push_str("\\\\"),
            b'\t' => to.push_str("\\t"),
            b' '..=b'~' => to.push(char::from(byte)),
            _ => to.push_str(&format!("\\x{byte:02x}")),
        }
    }
    to
}

fn html(text: &str, double: &str, single: &str) -> String {
    let plain = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    plain.replace('"', double).replace('\'', single)
}

/// The beginnings of a long text's lines, wherever it is cut: from each word on as few words as are told apart.
pub(super) fn pieces(text: &str) -> Vec<&str> {
    if text.len() < LONG {
        return Vec::new();
    }
    let words: Vec<(usize, usize)> = text
        .split_whitespace()
        .map(|word| {
            let start = word.as_ptr() as usize - text.as_ptr() as usize;
            (start, start + word.len())
        })
        .collect();
    let piece = |(at, (start, _)): (usize, &(usize, usize))| {
        let ends = words[at..].iter().map(|(_, end)| *end);
        let end = ends.skip(WORDS - 1).find(|end| end - start >= PIECE)?;
        text.get(*start..end)
    };
    words.iter().enumerate().filter_map(piece).collect()
}

/// A date as pandas and Python write it, and the milliseconds since 1970 that pandas' JSON has.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Day {
    pub texts: [String; 2],
    pub milliseconds: i64,
}

/// The days that a text may stand for that begins with three numbers: with the year, the day or the month first.
pub(super) fn days(text: &str) -> Vec<Day> {
    let date = text.split(['T', ' ']).next().unwrap_or_default();
    let numbers: Vec<&str> = date.split(['-', '/', '.']).collect();
    let [first, second, third] = numbers[..] else {
        return Vec::new();
    };
    let number = |part: &str| {
        let digits = part.bytes().all(|b| b.is_ascii_digit());
        part.parse::<i16>().ok().filter(|_| digits)
    };
    let (Some(a), Some(b), Some(c)) = (number(first), number(second), number(third)) else {
        return Vec::new();
    };
    let readings = match (first.len(), third.len()) {
        (4, 1 | 2) => vec![(a, b, c)],
        (1 | 2, 4) => vec![(c, b, a), (c, a, b)],
        (1 | 2, 2) => {
            // POSIX: 69 to 99 are of the last century.
            let year = if c < 69 { 2000 + c } else { 1900 + c };
            vec![(year, b, a), (year, a, b)]
        }
        _ => return Vec::new(),
    };
    let day = |(year, month, day): (i16, i16, i16)| {
        let small = |n: i16| i8::try_from(n).ok();
        let date = jiff::civil::Date::new(year, small(month)?, small(day)?).ok()?;
        let midnight = date.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
        Some(Day {
            texts: [date.to_string(), format!("{year}, {month}, {day}")],
            milliseconds: midnight.as_millisecond(),
        })
    };
    readings.into_iter().filter_map(day).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_known_in_the_escapes_of_libraries() {
        for (text, form) in [
            ("José", "Jos\\u00e9"),
            ("José", "Jos\\xe9"),
            ("José", "Jos\\xc3\\xa9"),
            ("D\"Arcy \\ Co", "D\\\"Arcy \\\\ Co"),
            ("D\"Arcy \\ Co", "D\"\"Arcy \\ Co"),
            ("D\"Arcy \\ Co", "D\"Arcy \\\\ Co"),
            ("15/09/1994", "15\\/09\\/1994"),
            ("Ann <b>", "Ann &lt;b&gt;"),
            ("O'Brien & Sons", "O'Brien &amp; Sons"),
            ("O'Brien & Sons", "O&#x27;Brien &amp; Sons"),
            ("O'Brien", "O\\'Brien"),
            ("tab\there", "tab\\there"),
            ("😀 smile", "\\ud83d\\ude00 smile"),
            ("😀 smile", "\\U0001f600 smile"),
        ] {
            assert!(
                escaped(text).iter().any(|f| f == form),
                "{text}: {:?}",
                escaped(text)
            );
        }
        assert_eq!(escaped("Ann Ferrer (Oslo)"), Vec::<String>::new());
    }

    #[test]
    fn a_long_text_is_known_wherever_it_is_cut() {
        let text = "8629 elm street, apartment 765, city of Lower Meadow";
        assert!(pieces(text).contains(&"8629 elm street,"));
        assert!(pieces(text).contains(&"765, city of Lower"));
        assert_eq!(pieces(text).last(), Some(&"city of Lower Meadow"));
        assert_eq!(pieces("a short text of words"), Vec::<&str>::new());
    }

    #[test]
    fn a_date_is_known_in_other_orders() {
        let texts = |text: &str| {
            days(text)
                .into_iter()
                .map(|d| d.texts[0].clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(texts("15/09/1994"), ["1994-09-15"]);
        assert_eq!(texts("03/04/94"), ["1994-04-03", "1994-03-04"]);
        assert_eq!(texts("1989-02-13 10:00"), ["1989-02-13"]);
        assert_eq!(days("1970-01-02")[0].milliseconds, 86_400_000);
        assert_eq!(days("1970-01-02")[0].texts[1], "1970, 1, 2");
        assert_eq!(texts("1.2.3"), Vec::<String>::new());
        assert_eq!(texts("555-1234"), Vec::<String>::new());
        assert_eq!(texts("99/99/1999"), Vec::<String>::new());
    }
}
