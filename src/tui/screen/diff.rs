//! The diff against an earlier code, and the pane of earlier proposals.

use std::sync::Arc;

use ratatui::layout::Rect;

use crate::broker::Entry;
use crate::model::{Earlier, State};

use super::super::canvas::Canvas;
use super::super::claim;
use super::super::flow::{Flow, Para};
use super::super::novelty;
use super::super::theme::Role;
use super::super::ui::{Compared, FlowKey, Was};
use super::super::words;
use super::{Drawn, Screen};

impl Screen<'_> {
    pub(super) fn diff(
        &self,
        canvas: &mut Canvas<'_>,
        area: Rect,
        compared: &Compared,
        drawn: &mut Drawn,
    ) {
        let Some(choice) = compared.choice().filter(|_| area.height > 3) else {
            return;
        };
        // Which code is compared stands above the rows and does not scroll.
        let (x, width) = (area.x + 2, area.width.saturating_sub(4));
        let against = match choice.was {
            Was::Proposed => words::AGAINST_PROPOSED.to_owned(),
            Was::Granted(at) => {
                words::against(&words::when(at, self.now.wall, &self.ui.common.zone))
            }
        };
        let mut used = canvas.put(x, area.y, width, &against, Role::Strong);
        let room = |used: u16| width.saturating_sub(used);
        used += canvas.put_claim(
            x + used,
            area.y,
            room(used).min(24),
            &choice.agent,
            Role::Text,
        );
        let end = format!("  {}", words::id_end(choice.id));
        let wide = end.chars().count() as u16;
        used += 2;
        if let Some(title) = &choice.title {
            let room = room(used).saturating_sub(wide);
            used += canvas.put_claim(x + used, area.y, room, title, Role::Claim);
        }
        canvas.put(x + used, area.y, room(used), &end, Role::Dim);
        let below = Rect {
            y: area.y + 1,
            height: area.height - 1,
            ..area
        };
        let flow = match &compared.answer {
            None => Arc::new(Flow::new(&[Para::new("…", Role::Dim)], width)),
            Some(Err(why)) => {
                let why = words::no_earlier(why);
                Arc::new(Flow::new(&[Para::new(why, Role::Flagged)], width))
            }
            Some(Ok(diff)) => {
                let key = FlowKey::Diff(compared.number, width);
                self.ui.flow(&key).cloned().unwrap_or_else(|| {
                    let flow = Arc::new(Flow::new(&diff.paras(), width));
                    drawn.flows.push((key, flow.clone()));
                    flow
                })
            }
        };
        let counted = compared.answer.as_ref().and_then(|a| a.as_ref().ok());
        let lines = counted.map_or_else(String::new, |d| format!("  -{} +{}", d.gone, d.new));
        // The same text does something else to other data.
        let here = self.entry.map(novelty::data_sets).unwrap_or_default();
        let other = !choice.data.iter().map(|d| &**d).eq(here);
        let other = if other { words::OTHER_DATA } else { "" };
        let heading = format!(
            "DIFF {}/{}{lines}{other}",
            compared.at + 1,
            compared.choices.len()
        );
        let heading = [(heading, Role::Accent)];
        self.page(canvas, below, &heading, &flow, compared.top, drawn);
    }

    /// The earlier proposals of this agent, code, title and data sets, the newest first.
    pub(super) fn past(&self, entry: &Entry) -> Vec<Para> {
        let found = self.ui.earlier(entry);
        let own = entry.proposal.agent_name();
        let mut out = Vec::new();
        for earlier in found {
            out.extend(self.one_earlier(earlier, entry, own));
        }
        out
    }

    fn one_earlier(&self, earlier: &Earlier, entry: &Entry, own: &str) -> Vec<Para> {
        let when = words::when(earlier.at, self.now.wall, &self.ui.common.zone);
        let (glyph, word, role) = words::state(earlier.state);
        let granted = earlier.decided.as_ref().is_some_and(|d| d.granted);
        let before = match granted && earlier.state != State::Granted {
            true => "granted, ",
            false => "",
        };
        let mut para = Para::new(format!("{when} "), Role::Dim)
            .and(format!("{glyph} {before}{word}"), role)
            .and("  ", Role::Text);
        if earlier.code == entry.code().digest() {
            para = para
                .and(words::THIS_CODE, Role::Strong)
                .and("  ", Role::Text);
        }
        if *earlier.agent != *own {
            para = claim::and(para, &earlier.agent, Role::Text).and(": ", Role::Dim);
        }
        match &earlier.title {
            Some(title) => para = claim::and(para, title, Role::Claim),
            None => para = para.and(words::UNTITLED, Role::Dim),
        }
        let mut out = vec![para.hang(2)];
        let reason = earlier.decided.as_ref().and_then(|d| d.reason.as_deref());
        if let Some(reason) = reason {
            let para = Para::new("\"", Role::Dim);
            let para = claim::and(para, reason, Role::Text).and("\"", Role::Dim);
            out.push(para.indent(2));
        }
        out
    }
}
