//! What `E` would write, above the field that asks where: the formats, and which of them is chosen.

use ratatui::layout::Rect;

use super::super::action::ExportAs;
use super::super::canvas::Canvas;
use super::super::claim;
use super::super::theme::Role;
use super::super::ui::{ExportField, LogScreen};
use super::super::words;
use super::super::words::sums;
use super::Screen;

/// Columns of a format's name.
const NAME: u16 = 9;
/// A heading, the formats and a remark.
const ROWS: u16 = 2 + ExportAs::ALL.len() as u16;

impl Screen<'_> {
    /// Covers the lower rows of the body.
    pub(super) fn exporting(
        &self,
        canvas: &mut Canvas<'_>,
        body: Rect,
        log: &LogScreen,
        field: &ExportField,
    ) {
        let high = ROWS.min(body.height);
        let area = Rect {
            y: body.bottom() - high,
            height: high,
            ..body
        };
        canvas.clear(area);
        let mut heading = vec![(sums::EXPORT_WHAT.to_owned(), Role::Accent)];
        if let Some(total) = log.total() {
            heading.push((format!("  {}", words::proposals(total)), Role::Dim));
        }
        if !log.query.is_empty() {
            let query = words::of_query(&claim::drawn(&log.query));
            heading.push((query, Role::Strong));
        }
        canvas.headed_rule(area.x, area.y, area.width, &heading);
        let x = area.x + 2;
        let width = area.width.saturating_sub(3);
        for (y, format) in (area.y + 1..area.bottom()).zip(ExportAs::ALL) {
            let (name, what) = sums::format(format);
            let role = match format == field.format {
                true => Role::Accent,
                false => Role::Key,
            };
            if format == field.format {
                canvas.put(x - 1, y, 1, words::HERE, Role::Accent);
            }
            canvas.put_cut(x, y, width, name, role);
            let room = width.saturating_sub(NAME);
            canvas.put_cut(x + NAME, y, room, what, Role::Text);
        }
        if high == ROWS {
            canvas.put_cut(x, area.bottom() - 1, width, sums::EXPORT_FOLDER, Role::Dim);
        }
    }
}
