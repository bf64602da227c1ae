//! Screens that cover the queue: the help, generated from the key map, and the palette.

use ratatui::layout::Rect;

use super::super::canvas::Canvas;
use super::super::flow::{Flow, Para};
use super::super::keys::Command;
use super::super::theme::Role;
use super::super::ui::Palette;
use super::super::words;
use super::{Drawn, Screen, draw_flow};

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
            let wide = super::super::text::width(&more) as u16;
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
        for command in Command::ALL {
            let keys = self.ui.common.keys.all(*command);
            paras.push(
                Para::new(format!("{keys:<14} "), Role::Key)
                    .and(command.words(), Role::Text)
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
        let found = palette.found();
        let height = usize::from(area.height.saturating_sub(1));
        let top = (palette.at + 1).saturating_sub(height);
        for (y, (i, command)) in (area.y + 1..area.bottom()).zip(found.iter().enumerate().skip(top))
        {
            let row = Rect::new(area.x + 1, y, area.width.saturating_sub(2), 1);
            let keys = self.ui.common.keys.all(*command);
            let spans = [
                (format!(" {:<17} ", command.name()), Role::Strong),
                (format!("{keys:<14} "), Role::Key),
                (command.words().to_owned(), Role::Text),
            ];
            canvas.put_spans(row.x, y, row.width, &spans);
            if i == palette.at {
                canvas.tint(row, Role::Selected);
            }
        }
        if found.is_empty() {
            canvas.put(
                area.x + 2,
                area.y + 1,
                area.width,
                words::NO_COMMAND,
                Role::Dim,
            );
        }
    }
}
