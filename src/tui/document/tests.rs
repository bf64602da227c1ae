//! Every byte is in one row, and everything except condensed stretches must be seen.

use std::collections::BTreeSet;

use super::layout::Row;
use super::*;
use crate::model::{Digest, InputKind};
use proptest::prelude::*;

fn doc(code: &str, inputs: &[&str]) -> Arc<Document> {
    let inputs: Arc<[BoundInput]> = inputs
        .iter()
        .map(|text| BoundInput {
            name: "rows".to_owned(),
            kind: InputKind::Json {
                text: (*text).to_owned(),
            },
            bytes: text.len() as u64,
            sha256: Digest::of(text.as_bytes()),
        })
        .collect();
    Arc::new(Document::new(
        ProposalId::new(),
        &Code::new(code),
        Some(&inputs),
    ))
}

#[test]
fn lines_end_as_python_ends_them_and_the_cr_is_drawn() {
    let d = doc("a\r\nb\rc\n\nd", &[]);
    let layout = Layout::new(d.clone(), 10, true, &BTreeSet::new(), false);
    let texts: Vec<String> = (0..layout.len())
        .map(|i| match layout.content(layout.row(i).unwrap()) {
            Content::Text { text, .. } | Content::Stands { text, .. } => text.to_owned(),
            Content::Heading(text) | Content::AsDrawn(text) => text.to_owned(),
        })
        .collect();
    assert_eq!(texts, ["a\r", "b\r", "c", "", "d"]);
    assert_eq!(d.number_width(), 1);
}

#[test]
fn a_wrapped_line_is_seen_only_with_all_its_rows() {
    let d = doc(&format!("x\n{}\ny", "long ".repeat(10)), &[]);
    let layout = Layout::new(d.clone(), 10, true, &BTreeSet::new(), false);
    let mut seen = IntervalSet::default();
    for i in 0..layout.len() {
        if i != 3 {
            let row = layout.row(i).unwrap();
            seen.insert(row.at..row.to);
        }
    }
    assert_eq!(d.lines_seen(&seen), 2);
    assert_eq!(
        d.missing(&seen, Some(&layout)).unwrap(),
        "line 2, row 3 not seen"
    );
    assert_eq!(d.missing(&seen, None).unwrap(), "line 2 not seen");
    assert_eq!(layout.progress(&seen), (layout.len() - 1, layout.len()));
    let row = layout.row(3).unwrap();
    seen.insert(row.at..row.to);
    assert_eq!((d.lines_seen(&seen), d.is_seen(&seen)), (3, true));
}

#[test]
fn an_input_that_the_agent_brought_is_named_when_it_was_not_seen() {
    let d = doc("print(rows)\n", &["[1,\n2,\n3]"]);
    let layout = Layout::new(d.clone(), 40, true, &BTreeSet::new(), false);
    assert_eq!(layout.len(), 1 + 1 + 3);
    let mut seen = IntervalSet::default();
    for i in [0, 1, 2] {
        let row = layout.row(i).unwrap();
        seen.insert(row.at..row.to);
    }
    assert_eq!(
        d.missing(&seen, Some(&layout)).unwrap(),
        "input rows: lines 2–3 not seen"
    );
}

#[test]
fn search_goes_round_and_ignores_ascii_case() {
    let d = doc("abc\nABC\nxabc", &["[\"abc\"]"]);
    assert_eq!(d.find("abc", None, false), Some(0));
    assert_eq!(d.find("abc", Some(0), false), Some(4));
    assert_eq!(d.find("abc", Some(0), true), Some(15));
    assert_eq!(d.find("abc", Some(15), false), Some(0));
    assert_eq!(d.find("nothing", Some(0), false), None);
    assert_eq!(d.find("", Some(0), false), None);
}

