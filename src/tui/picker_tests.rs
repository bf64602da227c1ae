//! `t` opens the list of palettes, and nothing in it reaches the queue.

use crossterm::event::{KeyCode, KeyModifiers};

use super::bench::*;
use super::snapshot_tests::{SIZES, snap};
use super::{Background, Depth, TerminalCaps};

fn coloured(columns: u16, rows: u16) -> Bench {
    let caps = TerminalCaps {
        depth: Depth::True,
        background: Background::Unknown,
    };
    let mut b = Bench::with_caps(columns, rows, caps);
    b.propose(Making::clear("x = 1\n"));
    b.propose(Making::flagged());
    b.settle();
    b
}

fn footer(b: &mut Bench) -> String {
    b.draw().lines().last().unwrap().trim().to_owned()
}

fn theme(b: &Bench) -> String {
    b.ui.theme().name.clone()
}

#[test]
fn t_shows_the_next_theme_at_once_with_the_list() {
    for (columns, rows) in SIZES {
        let mut b = coloured(columns, rows);
        b.keys("t");
        assert_eq!(theme(&b), "light");
        let text = b.draw();
        snap(&format!("themes_{columns}x{rows}"), &text);
        // Every palette's row is on the screen, or reached by moving.
        let mut seen = text;
        for _ in 0..5 {
            b.keys("j");
            seen.push_str(&b.draw());
        }
        for name in ["dark", "light", "high-contrast", "colour-blind", "none"] {
            assert!(seen.contains(name), "{columns}x{rows} {name}");
        }
    }
}

#[test]
fn t_j_and_k_move_enter_keeps_and_esc_goes_back() {
    let mut b = coloured(80, 24);
    for (key, name) in [
        ("t", "light"),
        ("t", "high-contrast"),
        ("j", "colour-blind"),
        ("k", "high-contrast"),
        ("k", "light"),
        ("k", "dark"),
        ("k", "none"),
    ] {
        b.keys(key);
        assert_eq!(theme(&b), name, "{key}");
        let said = footer(&mut b);
        assert!(said.contains(&format!("theme: {name}")), "{said}");
        assert!(said.contains("Esc goes back to dark"), "{said}");
    }
    b.press(KeyCode::Esc);
    assert_eq!(theme(&b), "dark");
    assert!(!footer(&mut b).contains("theme:"));
    b.keys("t");
    b.press(KeyCode::Down);
    b.press(KeyCode::Enter);
    assert_eq!(theme(&b), "high-contrast");
    assert!(!footer(&mut b).contains("theme:"));
}

#[test]
fn no_key_of_the_list_reaches_the_queue_and_it_never_closes_by_itself() {
    let mut b = coloured(80, 24);
    let selected = b.ui.selected();
    b.keys("t");
    b.draw();
    b.advance(3_000);
    for key in [
        "a", "y", "d", "D", "x", "q", "u", "1", "2", "3", ":", "/", "?", "e", "4f1c", " ",
    ] {
        b.keys(key);
        b.advance(1_000);
        let open = matches!(b.ui.over(), super::ui::Over::Picker(_));
        assert!(open && !footer(&mut b).contains("pending"), "{key}");
    }
    b.code(
        KeyCode::Char('c'),
        KeyModifiers::CONTROL,
        crossterm::event::KeyEventKind::Press,
    );
    b.propose(Making::clear("y = 2\n"));
    b.tick(2_000_000);
    assert!(matches!(b.ui.over(), super::ui::Over::Picker(_)));
    assert!(b.actions.is_empty(), "{:?}", b.actions);
    assert_eq!(b.ui.selected(), selected);
    assert!(b.ui.sheet().is_none());
}

#[test]
fn nothing_counts_as_seen_under_the_list() {
    let caps = TerminalCaps {
        depth: Depth::True,
        background: Background::Unknown,
    };
    let mut b = Bench::with_caps(80, 24, caps);
    b.propose(Making::clear("x = 1\n"));
    b.draw();
    b.keys("t");
    b.draw();
    b.advance(2_000);
    b.look();
    b.press(KeyCode::Enter);
    let said = b.draw();
    assert!(said.contains("line 1 not seen"), "{said}");
    b.settle();
    assert!(!b.draw().contains("not seen"));
}
