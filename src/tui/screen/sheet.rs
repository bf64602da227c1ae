//! The sheet: everything that a grant binds, each part by name and all parts by one digest.

use std::sync::Arc;

use ratatui::layout::Rect;

use crate::broker::Entry;

use super::super::canvas::Canvas;
use super::super::claim;
use super::super::flow::{Flow, Para};
use super::super::keys::Command;
use super::super::text;
use super::super::theme::Role;
use super::super::ui::{Challenge, FlowKey, Sheet};
use super::super::words;
use super::panes::{capabilities, environment, findings, inputs, limits, told};
use super::{Drawn, Screen, SheetShown, draw_flow, whole_findings};

/// The most columns of an agent's claim on the sheet. The limit keeps claims from displacing the
/// facts that the grant binds; the agent's pane shows them in full.
const CLAIM: usize = 240;

/// The widest sheet: longer rows are hard to read.
const WIDEST: u16 = 100;

impl Screen<'_> {
    pub(super) fn sheet(
        &self,
        canvas: &mut Canvas<'_>,
        area: Rect,
        sheet: &Sheet,
        drawn: &mut Drawn,
    ) {
        let Some(entry) = self.state.entry(sheet.id()) else {
            return;
        };
        let width = area.width.min(WIDEST);
        let area = Rect {
            x: area.x + (area.width - width) / 2,
            width,
            ..area
        };
        let (glyph, word, role) = self.badge(entry);
        canvas.headed_rule(
            area.x,
            area.y,
            area.width,
            &[
                ("GRANT?".to_owned(), Role::Accent),
                (format!("  {glyph} {word}"), role),
                (
                    format!("  {} left", words::countdown(entry.left(self.now))),
                    Role::Dim,
                ),
            ],
        );
        let inner = Rect {
            x: area.x + 2,
            y: area.y + 1,
            width: area.width.saturating_sub(4),
            height: area.height.saturating_sub(4),
        };
        // The last two rows, including the footer, hold the question.
        let key = FlowKey::Sheet(sheet.id(), sheet.digest(), inner.width);
        let flow = match self.ui.flow(&key) {
            Some(flow) => flow.clone(),
            None => {
                let flow = Arc::new(Flow::new(
                    &self.contents(entry, sheet, inner.width),
                    inner.width,
                ));
                drawn.flows.push((key, flow.clone()));
                flow
            }
        };
        let height = usize::from(inner.height);
        let top = sheet.top.min(flow.rows.len().saturating_sub(height));
        let rows = draw_flow(canvas, inner, &flow, top);
        canvas.rule(area.x, inner.bottom(), area.width);
        let below = flow.rows.len() - rows.end;
        if below > 0 {
            let more = format!(
                " ↓ {} more, {} scrolls ",
                words::number(below as u64),
                self.ui.key(Command::PageCode)
            );
            let wide = text::width(&more) as u16;
            let x = area.right().saturating_sub(wide + 1);
            canvas.put(x, inner.bottom(), wide, &more, Role::Flagged);
        }
        let shown = SheetShown {
            id: sheet.id(),
            digest: sheet.digest(),
            width: inner.width,
            total: flow.rows.len(),
            findings: whole_findings(&flow, &rows),
            rows,
        };
        self.question(
            canvas,
            Rect::new(inner.x, inner.bottom() + 1, inner.width, 2),
            sheet,
            &shown,
        );
        drawn.over = Some((height, flow.rows.len()));
        drawn.sheet = Some(shown);
    }

    /// The required confirmation, and what prevents it.
    fn question(&self, canvas: &mut Canvas<'_>, area: Rect, sheet: &Sheet, shown: &SheetShown) {
        let back = self.ui.key(Command::Back);
        let wide = area.width >= 60;
        let mut spans = Vec::new();
        let mut gap = if wide { 3 } else { 2 };
        let from = self.ui.confirmable_from();
        let ready = sheet.missing().is_none() && from.is_some_and(|at| self.now.boot >= at);
        match &sheet.challenge {
            Challenge::Key => {
                // Both words have the same width, so the following text does not move.
                let word = if ready { "press " } else { "wait: " };
                spans.push((word.to_owned(), Role::Strong));
                spans.push((self.ui.key(Command::Confirm), Role::Key));
                spans.push((" to grant".to_owned(), Role::Strong));
            }
            Challenge::Digits { wanted, typed } => {
                // Digits typed earlier are dropped, or could not be confirmed.
                let counts = sheet.missing().is_none()
                    && from.is_some()
                    && self.now.boot >= sheet.ready_at();
                let word = if counts { "type" } else { "wait:" };
                gap -= word.len() - "type".len();
                spans.push((format!("{word} {wanted} to grant"), Role::Strong));
                let blank = "_".repeat(wanted.len().saturating_sub(typed.len()));
                spans.push((format!(" [{typed}{blank}]"), Role::Accent));
                if wide {
                    let word = match typed.len() == wanted.len() {
                        true if ready => " Enter",
                        true => " wait ",
                        false => "      ",
                    };
                    spans.push((word.to_owned(), Role::Key));
                }
            }
        }
        spans.push((" ".repeat(gap), Role::Text));
        spans.push((back, Role::Key));
        spans.push((
            if wide { " goes back" } else { " back" }.to_owned(),
            Role::Text,
        ));
        if wide {
            spans.push((", decides nothing".to_owned(), Role::Dim));
        }
        canvas.put_spans(area.x, area.y, area.width, &spans);
        let note = match sheet.missing_beside(&shown.rows, shown.total) {
            Some((first, last)) => {
                words::sheet_not_seen(first, last, &self.ui.key(Command::PageCode))
            }
            None if self.ui.is_focused() == Some(false) => words::NO_FOCUS.to_owned(),
            None => self.ui.notice(self.state, self.now).unwrap_or_default(),
        };
        canvas.put_cut(area.x, area.y + 1, area.width, &note, Role::Flagged);
    }

    fn contents(&self, entry: &Entry, sheet: &Sheet, width: u16) -> Vec<Para> {
        let p = &entry.proposal;
        let wide = |label: &str, value: String| {
            Para::new(format!("{label:<11} "), Role::Dim)
                .and(value, Role::Text)
                .hang(12)
        };
        let heading = |text: &str| Para::new(text, Role::Strong);
        // If the prefix would break the digest in two, leave it out: 64 digits identify it as
        // SHA-256.
        let hash = |hex: String| {
            if width >= 84 {
                format!("sha256:{hex}")
            } else {
                hex
            }
        };
        let mut out = Vec::new();
        let name = p.agent.as_ref().map_or(words::UNNAMED, |a| a.name.as_str());
        let title = p.title.as_deref().unwrap_or(words::UNTITLED);
        let said = |label: &str, value: &str| {
            let para = Para::new(format!("{label:<11} "), Role::Dim);
            claim::and(para, value, Role::Text).hang(12)
        };
        let both = format!("{}: {}", short(name), short(title));
        out.push(said("agent says", &both));
        if let Some(reason) = &p.reason {
            out.push(said("and why", &short(reason)));
        }
        out.push(wide(
            "kernel says",
            format!(
                "uid {} · gid {} · pid {}",
                p.peer.uid, p.peer.gid, p.peer.pid
            ),
        ));
        if self.facts.agents_share_uid {
            out.push(flagged(words::SHARED_UID, ""));
        }
        if let Some(verdict) = entry.verdict() {
            out.push(Para::default());
            out.push(heading("Can"));
            out.extend(capabilities(Some(verdict)).into_iter().map(|p| p.indent(2)));
            out.push(Para::default());
            out.push(heading("Findings"));
            if verdict.findings.is_empty() {
                out.push(Para::new(words::NO_FINDING, Role::Text).indent(2));
            } else {
                // Indentation within the findings shows their levels.
                out.extend(findings(verdict));
            }
        }
        let policy = self.state.policy_of(entry);
        out.push(Para::default());
        out.push(heading("Given"));
        let given = inputs(entry.inputs().map(Arc::as_ref));
        out.extend(given.into_iter().map(|p| p.indent(2)));
        if let Some(policy) = &policy {
            out.extend(told(entry.inputs().map(Arc::as_ref), policy).map(|p| p.indent(2)));
        }
        out.push(Para::default());
        out.push(heading("Limits"));
        if let Some(policy) = &policy {
            out.push(limits(&policy.limits).indent(2));
            out.push(wide("profile", policy.label()));
            let tier = self.state.tier_for(policy);
            out.push(wide("tier", tier.to_string()));
            let (layers, does_not_stop) = self.facts.of(tier);
            if !layers.is_empty() {
                out.push(wide("layers", layers.join(", ")));
            }
            for (i, what) in does_not_stop.iter().enumerate() {
                out.push(flagged(what, if i == 0 { "not stopped" } else { "" }));
            }
        }
        out.push(wide("python", environment(&self.state.environment)));
        out.push(Para::default());
        out.push(heading("Digests"));
        out.push(wide("proposal", p.id.to_string()));
        out.push(wide(
            "code",
            format!(
                "{} {}",
                hash(p.digest.hex()),
                words::bytes(p.code.len() as u64)
            ),
        ));
        if let Some(policy) = &policy {
            out.push(wide("policy", hash(policy.sha256.hex())));
        }
        for input in entry.inputs().into_iter().flat_map(|i| i.iter()) {
            out.push(Para::new(format!("{} {}", input.name, input.sha256), Role::Dim).indent(2));
        }
        out.push(
            Para::new("binds all of it  ", Role::Dim)
                .and(sheet.digest().to_string(), Role::Strong)
                .hang(2),
        );
        out
    }
}

/// A warning: something that is not stopped or not isolated.
fn flagged(what: &str, label: &str) -> Para {
    Para::new(format!("{label:<12}"), Role::Dim)
        .and(format!("▲ {what}"), Role::Flagged)
        .hang(12)
}

/// An agent's claim, cut to fit.
fn short(claim: &str) -> String {
    let cut = text::cut(claim, CLAIM);
    if cut.len() == claim.len() {
        cut.to_owned()
    } else {
        format!("{cut}…")
    }
}