proptest! {
    #[test]
    fn rows_cover_every_byte_once_at_any_width(
        code in "[a-z\\t\\r\\n\\x1b漢é\u{301} ]{0,200}",
        input in "[a-z\\n]{0,50}",
        width in 1_u16..40,
        wrap in any::<bool>(),
    ) {
        let d = doc(&code, &[&input]);
        let layout = Layout::new(d.clone(), width, wrap, &BTreeSet::new(), false);
        let mut at = 0;
        for i in 0..layout.len() {
            let row = layout.row(i).unwrap();
            prop_assert_eq!(row.at, at);
            prop_assert!(row.to > row.at);
            prop_assert_eq!(layout.row_of(row.at), i);
            at = row.to;
        }
        prop_assert_eq!(at, d.total());
        let mut seen = IntervalSet::default();
        seen.insert(0..d.total());
        let lines = lines(&code).len() + lines(&input).len();
        prop_assert_eq!(d.lines_seen(&seen), lines);
        prop_assert!(d.is_seen(&seen));
    }
}

fn numbers(n: usize) -> String {
    let all: Vec<String> = (0..n).map(|i| format!("{{\"n\":{i}}}")).collect();
    format!("[{}]", all.join(","))
}

/// At any width and with any stretches open, the rows that must be seen contain every uncondensed
/// byte exactly once, and seeing them completes the document.
#[test]
fn condensed_text_need_not_be_seen_and_everything_else_must() {
    let input = numbers(400);
    let d = doc("print(rows)\n", &[&input, &numbers(3), &numbers(200)]);
    assert_eq!(d.condensed.len(), 2);
    for (width, open) in [
        (20, vec![]),
        (40, vec![0]),
        (77, vec![1]),
        (200, vec![0, 1]),
    ] {
        let layout = Layout::new(d.clone(), width, true, &open.into_iter().collect(), false);
        let mut seen = IntervalSet::default();
        let mut at = 0;
        for i in 0..layout.len() {
            let row = layout.row(i).unwrap();
            if row.at > at {
                // Only closed condensed stretches have no rows.
                assert!(d.condensed.contains(&(at..row.at)));
            }
            at = row.to;
            assert_eq!(layout.row_of(row.at), i);
            if !row.optional {
                assert!(!d.is_seen(&seen));
                assert_eq!(layout.next_unseen(&seen, &(0..0)), Some(i));
                seen.insert(row.at..row.to);
            }
        }
        assert_eq!(at, d.total());
        assert!(d.is_seen(&seen));
        let (have, all) = layout.progress(&seen);
        assert_eq!(have, all);
    }
}

#[test]
fn every_row_that_stands_for_a_stretch_must_be_seen() {
    let d = doc("", &[&numbers(400)]);
    let layout = Layout::new(d.clone(), 30, true, &BTreeSet::new(), false);
    let all: Vec<Row> = (0..layout.len()).map(|i| layout.row(i).unwrap()).collect();
    let stand: Vec<&Row> = all
        .iter()
        .filter(|r| layout.fold_of(**r).is_some())
        .collect();
    assert!(stand.len() > 2);
    for unseen in stand {
        let mut seen = IntervalSet::default();
        all.iter()
            .filter(|r| *r != unseen)
            .for_each(|r| seen.insert(r.at..r.to));
        assert!(!d.is_seen(&seen));
        assert_eq!(
            d.missing(&seen, None).unwrap(),
            "input rows: line 1 not seen"
        );
    }
}

#[test]
fn a_search_finds_condensed_text() {
    let d = doc("", &[&numbers(400)]);
    let hit = d.find(":250", None, false).unwrap();
    assert_eq!(d.fold_at(hit), Some(0));
    let layout = Layout::new(d.clone(), 40, true, &BTreeSet::from([0]), false);
    let row = layout.row(layout.row_of(hit)).unwrap();
    assert!(row.optional && layout.fold_of(row) == Some(0));
    assert_eq!(d.fold_at(d.find(":2}", None, false).unwrap()), None);
}
