//! Screens that cover the queue: the help, generated from the key map, and the palette.

use ratatui::layout::Rect;

use super::super::canvas::Canvas;
use super::super::flow::{Flow, Para};
use super::super::text;
use super::super::theme::Role;
use super::super::ui::Palette;
use super::super::words;
use super::{Drawn, Screen, draw_flow};

/// Fewer columns of a command's description say nothing.
const LEAST_OF_WORDS: u16 = 12;

impl Screen<'_> {
    /// Draws a heading and a scrollable flow.
    pub(super) fn page(
        &self,
        canvas: &mut Canvas<'_>,
        area: Rect,
        heading: &[(String, Role)],
        flow: &Flow,
        top: usize,
        drawn: &mut Drawn,
    ) {
        canvas.headed_rule(area.x, area.y, area.width, heading);
        let inner = Rect {
            x: area.x + 2,
            y: area.y + 1,
            width: area.width.saturating_sub(4),
            height: area.height.saturating_sub(1),
        };
        let height = usize::from(inner.height);
        let top = top.min(flow.rows.len().saturating_sub(height));
        let shown = draw_flow(canvas, inner, flow, top);
        let below = flow.rows.len() - shown.end;
        if below > 0 {
            let more = format!(" ↓ {} more ", words::number(below as u64));
            let wide = text::width(&more) as u16;
            canvas.put(
                area.right().saturating_sub(wide + 1),
                area.y,
                wide,
                &more,
                Role::Dim,
            );
        }
        drawn.over = Some((height, flow.rows.len()));
    }

    pub(super) fn help(&self, canvas: &mut Canvas<'_>, area: Rect, top: usize, drawn: &mut Drawn) {
        let mut paras = Vec::new();
        paras.push(Para::new("Keys", Role::Strong));
        let program = &self.ui.common.program;
        for command in program.commands() {
            let keys = self.ui.common.keys.all(command);
            paras.push(
                Para::new(format!("{keys:<14} "), Role::Key)
                    .and(program.words(command), Role::Text)
                    .hang(15),
            );
        }
        paras.push(
            Para::new(format!("{:<14} ", words::FIELD), Role::Key)
                .and(words::FIELD_KEYS, Role::Text)
                .hang(15),
        );
        paras.push(Para::default());
        paras.push(Para::new("Words", Role::Strong));
        for (word, meaning) in program.glossary() {
            paras.push(
                Para::new(format!("{word:<14} "), Role::Accent)
                    .and(*meaning, Role::Text)
                    .hang(15),
            );
        }
        let flow = Flow::new(&paras, area.width.saturating_sub(4));
        let heading = [("HELP".to_owned(), Role::Accent)];
        self.page(canvas, area, &heading, &flow, top, drawn);
    }

    /// The commands that the typed letters find, with their keys.
    pub(super) fn palette(&self, canvas: &mut Canvas<'_>, area: Rect, palette: &Palette) {
        canvas.headed_rule(
            area.x,
            area.y,
            area.width,
            &[("COMMANDS".to_owned(), Role::Accent)],
        );
        let program = &self.ui.common.program;
        let found = palette.found(program);
        let height = usize::from(area.height.saturating_sub(1));
        let top = (palette.at + 1).saturating_sub(height);
        for (y, (i, command)) in (area.y + 1..area.bottom()).zip(found.iter().enumerate().skip(top))
        {
            let row = Rect::new(area.x + 1, y, area.width.saturating_sub(2), 1);
            let keys = self.ui.common.keys.all(*command);
            let spans = [
                (format!(" {:<17} ", command.name()), Role::Strong),
                (format!("{keys:<14} "), Role::Key),
            ];
            let used = canvas.put_spans(row.x, y, row.width, &spans);
            let room = row.width - used;
            if room >= LEAST_OF_WORDS {
                canvas.put_cut(row.x + used, y, room, program.words(*command), Role::Text);
            }
            if i == palette.at {
                canvas.put(row.x, y, 1, words::HERE, Role::Accent);
                canvas.tint(row, Role::Selected);
            }
        }
        if found.is_empty() {
            let room = area.width.saturating_sub(3);
            canvas.put_cut(
                area.x + 2,
                area.y + 1,
                room,
                &palette.none(program),
                Role::Dim,
            );
        }
    }

    /// The palettes, each row drawn in its own, over the last rows of the screen.
    pub(super) fn picker(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let themes = &self.ui.common.themes;
        let wanted = themes.all().len() as u16 + 1;
        let rows = wanted.min(area.height);
        if rows < 2 {
            return;
        }
        let top = area.bottom() - rows;
        let heading = [("THEMES".to_owned(), Role::Accent)];
        canvas.headed_rule(area.x, top, area.width, &heading);
        // On a low screen, the rows around the current one.
        let hidden = usize::from(wanted - rows);
        let first = (themes.at() + 1)
            .saturating_sub(usize::from(rows - 1))
            .min(hidden);
        for (y, (i, theme)) in
            (top + 1..area.bottom()).zip(themes.all().iter().enumerate().skip(first))
        {
            canvas.fill(Rect::new(area.x, y, area.width, 1), theme.style(Role::Text));
            let right = area.right();
            let mut x = area.x + 1;
            let mut put = |x: u16, text: &str, style| {
                let room = right.saturating_sub(x);
                canvas.put_style(x, y, room, text, style).0
            };
            let sign = if i == themes.at() { words::HERE } else { "" };
            put(x, sign, theme.style(Role::Accent));
            x += 2;
            let name = format!("{:<16}", theme.name);
            x += put(x, &name, theme.style(Role::Strong));
            for (word, role) in words::SAMPLE {
                let fits = text::width(word) <= usize::from(right.saturating_sub(x));
                if !fits {
                    break;
                }
                x += put(x, word, theme.style(role));
                x += put(x, "  ", theme.style(Role::Text));
            }
        }
    }
}
