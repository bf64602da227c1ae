use super::*;
use proptest::prelude::*;

impl Cells {
    fn clean(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        self.pass(&mut text.to_owned(), &mut Before::default(), true, &mut out);
        out
    }
}

fn cells() -> Cells {
    let mut text = "name,city,pay,age\n".to_owned();
    for (name, city, pay, age) in [
        ("Ann Ferrer", "Oslo", "51234.50", "31"),
        ("Bo", "Oslo", "-48010", "32"),
        ("Zoë Ångström", "Oslo", "60000", "33"),
        ("Ann-Marie", "Oslo", "0.12345", "34"),
        ("Cy", "Oslo", "7.5", "35"),
        ("Ed", "Oslo", "7654.3210987651", "35"),
        ("Di", "Bergen", "8.5", "35"),
    ] {
        text.push_str(&format!("{name},{city},{pay},{age}\n"));
    }
    let mut cells = Cells::default();
    cells
        .add_table(text.as_bytes(), b',', &Switch::new())
        .unwrap();
    cells
}

#[test]
fn rare_values_are_hidden_and_categories_are_not() {
    let cells = cells();
    for (text, expected) in [
        ("Ann Ferrer lives in Oslo", "[REDACTED] lives in Oslo"),
        ("x='Ann Ferrer'", "x='[REDACTED]'"),
        ("someAnn Ferrers", "some[REDACTED]s"),
        ("in Bergen, Bergenland", "in [REDACTED], Bergenland"),
        (
            "51234.5 51,234.50 51234.51",
            "[REDACTED] [REDACTED] 51234.51",
        ),
        ("[51234.5, -48010]", "[[REDACTED], -[REDACTED]]"),
        ("60000 6e4 60000.0", "[REDACTED] [REDACTED] [REDACTED]"),
        ("5.12345e+04 -4.801e+4", "[REDACTED] -[REDACTED]"),
        (
            "51234.5e+ 1e-4 51234.5e-x",
            "[REDACTED]e+ 1e-4 [REDACTED]e-x",
        ),
        (
            "7654.32109877 7654.321099 7.654321e+03",
            "[REDACTED] [REDACTED] [REDACTED]",
        ),
        ("0.12345. 7.5 31 Bo", "[REDACTED]. 7.5 31 Bo"),
        ("Zoë Ångström!", "[REDACTED]!"),
        // Other cases, and accents apart, dropped or in capitals.
        ("ANN FERRER ann ferrer", "[REDACTED] [REDACTED]"),
        ("ZOË ÅNGSTRÖM zoë ångström", "[REDACTED] [REDACTED]"),
        ("Zoe Angstrom ZOE ANGSTROM", "[REDACTED] [REDACTED]"),
        ("BERGEN and bergen", "[REDACTED] and bergen"),
        // With six digits, in groups, and behind a currency.
        ("7654.32 7.65432e+03", "[REDACTED] [REDACTED]"),
        ("51 234,50; 51'234.5", "[REDACTED]; [REDACTED]"),
        ("x 60 000 kr, 60\u{202f}000", "x [REDACTED] kr, [REDACTED]"),
        (
            "[60 000 60 000] 7 60 000, 51 234.7",
            "[60 000 60 000] 7 60 000, 51 234.7",
        ),
        (
            "USD51,234.50 EURO51234.5 xUSD51234.5",
            "USD[REDACTED] EURO51234.5 xUSD51234.5",
        ),
        ("mean 43210.2", "mean 43210.2"),
    ] {
        assert_eq!(cells.clean(text), expected);
    }
    assert!(cells.hides(51234.5) && !cells.hides(31.0));
}

fn numeric_cells(numbers: &[&str]) -> Cells {
    let mut cells = Cells::default();
    let lines: String = numbers.iter().map(|n| format!("[\"{n}\", 1]\n")).collect();
    cells.add_values(lines.as_bytes(), &Switch::new()).unwrap();
    cells
}

