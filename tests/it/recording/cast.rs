//! The recording: asciicast version 2, one event per line. Frames are `o` events with the changed
//! rows; keys are `m` events.

use serde_json::{Value, json};

use super::frame::{Cell, Frame, Shot, Style};

/// The screen's columns and rows.
pub const SIZE: (u16, u16) = (120, 40);

pub fn write(shots: &[Shot]) -> String {
    let header = json!({
        "version": 2, "width": SIZE.0, "height": SIZE.1, "title": "Countersign: three decisions",
        "env": {"TERM": "xterm-256color", "COLORTERM": "truecolor"},
    });
    let mut lines = vec![header.to_string()];
    let (mut at, mut before) = (0, None);
    for shot in shots {
        let seconds = |ms: u64| json!(ms as f64 / 1000.0);
        lines.push(json!([seconds(at), "m", shot.caption]).to_string());
        lines.push(json!([seconds(at), "o", drawn(&shot.frame, before)]).to_string());
        at += shot.milliseconds;
        before = Some(&shot.frame);
    }
    // A player stops at the last event, so an empty one keeps the last frame visible.
    lines.push(json!([at as f64 / 1000.0, "o", ""]).to_string());
    lines.join("\n") + "\n"
}

/// The bytes that make a terminal show the frame, given the frame before.
fn drawn(frame: &Frame, before: Option<&Frame>) -> String {
    let mut out = String::from(if before.is_none() {
        "\x1b[?25l\x1b[2J"
    } else {
        ""
    });
    for (y, row) in frame.rows.iter().enumerate() {
        if before.is_some_and(|b| b.rows[y] == *row) {
            continue;
        }
        out += &format!("\x1b[{};1H", y + 1);
        let mut style = None;
        for cell in row {
            if style != Some(cell.style) {
                style = Some(cell.style);
                out += &sgr(cell.style);
            }
            out += &cell.text;
        }
        out += "\x1b[0m";
    }
    out
}

#[expect(clippy::many_single_char_names, reason = "two colours")]
fn sgr(style: Style) -> String {
    let ([r, g, b], [u, v, w]) = (style.ink, style.ground);
    let mut codes = String::from("\x1b[0");
    for (on, code) in [
        (style.bold, ";1"),
        (style.italic, ";3"),
        (style.underline, ";4"),
    ] {
        codes += if on { code } else { "" };
    }
    format!("{codes};38;2;{r};{g};{b};48;2;{u};{v};{w}m")
}

/// Plays a recording in a terminal and returns the frames that it shows.
pub fn read(text: &str) -> Vec<Shot> {
    let size = |cells| std::num::NonZeroU16::new(cells).unwrap();
    let mut terminal = vt100::Parser::new(size(SIZE.1), size(SIZE.0), 0);
    let mut shots: Vec<Shot> = Vec::new();
    let (mut caption, mut began) = (String::new(), 0);
    for line in text.lines().skip(1) {
        let event: Value = serde_json::from_str(line).unwrap();
        let at = (event[0].as_f64().unwrap() * 1000.0).round() as u64;
        let data = event[2].as_str().unwrap();
        if event[1] == "m" {
            data.clone_into(&mut caption);
            continue;
        }
        if let Some(last) = shots.last_mut() {
            last.milliseconds = at - began;
        }
        began = at;
        if !data.is_empty() {
            terminal.process(data.as_bytes());
            shots.push(Shot {
                frame: Frame::of(terminal.screen()).unwrap(),
                milliseconds: 0,
                caption: caption.clone(),
            });
        }
    }
    shots
}

#[test]
fn a_written_recording_plays_back() {
    let style = Style {
        ink: [1, 2, 3],
        ground: [4, 5, 6],
        bold: true,
        ..Style::default()
    };
    let blank = Cell {
        text: " ".to_owned(),
        style: Style::default(),
    };
    let mut frame = Frame {
        rows: vec![vec![blank; SIZE.0.into()]; SIZE.1.into()],
    };
    let shot = |frame: &Frame, milliseconds, caption: &str| Shot {
        frame: frame.clone(),
        milliseconds,
        caption: caption.to_owned(),
    };
    let first = shot(&frame, 1500, "one");
    frame.rows[3][7] = Cell {
        text: "✓".to_owned(),
        style,
    };
    frame.rows[4][7] = Cell {
        text: "漢".to_owned(),
        style,
    };
    frame.rows[4][8] = Cell {
        text: String::new(),
        style,
    };
    let shots = [first, shot(&frame, 250, "two")];
    assert_eq!(read(&write(&shots)), shots);
}
