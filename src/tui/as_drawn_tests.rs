//! Text as the terminal draws it damages no other cell, does not count as seen, and appears only
//! where a person asked for it.

use crossterm::event::KeyCode;
use proptest::prelude::*;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;

use super::as_drawn::{AsDrawn, LABEL, Placed};
use super::bench::*;
use super::charset::Charset;
use super::contrast_tests::assert_readable;
use super::glass::Glass;
use super::glass_tests::{Emulator, OPINIONS, Odd, SEQUENCES, emulators, field};
use super::screen::Drawn;
use super::snapshot_tests::at_sizes;
use super::text;
use super::{Background, Depth, TerminalCaps};

const TAMIL: &str = "கா";

/// Code that some terminals overpainted, with every kind of text that terminals draw differently.
fn code() -> String {
    format!(
        "keep = 10\ndrop = 666\nlabel = \"{}\"; keep = drop\nprint(keep)\n",
        TAMIL.repeat(13)
    )
}

fn write_frame(glass: &mut Glass<Vec<u8>>, buffer: &Buffer, as_drawn: &[Placed]) -> Vec<u8> {
    let draw = |_: Rect, to: &mut Buffer| {
        *to = buffer.clone();
        Drawn {
            as_drawn: as_drawn.to_vec(),
            ..Drawn::default()
        }
    };
    glass.frame(buffer.area, draw).unwrap();
    glass.written()
}

const COLUMNS: u16 = 40;
const ROWS: u16 = 4;

/// A screen filled with `n`, except for a blank end of one row.
fn with_room(x: u16, y: u16) -> Buffer {
    let mut buffer = field(COLUMNS, ROWS);
    for x in x..COLUMNS {
        buffer[(x, y)].set_symbol(" ");
    }
    buffer
}

/// Whether every terminal cell outside the text matches the buffer.
fn assert_unharmed(terminal: &dyn Emulator, buffer: &Buffer, x: u16, y: u16) {
    for cell_y in 0..ROWS {
        for cell_x in 0..COLUMNS {
            if cell_y != y || cell_x < x {
                let expected = buffer[(cell_x, cell_y)].symbol();
                assert_eq!(
                    terminal.cell(cell_x, cell_y),
                    expected,
                    "at {cell_x}, {cell_y}"
                );
            }
        }
    }
}

/// Checks two emulators and terminals with different width tables: no other cell changes, and
/// nothing remains once the row is redrawn without the text.
fn assert_harmless(raw: &str, x: u16, y: u16) {
    let text = AsDrawn::new(raw, COLUMNS - x);
    let placed = Placed { x, y, text };
    let buffer = with_room(x, y);
    let mut glass = Glass::new(Vec::new(), Charset::Utf8);
    let first = write_frame(&mut glass, &buffer, std::slice::from_ref(&placed));
    let shown = String::from_utf8(first.clone()).unwrap();
    assert!(shown.contains(placed.text.as_str()), "{raw:?}");
    // The text goes away and nothing else changes.
    let second = write_frame(&mut glass, &buffer, &[]);
    let mut terminals = emulators(COLUMNS, ROWS);
    for width in OPINIONS {
        terminals.push(Box::new(Odd::new(COLUMNS, ROWS, width)));
    }
    for mut terminal in terminals {
        terminal.feed(&first);
        assert_unharmed(&*terminal, &buffer, x, y);
        terminal.feed(&second);
        assert_unharmed(&*terminal, &buffer, COLUMNS, y);
    }
    assert_eq!(write_frame(&mut glass, &buffer, &[]), b"");
}

#[test]
fn sequences_that_join_reorder_or_change_width_harm_no_other_cell() {
    for sequence in SEQUENCES {
        for x in (0..COLUMNS - 1).step_by(3) {
            assert_harmless(sequence, x, 1);
            assert_harmless(&sequence.repeat(40), x, ROWS - 1);
        }
    }
}

