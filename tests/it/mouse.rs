//! The mouse of a real terminal, where it is switched on: it selects and scrolls, and never grants.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::common::dash::{Dash, Options, PATIENCE};

/// A button pressed and released (xterm's SGR reports); columns and rows count from 0.
fn click(dash: &mut Dash, button: u8, (column, row): (usize, usize)) {
    let (x, y) = (column + 1, row + 1);
    dash.keys(&format!("\x1b[<{button};{x};{y}M\x1b[<{button};{x};{y}m"));
}

/// Clicks on this row of the queue until the screen shows something. Slower than a double click.
fn click_until(dash: &mut Dash, button: u8, row: &str, shown: &str) {
    let deadline = Instant::now() + PATIENCE;
    while !dash.text().contains(shown) {
        assert!(Instant::now() < deadline, "no {shown}:\n{}", dash.text());
        // Rows move while the environment gets ready.
        let at = find(dash, row, QUEUE);
        click(dash, button, at);
        // The next click is a first one again.
        let slow = Instant::now() + Duration::from_secs(1);
        dash.wait_while(slow, |text| !text.contains(shown));
    }
}

/// Columns of the queue.
const QUEUE: usize = 34;

/// The first cell of this text within so many columns.
fn find(dash: &Dash, text: &str, columns: usize) -> (usize, usize) {
    let cells = dash.cells();
    let at = cells.iter().enumerate().find_map(|(row, cells)| {
        let line = cells[..columns].concat();
        let column = line[..line.find(text)?].chars().count();
        Some((column, row))
    });
    at.unwrap_or_else(|| panic!("no {text}:\n{}", dash.text()))
}

#[test]
fn a_click_selects_a_row_and_no_click_grants() {
    let mut dash = Dash::with(&Options {
        config: "mouse = true\n",
        ..Options::default()
    });
    let mut agent = dash.agent();
    let mut propose = |title: &str, code: &str| {
        agent.propose(json!({"code": code, "title": title, "ttl_s": 3_000}))
    };
    let first = propose("A title", "print('one')\n");
    let second = propose("Another", "for n in range(3):\n    print('two', n)\n");
    dash.wait_text("Another");
    dash.go_to_urgent();
    dash.wait_text("print('one')");
    click_until(&mut dash, 0, "Another", "print('two', n)");
    // The wheel moves the selection of a list.
    click_until(&mut dash, 64, "Another", "print('one')");
    click_until(&mut dash, 65, "Another", "print('two', n)");

    dash.press_until(" a", "the sheet", |text| text.contains("GRANT?"));
    dash.wait_text("press y to grant");
    for column in (0..120).step_by(17) {
        for row in (0..40).step_by(3) {
            click(&mut dash, u8::from(column % 2 == 0), (column, row));
        }
        // Twice at the same place, on the question too.
        let question = find(&dash, "to grant", 120);
        click(&mut dash, 0, question);
        click(&mut dash, 0, question);
    }
    dash.wait_text("GRANT?");
    for proposal in [&first, &second] {
        assert_eq!(agent.state(&proposal["id"]), "pending");
    }
    // A key that came too early counts again only after a while without it.
    let deadline = Instant::now() + PATIENCE;
    while agent.state(&second["id"]) == "pending" {
        assert!(Instant::now() < deadline, "no grant:\n{}", dash.text());
        dash.keys("y");
        let most = Instant::now() + Duration::from_millis(2_500);
        dash.wait_while(most, |text| text.contains("GRANT?"));
    }
    assert_eq!(agent.outcome(&second["id"])["state"], "succeeded");
    assert_eq!(agent.state(&first["id"]), "pending");
}
