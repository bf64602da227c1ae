//! The mouse scrolls and selects. It decides nothing, and makes no rule looser.

use crossterm::event::{Event, KeyCode, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

use super::QUIET;
use super::bench::*;
use super::ui::Pane;
use crate::model::StreamName;

fn mouse(b: &mut Bench, kind: MouseEventKind, (column, row): (u16, u16)) {
    b.input(&Event::Mouse(MouseEvent {
        kind,
        column,
        row,
        modifiers: KeyModifiers::NONE,
    }));
}

fn click(b: &mut Bench, at: (u16, u16)) {
    mouse(b, MouseEventKind::Down(MouseButton::Left), at);
    mouse(b, MouseEventKind::Up(MouseButton::Left), at);
}

/// The first cell of this text.
fn find(b: &mut Bench, text: &str) -> (u16, u16) {
    let screen = b.draw();
    let (y, line) = screen
        .lines()
        .enumerate()
        .find(|(_, line)| line.contains(text))
        .unwrap_or_else(|| panic!("no {text}:\n{screen}"));
    let x = line[..line.find(text).unwrap()].chars().count();
    (x as u16, y as u16)
}

fn two() -> Bench {
    let mut b = Bench::new(120, 40);
    for (title, code) in [("First", lines(100)), ("Second", "y = 2\n".to_owned())] {
        b.propose(Making {
            title: Some(title.to_owned()),
            ..Making::clear(&code)
        });
    }
    b.settle();
    b
}

#[test]
fn a_click_selects_with_a_fresh_grace_and_a_second_one_opens() {
    let mut b = two();
    let first = b.ui.selected();
    let at = find(&mut b, "Second");
    click(&mut b, at);
    assert_ne!(b.ui.selected(), first);
    assert_eq!(b.ui.queue.focus, Pane::Queue);
    b.keys("a");
    assert!(b.ui.sheet().is_none());
    click(&mut b, at);
    assert_eq!(b.ui.queue.focus, Pane::Code);
    // Slower, it is another first click.
    b.advance(401);
    click(&mut b, at);
    assert_eq!(b.ui.queue.focus, Pane::Queue);
    assert!(b.actions.is_empty());
}

#[test]
fn the_wheel_scrolls_what_is_under_it() {
    let mut b = two();
    let at = find(&mut b, "x5 = 5");
    for _ in 0..4 {
        mouse(&mut b, MouseEventKind::ScrollDown, at);
        b.draw();
    }
    let screen = b.draw();
    assert!(
        !screen.contains("x5 = 5\n") && screen.contains("x14 = 14"),
        "{screen}"
    );
    for _ in 0..9 {
        mouse(&mut b, MouseEventKind::ScrollUp, at);
        b.draw();
    }
    assert!(b.draw().contains("x1 = 1"));
    // Rows count by time, however they came.
    b.look();
    assert!(b.draw().contains("not seen"));
}

#[test]
fn the_wheel_scrolls_the_output_and_moves_the_selection_of_the_queue() {
    let mut b = two();
    let first = b.ui.selected();
    let at = find(&mut b, "Second");
    mouse(&mut b, MouseEventKind::ScrollDown, at);
    assert_ne!(b.ui.selected(), first);
    mouse(&mut b, MouseEventKind::ScrollUp, at);
    assert_eq!(b.ui.selected(), first);
    b.read();
    let id = b.start();
    let rows: String = (1..=200).map(|i| format!("row {i}\n")).collect();
    b.output(id, StreamName::Stdout, &rows);
    let at = find(&mut b, "row 200");
    mouse(&mut b, MouseEventKind::ScrollUp, at);
    let text = b.draw();
    assert!(
        !text.contains("row 200") && text.contains("row 197"),
        "{text}"
    );
    mouse(&mut b, MouseEventKind::ScrollDown, at);
    assert!(b.draw().contains("row 200"));
}

#[test]
fn the_mouse_asks_for_nothing_and_confirms_nothing() {
    let mut b = ready();
    b.open_sheet();
    for y in 0..40 {
        for x in (0..120).step_by(7) {
            for button in [MouseButton::Left, MouseButton::Middle, MouseButton::Right] {
                mouse(&mut b, MouseEventKind::Down(button), (x, y));
                mouse(&mut b, MouseEventKind::Up(button), (x, y));
            }
        }
        b.advance(1_000);
        b.draw();
    }
    assert!(b.ui.sheet().is_some());
    assert!(b.actions.is_empty(), "{:?}", b.actions);
    // In a question and a text field neither.
    b.press(KeyCode::Esc);
    b.keys("d");
    click(&mut b, (5, 5));
    b.keys("q");
    assert!(b.draw().contains("deny, reason"));
    assert!(b.actions.is_empty());
}

#[test]
fn the_mouse_is_input_to_the_rules_of_quiet() {
    let mut b = ready();
    b.open_sheet();
    mouse(&mut b, MouseEventKind::ScrollDown, (60, 30));
    b.keys("y");
    assert!(grants(&b).is_empty());
    b.advance(QUIET.as_millis() as u64 - 1);
    mouse(&mut b, MouseEventKind::Moved, (60, 30));
    b.advance(QUIET.as_millis() as u64 - 1);
    b.keys("y");
    assert!(grants(&b).is_empty());
    // A click between two presses does not make a held key another one.
    b.press(KeyCode::Esc);
    b.advance(3_000);
    b.look();
    b.keys("a");
    click(&mut b, (60, 30));
    b.advance(1_000);
    b.press(KeyCode::Esc);
    assert!(grants(&b).is_empty());
}