proptest! {
    #[test]
    fn any_text_as_the_terminal_draws_it_harms_nothing_else(
        raw in "\\PC{0,60}|[\\x00-\\x1f\\u{300}-\\u{36f}\\u{b80}-\\u{bff}\\u{e00}-\\u{e7f}\\u{1100}-\\u{11ff}\\u{200b}-\\u{202f}\\u{3248}\\u{fe0f}a漢]{0,60}",
        x in 0_u16..COLUMNS - 1,
        y in 0_u16..ROWS,
    ) {
        assert_harmless(&raw, x, y);
    }
}

#[test]
fn text_that_might_not_fit_or_has_something_behind_it_is_left_out() {
    let text = AsDrawn::new(TAMIL, COLUMNS);
    let at = |x, y| Placed {
        x,
        y,
        text: text.clone(),
    };
    let leaves_out = |buffer: &Buffer, placed: Placed| {
        let bytes = write_frame(
            &mut Glass::new(Vec::new(), Charset::Utf8),
            buffer,
            &[placed],
        );
        !String::from_utf8(bytes).unwrap().contains(TAMIL)
    };
    let room = with_room(20, 1);
    assert!(!leaves_out(&room, at(20, 1)));
    assert!(leaves_out(&room, at(19, 1)));
    assert!(leaves_out(&room, at(20, 2)));
    assert!(leaves_out(&room, at(20, ROWS)));
    let columns = text.columns();
    assert!(!leaves_out(&room, at(COLUMNS - columns, 1)));
    assert!(leaves_out(&room, at(COLUMNS - columns + 1, 1)));
    let mut behind = room;
    behind[(COLUMNS - 1, 1)].set_symbol("│");
    assert!(leaves_out(&behind, at(20, 1)));
}

#[test]
fn as_drawn() {
    at_sizes("as_drawn", |b| {
        b.propose(Making {
            title: Some("\u{3248}".repeat(6)),
            reason: Some("plain\nবাংলা \u{202e}ที่นี่".to_owned()),
            ..Making::clear(&format!("{}# 👍🏽 e\u{301}\t\u{1b}[2J\n", code()))
        });
        b.settle();
        b.press(KeyCode::Enter);
        b.keys("m");
        b.draw();
        b.press(KeyCode::Down);
        b.press(KeyCode::Down);
    });
    at_sizes("as_drawn_says", |b| {
        b.propose(Making {
            title: Some("\u{3248}".repeat(9)),
            reason: Some("plain\nবাংলা \u{202e}ที่นี่".to_owned()),
            ..Making::clear("x = 1\n")
        });
        b.settle();
        b.keys("m");
        while !b.drawn.panes.contains_key(&super::ui::Pane::Says) {
            b.press(KeyCode::Tab);
            b.draw();
        }
    });
}

#[test]
fn text_as_drawn_is_written_only_on_request() {
    let mut b = Bench::new(120, 40);
    b.propose(Making::clear(&code()));
    let before = b.settle();
    assert!(b.drawn.as_drawn.is_empty() && before.contains("m as drawn"));
    b.keys("m");
    let on = b.draw();
    assert!(on.contains(LABEL) && on.contains(TAMIL), "{on}");
    assert!(notice(&b).contains("as this terminal draws it"));
    b.press(KeyCode::Down);
    assert!(b.draw().contains("m marks only"));
    for covered in ["?", "2", "3"] {
        b.advance(2_000);
        b.keys(covered);
        b.draw();
        assert!(b.drawn.as_drawn.is_empty(), "{covered}");
        b.press(KeyCode::Esc);
        b.keys("1");
        b.draw();
        assert!(!b.drawn.as_drawn.is_empty(), "{covered}");
    }
    b.keys("m");
    b.press(KeyCode::Up);
    // Ignore the digits: the time left may differ.
    let still = |text: &str| {
        let (screen, _) = text.trim_end().rsplit_once('\n').unwrap();
        screen.replace(|c: char| c.is_ascii_digit(), "0")
    };
    assert_eq!(still(&b.draw()), still(&before));
    // Code without hidden characters does not offer the option.
    let mut b = ready();
    assert!(!b.draw().contains("as drawn"));
}