#[test]
fn a_date_is_hidden_in_the_spellings_of_reports() {
    let mut cells = Cells::default();
    let lines = &b"[\"1994-09-15\", 1] [\"2021-03-04 10:11:12\", 1]"[..];
    cells.add_values(lines, &Switch::new()).unwrap();
    for text in [
        "15 September 1994",
        "Sep 15, 1994",
        "15/09/1994",
        "09/15/94",
        "15.09.1994",
        "15-Sep-1994",
        "19940915",
        "15091994",
        "Sep 15 00:00:00 1994",
        "779587200000000000",
        "779587200",
        "779587200.0",
        "1614852672",
        "1614852672000000000",
        "March 4, 2021",
        "4.3.2021",
        "04/Mar/2021",
        "4-Mar-21",
        "Mar 04 21",
        "4.3.21",
        "2021 03 04",
        "2021, March 4",
        "Mar  4 10:11:12 2021",
    ] {
        assert_eq!(cells.clean(text), REDACTED, "{text}");
    }
    let open = "September 1994, 15 September 1995, 1994, 10:11:12, 14 March 2021, 24/3/2021";
    assert_eq!(cells.clean(open), open);
}

#[test]
fn a_date_hides_no_number_of_fewer_digits_than_a_number_does() {
    let mut cells = Cells::default();
    let lines = &b"[\"1970-01-01\", 1] [\"1970-01-02\", 1] [\"1970-01-01 00:00:07\", 1]"[..];
    cells.add_values(lines, &Switch::new()).unwrap();
    let open = "0 0.0 7 missing: 0";
    assert_eq!(cells.clean(open), open);
    for text in ["86400", "86400000", "7000", "7000000000", "1 January 1970"] {
        assert_eq!(cells.clean(text), REDACTED, "{text}");
    }
}

#[test]
fn a_number_is_compared_as_one_whole() {
    let cells = numeric_cells(&["1290", "51234", "-48010", "8123.25", "0.98765", "234.5"]);
    for (text, expected) in [
        // Other numbers that begin or end with the digits of a hidden one.
        (
            "1290.77 51234.5 8123.2501 0.8123",
            "1290.77 51234.5 8123.2501 0.8123",
        ),
        (
            "151234 5123400 51234e3 8123.25001",
            "151234 5123400 51234e3 8123.25001",
        ),
        ("129.2198581560284 0.51234", "129.2198581560284 0.51234"),
        ("77.1290 1.5,77.1290", "77.1290 1.5,77.1290"),
        // Usual spellings of the number.
        (
            "51234.0 051234 51234.000",
            "[REDACTED] [REDACTED] [REDACTED]",
        ),
        (
            "51,234 51_234 51,234.00",
            "[REDACTED] [REDACTED] [REDACTED]",
        ),
        (
            "5.1234e4 5.1234E+04 51234e0",
            "[REDACTED] [REDACTED] [REDACTED]",
        ),
        (
            "8123,25 8.123,25 8,123.25",
            "[REDACTED] [REDACTED] [REDACTED]",
        ),
        (
            ".98765 0.987650 9.8765e-1",
            "[REDACTED] [REDACTED] [REDACTED]",
        ),
        (
            "-48010 \u{2212}48010 48010 +51234",
            "-[REDACTED] \u{2212}[REDACTED] 48010 +[REDACTED]",
        ),
        // Next to letters, units and punctuation.
        (
            "8123.25mmHg x=51234,67 51234%",
            "[REDACTED]mmHg x=[REDACTED],67 [REDACTED]%",
        ),
        (
            "51234e 51234e5b 51234.",
            "[REDACTED]e [REDACTED]e5b [REDACTED].",
        ),
        ("no.51234 ...51234", "no.[REDACTED] ...[REDACTED]"),
        // Rows, lists and objects.
        ("7,51234,8123.25,1290", "7,[REDACTED],[REDACTED],[REDACTED]"),
        ("1,234.5,1.5", "1,[REDACTED],1.5"),
        ("1.25,51234,1.25", "1.25,[REDACTED],1.25"),
        (
            "{\"a\":51234,\"b\":[1290,129]}",
            "{\"a\":[REDACTED],\"b\":[[REDACTED],129]}",
        ),
        // A phone number, a date, an address: not a number as a whole, so each part is one.
        ("555-1290 +47 51234", "555-[REDACTED] +47 [REDACTED]"),
        (
            "1290-01-31 31.12.1290 1290.01.31",
            "[REDACTED]-01-31 31.12.[REDACTED] [REDACTED].01.31",
        ),
        (
            "1.2.51234 1.51234.2 1.8123.25.2",
            "1.2.[REDACTED] 1.[REDACTED].2 1.[REDACTED].2",
        ),
        ("1.2.8123.25 1.2.3.51234", "1.2.[REDACTED] 1.2.3.[REDACTED]"),
    ] {
        assert_eq!(cells.clean(text), expected, "{text}");
    }
}

