//! What the screen says, as paragraphs and rows for the dashboard in plain lines ([`super::super::plain`]).

use std::sync::Arc;

use ratatui::layout::Rect;

use crate::broker::{AuditHealth, BrokerState, Entry};
use crate::clock::Now;
use crate::model::{EffectMark, Environment, ProposalId, State, StreamName};

use super::super::action::{Header, LogCheck};
use super::super::claim;
use super::super::document::{Content, Layout};
use super::super::flow::{Flow, Para};
use super::super::glossary;
use super::super::keys::Command;
use super::super::plain::{SaidRow, exact, plain};
use super::super::shown;
use super::super::text;
use super::super::theme::Role;
use super::super::transcript::{self, At, Reading};
use super::super::ui::{Compared, OnScreen, Over, Pane, UiState, Unlike, Was};
use super::super::words;
use super::Screen;
use super::data::{Digests, given as inputs};
use super::lengths::{Lengths, Room};
use super::spoken_rows::{Head, line_of_code, record, spoken_rows};

/// The length of a row in characters. Longer lines of code are several rows, each to be heard.
pub(in crate::tui) const WIDE: u16 = 200;
/// The most columns of a title in a line, and of a reason.
pub(super) const TITLE: usize = 120;
const REASON: usize = 400;
/// Findings that the introduction has; the sheet has all of them.
pub(super) const FINDINGS: usize = 12;

/// The beginning of a claim: nobody wants to hear ten thousand letters. The pane SAYS has all of it.
pub(super) fn short(text: &str, most: usize) -> String {
    let cut = text::cut(text, most);
    let more = if cut.len() < text.len() { " ..." } else { "" };
    format!("{}{more}", claimed(cut))
}

/// A claim with its marks.
pub(super) fn claimed(text: &str) -> String {
    let said = |(text, role): (String, Role)| match role {
        Role::Mark => text,
        _ => exact(&text).0,
    };
    claim::spans(text, Role::Text)
        .into_iter()
        .map(said)
        .collect()
}

/// Own words and the beginning of a claim.
fn given(own: &str, text: &str, most: usize) -> Para {
    let cut = text::cut(text, most);
    let para = claim::and(Para::new(own, Role::Text), cut, Role::Text);
    match cut.len() < text.len() {
        true => para.and(" ...", Role::Text),
        false => para,
    }
}

pub(super) fn flow(paras: &[Para]) -> Vec<SaidRow> {
    said(&Flow::new(paras, WIDE))
}

fn said(flow: &Flow) -> Vec<SaidRow> {
    flow.rows.iter().map(SaidRow::from).collect()
}

/// A run's output in the order in which it was printed, each line with its stream (it can look like a line of the
/// program), and the first row of each line.
fn output(entry: &Entry, reading: Reading) -> (Vec<SaidRow>, Vec<usize>) {
    let (lines, cut) = transcript::lines(entry, reading.upto(entry), transcript::ALL);
    let mut rows = Vec::new();
    let mut firsts = Vec::new();
    if cut {
        rows.push(words::plain::BEGINS_LATER.to_owned());
    }
    for line in &lines {
        firsts.push(rows.len());
        let name = match line.stream {
            StreamName::Stdout => "out",
            StreamName::Stderr => "err",
        };
        let name = match line.rewritten {
            0 => name.to_owned(),
            times => format!("{name}, after {}", words::plain::rewritten(times)),
        };
        let short = words::plain::hidden(&line.text);
        let name = match &short {
            Some((values, _)) => format!("{name}, {}", words::plain::hides(*values)),
            None => name,
        };
        let mut rest = short.as_ref().map_or(line.text.as_str(), |(_, text)| text);
        while rest.len() > usize::from(WIDE) {
            let (row, after) = rest.split_at(rest.floor_char_boundary(usize::from(WIDE)));
            rows.push(format!("{name}: {}", exact(row).0));
            rest = after;
        }
        rows.push(format!("{name}: {}", exact(rest).0));
    }
    if lines.is_empty() {
        rows.push(match entry.state() {
            State::Granted | State::Running => words::NO_OUTPUT_YET.to_owned(),
            _ => words::NO_OUTPUT.to_owned(),
        });
    }
    let row = |text| SaidRow {
        text,
        finding: None,
    };
    (rows.into_iter().map(row).collect(), firsts)
}

