//! Terminals without UTF-8 get ASCII only: stand-ins for the program's own signs, marks for everything else.

use crossterm::event::KeyCode;
use ratatui::buffer::Buffer;

use super::bench::*;
use super::charset::Charset;
use super::glass::Glass;
use super::render;
use super::snapshot_tests::snap;
use crate::model::StreamName;

fn bench(columns: u16, rows: u16) -> Bench {
    let mut b = Bench::new(columns, rows);
    b.ui = std::mem::replace(&mut b.ui, Bench::new(1, 1).ui).with_charset(Charset::Ascii);
    b
}

/// The bytes of the frame as the terminal gets them.
fn bytes(b: &Bench) -> Vec<u8> {
    let area = ratatui::layout::Rect::new(0, 0, b.size.0, b.size.1);
    let mut glass = Glass::new(Vec::new(), Charset::Ascii);
    glass
        .frame(area, |area, buffer: &mut Buffer| {
            render(&b.state, &b.ui, &b.facts, area, buffer, b.now)
        })
        .unwrap();
    glass.written()
}

fn assert_ascii(b: &Bench) {
    let symbols = b.buffer.content.iter().map(|cell| cell.symbol());
    for symbol in symbols {
        assert!(symbol.is_ascii(), "{symbol}");
    }
    assert!(bytes(b).is_ascii());
}

#[test]
fn the_screens_are_ascii_and_their_own_signs_are_no_marks() {
    for (columns, rows) in [(80, 24), (120, 40), (40, 10)] {
        let mut b = bench(columns, rows);
        b.propose(Making::flagged());
        b.propose(Making::clear("if df is None:\n\tprint(1)   \n"));
        b.propose(Making::blocked());
        b.settle();
        let check = |b: &mut Bench, name: &str| {
            let text = b.draw();
            assert_ascii(b);
            // The help explains marks, and the code of this sample ends in a carriage return.
            let other = text.replace("\\u{...}", "").replace("total\\u{000D}", "");
            assert!(!other.contains("\\u{"), "{name}:\n{text}");
            if (columns, rows) == (80, 24) {
                snap(&format!("ascii_{name}_80x24"), &text);
            }
        };
        check(&mut b, "queue");
        b.keys("?");
        check(&mut b, "help");
        b.press(KeyCode::Esc);
        b.keys("3");
        check(&mut b, "policies");
        b.keys("1");
        b.settle();
        b.read();
        b.open_sheet();
        check(&mut b, "sheet");
        b.press(KeyCode::Esc);
        for _ in 0..8 {
            b.press(KeyCode::Tab);
            b.draw();
            assert_ascii(&b);
        }
    }
}

#[test]
fn what_is_not_ascii_in_code_claims_and_output_is_a_mark() {
    let mut b = bench(120, 40);
    b.propose(Making {
        agent: Some("bot\u{25b2}"),
        title: Some("Umsätze ▲ clear".to_owned()),
        ..Making::clear("print('é ▲ Û2J')\n")
    });
    let id = b.start();
    b.output(id, StreamName::Stdout, "Σ = 3 █ \u{9b}2J\n");
    let text = b.settle();
    assert_ascii(&b);
    for mark in [
        "print('\\u{00E9} \\u{25B2} \\u{00DB}2J')",
        "\\u{03A3} = 3 \\u{2588} \\u{009B}2J",
        "Ums\\u{00E4}tze",
    ] {
        assert!(text.contains(mark), "{mark}:\n{text}");
    }
    // Nothing is sent unchanged either.
    b.keys("m");
    b.draw();
    assert!(b.drawn.as_drawn.is_empty());
    assert_ascii(&b);
}

#[test]
fn code_that_is_not_ascii_can_be_read_and_granted() {
    let mut b = bench(80, 24);
    b.propose(Making::clear(&format!("x = '{}'\n", "Größe".repeat(40))));
    b.settle();
    b.read();
    b.open_sheet();
    b.keys("y");
    assert_eq!(grants(&b).len(), 1);
}
