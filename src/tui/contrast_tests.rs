//! All drawn text is readable, in every palette at every colour depth.

use std::collections::HashSet;

use crossterm::event::KeyCode;
use ratatui::buffer::Cell;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

use super::bench::*;
use super::theme::{BUILT_IN, contrast};
use super::{Background, Depth, TerminalCaps, Themes, render};

/// Checks the current bench state, drawn in each palette at each depth.
pub(super) fn assert_readable(bench: &mut Bench) {
    let area = Rect::new(0, 0, bench.size.0, bench.size.1);
    let mut original = None;
    for depth in [Depth::None, Depth::Sixteen, Depth::Palette, Depth::True] {
        for (name, _) in BUILT_IN {
            let before = bench.ui.set_themes(themes(name, depth));
            original.get_or_insert(before);
            let mut buffer = ratatui::buffer::Buffer::empty(area);
            render(
                &bench.state,
                &bench.ui,
                &bench.facts,
                area,
                &mut buffer,
                bench.now,
            );
            let mut looks = HashSet::new();
            for y in 0..area.height {
                for x in 0..area.width {
                    let cell = &buffer[(x, y)];
                    // Two colours of a picture, no text.
                    if cell.symbol() == "▀" {
                        continue;
                    }
                    let look = (cell.fg, cell.bg, cell.modifier, cell.symbol() == " ");
                    if !looks.insert(look) {
                        continue;
                    }
                    let error = fault(cell, bench.ui.theme().name.as_str(), depth);
                    assert_eq!(error, None, "{name} {depth:?} at {x}, {y}: {cell:?}");
                }
            }
        }
    }
    if let Some(original) = original {
        bench.ui.set_themes(original);
    }
}

fn themes(name: &str, depth: Depth) -> Themes {
    let background = Background::Dark;
    Themes::new(name, TerminalCaps { depth, background }).unwrap()
}

/// The reason why somebody could not read this cell.
fn fault(cell: &Cell, theme: &str, depth: Depth) -> Option<String> {
    let blank = cell.symbol() == " " && !cell.modifier.contains(Modifier::UNDERLINED);
    let (fg, bg) = if cell.modifier.contains(Modifier::REVERSED) {
        (cell.bg, cell.fg)
    } else {
        (cell.fg, cell.bg)
    };
    // Each terminal chooses how strongly it dims.
    if cell.modifier.contains(Modifier::DIM) {
        return Some("dimmed".to_owned());
    }
    if theme == "none" {
        return ((fg, bg) != (Color::Reset, Color::Reset)).then(|| "coloured".to_owned());
    }
    if depth == Depth::Sixteen {
        // Terminals that draw bold as bright would turn black into grey.
        let bright = fg == Color::Black && cell.modifier.contains(Modifier::BOLD);
        let is_readable = contrast::is_safe(fg, bg) && (!bright || blank);
        return (!is_readable).then(|| format!("{fg} on {bg}"));
    }
    match contrast::ratio(fg, bg) {
        None => Some("not painted".to_owned()),
        Some(ratio) if ratio < contrast::NEEDED && !blank => Some(format!("{ratio:.2}:1")),
        Some(_) => None,
    }
}

#[test]
fn an_unreadable_cell_is_found() {
    let cell = |fg, bg, modifier| {
        let mut cell = Cell::new("x");
        (cell.fg, cell.bg, cell.modifier) = (fg, bg, modifier);
        cell
    };
    let grey = |v| Color::Rgb(v, v, v);
    let plain = Modifier::empty();
    let at = |cell: Cell, depth| fault(&cell, "dark", depth);
    assert_eq!(at(cell(grey(255), grey(0), plain), Depth::True), None);
    for (fg, bg, modifier) in [
        (grey(0x77), grey(255), plain),
        (grey(0x77), grey(255), Modifier::REVERSED),
        (grey(0), grey(255), Modifier::DIM),
        (Color::Reset, grey(255), plain),
        (grey(0), Color::Reset, plain),
        (Color::White, Color::Black, plain),
    ] {
        let found = at(cell(fg, bg, modifier), Depth::True);
        assert!(found.is_some(), "{fg} on {bg} {modifier:?}");
    }
    let bold = cell(Color::White, Color::Black, Modifier::BOLD);
    assert_eq!(at(bold.clone(), Depth::Sixteen), None);
    let mut reversed = bold;
    reversed.modifier.insert(Modifier::REVERSED);
    assert!(at(reversed, Depth::Sixteen).is_some());
}

/// Combinations of foreground and background: coloured code, a match and a mark in the current row,
/// a mark in a selected row, every severity and verdict, and text being typed.
#[test]
fn text_on_the_ground_of_something_else_can_be_read() {
    for size in [(80, 24), (120, 40), (160, 50)] {
        let caps = TerminalCaps {
            depth: Depth::True,
            background: Background::Dark,
        };
        let mut b = Bench::with_caps(size.0, size.1, caps);
        b.propose(Making {
            agent: Some("bot\u{202e}"),
            findings: vec![
                finding(1, "A", crate::model::Severity::Critical, crate::model::Action::Flag),
                finding(2, "B", crate::model::Severity::Medium, crate::model::Action::Flag),
                finding(3, "C", crate::model::Severity::Low, crate::model::Action::Flag),
                finding(4, "D", crate::model::Severity::Info, crate::model::Action::Note),
            ],
            ..Making::clear(
                "import math # rate \x1b\ndef rate(x): return f\"{x!r:>{3}}\" + 'rate' * 0x10\n@rate\nclass A: rate = None\n",
            )
        });
        b.propose(Making::blocked());
        b.settle();
        b.press(KeyCode::Enter);
        b.colour();
        for key in ["/", "rate"] {
            b.keys(key);
            b.draw();
            assert_readable(&mut b);
        }
        b.press(KeyCode::Enter);
        for _ in 0..5 {
            b.draw();
            assert_readable(&mut b);
            b.keys("n");
        }
        for _ in 0..6 {
            b.press(KeyCode::Tab);
            b.draw();
            assert_readable(&mut b);
        }
    }
}

#[test]
fn the_list_of_themes_can_be_read_in_every_theme() {
    for depth in [Depth::Sixteen, Depth::Palette, Depth::True] {
        let background = Background::Unknown;
        let mut b = Bench::with_caps(80, 24, TerminalCaps { depth, background });
        b.propose(Making::clear("x = 1\n"));
        b.settle();
        for _ in 0..BUILT_IN.len() {
            b.keys("t");
            b.draw();
            let theme = b.ui.theme().name.clone();
            for cell in &b.buffer.content {
                // The list's row of the palette without colours is drawn in it.
                let own = match (cell.fg, cell.bg) {
                    (Color::Reset, Color::Reset) => "none",
                    _ if theme == "none" => "dark",
                    _ => theme.as_str(),
                };
                assert_eq!(fault(cell, own, depth), None, "{theme}: {cell:?}");
            }
        }
    }
    let mut b = ready();
    b.keys("t");
    assert_eq!(notice(&b), "this terminal is used without colours");
}
