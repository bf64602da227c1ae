//! OUTPUT is read back from any line on, not only at its end.

use super::*;

/// The numbers of the lines that were said.
fn said(text: &str) -> Vec<usize> {
    let lines = text.lines();
    let numbers = lines.filter_map(|l| l.strip_prefix("out: n")?.parse().ok());
    numbers.collect()
}

fn ran(text: &str) -> Voice {
    let mut v = Voice::of(Making::clear(CODE));
    let id = v.start();
    v.speak();
    v.b.end(id, run(text));
    v.wait(3_000);
    for _ in 0..12 {
        if v.key(KeyCode::Tab).starts_with("OUTPUT") {
            return v;
        }
    }
    panic!("no OUTPUT: {}", v.all);
}

#[test]
fn every_line_of_an_output_can_be_read_back() {
    let text: String = (0..300).map(|n| format!("n{n}\n")).collect();
    let mut v = ran(&text);
    let mut heard = said(&v.key(KeyCode::Home));
    assert_eq!(heard.first(), Some(&0));
    for _ in 0..20 {
        let page = v.key(KeyCode::PageDown);
        heard.extend(said(&page));
        if page == "End of OUTPUT, 300 rows; Esc goes back.\n" {
            break;
        }
    }
    assert_eq!(heard, (0..300).collect::<Vec<_>>());
    // Backwards row by row, and on from there.
    assert_eq!(said(&v.keys("k")), [275]);
    assert_eq!(said(&v.keys("k")), [274]);
    assert_eq!(said(&v.keys("j")), [275]);
    assert_eq!(said(&v.key(KeyCode::PageDown)).first(), Some(&276));
    v.key(KeyCode::Home);
    assert_eq!(v.key(KeyCode::PageUp), "Top.\n");
    // Row by row behind what was read, a page from there, and the page before a row.
    assert_eq!(said(&v.keys("j")), [24]);
    assert_eq!(said(&v.keys("j")), [25]);
    assert_eq!(
        said(&v.key(KeyCode::PageDown)),
        (26..50).collect::<Vec<_>>()
    );
    assert_eq!(said(&v.keys("j")), [50]);
    assert_eq!(said(&v.key(KeyCode::PageUp)), (26..50).collect::<Vec<_>>());
    // The last row alone is followed.
    let mut v = ran(&text[..text.find("n25\n").unwrap()]);
    v.key(KeyCode::Home);
    assert_eq!(said(&v.keys("j")), [24]);
    assert!(v.keys("j").starts_with("End of OUTPUT"));
}

#[test]
fn output_says_which_of_its_rows_follow() {
    let text: String = (0..300).map(|n| format!("n{n}\n")).collect();
    let mut v = ran(&text);
    let heading = "\nOUTPUT, last 24 of 300 rows; Home reads from the first\nrun: out: n276\n";
    let heading = heading.replace("run: out", "out");
    assert!(v.all.replace("\r\n", "\n").contains(&heading), "{}", v.all);
    v.keys("/n15");
    let found = v.key(KeyCode::Enter);
    assert!(
        found.ends_with("row 16 of 300:\nout: n15\nSpace reads on from here.\n"),
        "{found}"
    );
    // All of a short one is there.
    assert!(ran("one\n").all.contains("\r\nOUTPUT\r\nout: one\r\n"));
}

#[test]
fn a_search_in_the_output_reads_the_line_it_found() {
    let text: String = (0..300).map(|n| format!("n{n}\n")).collect();
    let mut v = ran(&text);
    v.keys("/n15");
    let found = v.key(KeyCode::Enter);
    assert_eq!(said(&found).first(), Some(&15), "{found}");
    assert_eq!(said(&v.keys("n")), [150]);
    assert_eq!(said(&v.keys("n")), [151]);
    assert_eq!(said(&v.keys("N")), [150]);
    // Around either end it says so.
    v.keys("N");
    let around = v.keys("N");
    assert!(
        around.ends_with("from the end again\nmatch 11 of 11, row 160 of 300:\nout: n159\n"),
        "{around}"
    );
    let around = v.keys("n");
    assert!(
        around.ends_with("from the top again\nmatch 1 of 11, row 16 of 300:\nout: n15\n"),
        "{around}"
    );
    assert_eq!(said(&v.keys("n")), [150]);
    assert_eq!(said(&v.key(KeyCode::PageDown)).first(), Some(&151));
}

#[test]
fn a_line_that_was_written_over_says_how_often() {
    let mut v = ran("1%\r50%\r100%\ndone\n");
    let all = v.key(KeyCode::Home) + &v.all;
    assert!(all.contains("out, after 2 earlier states: 100%"), "{all}");
}
