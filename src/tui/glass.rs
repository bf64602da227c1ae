//! The frame writer: each cell of the buffer appears in the same cell of the terminal, even if the
//! terminal measures character widths differently.
//!
//! The writer positions the cursor again after every non-ASCII cell, disables wrapping, and clears
//! and rewrites each changed row. A character drawn wider, narrower or joined therefore affects at
//! most its own cell. A new scene rewrites the whole screen, so nothing of the previous proposal
//! remains beside the new one.
//!
//! The one exception is text that a person asked to see as the terminal draws it
//! ([`super::as_drawn`]): it comes last in its row, and only if nothing stands behind it.

use std::io::{self, Write};

use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthChar;

use super::as_drawn::Placed;
use super::charset::Charset;
use super::screen::{Drawn, Scene};

/// Begin and end of a synchronised update; terminals without support ignore both.
const BEGIN: &str = "\x1b[?2026h";
const END: &str = "\x1b[0m\x1b[?2026l";
/// No automatic wrap: text that reaches the right edge does not continue in the next row.
const NO_WRAP: &str = "\x1b[?7l";
pub const WRAP: &str = "\x1b[?7h";
/// Resets whatever another program left (line drawing characters, scrolling region, origin mode,
/// cursor), then clears the screen.
const ANEW: &str = "\x0f\x1b(B\x1b[r\x1b[?6l\x1b[?25l\x1b[0m\x1b[2J";

/// A terminal's screen with a record of what it shows.
pub struct Glass<W> {
    out: W,
    /// The contents after the last frame; `None` if unknown.
    shown: Option<(Buffer, Scene, Vec<Placed>)>,
    spare: Buffer,
    charset: Charset,
}

impl<W: Write> Glass<W> {
    pub fn new(out: W, charset: Charset) -> Self {
        Self {
            out,
            charset,
            shown: None,
            spare: Buffer::default(),
        }
    }

    /// Makes the next frame rewrite everything.
    pub fn forget(&mut self) {
        self.shown = None;
    }

    /// Draws one frame, synchronised if the terminal supports it, and returns what was drawn.
    pub fn frame(
        &mut self,
        area: Rect,
        draw: impl FnOnce(Rect, &mut Buffer) -> Drawn,
    ) -> io::Result<Drawn> {
        let mut next = std::mem::take(&mut self.spare);
        next.resize(area);
        next.reset();
        let drawn = draw(area, &mut next);
        // A failed write leaves an unknown screen.
        let before = self.shown.take();
        let same = before
            .as_ref()
            .filter(|(buffer, scene, _)| buffer.area == area && *scene == drawn.scene);
        let of = |all: &[Placed], y: u16| all.iter().find(|p| p.y == y).cloned();
        let rows = area.top()..area.bottom();
        let mut bytes = Vec::new();
        match same {
            Some((buffer, _, before)) => {
                for y in rows {
                    let text = of(&drawn.as_drawn, y);
                    if cells(buffer, y) != cells(&next, y) || of(before, y) != text {
                        self.write_row(&mut bytes, &next, y, text.as_ref());
                    }
                }
            }
            None => {
                bytes.extend_from_slice(ANEW.as_bytes());
                for y in rows {
                    self.write_row(&mut bytes, &next, y, of(&drawn.as_drawn, y).as_ref());
                }
            }
        }
        if !bytes.is_empty() {
            let mut frame = Vec::with_capacity(bytes.len() + 32);
            frame.extend_from_slice(BEGIN.as_bytes());
            frame.extend_from_slice(NO_WRAP.as_bytes());
            frame.append(&mut bytes);
            frame.extend_from_slice(END.as_bytes());
            self.out.write_all(&frame)?;
            self.out.flush()?;
        }
        self.shown = Some((next, drawn.scene.clone(), drawn.as_drawn.clone()));
        self.spare = before.map(|(buffer, ..)| buffer).unwrap_or_default();
        Ok(drawn)
    }

    fn write_row(&self, bytes: &mut Vec<u8>, buffer: &Buffer, y: u16, text: Option<&Placed>) {
        let ascii = self.charset == Charset::Ascii;
        write_row(bytes, buffer, y, text.filter(|_| !ascii), ascii);
    }
}

fn cells(buffer: &Buffer, y: u16) -> &[Cell] {
    let from = usize::from(y - buffer.area.y) * usize::from(buffer.area.width);
    buffer
        .content
        .get(from..from + usize::from(buffer.area.width))
        .unwrap_or(&[])
}

