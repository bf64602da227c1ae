//! The panes below the code: verdict, capabilities, the run's inputs, the agent's claims.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use ratatui::layout::Rect;

use crate::analysis::rules;
use crate::broker::Entry;
use crate::model::{Action, Capability, Environment, Finding, Limits, Peer, Severity, Verdict};

use super::super::canvas::Canvas;
use super::super::claim;
use super::super::flow::{Flow, Para};
use super::super::text;
use super::super::theme::Role;
use super::super::ui::{FlowKey, Pane};
use super::super::words;
use super::areas::Slot;
use super::{Drawn, Screen, draw_flow, whole_findings};

impl Screen<'_> {
    pub(super) fn slot(
        &self,
        canvas: &mut Canvas<'_>,
        slot: &Slot,
        flow: &Flow,
        drawn: &mut Drawn,
    ) {
        let Some(entry) = self.entry else { return };
        let area = slot.area;
        let focus = self.ui.focus_now(self.entry);
        let inner = Rect {
            x: area.x + 1,
            y: area.y + 1,
            width: area.width.saturating_sub(2),
            height: area.height - 1,
        };
        let pinned = self.pinned(slot.open, entry, inner.width, inner.height);
        draw_flow(canvas, inner, &pinned, 0);
        let pinned = (pinned.rows.len() as u16).min(inner.height);
        let inner = Rect {
            y: inner.y + pinned,
            height: inner.height - pinned,
            ..inner
        };
        let height = usize::from(inner.height);
        let last = flow.rows.len().saturating_sub(height);
        let scrolled = self.looked().and_then(|l| l.scroll.get(&slot.open));
        let top = match slot.open {
            Pane::Output => self.output_top(flow, height),
            _ => scrolled.copied().unwrap_or(0).min(last),
        };
        let at_hand = match slot.open {
            Pane::Verdict => self.ui.finding_at_hand(entry),
            _ => None,
        };
        let first = at_hand.and_then(|i| flow.rows.iter().position(|row| row.finding == Some(i)));
        // Unless the pane itself scrolls, it shows the finding that was stepped to.
        let top = match first {
            Some(first) if slot.open != focus => first.min(last),
            _ => top,
        };
        let (shown, mut more) = match slot.open {
            Pane::Output => self.draw_output(canvas, inner, flow, top, drawn),
            _ => (draw_flow(canvas, inner, flow, top), String::new()),
        };
        for (y, row) in (inner.y..).zip(&flow.rows[shown.clone()]) {
            if at_hand.is_some() && row.finding == at_hand {
                canvas.tint(Rect::new(inner.x, y, inner.width, 1), Role::Selected);
            }
        }
        if slot.open == Pane::Verdict {
            drawn.findings.extend(whole_findings(flow, &shown));
        }
        let below = flow.rows.len() - shown.end;
        if below > 0 && height > 0 {
            more.push_str(&format!(" ↓ {}", words::number(below as u64)));
        }
        if !more.is_empty() {
            more.push(' ');
        }
        let wide = text::width(&more) as u16;
        let heading = tabs(slot, entry, focus, area.width.saturating_sub(wide));
        canvas.headed_rule(area.x, area.y, area.width, &heading);
        let x = area.right().saturating_sub(wide);
        canvas.put(x, area.y, wide, &more, Role::Dim);
        drawn.panes.insert(slot.open, (height, flow.rows.len()));
    }

    /// Rows that stand above a pane's content and do not scroll. `rows`: the pane's height.
    pub(super) fn pinned(&self, pane: Pane, entry: &Entry, width: u16, rows: u16) -> Flow {
        if pane != Pane::Output {
            return Flow::default();
        }
        let mut flow = Flow::new(&self.above_output(entry), width);
        flow.rows.truncate((usize::from(rows) / 2).clamp(1, 3));
        flow
    }

    /// A pane's content. Content that can be very long and never changes after the verdict is
    /// cached between frames.
    pub(super) fn pane(
        &self,
        pane: Pane,
        entry: &Entry,
        area: Rect,
        kept: &mut Vec<(FlowKey, Arc<Flow>)>,
    ) -> Arc<Flow> {
        if pane == Pane::Output {
            return self.output(entry, area, kept);
        }
        let width = area.width;
        let key = FlowKey::Pane(pane, entry.proposal.id, entry.code().digest(), width);
        let at_hand = self.ui.finding_at_hand(entry);
        let given_whole = self.ui.focus_now(self.entry) == Pane::Given;
        if pane == Pane::Given
            && !given_whole
            && let Some(whole) = self.given_in(entry, area, key, kept)
        {
            return whole;
        }
        let cached = match pane {
            Pane::Verdict => at_hand.is_none(),
            Pane::Can | Pane::Says => true,
            Pane::Given => given_whole && entry.inputs().is_some(),
            _ => false,
        };
        if let Some(flow) = self.ui.flow(&key).filter(|_| cached) {
            return flow.clone();
        }
        let paras = match pane {
            Pane::Verdict => verdict(entry.verdict().map(Arc::as_ref), at_hand, self.heading()),
            Pane::Can => capabilities(entry.verdict().map(Arc::as_ref)),
            Pane::Given => self.given(entry, given_whole.then_some(width)),
            Pane::Details => self.details(entry),
            Pane::Says => says(entry, self.ui.queue.as_drawn),
            Pane::Outcome => self.outcome(entry),
            Pane::Past => self.past(entry),
            Pane::Queue | Pane::Code | Pane::Output => Vec::new(),
        };
        let flow = Arc::new(Flow::new(&paras, width));
        if cached && entry.verdict().is_some() {
            kept.push((key, flow.clone()));
        }
        flow
    }

    /// The inputs with ranges and rows, if all of it has room beside the other panes.
    fn given_in(
        &self,
        entry: &Entry,
        area: Rect,
        key: FlowKey,
        kept: &mut Vec<(FlowKey, Arc<Flow>)>,
    ) -> Option<Arc<Flow>> {
        entry.inputs()?;
        let whole = self.ui.flow(&key).cloned().unwrap_or_else(|| {
            let paras = self.given(entry, Some(area.width));
            let flow = Arc::new(Flow::new(&paras, area.width));
            kept.push((key, flow.clone()));
            flow
        });
        (whole.rows.len() <= usize::from(area.height)).then_some(whole)
    }
}