/// The screen's rows, without the rows that hold text as the terminal draws it.
fn rows_of_code(b: &Bench) -> Vec<String> {
    let own: Vec<u16> = b.drawn.as_drawn.iter().map(|p| p.y).collect();
    let symbols = |y: u16| (0..b.size.0).map(move |x| b.buffer[(x, y)].symbol());
    let rows = (0..b.size.1).filter(|y| !own.contains(y));
    rows.map(|y| symbols(y).collect::<String>().trim_end().to_owned())
        .collect()
}

#[test]
fn the_code_around_text_as_drawn_keeps_its_place() {
    for (columns, rows) in [(80, 24), (120, 40)] {
        let mut b = Bench::new(columns, rows);
        b.propose(Making::clear(&code()));
        b.settle();
        b.focus_on(super::ui::Pane::Code);
        b.keys("z");
        b.draw();
        let before = rows_of_code(&b);
        b.keys("m");
        b.draw();
        let drawn: String = b.drawn.as_drawn.iter().map(|p| p.text.as_str()).collect();
        let drawn = drawn.replace(' ', "");
        assert_eq!(drawn, code().lines().nth(2).unwrap().replace(' ', ""));
        let after = rows_of_code(&b);
        let count = b.drawn.as_drawn.len();
        // Exclude the last row of code, the blank rows that were pushed out, and the footer with
        // its notice.
        let body = before.len() - 1 - count;
        assert_eq!(after[..body], before[..body]);
    }
}

/// Code rows, progress, missing rows and grants stay the same.
#[test]
fn text_as_drawn_changes_no_progress_and_no_grant() {
    let code = format!("{}{}", code().repeat(30), "x = 1\n".repeat(40));
    let mut sides = [false, true].map(|on| {
        let mut b = Bench::new(80, 24);
        b.propose(Making::clear(&code));
        b.draw();
        if on {
            b.keys("m");
            b.press(KeyCode::Down);
        }
        b.read();
        b
    });
    let progress = |b: &mut Bench| {
        let text = b.draw();
        let seen = text.lines().last().unwrap().split(" rows").next().unwrap();
        seen.to_owned()
    };
    let [off, on] = &mut sides;
    assert!(on.ui.queue.as_drawn && !off.ui.queue.as_drawn);
    assert_eq!(progress(off), progress(on));
    let granted = sides.each_mut().map(|b| {
        b.open_sheet();
        b.keys("y");
        let grant = grants(b).pop().unwrap();
        (grant.digest, grant.viewed.lines_seen)
    });
    assert_eq!(granted[0], granted[1]);
}

#[test]
fn unseen_rows_have_the_same_names_beside_text_as_drawn() {
    let code = format!("label = \"{}\"\n", TAMIL.repeat(100));
    let name = |on: bool| {
        let mut b = Bench::new(80, 24);
        b.propose(Making::clear(&code));
        if on {
            b.keys("m");
        }
        b.draw();
        let doc = b.ui.queue.doc.clone().unwrap();
        let layout = b.ui.layout().cloned();
        let mut seen = super::interval::IntervalSet::default();
        seen.insert(0..100);
        doc.missing(&seen, layout.as_deref()).unwrap()
    };
    assert_eq!(name(true), name(false));
    assert!(name(true).contains("rows "), "{}", name(true));
}

