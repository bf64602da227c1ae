//! How libraries write a text that a snippet prints as it is: escaped for JSON, Python, HTML or CSV, a date in
//! another order, a long text cut into lines, other cases and accents. What a snippet encodes by itself is not here.

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Texts from here on are looked for in pieces too: `pprint` and `textwrap` cut them at blanks.
const LONG: usize = 40;
/// A piece that is hidden by itself has at least so many bytes and words: shorter ones are anybody's.
const PIECE: usize = 16;
const WORDS: usize = 3;

/// The other spellings of a text of one line. Plain ASCII without marks has one as a pattern at most.
pub(super) fn escaped(text: &str) -> Vec<String> {
    let marked =
        |c: char| !c.is_ascii() || c.is_ascii_control() || "\"\\/'&<>%$#_{}~^|".contains(c);
    if !text.contains(marked) {
        return Vec::from_iter(text.contains(special).then(|| pattern(text)));
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
        text.replace('\'', "''"),
        text.replace('|', "\\|"),
        latex(text, &PANDAS),
        latex(text, &TABULATE),
        pattern(text),
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

/// What stands for these characters in LaTeX, each after what it must not change.
type Marks = [(&'static str, &'static str)];

/// As pandas' `to_latex` writes them (`pandas.io.formats.style_render._escape_latex`); the first
/// stands for a backslash until the end.
const PANDAS: [(&str, &str); 14] = [
    ("\\", "\0"),
    ("\0 ", "\0\\space "),
    ("&", "\\&"),
    ("%", "\\%"),
    ("$", "\\$"),
    ("#", "\\#"),
    ("_", "\\_"),
    ("{", "\\{"),
    ("}", "\\}"),
    ("~ ", "~\\space "),
    ("~", "\\textasciitilde "),
    ("^ ", "^\\space "),
    ("^", "\\textasciicircum "),
    ("\0", "\\textbackslash "),
];

/// As tabulate's formats `latex` and `latex_booktabs` write them.
const TABULATE: [(&str, &str); 14] = [
    ("\\", "\0"),
    ("{", "\u{1}"),
    ("}", "\u{2}"),
    ("&", "\\&"),
    ("%", "\\%"),
    ("$", "\\$"),
    ("#", "\\#"),
    ("_", "\\_"),
    ("^", "\\^{}"),
    ("~", "\\textasciitilde{}"),
    ("<", "\\ensuremath{<}"),
    (">", "\\ensuremath{>}"),
    ("\u{1}", "\\{"),
    ("\u{2}", "\\}"),
];

/// What `re.escape` writes a backslash before.
fn special(c: char) -> bool {
    "()[]{}?*+-|^$\\.&~# \t\n\r\u{b}\u{c}".contains(c)
}

fn pattern(text: &str) -> String {
    each(text, |c, to| {
        to.extend(special(c).then_some('\\').into_iter().chain([c]));
    })
}

fn latex(text: &str, marks: &Marks) -> String {
    let mut to = text.to_owned();
    for (from, into) in marks {
        if to.contains(from) {
            to = to.replace(from, into);
        }
    }
    to.replace('\0', "\\textbackslash{}")
}

/// The text in other cases, where the case of ASCII letters alone would not do: a single word in
/// capitals, and letters beyond ASCII.
pub(super) fn cased(text: &str) -> Vec<String> {
    let mut found = vec![text.to_uppercase()];
    if !text.is_ascii() {
        found.push(text.to_lowercase());
    }
    found.retain(|form| form != text);
    found
}

/// The text with its accents apart, joined or dropped, as Unicode's normal forms and
/// `encode("ascii", "ignore")` behind them leave it.
pub(super) fn unaccented(text: &str) -> Vec<String> {
    if text.is_ascii() {
        return Vec::new();
    }
    let apart: String = text.nfkd().collect();
    let bare = || apart.chars().filter(|c| !is_combining_mark(*c));
    let mut found = vec![
        text.nfc().collect(),
        text.nfd().collect(),
        bare().collect(),
        apart.chars().filter(char::is_ascii).collect::<String>(),
    ];
    found.push(apart);
    found.sort_unstable();
    found.dedup();
    found.retain(|form| form != text);
    found
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

/// The moments that a text may stand for that begins with three numbers, with the year, the day or
/// the month first: each as a date and as seconds since 1970, UTC.
pub(super) fn moments(text: &str) -> Vec<(Date, f64)> {
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, ""));
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
    // A time that is none, or that has a zone, is left out.
    let time: Time = time.parse().unwrap_or_default();
    let moment = |(year, month, day): (i16, i16, i16)| {
        let small = |n: i16| i8::try_from(n).ok();
        let date = Date::new(year, small(month)?, small(day)?).ok()?;
        let zoned = date.to_datetime(time).to_zoned(TimeZone::UTC).ok()?;
        Some((date, zoned.timestamp().as_duration().as_secs_f64()))
    };
    readings.into_iter().filter_map(moment).collect()
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
            ("Uses 40% & more_of #5", "Uses 40\\% \\& more\\_of \\#5"),
            (
                "a\\b ~ {c^d}",
                "a\\textbackslash b \\textasciitilde \\space \\{c\\textasciicircum d\\}",
            ),
            (
                "a\\b ~ {c^d}",
                "a\\textbackslash{}b \\textasciitilde{} \\{c\\^{}d\\}",
            ),
            ("a < b", "a \\ensuremath{<} b"),
            ("O'Brien", "O''Brien"),
            ("a|b c", "a\\|b c"),
            ("user@example.org", "user@example\\.org"),
            ("Ann (b) c-d", "Ann\\ \\(b\\)\\ c\\-d"),
        ] {
            assert!(
                escaped(text).iter().any(|f| f == form),
                "{text}: {:?}",
                escaped(text)
            );
        }
        assert_eq!(escaped("Ann Ferrer"), ["Ann\\ Ferrer"]);
        assert_eq!(escaped("Ferrer"), Vec::<String>::new());
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
    fn a_text_is_known_in_other_cases_and_without_its_accents() {
        assert_eq!(cased("Ferrer"), ["FERRER"]);
        assert_eq!(cased("JOSÉ"), ["josé"]);
        for form in [
            "Jose Ångel".nfd().collect::<String>(),
            "Jose Angel".to_owned(),
        ] {
            assert!(unaccented("Jose Ångel").contains(&form), "{form}");
        }
        assert!(unaccented("Bjørn Å").contains(&"Bjrn A".to_owned()));
        assert_eq!(unaccented("Ann"), Vec::<String>::new());
    }

    #[test]
    fn a_date_is_known_in_other_orders() {
        let dates = |text: &str| {
            let found = moments(text).into_iter();
            found.map(|(date, _)| date.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(dates("15/09/1994"), ["1994-09-15"]);
        assert_eq!(dates("03/04/94"), ["1994-04-03", "1994-03-04"]);
        assert_eq!(dates("1989-02-13 10:00"), ["1989-02-13"]);
        let seconds = |text: &str| moments(text)[0].1.to_string();
        assert_eq!(seconds("1970-01-02"), "86400");
        assert_eq!(seconds("1970-01-02 00:00:01.5"), "86401.5");
        assert_eq!(seconds("1970-01-02T01:00:00"), "90000");
        assert_eq!(dates("1.2.3"), Vec::<String>::new());
        assert_eq!(dates("555-1234"), Vec::<String>::new());
        assert_eq!(dates("99/99/1999"), Vec::<String>::new());
    }
}