/// The names of a slot's panes. The open one has brackets, so that it stands out without colours too, and is there
/// also where not all of them fit.
fn tabs(slot: &Slot, entry: &Entry, focus: Pane, width: u16) -> Vec<(String, Role)> {
    let alone = slot.panes.len() == 1;
    let mut all = Vec::new();
    for pane in &slot.panes {
        let open = *pane == slot.open;
        let role = match (open, *pane == focus) {
            (true, true) => Role::Accent,
            (true, false) => Role::Strong,
            _ => Role::Dim,
        };
        let name = pane.name();
        let name = match (alone, open) {
            (true, _) => name.to_owned(),
            (false, true) => format!("[{name}]"),
            (false, false) => format!(" {name} "),
        };
        let mut tab = vec![(name, role)];
        // The verdict's word is beside its tab, unless the tabs need the room.
        if *pane == Pane::Verdict
            && (slot.panes.len() <= 3 || width >= 70)
            && let Some(verdict) = entry.verdict()
        {
            let (glyph, word, role) = words::verdict(verdict.verdict);
            let gap = if open { " " } else { "" };
            // The rule alone says it.
            let alone = slot.area.height == 1 && verdict.findings.is_empty();
            let means = if alone { words::CLEAR_MEANS } else { "" };
            tab.push((format!("{gap}{glyph} {word}{means} "), role));
        }
        all.push(tab);
    }
    let columns = |tab: &Vec<(String, Role)>| tab.iter().map(|(t, _)| text::width(t)).sum();
    let widths: Vec<usize> = all.iter().map(columns).collect();
    let open = slot.panes.iter().position(|pane| *pane == slot.open);
    // The rule begins and ends the heading with a column and a blank each.
    let room = usize::from(width).saturating_sub(4);
    let shown = fitting(&widths, open.unwrap_or(0), room);
    let cut = |is: bool| is.then(|| (ELSE.to_owned(), Role::Dim));
    let (before, after) = (shown.start > 0, shown.end < all.len());
    let tabs = all.drain(shown).flatten();
    cut(before)
        .into_iter()
        .chain(tabs)
        .chain(cut(after))
        .collect()
}

