//! The sheet: everything that a grant binds, each part by name and all parts by one digest.

use std::sync::Arc;
use std::time::Duration;

use ratatui::layout::Rect;

use crate::broker::Entry;
use crate::model::{Environment, Peer};
use crate::policy::{Origin, Policy};

use super::super::canvas::Canvas;
use super::super::claim;
use super::super::flow::{Flow, Para};
use super::super::keys::Command;
use super::super::shown;
use super::super::text;
use super::super::theme::Role;
use super::super::ui::{Challenge, Detail, FlowKey, Notice, STREAK, Sheet};
use super::super::words;
use super::data::{Digests, given, given_briefly, inputs, told};
use super::effects::reads_all;
use super::lengths::{Lengths, Room};
use super::measured::SHEET_FRAME;
use super::panes::{capabilities, findings, findings_briefly, ids, limits};
use super::{Drawn, Screen, SheetShown, draw_flow, whole_findings};

/// The most columns of an agent's claim on the sheet. The limit keeps claims from displacing the
/// facts that the grant binds; the agent's pane shows them in full.
const CLAIM: usize = 140;

/// The rows of a reason on a narrow sheet; one if the sheet would not fit a screen of 24 rows otherwise.
pub(super) const REASON: usize = 2;
const FEW: usize = 18;

/// The widest sheet: longer rows are hard to read.
const WIDEST: u16 = 100;

/// The label of the digest of all that a grant binds.
const DIGEST: &str = "digest";

