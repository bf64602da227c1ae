//! What stands there when there is nothing to decide: where proposals come from.

use ratatui::layout::Rect;

use super::super::action::Seated;
use super::super::canvas::Canvas;
use super::super::theme::Role;
use super::super::words;
use super::Screen;

impl Screen<'_> {
    /// Drawn instead of code when no proposal is selected.
    pub(super) fn nothing(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let none = match self.ui.queue.lists.all.1 == 0 {
            true => words::EMPTY,
            false => words::NONE_WAITS,
        };
        if let Some(seat) = &self.facts.seat {
            return Self::nothing_offered(canvas, area, none, seat);
        }
        let mut lines = vec![
            (none.to_owned(), Role::Strong),
            (String::new(), Role::Text),
            (words::EMPTY_HOW.to_owned(), Role::Dim),
            (self.facts.socket.clone(), Role::Text),
            (String::new(), Role::Text),
            (words::EMPTY_TRY.to_owned(), Role::Dim),
            (self.facts.submit.clone(), Role::Text),
        ];
        put_lines(canvas, area, &mut lines);
    }

    /// The same in a reviewer's seat.
    fn nothing_offered(canvas: &mut Canvas<'_>, area: Rect, none: &str, seat: &Seated) {
        let mut lines = vec![
            (none.to_owned(), Role::Strong),
            (String::new(), Role::Text),
            (words::seat::AS.to_owned(), Role::Dim),
            (seat.person.clone(), Role::Text),
            (String::new(), Role::Text),
            (words::seat::FROM.to_owned(), Role::Dim),
        ];
        let hosts = seat.hosts.iter().map(|host| {
            let role = if host.away.is_some() {
                Role::Flagged
            } else {
                Role::Text
            };
            (words::seat::reached(host), role)
        });
        lines.extend(hosts);
        if !seat.doubted.is_empty() {
            lines.push((String::new(), Role::Text));
            lines.push((words::seat::DOUBTED.to_owned(), Role::Dim));
            let doubted = seat.doubted.iter();
            lines.extend(doubted.map(|(host, _)| (format!("✗ {host}"), Role::Bad)));
        }
        put_lines(canvas, area, &mut lines);
    }
}

/// On a low screen the rows are for the words.
fn put_lines(canvas: &mut Canvas<'_>, area: Rect, lines: &mut Vec<(String, Role)>) {
    if usize::from(area.height) <= lines.len() {
        lines.retain(|(line, _)| !line.is_empty());
    }
    let left = area.x + 2;
    for (y, (line, role)) in (area.y + 1..area.bottom()).zip(&*lines) {
        canvas.put_cut(left, y, area.right().saturating_sub(left), line, *role);
    }
}