/// Stands for tabs without room.
const ELSE: &str = "…";

/// The tabs that fit, with the open one among them; earlier ones come first.
fn fitting(widths: &[usize], open: usize, room: usize) -> Range<usize> {
    if widths.iter().sum::<usize>() <= room {
        return 0..widths.len();
    }
    let mut room = room.saturating_sub(2 * text::width(ELSE));
    let mut shown = open..open;
    let mut fits = |i: usize| {
        let fits = widths.get(i).is_some_and(|wide| *wide <= room);
        room -= if fits { widths[i] } else { 0 };
        fits
    };
    if fits(open) {
        shown.end += 1;
    }
    while shown.start > 0 && fits(shown.start - 1) {
        shown.start -= 1;
    }
    while fits(shown.end) {
        shown.end += 1;
    }
    shown
}

pub(super) fn environment(environment: &Environment) -> String {
    match environment {
        Environment::Ready { digest, label, .. } => format!("{label} {}", digest.short(8)),
        Environment::Making { done, total, .. } => format!("being made, {done}/{total}"),
        Environment::Changed { .. } => "changed, being read again".to_owned(),
        Environment::Failed { .. } => "cannot be used".to_owned(),
    }
}

/// A label and the program's own words.
pub(super) fn told_of(label: &str, words: &str) -> Para {
    Para::new(format!("{label:<8} "), Role::Dim)
        .and(words, Role::Text)
        .hang(9)
}

/// A label and a value that is not the program's.
pub(super) fn labelled(label: &str, value: &str) -> Para {
    Para::new(format!("{label:<8} "), Role::Dim)
        .given(value, Role::Text)
        .hang(9)
}

/// The same for an agent's words.
pub(super) fn said(label: &str, claim: &str) -> Para {
    let para = Para::new(format!("{label:<8} "), Role::Dim);
    claim::and(para, claim, Role::Text).hang(9)
}

/// The first row of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heading {
    Drawn,
    Said,
}

impl Heading {
    fn of(self, finding: &Finding) -> Para {
        match self {
            Self::Drawn => heading(finding),
            Self::Said => said_heading(finding),
        }
    }
}

impl Screen<'_> {
    pub(super) fn heading(&self) -> Heading {
        match self.ui.common.spoken {
            true => Heading::Said,
            false => Heading::Drawn,
        }
    }
}

fn heading(f: &Finding) -> Para {
    let (_, mut role) = words::severity(f.severity);
    if f.severity == Severity::Info {
        role = Role::Text;
    }
    placed(f, role)
        .and(format!(" {} · {}", f.severity, f.action.as_str()), role)
        .hang(2)
}

/// A finding's place and rule.
fn placed(f: &Finding, role: Role) -> Para {
    let (glyph, _) = words::severity(f.severity);
    Para::new(format!("{glyph} {}:{} ", f.line, f.column), role)
        .and(f.rule.clone(), Role::Strong)
        .and(format!(" {}", f.name), Role::Text)
}

fn said_heading(f: &Finding) -> Para {
    Para::new(words::plain::finding(f), Role::Text)
}