#[test]
fn zeros_that_end_a_fraction_make_no_number_long() {
    let cells = numeric_cells(&[
        "129.0", "130.000", "12.50", "1.310e2", "0.0132", "1330.0", "129.05",
    ]);
    let open = "129 129.0 130 12.5 12.50 131 0.0132 129.77 12.500";
    assert_eq!(cells.clean(open), open);
    assert_eq!(
        cells.clean("1330 1330.00 129.05 129.050"),
        "[REDACTED] [REDACTED] [REDACTED] [REDACTED]"
    );
}

#[test]
fn a_number_of_json_is_hidden_where_its_text_is() {
    let cells = numeric_cells(&["51234", "-48010", "8123.25", "129.0"]);
    for number in [
        51234.0, -51234.0, 48010.0, -48010.0, 8123.25, 8123.2501, 129.0, 129.21985,
    ] {
        let text = serde_json::json!(number).to_string();
        assert_eq!(cells.clean(&text) != text, cells.hides(number), "{text}");
    }
}

#[test]
fn counted_values_are_hidden_by_the_same_rule() {
    let mut cells = Cells::default();
    let lines = b"[\"Ann Ferrer\", 1]\n[\"Oslo\", 5]\n[\"51234.5\", 4]\n";
    cells.add_values(&lines[..], &Switch::new()).unwrap();
    assert_eq!(
        cells.clean("Ann Ferrer, Oslo, 51234.50"),
        "[REDACTED], Oslo, [REDACTED]"
    );
    for odd in ["[1, 1]", "[\"a\"]", "{}", "[\"a\", 1"] {
        let added = cells.add_values(odd.as_bytes(), &Switch::new());
        assert!(added.is_err(), "{odd}");
    }
}

#[test]
fn too_many_values_and_invalid_tables_are_refused() {
    let mut cells = Cells::default();
    let table = &b"a,b\n1\n"[..];
    assert!(cells.add_table(table, b',', &Switch::new()).is_err());
    assert!(cells.is_empty());
    assert_eq!(cells.clean("anything"), "anything");
}

/// Throws the switch after this many bytes were read.
struct Killing<'a, R> {
    inner: R,
    left: usize,
    switch: &'a Switch,
}

impl<R: Read> Read for Killing<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.left = self.left.saturating_sub(n);
        if self.left == 0 {
            self.switch.throw_kill();
        }
        Ok(n)
    }
}

#[test]
fn a_kill_ends_the_reading_of_tables_and_values() {
    let endless = || io::repeat(b'1').take(1 << 40);
    let head = || &b"a\n1\n"[..];
    let lines = b"[\"Ann Ferrer\", 1]\n".repeat(10_000);
    for left in [1, 1 << 20] {
        let switch = Switch::new();
        let rows = head().chain(endless());
        let inner = Killing {
            inner: rows,
            left,
            switch: &switch,
        };
        let error = Cells::default()
            .add_table(inner, b',', &switch)
            .unwrap_err();
        assert!(error.to_string().contains("stopped"), "{error}");
        let switch = Switch::new();
        let inner = Killing {
            inner: &lines[..],
            left: left.min(1 << 16),
            switch: &switch,
        };
        let error = Cells::default().add_values(inner, &switch).unwrap_err();
        assert!(error.to_string().contains("stopped"), "{error}");
    }
}

proptest! {
    #[test]
    fn pieces_of_any_size_hide_the_same(
        words in prop::collection::vec(prop::sample::select(vec![
            "Ann Ferrer", " ", "x", "51234.5", "Zoë Ångström", "-", "48010", "\n", ",", "Bergen",
            ".", "e", "+", "7", "000", "_", "0.12345",
        ]), 0..30),
        sizes in prop::collection::vec(1_usize..9, 1..20),
    ) {
        let cells = cells();
        let text = words.concat();
        let (mut held, mut before, mut out) = (String::new(), Before::default(), String::new());
        let mut chars = text.chars().peekable();
        for size in sizes.iter().cycle() {
            if chars.peek().is_none() { break; }
            held.extend(chars.by_ref().take(*size));
            cells.pass(&mut held, &mut before, false, &mut out);
        }
        cells.pass(&mut held, &mut before, true, &mut out);
        prop_assert_eq!(out, cells.clean(&text));
    }
}