/// Every way of moving reaches and shows each row of code, at every screen height.
#[test]
fn every_row_of_code_is_reached_both_ways() {
    let code = format!(
        "x = 1\n{}y = 2\nz = '{}'\n",
        code().repeat(3),
        "ü".repeat(300) + TAMIL
    );
    let keys = [
        (KeyCode::Down, KeyCode::Up),
        (KeyCode::PageDown, KeyCode::PageUp),
        (KeyCode::End, KeyCode::Home),
    ];
    for rows in [10, 11, 12, 13, 15, 20, 24, 39] {
        for wrap in [true, false] {
            for (down, up) in keys {
                let mut b = Bench::new(60, rows);
                b.propose(Making::clear(&code));
                b.settle();
                b.press(KeyCode::Enter);
                b.keys(if wrap { "m" } else { "mw" });
                place(&mut b);
                for key in [down, up] {
                    let end = if key == down {
                        (true, false)
                    } else {
                        (false, true)
                    };
                    let reached = (0..100).any(|_| {
                        b.press(key);
                        place(&mut b) == end
                    });
                    assert!(reached, "{key:?} of {rows} rows, wrapped {wrap}");
                    b.press(key);
                    assert_eq!(place(&mut b), end, "{key:?} again, of {rows} rows");
                }
            }
        }
    }
}

/// Whether the cursor is in the last row of code, and whether it is in the first.
fn place(b: &mut Bench) -> (bool, bool) {
    b.draw();
    let layout = b.ui.layout().unwrap().clone();
    let cursor = layout.row_of(b.drawn.cursor.unwrap());
    let top = layout.row_of(b.drawn.top.unwrap());
    assert_eq!(layout.holding(cursor), cursor);
    assert!(cursor + 1 >= top);
    let last = layout.holding(layout.len() - 1);
    (cursor == last, cursor == 0)
}

/// A frame that was drawn before a key, and of which the terminal says later that it is shown.
#[test]
fn a_frame_that_is_shown_late_takes_no_key_back() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear(&"x = 1\n".repeat(200)));
    b.settle();
    let before = b.drawn.clone();
    let top = |b: &mut Bench| {
        b.draw();
        b.ui.layout().unwrap().row_of(b.drawn.top.unwrap())
    };
    assert_eq!(top(&mut b), 0);
    b.keys(" ");
    b.ui.drawn(&b.state, before, b.now);
    assert!(top(&mut b) > 0);
}

/// The literal text `\u{0B95}` looks different from the mark for U+0B95, and `␛` from the mark for
/// an escape: in code, in the current row, in a match, in a title and in a selected row.
#[test]
fn a_mark_differs_from_the_same_letters_in_the_source() {
    let look = |cell: &Cell| (cell.fg, cell.bg, cell.modifier);
    for depth in [Depth::None, Depth::Sixteen, Depth::Palette, Depth::True] {
        for theme in 0..4 {
            let background = Background::Dark;
            let mut b = Bench::with_caps(80, 24, TerminalCaps { depth, background });
            b.propose(Making {
                agent: Some("␛\u{1b}"),
                title: Some("\\u{0B95}\u{b95}".to_owned()),
                ..Making::clear("\\u{0B95}\u{b95}\nx = '\\u{0B95}\u{b95}'\n# ␛\u{1b}\n")
            });
            b.settle();
            for _ in 0..theme {
                b.keys("t");
            }
            b.press(KeyCode::Enter);
            for search in ["", "/u\n", "/0b95\n", "/␛\n"] {
                for key in search.chars() {
                    b.press(match key {
                        '\n' => KeyCode::Enter,
                        c => KeyCode::Char(c),
                    });
                }
                b.draw();
                let mut found = 0;
                for y in 0..24 {
                    let row: String = (0..80).map(|x| b.buffer[(x, y)].symbol()).collect();
                    for twice in ["\\u{0B95}\\u{0B95}", "␛␛"] {
                        let Some(at) = row.find(twice) else { continue };
                        let (x, wide) = (text::width(&row[..at]), text::width(twice) / 2);
                        found += 1;
                        for x in x..x + wide {
                            let literal = &b.buffer[(x as u16, y)];
                            let mark = &b.buffer[((x + wide) as u16, y)];
                            let same = look(literal) == look(mark);
                            assert!(!same, "{depth:?} {theme} {search:?}: {row}");
                        }
                    }
                }
                assert_eq!(found, 6);
                // This draws in every depth and theme itself.
                if depth == Depth::True && theme == 0 {
                    assert_readable(&mut b);
                }
            }
        }
    }
}
