//! What `S` would save, above the field that asks where: the names, the folder of their own, and what is not saved.

use std::collections::BTreeMap;

use ratatui::layout::Rect;

use crate::broker::Entry;
use crate::model::{ProposalId, file_name};

use super::super::canvas::Canvas;
use super::super::claim;
use super::super::flow::{Flow, Para};
use super::super::theme::Role;
use super::super::words;
use super::{Screen, draw_flow};

impl Screen<'_> {
    /// Covers the lower rows of the body.
    pub(super) fn saving(&self, canvas: &mut Canvas<'_>, body: Rect, of: ProposalId) {
        let flow = Flow::new(&self.to_save(of), body.width.saturating_sub(2));
        let rows = u16::try_from(flow.rows.len()).unwrap_or(u16::MAX);
        let high = rows.saturating_add(1).min(body.height);
        let area = Rect {
            y: body.bottom() - high,
            height: high,
            ..body
        };
        canvas.clear(area);
        canvas.rule(area.x, area.y, area.width);
        let inner = Rect {
            x: area.x + 1,
            y: area.y + 1,
            width: area.width.saturating_sub(2),
            height: high.saturating_sub(1),
        };
        let shown = draw_flow(canvas, inner, &flow, 0);
        if shown.end < flow.rows.len() && inner.height > 0 {
            let last = Rect {
                y: inner.bottom() - 1,
                height: 1,
                ..inner
            };
            canvas.clear(last);
            let more = words::more_rows(flow.rows.len() - shown.end + 1);
            canvas.put_cut(last.x, last.y, last.width, &more, Role::Flagged);
        }
    }

    /// The folder, what goes into it and what does not. What is not saved comes first: it must not be cut.
    pub(super) fn to_save(&self, of: ProposalId) -> Vec<Para> {
        let Some(entry) = self.state.entry(of) else {
            return vec![Para::new(words::GONE, Role::Flagged)];
        };
        let files = Entry::run(entry).map_or(&[][..], |run| run.artifacts.as_slice());
        let mut good = Vec::new();
        let mut bad: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for name in files.iter().map(|file| file.name.as_str()) {
            match file_name::may_be_saved(name) {
                Ok(()) => good.push(name),
                Err(why) => bad.entry(why).or_default().push(name),
            }
        }
        let own = file_name::folder_for(entry.proposal.title.as_deref(), of);
        let mut out = vec![Para::new(words::own_folder(&own), Role::Text)];
        for (why, names) in bad {
            let para = Para::new(words::NOT_SAVED, Role::Flagged);
            let para = named(para, &names, Role::Flagged);
            out.push(para.and(words::not_saved_why(why), Role::Text));
        }
        if !good.is_empty() {
            let para = Para::new(words::saved_files(good.len()), Role::Dim);
            out.push(named(para, &good, Role::Text));
        }
        out
    }
}

/// The names, each in quotes.
fn named(mut para: Para, names: &[&str], role: Role) -> Para {
    for (i, name) in names.iter().enumerate() {
        para = para.and(if i == 0 { "\"" } else { ", \"" }, Role::Dim);
        para = claim::and(para, name, role);
        para = para.and("\"", Role::Dim);
    }
    para
}