impl Screen<'_> {
    /// The sheet's content at the width of its area.
    pub(super) fn sheet_flow(
        &self,
        sheet: &Sheet,
        width: u16,
        kept: &mut Vec<(FlowKey, Arc<Flow>)>,
    ) -> Option<Arc<Flow>> {
        let entry = self.state.entry(sheet.id())?;
        let width = width.min(WIDEST).saturating_sub(4);
        let key = FlowKey::Sheet(sheet.id(), sheet.digest(), width, sheet.detail);
        if let Some(flow) = self.ui.flow(&key) {
            return Some(flow.clone());
        }
        let paras = match sheet.detail {
            Detail::Folded => self.folded(entry, sheet, width),
            Detail::Whole => self.whole(entry, sheet, width),
        };
        let flow = Arc::new(Flow::new(&paras, width));
        // Without the document, its secrets are not named.
        if self.document().is_some() {
            kept.push((key, flow.clone()));
        }
        Some(flow)
    }

    pub(super) fn sheet(
        &self,
        canvas: &mut Canvas<'_>,
        area: Rect,
        sheet: &Sheet,
        flow: &Flow,
        drawn: &mut Drawn,
    ) {
        let Some(entry) = self.state.entry(sheet.id()) else {
            return;
        };
        let (glyph, word, role) = shown::badge(entry);
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
            width: area.width.min(WIDEST).saturating_sub(4),
            // The last two rows, including the footer's, hold the question.
            height: area.height.saturating_sub(SHEET_FRAME),
        };
        let height = usize::from(inner.height);
        let top = sheet.top.min(flow.rows.len().saturating_sub(height));
        let rows = draw_flow(canvas, inner, flow, top);
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
            findings: whole_findings(flow, &rows),
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
        let entry = self.state.entry(sheet.id());
        let grants = entry.map_or("to grant", |entry| self.key_does(entry, wide));
        let mut gap = if wide { 3 } else { 2 };
        let from = self.ui.confirmable_from();
        let ready = sheet.missing().is_none() && from.is_some_and(|at| self.now.boot >= at);
        match &sheet.challenge {
            Challenge::Key => {
                // Both words have the same width, so the following text does not move.
                let word = if ready { "press " } else { "wait: " };
                spans.push((word.to_owned(), Role::Strong));
                spans.push((self.ui.key(Command::Confirm), Role::Key));
                spans.push((format!(" {grants}"), Role::Strong));
            }
            Challenge::Digits { wanted, typed, .. } => {
                // Digits typed earlier are dropped, or could not be confirmed.
                let counts = sheet.missing().is_none()
                    && from.is_some()
                    && self.now.boot >= sheet.ready_at();
                let word = if counts { "type" } else { "wait:" };
                gap -= word.len() - "type".len();
                spans.push((format!("{word} {wanted} {grants}"), Role::Strong));
                let blank = "_".repeat(wanted.len().saturating_sub(typed.len()));
                spans.push((format!(" [{typed}{blank}]"), Role::Accent));
                if wide {
                    let (word, role) = match typed.len() == wanted.len() {
                        true if ready => (" Enter ", Role::Key),
                        true => (" wait  ", Role::Key),
                        false => (", Enter", Role::Dim),
                    };
                    spans.push((word.to_owned(), role));
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
            spans.push(match self.denies_here(sheet) {
                // The key is one of the digits.
                Some(deny) => (format!(", then {deny} denies"), Role::Dim),
                None => (", decides nothing".to_owned(), Role::Dim),
            });
        }
        let unfolds = format!(
            "  {} {}",
            self.ui.key(Command::Details),
            words::unfolds(sheet.detail)
        );
        let used: usize = spans.iter().map(|(text, _)| text::width(text)).sum();
        if used + text::width(&unfolds) <= usize::from(area.width) {
            spans.push((unfolds, Role::Dim));
        }
        canvas.put_spans(area.x, area.y, area.width, &spans);
        let missing = sheet.missing_beside(&shown.rows, shown.total);
        let missing = missing.map(|(first, last)| {
            words::sheet_not_seen(first, last, &self.ui.key(Command::PageCode))
        });
        let said = match self.ui.remark() {
            Some(Notice::Idle(_) | Notice::TimeLeft(_)) => self.ui.notice(self.state, self.now),
            Some(Notice::TooEarly(_)) if missing.is_some() => Some(words::EARLY.to_owned()),
            _ => None,
        };
        let note = match (said, missing) {
            (Some(said), Some(missing)) => {
                let both = format!("{said} · {missing}");
                let fits = text::width(&both) <= usize::from(area.width);
                if fits { both } else { said }
            }
            (Some(said), None) => said,
            (None, Some(missing)) => missing,
            (None, None) if self.ui.is_focused() == Some(false) => words::NO_FOCUS.to_owned(),
            (None, None) => match (self.ui.notice(self.state, self.now), &sheet.challenge) {
                (Some(notice), _) => notice,
                (None, Challenge::Digits { hurry: Some(h), .. }) => {
                    words::hurried(h, self.until_confirmable(), usize::from(area.width))
                }
                (None, _) => {
                    let tally = self.ui.tally().filter(|tally| tally.in_a_row >= STREAK);
                    tally.map_or_else(String::new, |tally| words::streak(&tally))
                }
            },
        };
        canvas.put_cut(area.x, area.y + 1, area.width, &note, Role::Flagged);
    }

    /// How long the sheet's confirmation does not count yet.
    pub(super) fn until_confirmable(&self) -> Duration {
        let from = self.ui.confirmable_from().unwrap_or_default();
        from.saturating_sub(self.now.boot)
    }

    /// The key that denies elsewhere and types a digit on this sheet.
    fn denies_here(&self, sheet: &Sheet) -> Option<String> {
        let digits = matches!(sheet.challenge, Challenge::Digits { .. });
        let key = self.ui.key(Command::Deny);
        (digits && is_digit(&key)).then_some(key)
    }

    /// What it takes to decide. The plumbing is named, and unfolds.
    pub(super) fn folded(&self, entry: &Entry, sheet: &Sheet, width: u16) -> Vec<Para> {
        let mut rest: Vec<Para> = self.edited(entry).into_iter().collect();
        rest.extend(self.facts(entry, width));
        rest.extend(self.bindings(entry, sheet, width, Some(self.kernel(entry))));
        let with = |reason| {
            let mut out = self.needs(entry);
            out.extend(self.claims(entry, width, reason));
            out.extend(rest.iter().cloned());
            out
        };
        let usual = with(REASON);
        match Flow::new(&usual, width).rows.len() > FEW {
            true => with(1),
            false => usual,
        }
    }

    /// What it touches, what was found, what it is given.
    pub(super) fn facts(&self, entry: &Entry, width: u16) -> Vec<Para> {
        let spoken = self.ui.common.spoken;
        let mut out = self.effects(entry, Room::Sheet, width, Lengths::USUAL);
        if let Some(verdict) = entry.verdict() {
            if verdict.findings.is_empty() {
                out.push(self.row("findings", words::NO_FINDING));
            } else if spoken {
                out.push(self.row("findings", &words::count(verdict.findings.len(), "finding")));
                out.extend(findings(verdict, self.heading()));
            } else {
                out.extend(findings_briefly(verdict, &self.label(0, "findings")));
            }
        }
        let few = if spoken { usize::MAX } else { words::LINES };
        out.extend(self.secrets(few));
        let inputs = entry.inputs().map(Arc::as_ref);
        let given = match spoken {
            true => given(inputs, Digests::Elsewhere),
            // READS has the names, rows and privacy of data sets.
            false if inputs.is_some_and(reads_all) => Vec::new(),
            false => vec![given_briefly(inputs)],
        };
        for (i, para) in given.into_iter().enumerate() {
            out.push(para.after(&self.label(i, "given")));
        }
        out
    }

    /// What the log will not have.
    fn secrets(&self, few: usize) -> Option<Para> {
        let held = self.held()?;
        Some(self.row(words::SECRETS, &words::secrets(held, few)))
    }

    /// Whose it is.
    fn kernel(&self, entry: &Entry) -> Para {
        let p = &entry.proposal.peer;
        let shared = match self.facts.agents_share_uid && p.gateway.is_none() {
            true => format!("  ▲ {}", words::SHARED_UID),
            false => String::new(),
        };
        self.row(vouched(p), &ids(p)).and(shared, Role::Flagged)
    }

    /// What of that is a warning.
    pub(super) fn kernel_warns(&self) -> Option<Para> {
        let shared = self.facts.agents_share_uid;
        shared.then(|| self.flagged(0, "kernel says", words::SHARED_UID))
    }

    /// What else the grant binds. `kernel`: what is said of whose it is.
    pub(super) fn bindings(
        &self,
        entry: &Entry,
        sheet: &Sheet,
        width: u16,
        kernel: Option<Para>,
    ) -> Vec<Para> {
        let mut out = Vec::new();
        if let Some(policy) = self.state.policy_of(entry) {
            out.extend(self.runs_as(&policy));
        }
        out.extend(kernel);
        out.push(self.row("binds", &Self::bound(entry)));
        if self.ui.common.spoken {
            let key = self.ui.key(Command::Details);
            let short = words::plain::in_one(&sheet.digest().to_string(), &key);
            out.push(self.row("in one", &short));
        } else {
            out.push(all_of_it(sheet, width));
        }
        out
    }

    /// The label of the `i`th row of its kind. Whoever hears them cannot see that a row belongs to the one above.
    pub(super) fn label(&self, i: usize, label: &str) -> String {
        match (self.ui.common.spoken, i) {
            (true, _) => format!("{label}: "),
            (false, 0) => format!("{label:<11} "),
            (false, _) => " ".repeat(12),
        }
    }

    /// A label of the sheet and its value.
    pub(super) fn row(&self, label: &str, value: &str) -> Para {
        self.row_of(0, label, value)
    }

    /// The same of the `i`th row of its kind.
    pub(super) fn row_of(&self, i: usize, label: &str, value: &str) -> Para {
        Para::new(self.label(i, label), Role::Dim)
            .and(value, Role::Text)
            .hang(12)
    }

    /// That what runs is not what was proposed.
    pub(super) fn edited(&self, entry: &Entry) -> Option<Para> {
        let digests = format!(
            ": code {}, {} {}",
            entry.code().digest().short(8),
            words::AS_PROPOSED,
            entry.proposal.proposed.digest().short(8)
        );
        entry.is_edited().then(|| {
            Para::new(self.label(0, "code"), Role::Dim)
                .and(words::EDITED, Role::Strong)
                .and(digests, Role::Text)
                .hang(12)
        })
    }

    /// A warning: something that is not stopped or not isolated.
    pub(super) fn flagged(&self, i: usize, label: &str, what: &str) -> Para {
        Para::new(self.label(i, label), Role::Dim)
            .and(format!("▲ {what}"), Role::Flagged)
            .hang(12)
    }

    /// Profile and tier; limits only where they differ from what the profile's base gives.
    fn runs_as(&self, policy: &Policy) -> Vec<Para> {
        let tier = self.state.tier_for(policy);
        let (layers, does_not_stop) = self.facts.of(tier);
        let usual = match &policy.origin {
            Origin::Builtin => true,
            Origin::Extends { .. } => self
                .state
                .profile(&policy.name)
                .and_then(|profile| profile.base.as_ref())
                .is_some_and(|base| base.limits == policy.limits),
            Origin::Own => false,
        };
        let spoken = self.ui.common.spoken;
        let mut what = format!("profile {} · tier {tier}", policy.label());
        if !layers.is_empty() && spoken {
            what.push_str(&format!(", {}", words::count(layers.len(), "layer")));
        }
        if usual && spoken {
            what.push_str(", its usual limits");
        }
        if let Environment::Ready { label, .. } = &self.state.environment {
            what.push_str(&format!(" · {label}"));
        }
        let mut out = vec![self.row("runs as", &what)];
        if !usual {
            out.push(limits(&policy.limits).after(&self.label(0, "limits")));
        }
        if spoken {
            let each = does_not_stop.iter().enumerate();
            out.extend(each.map(|(i, what)| self.flagged(i, "not stopped", what)));
        } else if !does_not_stop.is_empty() {
            out.push(self.flagged(0, "not stopped", &does_not_stop.join(" · ▲ ")));
        }
        out
    }

    /// The parts of the grant digest by name.
    fn bound(entry: &Entry) -> String {
        let inputs = entry.inputs().map_or(&[][..], |inputs| inputs);
        let names = inputs.iter().map(|input| input.name.as_str());
        let parts: Vec<&str> = std::iter::once("code")
            .chain(names)
            .chain(["policy", "profile", "limits", "tier", "environment"])
            .collect();
        parts.join(", ")
    }

    /// The agent's words, on a narrow sheet a row of its title and so many of its reason.
    pub(super) fn claims(&self, entry: &Entry, width: u16, reason: usize) -> Vec<Para> {
        let p = &entry.proposal;
        let title = p.title.as_deref().unwrap_or(words::UNTITLED);
        let said = |label: &str, value: &str| {
            let para = Para::new(self.label(0, label), Role::Dim);
            claim::and(para, value, Role::Text).hang(12)
        };
        let row = usize::from(width).saturating_sub(12).max(CLAIM / 4);
        let agent = claim::named(p.agent_name(), 40);
        // One column for the sign of what is cut.
        let room = row.saturating_sub(claim::width(&agent) + 3).max(CLAIM / 4);
        let both = format!("{agent}: {}", short(title, room.min(CLAIM)));
        let mut out = vec![said("agent says", &both)];
        let why = p.reason.as_ref();
        out.extend(
            why.map(|why| said("and why", &short(why, (reason * row - row / 8).min(CLAIM)))),
        );
        out
    }

    /// Everything that the grant binds, in full.
    pub(super) fn whole(&self, entry: &Entry, sheet: &Sheet, width: u16) -> Vec<Para> {
        let p = &entry.proposal;
        let wide = |label: &str, value: String| self.row(label, &value);
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
        let mut out = self.needs(entry);
        out.extend(self.claims(entry, width, REASON));
        out.extend(self.edited(entry));
        out.push(wide(vouched(&p.peer), ids(&p.peer)));
        if self.facts.agents_share_uid && p.peer.gateway.is_none() {
            out.push(self.flagged(1, "kernel says", words::SHARED_UID));
        }
        out.push(Para::default());
        out.extend(self.effects(entry, Room::Sheet, width, Lengths::WHOLE));
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
                out.extend(findings(verdict, self.heading()));
            }
        }
        out.extend(self.secrets(usize::MAX));
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
                out.push(self.flagged(i, "not stopped", what));
            }
        }
        out.push(wide("python", self.python_of(entry)));
        out.push(Para::default());
        out.push(heading("Digests"));
        out.push(wide("proposal", p.id.to_string()));
        out.push(wide(
            "code",
            format!(
                "{} {}",
                hash(entry.code().digest().hex()),
                words::bytes(entry.code().bytes())
            ),
        ));
        if entry.is_edited() {
            let digest = hash(p.proposed.digest().hex());
            let bytes = words::bytes(p.proposed.bytes());
            out.push(wide(words::AS_PROPOSED, format!("{digest} {bytes}")));
        }
        if let Some(policy) = &policy {
            out.push(wide("policy", hash(policy.sha256.hex())));
        }
        for input in entry.inputs().into_iter().flat_map(|i| i.iter()) {
            out.push(Para::new(format!("{} {}", input.name, input.sha256), Role::Dim).indent(2));
        }
        out.push(all_of_it(sheet, width));
        out
    }
}