pub(super) fn verdict(
    verdict: Option<&Verdict>,
    at_hand: Option<usize>,
    heading: Heading,
) -> Vec<Para> {
    let Some(verdict) = verdict else {
        return vec![Para::new(words::NO_VERDICT, Role::Dim)];
    };
    if verdict.findings.is_empty() {
        return vec![Para::new(words::NO_FINDING, Role::Dim)];
    }
    let all = &verdict.findings;
    let mut out = Vec::new();
    for (i, f) in all.iter().enumerate() {
        let alike = |(j, other): &(usize, &Finding)| {
            Some(*j) != at_hand && is_note(other) && other.rule == f.rule
        };
        let notes = all.iter().enumerate().filter(alike);
        let notes: Vec<(usize, &Finding)> = notes.collect();
        let alone = is_note(f) && Some(i) != at_hand && notes.len() < 2;
        if alone && heading == Heading::Drawn {
            let head = placed(f, Role::Text).and("  ", Role::Text);
            out.push(head.given(f.message.clone(), Role::Text).hang(2).finding(i));
        } else if Some(i) == at_hand || !is_note(f) || alone {
            out.extend(finding(i, f, at_hand, heading));
        } else if notes.first().is_some_and(|(first, _)| *first == i) {
            let lines: BTreeSet<u32> = notes.iter().map(|(_, f)| f.line).collect();
            let lines = lines.iter().map(u32::to_string).collect::<Vec<_>>();
            let (glyph, _) = words::severity(f.severity);
            let word = if lines.len() == 1 { "line" } else { "lines" };
            let at = format!(" {}, {word} {}", f.action.as_str(), lines.join(", "));
            let head = Para::new(format!("{glyph} "), Role::Text)
                .and(f.rule.clone(), Role::Strong)
                .and(format!(" {}", f.name), Role::Text)
                .and(at, Role::Text);
            out.push(head.hang(2).finding(i));
        }
    }
    out
}

/// Whether a finding changes nothing: those of one rule share a row beside the code. The sheet has each.
fn is_note(finding: &Finding) -> bool {
    finding.severity == Severity::Info && finding.action == Action::Note
}

/// Every finding: location, rule, severity, effect on the verdict, explanation and hint.
pub(super) fn findings(verdict: &Verdict, heading: Heading) -> Vec<Para> {
    let all = verdict.findings.iter().enumerate();
    let each = all.flat_map(|(i, f)| {
        let hint = hint(f).map(|hint| hint.indent(2).finding(i));
        finding(i, f, None, heading).into_iter().chain(hint)
    });
    each.collect()
}

/// Each finding in as few rows as it takes, below the label of the first.
pub(super) fn findings_briefly(verdict: &Verdict, label: &str) -> Vec<Para> {
    let labels = std::iter::once(label.to_owned());
    let labels = labels.chain(std::iter::repeat(" ".repeat(label.len())));
    let all = verdict.findings.iter().enumerate().zip(labels);
    let each = all.map(|((i, f), label)| {
        let (message, hang) = (f.message.clone(), label.len() + 2);
        let head = match is_note(f) {
            true => placed(f, Role::Text),
            false => heading(f),
        };
        let para = head.and("  ", Role::Text).given(message, Role::Text);
        para.after(&label).hang(hang).finding(i)
    });
    each.collect()
}

/// What the agent is told to write instead.
fn hint(f: &Finding) -> Option<Para> {
    let remedy = f.remedy()?;
    Some(Para::new("hint: ", Role::Dim).given(remedy, Role::Dim))
}

/// The hints of all findings, each with its rule.
pub(super) fn hints(verdict: &Verdict) -> Vec<Para> {
    let all = verdict.findings.iter();
    let hints = all.filter_map(|f| {
        let at = format!("{} line {}: ", f.rule, f.line);
        Some(
            Para::new(at, Role::Text)
                .given(f.remedy()?, Role::Dim)
                .after("hint     "),
        )
    });
    hints.collect()
}

/// The finding at hand has a hint and an example.
fn finding(i: usize, f: &Finding, at_hand: Option<usize>, heading: Heading) -> Vec<Para> {
    let mut out = vec![heading.of(f).finding(i)];
    out.push(
        Para::default()
            .given(f.message.clone(), Role::Text)
            .indent(2)
            .finding(i),
    );
    if at_hand == Some(i) {
        out.extend(hint(f).map(|hint| hint.indent(2).finding(i)));
    }
    if at_hand == Some(i)
        && let Some(rule) = rules::find(&f.rule)
    {
        let example = rule.example.lines().collect::<Vec<_>>().join("; ");
        let para = Para::new("example: ", Role::Dim).given(example, Role::Text);
        out.push(para.indent(2).finding(i));
    }
    out
}