fn write_row(bytes: &mut Vec<u8>, buffer: &Buffer, y: u16, text: Option<&Placed>, ascii: bool) {
    let area = buffer.area;
    place(bytes, area.x, y);
    bytes.extend_from_slice(b"\x1b[0m\x1b[2K");
    let mut look = Look::PLAIN;
    let mut x = area.x;
    while let Some(cell) = buffer.cell(Position { x, y }) {
        let wanted = Look::of(cell);
        if wanted != look {
            wanted.write(bytes);
            look = wanted;
        }
        let (symbol, columns) = match symbol(cell, area.right() - x) {
            (symbol, columns) if symbol.is_ascii() || !ascii => (symbol, columns),
            _ => ("?", 1),
        };
        bytes.extend_from_slice(symbol.as_bytes());
        x += columns;
        if !symbol.is_ascii() {
            place(bytes, x.min(area.right() - 1), y);
        }
    }
    if let Some(text) = text.filter(|text| has_room(buffer, text))
        && let Some(cell) = buffer.cell((text.x, y))
    {
        place(bytes, text.x, y);
        Look::of(cell).write(bytes);
        bytes.extend_from_slice(text.text.as_str().as_bytes());
    }
}

/// Whether the text fits on any terminal and its cells, up to the end of the row, are blank.
fn has_room(buffer: &Buffer, text: &Placed) -> bool {
    let behind = text.x.checked_sub(buffer.area.x).map(usize::from);
    let behind = behind.and_then(|at| cells(buffer, text.y).get(at..));
    behind.is_some_and(|cells| {
        cells.len() >= usize::from(text.text.columns()) && cells.iter().all(|c| c.symbol() == " ")
    })
}

/// The cell's symbol and columns: one character that has a width and fits. The sanitiser excludes
/// everything else; `?` keeps its faults from reaching the terminal.
fn symbol(cell: &Cell, room: u16) -> (&str, u16) {
    let symbol = cell.symbol();
    let mut chars = symbol.chars();
    match (chars.next(), chars.next()) {
        (Some(c), None) => match c.width() {
            Some(1) => (symbol, 1),
            Some(2) if room >= 2 => (symbol, 2),
            _ => ("?", 1),
        },
        _ => ("?", 1),
    }
}

/// Uses absolute coordinates, so the terminal's handling of the preceding bytes does not matter.
fn place(bytes: &mut Vec<u8>, x: u16, y: u16) {
    // Writing to a Vec cannot fail.
    let _ = write!(bytes, "\x1b[{};{}H", y + 1, x + 1);
}

/// Colours and attributes of a cell.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Look {
    fg: Color,
    bg: Color,
    modifier: Modifier,
}

impl Look {
    const PLAIN: Self = Self {
        fg: Color::Reset,
        bg: Color::Reset,
        modifier: Modifier::empty(),
    };

    const fn of(cell: &Cell) -> Self {
        Self {
            fg: cell.fg,
            bg: cell.bg,
            modifier: cell.modifier,
        }
    }

    /// ECMA-48 8.3.117, starting from a reset each time.
    fn write(self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(b"\x1b[0");
        for (modifier, code) in [
            (Modifier::BOLD, ";1"),
            (Modifier::DIM, ";2"),
            (Modifier::ITALIC, ";3"),
            (Modifier::UNDERLINED, ";4"),
            (Modifier::REVERSED, ";7"),
        ] {
            if self.modifier.contains(modifier) {
                bytes.extend_from_slice(code.as_bytes());
            }
        }
        colour(bytes, self.fg, 30);
        colour(bytes, self.bg, 40);
        bytes.push(b'm');
    }
}

/// `base` is 30 for the foreground and 40 for the background.
fn colour(bytes: &mut Vec<u8>, colour: Color, base: u8) {
    let named = |n: u8| if n < 8 { base + n } else { base + 60 + n - 8 };
    let code = match colour {
        Color::Reset => return,
        Color::Black => named(0),
        Color::Red => named(1),
        Color::Green => named(2),
        Color::Yellow => named(3),
        Color::Blue => named(4),
        Color::Magenta => named(5),
        Color::Cyan => named(6),
        Color::Gray => named(7),
        Color::DarkGray => named(8),
        Color::LightRed => named(9),
        Color::LightGreen => named(10),
        Color::LightYellow => named(11),
        Color::LightBlue => named(12),
        Color::LightMagenta => named(13),
        Color::LightCyan => named(14),
        Color::White => named(15),
        Color::Indexed(i) => {
            let _ = write!(bytes, ";{};5;{i}", base + 8);
            return;
        }
        Color::Rgb(r, g, b) => {
            let _ = write!(bytes, ";{};2;{r};{g};{b}", base + 8);
            return;
        }
    };
    let _ = write!(bytes, ";{code}");
}

#[cfg(test)]
impl Glass<Vec<u8>> {
    /// The bytes written since the last call.
    pub fn written(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }
}

#[cfg(test)]
impl<W> Glass<W> {
    pub const fn out(&self) -> &W {
        &self.out
    }
}
