//! Drawing: the only place that writes cells. It writes only sanitised text.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::as_drawn::{self, AsDrawn, Placed};
use super::charset::{is_ascii, stand_in};
use super::flow::FlowRow;
use super::pixels::Strip;
use super::text::{self, Piece};
use super::theme::{Role, Theme};

/// A buffer and the palette to draw in.
pub struct Canvas<'a> {
    buf: &'a mut Buffer,
    pub theme: &'a Theme,
    /// Text sent to the terminal unchanged, at the end of its row.
    as_drawn: Vec<Placed>,
}

impl<'a> Canvas<'a> {
    pub fn new(buf: &'a mut Buffer, theme: &'a Theme) -> Self {
        Self {
            buf,
            theme,
            as_drawn: Vec::new(),
        }
    }

    pub fn into_as_drawn(self) -> Vec<Placed> {
        self.as_drawn
    }

    /// Blank cells in the text style.
    pub fn clear(&mut self, area: Rect) {
        self.fill(area, self.theme.style(Role::Text));
    }

    /// Blank cells in this style.
    pub fn fill(&mut self, area: Rect, style: Style) {
        let area = area.intersection(self.buf.area);
        for y in area.top()..area.bottom() {
            for x in area.left()..area.right() {
                if let Some(cell) = self.buf.cell_mut((x, y)) {
                    cell.reset();
                    cell.set_style(style);
                }
            }
        }
    }

    /// Draws as much of the text as fits in `columns`, whole pieces only; returns the columns
    /// used and the bytes drawn.
    pub fn put_style(
        &mut self,
        x: u16,
        y: u16,
        columns: u16,
        raw: &str,
        style: Style,
    ) -> (u16, usize) {
        self.put_pieces(x, y, columns, text::pieces(raw), style)
    }