/// Who says whose it is.
const fn vouched(peer: &Peer) -> &'static str {
    match peer.gateway {
        None => "kernel says",
        Some(_) => "engine says",
    }
}

/// Whether the sheet's digits take this key.
fn is_digit(key: &str) -> bool {
    matches!(key.as_bytes(), [b'0'..=b'9' | b'a'..=b'f'])
}

/// The one digest of everything.
fn all_of_it(sheet: &Sheet, width: u16) -> Para {
    let digest = sheet.digest().to_string();
    let digits = digest.rsplit(':').next().unwrap_or_default();
    let fits = |text: &str| usize::from(width) >= 12 + text.len();
    // Broken in two it is hard to compare: without room for all, the 64 digits stand alone, then behind a shorter label.
    let (label, shown) = match (fits(&digest), fits(digits)) {
        (true, _) => (format!("{DIGEST:<12}"), digest.as_str()),
        (false, true) => (format!("{DIGEST:<12}"), digits),
        (false, false) => (format!("{DIGEST} "), digits),
    };
    Para::new(label, Role::Dim).and(shown, Role::Strong)
}

/// An agent's claim, cut to fit. Its blanks are single ones: with more of them a row could begin like one of the sheet.
fn short(claim: &str, columns: usize) -> String {
    let claim = claim
        .split(' ')
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    let cut = text::cut(&claim, columns);
    if cut.len() == claim.len() {
        claim
    } else {
        format!("{cut}…")
    }
}