impl<'a> Screen<'a> {
    pub(in crate::tui) fn new(
        state: &'a BrokerState,
        ui: &'a UiState,
        facts: &'a Header,
        now: Now,
    ) -> Self {
        Self {
            state,
            ui,
            facts,
            entry: ui.selected().and_then(|id| state.entry(id)),
            now,
            columns: 0,
            rows: 0,
        }
    }

    pub(in crate::tui) const fn selected(&self) -> Option<&'a Entry> {
        self.entry
    }

    /// What stands above everything: the policy, the tier and what it does not stop, the log.
    pub(in crate::tui) fn spoken_header(&self) -> String {
        if let Some(reviewed) = self.ui.reviewed() {
            return words::reviewed::plain::folder(&exact(&reviewed.folder).0);
        }
        let f = self.facts;
        if let Some(seat) = &f.seat {
            let hosts = seat.hosts.iter().map(words::seat::reached);
            let all = std::iter::once(words::seat::sits_as(seat)).chain(hosts);
            return plain(&all.collect::<Vec<_>>().join(" · "));
        }
        let mut out = vec![format!("policy {}", f.policy), format!("tier {}", f.tier)];
        let (_, does_not_stop) = f.of(f.tier);
        if !does_not_stop.is_empty() {
            out.push(format!("▲ does not stop: {}", does_not_stop.join(", ")));
        }
        if f.agents_share_uid {
            out.push(format!("▲ {}", words::SHARED_UID));
        }
        plain(&out.join(" · "))
    }

    /// Alarms, each a line; not the progress of a new environment.
    pub(in crate::tui) fn spoken_alarms(&self) -> Vec<String> {
        if let Some(reviewed) = self.ui.reviewed() {
            return Self::spoken_of(reviewed);
        }
        let mut out = Vec::new();
        if let AuditHealth::Down { reason } = &self.state.audit {
            out.push(format!("▲ AUDIT DOWN, nothing runs any more: {reason}"));
        }
        if let Some(doubt) = &self.state.log_doubt {
            out.push(words::plain::no_grants(doubt));
        }
        if let Some(what) = &self.facts.log_recovered {
            out.push(format!("▲ After a crash {what}"));
        }
        match &self.facts.log {
            LogCheck::Damaged(first) => out.push(format!("▲ The log is damaged: {first}")),
            LogCheck::Running => out.push(words::plain::LOG_CHECKING.to_owned()),
            LogCheck::Sound => {}
        }
        if let Some(why) = &self.facts.unheard {
            out.push(format!("▲ {why}"));
        }
        if let Some(why) = &self.facts.unanchored {
            out.push(format!("{}{why}", words::UNANCHORED.trim_start()));
        }
        if let Some(why) = &self.facts.unreached {
            out.push(format!("{}{why}", words::UNREACHED.trim_start()));
        }
        let hosts = self.facts.seat.iter().flat_map(|seat| &seat.hosts);
        let away = hosts.filter_map(words::seat::away);
        out.extend(away.map(|(host, why)| format!("{}{why}", host.trim_start())));
        let doubts = self.facts.seat.iter().flat_map(words::seat::doubts);
        out.extend(doubts.map(|(host, why)| format!("{}{why}", host.trim_start())));
        if !self.facts.absent.is_empty() {
            let names = self.facts.absent.join(", ");
            out.push(format!(
                "▲ Data sets that could not be read at the start: {names}"
            ));
        }
        match &self.state.environment {
            Environment::Ready { .. } => {}
            Environment::Making { .. } => out.push(words::plain::PYTHON_MADE.to_owned()),
            Environment::Changed { what } => {
                out.push(format!("▲ {}", words::environment_changed(what)));
            }
            Environment::Failed { message } => out.push(format!("▲ Python environment: {message}")),
        }
        out.iter().map(|text| plain(text)).collect()
    }

    /// One proposal in a line: what the program knows, then what the agent says.
    pub(in crate::tui) fn spoken_line(&self, id: ProposalId) -> String {
        let Some(entry) = self.state.entry(id) else {
            return words::GONE.to_owned();
        };
        let lists = &self.ui.queue.lists;
        let place = |ids: &[ProposalId]| ids.iter().position(|other| *other == id);
        let mut parts = Vec::new();
        match (place(&lists.live), place(&lists.decided)) {
            (Some(at), _) => parts.push(format!("{} of {}", at + 1, lists.live.len())),
            (None, Some(at)) => {
                parts.push(format!("decided {} of {}", at + 1, lists.decided.len()));
            }
            (None, None) => {}
        }
        let (_, word, _) = shown::badge(entry);
        parts.push(word.to_owned());
        if entry.is_edited() {
            parts.push("edited by you".to_owned());
        }
        let votes = entry.poll().filter(|_| entry.awaits_decision());
        parts.extend(votes.map(|poll| words::plain::asks_for_votes(poll.own()).to_owned()));
        match entry.state() {
            State::Pending => parts.push(words::plain::left(entry.left(self.now))),
            State::Granted | State::Running => {
                let since = entry.released().map_or(self.now.boot, |r| r.boot);
                let time = self.now.boot.saturating_sub(since);
                parts.push(format!("for {}", words::plain::time(time)));
            }
            _ => parts.extend(entry.ended().map(|e| {
                let at = e.wall.to_zoned(self.ui.common.zone.clone());
                format!("at {:02}:{:02}", at.hour(), at.minute())
            })),
        }
        parts.extend(Self::touched(entry));
        let selected = self.ui.selected();
        if selected.is_some_and(|selected| self.ui.are_alike(selected, id)) {
            parts.push("like the selected one but for numbers".to_owned());
        }
        if let Some((group, false)) = lists.groups.under(id) {
            let key = self.ui.key(Command::Alike);
            parts.push(words::plain::folded(group.rest.len(), &key));
        }
        format!("{}; {}", parts.join(", "), self.spoken_claim(entry))
    }

    /// The kinds of effects, in words.
    pub(super) fn touched(entry: &Entry) -> Vec<String> {
        let Some(effects) = Self::effects_of(entry) else {
            return Vec::new();
        };
        let private = effects.private().then(|| "private data".to_owned());
        let lists = [
            (&effects.writes, EffectMark::Writes),
            (&effects.deletes, EffectMark::Deletes),
            (&effects.runs, EffectMark::Runs),
            (&effects.network, EffectMark::Network),
            (&effects.system, EffectMark::System),
        ];
        let present = lists.into_iter().filter(|(list, _)| !list.is_empty());
        let alters =
            (!effects.alters.is_empty()).then(|| words::effect(EffectMark::Alters).to_owned());
        let words = present.map(|(_, mark)| words::effect(mark).trim_end_matches(':').to_owned());
        private.into_iter().chain(alters).chain(words).collect()
    }

    /// Who says what, last in its line.
    pub(in crate::tui) fn spoken_claim(&self, entry: &Entry) -> String {
        let p = &entry.proposal;
        let name = claimed(&claim::named(p.agent_name(), 24));
        let title = p.title.as_deref().filter(|t| !t.is_empty());
        format!(
            "agent {name} says: {}",
            title.map_or_else(|| words::UNTITLED.to_owned(), |title| short(title, TITLE))
        )
    }

    /// What comes before the code: whose it is, what it touches, what was found, what it is given.
    pub(in crate::tui) fn introduction(&self, entry: &Entry) -> Vec<SaidRow> {
        let p = &entry.proposal;
        let line = |text: String| Para::new(text, Role::Text);
        let mut out = vec![match &p.reason {
            Some(reason) => given("and why: ", reason, REASON),
            None => line(words::NO_REASON.to_owned()),
        }];
        out.push(line(format!(
            "{} says: {}",
            p.peer.voucher(),
            p.peer.process(", ")
        )));
        out.extend(self.effects(entry, Room::Each, WIDE, Lengths::USUAL));
        out.extend(Self::lookalikes(entry));
        let unlike = self.unlike_of(entry.proposal.id);
        out.extend(unlike.map(|u| line(words::unlike(u.numbers.len(), u.lines.len()))));
        out.extend(Self::judged(entry));
        let held = self.held().map(|held| words::secrets(held, usize::MAX));
        out.extend(held.map(|said| line(format!("{}: {said}", words::SECRETS))));
        let inputs = inputs(entry.inputs().map(Arc::as_ref), Digests::Elsewhere);
        out.extend(inputs.into_iter().map(|para| para.after("given: ")));
        flow(&out)
    }

    pub(in crate::tui) fn spoken_pane(
        &self,
        pane: Pane,
        entry: &Entry,
    ) -> (&'static str, Vec<SaidRow>) {
        let rows = match pane {
            Pane::Output => output(entry, self.reading()).0,
            _ => said(&self.pane(pane, entry, Rect::new(0, 0, WIDE, 24), &mut Vec::new())),
        };
        (pane.name(), rows)
    }

    /// The rows of OUTPUT, and the first of a page of `height` rows, as the drawn screen has it.
    pub(in crate::tui) fn spoken_output(
        &self,
        entry: &Entry,
        height: usize,
    ) -> (Vec<SaidRow>, usize) {
        let (rows, firsts) = output(entry, self.reading());
        let last = rows.len().saturating_sub(height);
        let top = match self.reading().at {
            None => last,
            Some(At::Row(row)) => row,
            Some(At::Above(rows)) => last.saturating_sub(rows),
            Some(At::Line(line)) => firsts.get(line).copied().unwrap_or(last),
        };
        (rows, top)
    }

    /// What covers the queue, with its heading; `None` if nothing does.
    pub(in crate::tui) fn spoken_page(&self) -> Option<(String, Vec<SaidRow>, usize)> {
        match (self.ui.over(), self.ui.place()) {
            (Over::Help { top }, _) => Some(("HELP".to_owned(), self.spoken_help(), *top)),
            (Over::Diff(compared), _) => {
                let (heading, rows) = self.spoken_diff(compared);
                Some((heading, rows, compared.top))
            }
            (_, OnScreen::Agents(screen)) => Some((
                plain(words::POLICIES),
                flow(&self.policies(screen.detail)),
                screen.top,
            )),
            (_, OnScreen::Audit(screen)) if screen.page.detail.is_none() => {
                let rows = self.spoken_statistics(screen)?;
                Some((words::sums::STATISTICS.to_owned(), rows, screen.top))
            }
            (_, OnScreen::Audit(screen)) => {
                if let Some(dossier) = screen.dossier() {
                    let heading = words::dossier::PROPOSAL.to_owned();
                    return Some((heading, dossier.said().0, screen.top));
                }
                let detail = screen.page.detail.as_ref()?;
                let heading = words::dossier::RECORD.to_owned();
                Some((heading, record(detail), screen.top))
            }
            _ => None,
        }
    }

    /// The keys, then what the words mean.
    fn spoken_help(&self) -> Vec<SaidRow> {
        let drawn = [
            Command::Theme,
            Command::Wrap,
            Command::Zoom,
            Command::AsDrawn,
            Command::Left,
            Command::Right,
        ];
        let program = &self.ui.common.program;
        let said = program
            .commands()
            .filter(|command| !drawn.contains(command));
        let key = |command: Command| {
            let keys = self.ui.all_keys(command).replace("  ", " or ");
            format!("{keys}: {}", program.spoken(command))
        };
        let meanings = glossary::spoken(program.glossary())
            .map(|(word, meaning)| words::plain::means(&word, meaning));
        let fields = format!("in a {}: {}", words::FIELD, words::FIELD_KEYS);
        let rows = said.map(key).chain([fields]).chain(meanings);
        let rows: Vec<Para> = rows.map(|row| Para::new(row, Role::Text)).collect();
        flow(&rows)
    }

    fn spoken_diff(&self, compared: &Compared) -> (String, Vec<SaidRow>) {
        let heading = compared.choice().map_or_else(String::new, |choice| {
            let against = match choice.was {
                Was::Proposed => words::AGAINST_PROPOSED.to_owned(),
                Was::Granted(at) => {
                    words::against(&words::when(at, self.now.wall, &self.ui.common.zone))
                }
            };
            let title = choice.title.as_deref().unwrap_or(words::UNTITLED);
            format!(
                "DIFF {} of {}, {}{}: {}",
                compared.at + 1,
                compared.choices.len(),
                against,
                claimed(&choice.agent),
                short(title, TITLE)
            )
        });
        let rows = match &compared.answer {
            None => Vec::new(),
            Some(Err(why)) => flow(&[Para::new(words::no_earlier(why), Role::Text)]),
            Some(Ok(diff)) => spoken_rows(diff),
        };
        (heading, rows)
    }

    /// A row of code or of an input as one line, with what the gutter says in words.
    pub(in crate::tui) fn spoken_code(&self, layout: &Layout, index: usize) -> Option<String> {
        let row = layout.row(index)?;
        Some(match layout.content(row) {
            Content::Heading(heading) => plain(heading),
            Content::AsDrawn(_) => return None,
            Content::Stands { text, open } => {
                let key = self.ui.key(Command::Open);
                let does = if open { "closes" } else { "opens" };
                format!("condensed, {key} {does} it: {}", exact(text).0)
            }
            Content::Text {
                number, code, text, ..
            } => {
                let last = layout.row(index + 1).is_none_or(|next| next.first);
                let tags = match code && row.first {
                    true => self.tags_of_line(number),
                    false => String::new(),
                };
                let head = Head {
                    first: row.first,
                    endless: code && last && row.to == row.at + text.len(),
                    tags: &tags,
                };
                line_of_code(number, head, text)
            }
        })
    }

    fn unlike_of(&self, id: ProposalId) -> Option<&Unlike> {
        let unlike = self.ui.queue.unlike.as_deref();
        unlike.filter(|unlike| unlike.id == id)
    }

    fn tags_of_line(&self, number: usize) -> String {
        let (Some(entry), Ok(line)) = (self.entry, u32::try_from(number)) else {
            return String::new();
        };
        let mut tags = String::new();
        let unlike = self.unlike_of(entry.proposal.id);
        if unlike.is_some_and(|unlike| unlike.lines.contains(&number)) {
            tags.push_str(words::plain::UNLIKE);
        }
        let findings = entry.verdict().map_or(&[][..], |v| &v.findings);
        let worst = findings
            .iter()
            .filter(|f| (f.line..=f.end_line.max(f.line)).contains(&line))
            .map(|f| f.severity)
            .max();
        if let Some(severity) = worst {
            tags.push_str(&format!(", {severity} finding"));
        }
        if let Some(effects) = Self::effects_of(entry) {
            if effects.is_private(line) {
                tags.push_str(", private data");
            }
            let names = effects.writes.iter().chain(&effects.deletes);
            if names
                .filter(|touch| touch.like.is_some())
                .any(|touch| touch.lines.contains(&line))
            {
                tags.push_str(words::plain::LOOKALIKE);
            }
            if let Some(mark) = effects.mark(line).filter(|m| *m != EffectMark::Private) {
                tags.push_str(&format!(", {}", words::effect(mark).trim_end_matches(':')));
            }
        }
        if self.held().is_some_and(|held| held.on_line(line)) {
            tags.push_str(words::HAS_SECRET);
        }
        tags
    }
}