    /// The same for pieces.
    pub fn put_pieces<'t>(
        &mut self,
        x: u16,
        y: u16,
        columns: u16,
        pieces: impl Iterator<Item = Piece<'t>>,
        style: Style,
    ) -> (u16, usize) {
        let area = self.buf.area;
        let columns = columns.min(area.right().saturating_sub(x));
        if y >= area.bottom() || y < area.top() || x < area.left() {
            return (0, 0);
        }
        let mark = self.theme.style(Role::Mark);
        let mut used = 0_u16;
        let mut bytes = 0;
        for piece in pieces {
            let width = u16::try_from(piece.width).unwrap_or(u16::MAX);
            if width > columns - used {
                break;
            }
            if piece.is_mark() {
                // A mark is made of single-column characters.
                for c in piece.text().chars() {
                    self.cell(x + used, y, c.encode_utf8(&mut [0; 4]), mark);
                    used += 1;
                }
            } else {
                self.cell(x + used, y, piece.text(), style);
                for hidden in 1..width {
                    self.cell(x + used + hidden, y, " ", style);
                }
                used += width;
            }
            bytes = piece.end;
        }
        (used, bytes)
    }

    fn cell(&mut self, x: u16, y: u16, symbol: &str, style: Style) {
        let symbol = match is_ascii() && !symbol.is_ascii() {
            true => symbol.chars().next().and_then(stand_in).unwrap_or("?"),
            false => symbol,
        };
        if let Some(cell) = self.buf.cell_mut((x, y)) {
            cell.set_symbol(symbol).set_style(style);
        }
    }

    /// Draws as much as fits; returns the columns used.
    pub fn put(&mut self, x: u16, y: u16, columns: u16, raw: &str, role: Role) -> u16 {
        self.put_style(x, y, columns, raw, self.theme.style(role)).0
    }

    /// Draws the text on one row, or its beginning and `…`.
    pub fn put_cut(&mut self, x: u16, y: u16, columns: u16, raw: &str, role: Role) -> u16 {
        if columns == 0 {
            return 0;
        }
        let fits = text::cut(raw, usize::from(columns));
        if fits.len() == raw.len() {
            return self.put(x, y, columns, raw, role);
        }
        let head = text::cut(raw, usize::from(columns) - 1);
        let used = self.put(x, y, columns - 1, head, role);
        used + self.put(x + used, y, 1, "…", Role::Dim)
    }

    /// Draws spans after each other; returns the columns used.
    pub fn put_spans<T: AsRef<str>>(
        &mut self,
        x: u16,
        y: u16,
        columns: u16,
        spans: &[(T, Role)],
    ) -> u16 {
        let mut used = 0;
        for (text, role) in spans {
            used += self.put(x + used, y, columns - used, text.as_ref(), *role);
        }
        used
    }

    pub fn put_row(&mut self, x: u16, y: u16, columns: u16, row: &FlowRow) {
        let gutter = row.gutter.as_ref().map_or(0, |gutter| {
            self.put_spans(x, y, columns, &gutter.spans(row.goes_on))
        });
        let (x, columns) = (x + gutter, columns - gutter);
        let indent = u16::try_from(row.indent).unwrap_or(columns).min(columns);
        let (x, columns) = (x + indent, columns - indent);
        match (&row.as_drawn, &row.strip) {
            (Some(text), _) => self.put_as_drawn(x, y, columns, text),
            (None, Some(strip)) => self.put_strip(x, y, columns, strip),
            (None, None) => {
                self.put_spans(x, y, columns, &row.spans);
            }
        }
    }

    fn put_strip(&mut self, x: u16, y: u16, columns: u16, strip: &Strip) {
        for (x, cell) in (x..x.saturating_add(columns)).zip(&strip.cells) {
            let (upper, lower) = cell.halves();
            let pair = (self.theme.pixel(upper), self.theme.pixel(lower));
            if let (Some(upper), Some(lower)) = pair {
                self.cell(x, y, "▀", Style::new().fg(upper).bg(lower));
            } else {
                // Not every terminal draws the sign without dots as a blank.
                let dots = match cell.dots(strip.paper) {
                    '\u{2800}' => ' ',
                    dots => dots,
                };
                let style = self.theme.style(Role::Text);
                self.cell(x, y, dots.encode_utf8(&mut [0; 4]), style);
            }
        }
    }

    /// Draws a label and, behind it, the text as the terminal draws it. Draw nothing after it in
    /// the same row: the writer would then leave the text out.
    pub fn put_as_drawn(&mut self, x: u16, y: u16, columns: u16, raw: &str) {
        let used = self.put(x, y, columns, as_drawn::LABEL, Role::Dim);
        let (x, columns) = (x + used, columns - used);
        if columns < 2 {
            return;
        }
        for i in 0..columns {
            self.cell(x + i, y, " ", self.theme.style(Role::Dim));
        }
        let text = AsDrawn::new(raw, columns);
        self.as_drawn.push(Placed { x, y, text });
    }

    /// Changes the style of cells that are already drawn. Cells with their own background keep it,
    /// so marks for hostile text stay visible in a selected row, and a match in the current one.
    pub fn tint(&mut self, area: Rect, role: Role) {
        let area = area.intersection(self.buf.area);
        let style = self.theme.style(role);
        let ground = self.theme.ground();
        for y in area.top()..area.bottom() {
            for x in area.left()..area.right() {
                if let Some(cell) = self.buf.cell_mut((x, y))
                    && cell.bg == ground
                    && !cell.modifier.contains(Modifier::REVERSED)
                {
                    cell.set_style(style);
                }
            }
        }
    }

    pub fn rule(&mut self, x: u16, y: u16, columns: u16) {
        self.line(x, y, columns, "─", Role::Rule);
    }

    fn line(&mut self, x: u16, y: u16, columns: u16, symbol: &'static str, role: Role) {
        for i in 0..columns {
            self.cell(x + i, y, symbol, self.theme.style(role));
        }
    }

    /// A rule with a heading in it; a focused pane's is heavy and has the accent colour, so that it stands out without
    /// colours too.
    pub fn headed_rule(&mut self, x: u16, y: u16, columns: u16, heading: &[(String, Role)]) {
        let focused = heading.iter().any(|(_, role)| *role == Role::Accent);
        let (symbol, role) = match focused {
            true => ("━", Role::Accent),
            false => ("─", Role::Rule),
        };
        self.line(x, y, columns, symbol, role);
        if columns > 4 {
            let mut used = 0;
            for (text, role) in heading {
                let room = (columns - 3).saturating_sub(used);
                used += self.put_cut(x + 2 + used, y, room, text, *role);
            }
            self.put(x + 1, y, 1, " ", Role::Text);
            self.put(x + 2 + used, y, 1, " ", Role::Text);
        }
    }

    pub fn upright(&mut self, x: u16, from: u16, to: u16) {
        for y in from..to {
            self.cell(x, y, "│", self.theme.style(Role::Rule));
        }
    }

    pub fn joint(&mut self, x: u16, y: u16, symbol: &'static str) {
        self.cell(x, y, symbol, self.theme.style(Role::Rule));
    }
}