pub(super) fn capabilities(verdict: Option<&Verdict>) -> Vec<Para> {
    let Some(verdict) = verdict else {
        return vec![Para::new(words::NO_VERDICT, Role::Dim)];
    };
    if verdict.capabilities.is_empty() {
        return vec![Para::new(words::NO_CAPABILITY, Role::Dim)];
    }
    verdict
        .capabilities
        .iter()
        .map(|c| {
            let lines: Vec<String> = c.lines.iter().map(u32::to_string).collect();
            let word = if lines.len() == 1 { "line" } else { "lines" };
            let where_to = match c.capability {
                Capability::DataWrite => words::IN_MEMORY,
                _ => "",
            };
            Para::new(c.capability.as_str(), Role::Strong)
                .and(
                    format!(" {word} {} {where_to}", lines.join(", ")),
                    Role::Dim,
                )
                .given(c.detail.clone(), Role::Text)
                .hang(2)
        })
        .collect()
}

pub(super) fn limits(l: &Limits) -> Para {
    let n = words::number;
    let mut rows = vec![
        format!(
            "wall {} s · cpu {} s · {} MB",
            n(l.wall_s),
            n(l.cpu_s),
            n(l.memory_mb)
        ),
        format!(
            "{} processes · {} open files",
            n(l.processes),
            n(l.open_files)
        ),
        format!("output {}", words::bytes(l.output_bytes)),
        format!(
            "{} files kept, up to {}",
            n(l.artifacts),
            words::bytes(l.artifact_bytes)
        ),
        format!("{} MB largest file written", n(l.file_size_mb)),
    ];
    if l.ticks > 0 {
        rows.push(format!("{} ticks", n(l.ticks)));
    }
    Para::new(rows.join(" · "), Role::Text).hang(2)
}

/// `uid 1000 · gid 1000 · pid 17`, or `gateway gate_x`.
pub(super) fn ids(peer: &Peer) -> String {
    let between = format!(" · gid {} · ", peer.gid);
    peer.process(&between)
}

/// What the kernel, or the engine, says of who proposed.
pub(super) fn peer(peer: &Peer) -> Vec<Para> {
    let ids = ids(peer);
    let program = peer.exe.as_ref();
    let program = program.map(|exe| format!("{exe} (a hint that can be imitated)"));
    let program = program.map(|hint| labelled("program", &hint));
    std::iter::once(told_of(peer.voucher(), &ids))
        .chain(program)
        .collect()
}

/// The agent's claims in full, and the facts that the kernel verified.
pub(super) fn says(entry: &Entry, as_drawn: bool) -> Vec<Para> {
    let below = |text: &str| Para::as_drawn(text).filter(|_| as_drawn);
    let p = &entry.proposal;
    let mut out = Vec::new();
    match &p.agent {
        Some(agent) => {
            let mut claim = agent.name.clone();
            for part in [&agent.version, &agent.model].into_iter().flatten() {
                claim.push_str(" · ");
                claim.push_str(part);
            }
            if let Some(session) = &agent.session {
                claim.push_str(" · session ");
                claim.push_str(session);
            }
            out.push(said("claims", &claim));
        }
        None => out.push(labelled("claims", words::NAMELESS)),
    }
    out.push(said("title", p.title.as_deref().unwrap_or(words::UNTITLED)));
    out.extend(p.title.as_deref().and_then(below));
    match &p.reason {
        Some(reason) => {
            for (i, line) in reason.split('\n').enumerate() {
                out.push(match i {
                    0 => said("reason", line),
                    _ => claim::and(Para::default().indent(9), line, Role::Text),
                });
                out.extend(below(line));
            }
        }
        None => out.push(labelled("reason", words::NO_REASON)),
    }
    out.extend(peer(&p.peer));
    out.push(labelled("id", &p.id.to_string()));
    out.push(labelled("code", &p.proposed.digest().to_string()));
    if let Some(key) = &p.idempotency_key {
        out.push(labelled("key", key));
    }
    if let Some(trace) = &p.traceparent {
        out.push(said("trace", trace));
    }
    out
}
