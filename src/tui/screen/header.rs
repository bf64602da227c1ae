//! The header, and the banner below it for problems and for building the environment.

use ratatui::layout::Rect;

use crate::broker::AuditHealth;
use crate::model::Environment;

use super::super::action::LogCheck;
use super::super::canvas::Canvas;
use super::super::flow::{Flow, Para};
use super::super::keys::Command;
use super::super::text;
use super::super::theme::Role;
use super::super::words;
use super::Screen;

type Spans = Vec<(String, Role)>;

/// Columns between two statements.
const GAP: u16 = 3;

/// Columns of the statement and the gap after it.
fn wide(spans: &Spans) -> usize {
    spans.iter().map(|(t, _)| text::width(t)).sum::<usize>() + usize::from(GAP)
}

/// How many of the things the tier does not stop the header names; the sheet names all.
const NAMED: usize = 1;

/// Screens of fewer rows have one row for the header; the details say the rest.
const TALL: u16 = 28;

impl Screen<'_> {
    pub(super) fn header_rows(&self, area: Rect) -> u16 {
        if self.ui.reviewed().is_some() {
            return 1;
        }
        let one: usize = self.statements(false).iter().map(wide).sum();
        // Room for the flagged ones is kept: the screen must not jump when the first one comes.
        let counts = " (▲ 99 flagged)".len() + wide(&self.counts(true));
        if one + counts <= usize::from(area.width) || area.height < TALL {
            1
        } else {
            2
        }
    }

    /// The header's statements; `short` selects shorter forms.
    fn statements(&self, short: bool) -> Vec<Spans> {
        let f = self.facts;
        let name = vec![(words::NAME.to_owned(), Role::Accent)];
        let log = self.log_says(short);
        if let Some(seat) = &f.seat {
            let hosts = seat.hosts.iter().enumerate().map(|(i, host)| {
                let gap = if i > 0 { "  " } else { "" };
                let role = if host.away.is_some() {
                    Role::Bad
                } else {
                    Role::Good
                };
                (format!("{gap}{}", words::seat::host(host)), role)
            });
            let person = vec![(words::seat::sits_as(seat), Role::Strong)];
            let mut hosts: Spans = hosts.collect();
            if let Some(doubted) = words::seat::doubted(seat) {
                hosts.push((format!("  {doubted}"), Role::Bad));
            }
            return vec![name, person, log, hosts];
        }
        let mut tier: Spans = vec![(f.tier.to_string(), Role::Strong)];
        let (layers, does_not_stop) = f.of(f.tier);
        if !does_not_stop.is_empty() {
            if short {
                tier.push((" ▲".to_owned(), Role::Flagged));
            } else {
                let mut what = does_not_stop
                    .iter()
                    .take(NAMED)
                    .cloned()
                    .collect::<Vec<_>>()
                    .join(", ");
                let more = does_not_stop.len().saturating_sub(NAMED);
                if more > 0 {
                    what.push_str(&format!(" +{more}"));
                }
                tier.push((format!(" ▲ does not stop: {what}"), Role::Flagged));
            }
        } else if !layers.is_empty() {
            tier.push((format!(" {}", words::well()), Role::Good));
        }
        let mut out = vec![name];
        out.push(vec![
            (f.policy.clone(), Role::Strong),
            (format!(" {}", f.policy_digest), Role::Dim),
        ]);
        out.push(log);
        if f.agents_share_uid {
            let what = match (self.ui.knows_shared_uid(), short) {
                (true, _) => words::shared_told(&self.ui.key(Command::Details)),
                (false, true) => words::SHARED.to_owned(),
                (false, false) => words::SHARED_UID.to_owned(),
            };
            out.push(vec![(format!("▲ {what}"), Role::Flagged)]);
        }
        // Last, because it may be long; the sheet shows in full whatever is cut here.
        out.push(tier);
        out
    }

    /// Whether records are written, and how many there are.
    fn log_says(&self, short: bool) -> Spans {
        match &self.state.audit {
            AuditHealth::Up { .. } if self.state.log_doubt.is_some() => {
                vec![(words::NO_GRANTS.to_owned(), Role::Alarm)]
            }
            AuditHealth::Up { .. } if matches!(self.facts.log, LogCheck::Damaged(_)) => {
                vec![("log ✗ damaged".to_owned(), Role::Bad)]
            }
            AuditHealth::Up { .. } if self.facts.log == LogCheck::Running => {
                vec![(words::LOG_CHECKING.to_owned(), Role::Flagged)]
            }
            // The number would tell that somebody voted.
            AuditHealth::Up { .. } if self.state.sealed().next().is_some() => {
                vec![(format!("log {}", words::well()), Role::Dim)]
            }
            AuditHealth::Up { durable } if short => {
                vec![(
                    format!("log {} {}", words::well(), words::number(*durable)),
                    Role::Dim,
                )]
            }
            AuditHealth::Up { durable } => {
                vec![(
                    format!(
                        "log {} {}",
                        words::well(),
                        words::count(*durable as usize, "record")
                    ),
                    Role::Dim,
                )]
            }
            AuditHealth::Down { .. } => vec![(" AUDIT DOWN ".to_owned(), Role::Alarm)],
        }
    }

    /// How many proposals wait, how many of them are flagged, and what runs for how long.
    fn counts(&self, short: bool) -> Spans {
        let pending = self.state.pending_count();
        let running = self.state.running_count();
        let role = |n: usize| if n > 0 { Role::Strong } else { Role::Dim };
        let mut out = vec![(
            format!("{} pending", words::number(pending as u64)),
            role(pending),
        )];
        let flagged = self.ui.queue.lists.flagged;
        if flagged > 0 {
            let flagged = words::number(flagged as u64);
            let word = if short { "" } else { " flagged" };
            out.push((format!(" (▲ {flagged}{word})"), Role::Flagged));
        }
        // Nothing runs in a seat.
        if self.facts.seat.is_none() {
            out.push(("  ".to_owned(), Role::Text));
            out.push((
                format!("{} running", words::number(running as u64)),
                role(running),
            ));
        }
        let since = self.state.running().filter_map(|e| self.runs_for(e)).max();
        // Where there is little room, the queue has the time.
        if let Some(longest) = since.filter(|_| !short) {
            out.push((format!(" {}", words::countdown(longest)), Role::Strong));
        }
        let paused = self.state.pauses().len();
        if paused > 0 {
            out.push(("  ".to_owned(), Role::Text));
            out.extend(Self::paused(paused));
        }
        out
    }

    /// How many agents are paused.
    fn paused(count: usize) -> Spans {
        let count = words::number(count as u64);
        vec![(format!("{count} paused"), Role::Flagged)]
    }

    pub(super) fn header(&self, canvas: &mut Canvas<'_>, area: Rect) {
        if let Some(reviewed) = self.ui.reviewed() {
            return Self::reviewed_header(canvas, area, reviewed);
        }
        // On the narrowest screens the warnings need the room; the queue's own line shows the
        // counts too.
        let paused = self.state.pauses().len();
        let counts = if area.width < 60 && paused > 0 {
            Self::paused(paused)
        } else if area.width < 60 {
            Spans::new()
        } else {
            self.counts(area.width < 100)
        };
        let right = match counts.len() {
            0 => area.right() + 1,
            // Counts have few digits, so they fit.
            _ => area.right().saturating_sub(wide(&counts) as u16 - GAP + 1),
        };
        canvas.put_spans(right, area.y, area.right().saturating_sub(right), &counts);
        let left = area.x + 1;
        if area.height >= 2 {
            let statements = self.statements(false);
            let (first, second) = statements.split_at(3);
            line(canvas, left, area.y, right.saturating_sub(1), first);
            line(canvas, left, area.y + 1, area.right(), second);
            return;
        }
        let mut statements = self.statements(area.width < 100);
        let room = usize::from(right.saturating_sub(left) + GAP);
        // On the narrowest screens the log and the policy are shortened or dropped; alarms never
        // are.
        let needs = |s: &[Spans]| s.iter().map(wide).sum::<usize>();
        if needs(&statements) > room {
            statements = self.statements(true);
        }
        let down = self.state.audit.is_down();
        // Drop the name, policy, log and tier, in this order; the alarm and the shared uid remain.
        let mut kept = vec![true; statements.len()];
        for drop in [0, 1, 2, statements.len() - 1] {
            let left: Vec<Spans> = pick(&statements, &kept);
            if needs(&left) > room && !(drop == 2 && down) {
                kept[drop] = false;
            }
        }
        let statements = pick(&statements, &kept);
        line(canvas, left, area.y, right.saturating_sub(1), &statements);
    }

    /// Alarms in full, and the progress of building the environment.
    pub(super) fn banner(&self, width: u16) -> Flow {
        if let Some(reviewed) = self.ui.reviewed() {
            return Self::reviewed_banner(reviewed, width);
        }
        let mut paras = Vec::new();
        if let AuditHealth::Down { reason } = &self.state.audit {
            paras.push(
                Para::new(" ■ AUDIT DOWN ", Role::Alarm)
                    .and(format!(" nothing runs any more: {reason}"), Role::Bad)
                    .hang(1),
            );
        }
        if let Some(doubt) = &self.state.log_doubt {
            paras.push(
                Para::new(words::NO_GRANTS_ALARM, Role::Alarm)
                    .and(words::no_grants(doubt), Role::Bad)
                    .hang(1),
            );
        }
        if let Some(what) = &self.facts.log_recovered {
            paras.push(
                Para::new(" ▲ After a crash ", Role::Flagged)
                    .and(what.clone(), Role::Text)
                    .hang(1),
            );
        }
        if let Some(why) = &self.facts.unheard {
            paras.push(
                Para::new(" ▲ ", Role::Flagged)
                    .and(why.clone(), Role::Text)
                    .hang(1),
            );
        }
        if let LogCheck::Damaged(first) = &self.facts.log {
            paras.push(
                Para::new(" ✗ The log is damaged: ", Role::Bad)
                    .and(first.clone(), Role::Text)
                    .and(" · `countersign audit verify` says more", Role::Dim)
                    .hang(1),
            );
        }
        if let Some(why) = &self.facts.unanchored {
            paras.push(
                Para::new(words::UNANCHORED, Role::Flagged)
                    .and(why.clone(), Role::Text)
                    .hang(1),
            );
        }
        if let Some(why) = &self.facts.unreached {
            paras.push(
                Para::new(words::UNREACHED, Role::Flagged)
                    .and(why.clone(), Role::Text)
                    .hang(1),
            );
        }
        let hosts = self.facts.seat.iter().flat_map(|seat| &seat.hosts);
        for (host, why) in hosts.filter_map(words::seat::away) {
            let para = Para::new(host, Role::Flagged).and(why, Role::Text);
            paras.push(para.hang(1));
        }
        let doubts = self.facts.seat.iter().flat_map(words::seat::doubts);
        for (host, why) in doubts {
            let para = Para::new(host, Role::Bad).and(why, Role::Text);
            paras.push(para.hang(1));
        }
        if !self.facts.absent.is_empty() {
            paras.push(
                Para::new(
                    " ▲ Data sets that could not be read at the start: ",
                    Role::Flagged,
                )
                .and(self.facts.absent.join(", "), Role::Text)
                .hang(1),
            );
        }
        match &self.state.environment {
            Environment::Ready { .. } => {}
            Environment::Making { step, done, total } => {
                let filled = if *total == 0 {
                    0
                } else {
                    (done.saturating_mul(10) / total).min(10) as usize
                };
                let mut para = Para::new(" Python environment ", Role::Strong);
                if width >= 70 {
                    para = para
                        .and("▮".repeat(filled), Role::Accent)
                        .and("▯".repeat(10 - filled), Role::Rule)
                        .and(" ", Role::Text);
                }
                para = para.and(format!("{done}/{total} {step}"), Role::Text);
                if width >= 70 {
                    para = para.and(" · grants wait", Role::Dim);
                }
                paras.push(para.hang(1));
            }
            Environment::Changed { what } => paras.push(
                Para::new(" ▲ Python environment changed: ", Role::Flagged)
                    .and(what.clone(), Role::Text)
                    .and(" · it is read again · grants wait", Role::Dim)
                    .hang(1),
            ),
            Environment::Failed { message } => paras.push(
                Para::new(" ✗ Python environment: ", Role::Bad)
                    .and(message.trim_end_matches('.').to_owned(), Role::Text)
                    .and(". Nothing can run until then.", Role::Dim)
                    .hang(1),
            ),
        }
        Flow::new(&paras, width)
    }
}

fn pick(statements: &[Spans], kept: &[bool]) -> Vec<Spans> {
    let chosen = statements.iter().zip(kept).filter(|(_, kept)| **kept);
    chosen.map(|(s, _)| s.clone()).collect()
}

fn line(canvas: &mut Canvas<'_>, mut x: u16, y: u16, right: u16, statements: &[Spans]) {
    for spans in statements {
        let room = right.saturating_sub(x);
        if room == 0 {
            return;
        }
        if wide(spans) - usize::from(GAP) <= usize::from(room) {
            x += canvas.put_spans(x, y, room, spans) + GAP;
        } else {
            for (text, role) in spans {
                let room = right.saturating_sub(x);
                x += canvas.put_cut(x, y, room, text, *role);
            }
            x += GAP;
        }
    }
}
