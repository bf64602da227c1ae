//! Screen 2's statistics: what the rows of a question come to, each number beside its bar.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use ratatui::layout::Rect;

use crate::audit::query::Query;
use crate::audit::{Count, Day, OfAgent, OfReviewer, Runs, Stats};

use super::super::canvas::Canvas;
use super::super::claim;
use super::super::flow::{Flow, Para};
use super::super::plain::SaidRow;
use super::super::sketch::marks::{bar, spark};
use super::super::theme::Role;
use super::super::ui::{Beside, LogScreen};
use super::super::words;
use super::super::words::sums;
use super::spoken::flow;
use super::{Drawn, Screen};

/// Columns of a row's name, and before it.
const NAME: usize = 11;
const INDENT: usize = 2;
/// The most columns of a bar.
const BAR: usize = 24;
/// Columns of a person's or an agent's name.
const WHO: usize = 32;
/// Reviewers and agents that are told one by one.
const MOST: usize = 20;
/// The most cells of a sparkline.
const CELLS: usize = 60;
/// So many short looks in a row are marked.
const ROW: u64 = 3;

impl Screen<'_> {
    /// The statistics of screen 2, in place of its rows.
    pub(super) fn statistics(
        &self,
        canvas: &mut Canvas<'_>,
        area: Rect,
        log: &LogScreen,
        answer: Option<&Result<Arc<Stats>, String>>,
        drawn: &mut Drawn,
    ) {
        let mut heading = vec![(sums::STATISTICS.to_owned(), Role::Accent)];
        if let Some(Ok(stats)) = answer {
            let all = usize::try_from(stats.proposals).unwrap_or(usize::MAX);
            heading.push((format!("  {}", words::proposals(all)), Role::Dim));
        }
        if !log.query.is_empty() {
            let query = words::of_query(&claim::drawn(&log.query));
            heading.push((query, Role::Strong));
        }
        let width = area.width.saturating_sub(4);
        let part = !keeps_rows(&log.query);
        let paras = told(answer, usize::from(width), true, part);
        let flow = Flow::new(&paras, width);
        self.page(canvas, area, &heading, &flow, log.top, drawn);
    }

    pub(super) fn spoken_statistics(&self, log: &LogScreen) -> Option<Vec<SaidRow>> {
        match &log.beside {
            Beside::Statistics(Some(answer)) => {
                let part = !keeps_rows(&log.query);
                Some(flow(&told(Some(answer), usize::MAX, false, part)))
            }
            _ => None,
        }
    }
}

fn told(
    answer: Option<&Result<Arc<Stats>, String>>,
    columns: usize,
    drawn: bool,
    part: bool,
) -> Vec<Para> {
    match answer {
        None => vec![Para::new(sums::READING, Role::Dim)],
        Some(Err(why)) => vec![claim::and(Para::default(), why, Role::Bad)],
        Some(Ok(stats)) => Statistics {
            stats,
            columns,
            drawn,
            part,
        }
        .paras(),
    }
}

/// Statistics in so many columns. `drawn`: with bars; without, every number stands in words alone.
struct Statistics<'s> {
    stats: &'s Stats,
    columns: usize,
    drawn: bool,
    /// Whether a query leaves out decisions between those that are counted.
    part: bool,
}

impl Statistics<'_> {
    fn paras(&self) -> Vec<Para> {
        let stats = self.stats;
        if stats.proposals == 0 && stats.reviewers.is_empty() && stats.drills.all.shown == 0 {
            return vec![Para::new(sums::NOTHING_TO_COUNT, Role::Dim)];
        }
        let said = sums::counted(stats.expired, &stats.zone, self.part);
        let mut out = vec![Para::new(said, Role::Dim)];
        heading(&mut out, sums::REVIEWERS);
        let reviewers = || stats.reviewers.iter().filter(|r| r.has_decided());
        for reviewer in reviewers().take(MOST) {
            self.reviewer(&mut out, reviewer);
        }
        more(&mut out, sums::MORE_REVIEWERS, reviewers().count());
        heading(&mut out, sums::AGENTS_SUMMED);
        let most = stats.agents.first().map_or(0, |agent| agent.proposed);
        for agent in stats.agents.iter().take(MOST) {
            self.agent(&mut out, agent, most);
        }
        more(&mut out, sums::MORE_AGENTS, stats.agents.len());
        heading(&mut out, sums::OVER_TIME);
        self.days(&mut out, sums::PROPOSALS, |day| day.proposals);
        self.days(&mut out, sums::GRANTS, |day| day.granted);
        heading(&mut out, sums::INSIDE_RUNS);
        self.runs(&mut out, &stats.runs);
        heading(&mut out, sums::DRILLS_SUMMED);
        out.push(named(sums::DRILLS).and(drills(&stats.drills.all), Role::Text));
        for (harm, count) in &stats.drills.by_harm {
            out.push(named(harm.as_str()).and(drills(count), Role::Text));
        }
        out
    }

    fn reviewer(&self, out: &mut Vec<Para>, r: &OfReviewer) {
        out.push(who(r.login.as_deref().unwrap_or("-"), r.uid));
        let decided = r.granted + r.denied;
        let said = sums::decisions(r.granted, r.denied);
        out.push(named(sums::DECISIONS).and(said, Role::Text));
        if let Some(rate) = r.grant_rate {
            let para = named(sums::GRANTS).and(sums::percent(rate), Role::Text);
            out.push(self.barred(para, rate));
        }
        out.push(named(sums::LOOK).and(sums::median(r.median_look_ms), Role::Text));
        if decided > 0 {
            let para = named(sums::UNDER_FAST).and(sums::fast(r.fast, decided), Role::Text);
            let para = match r.fast_streak.unwrap_or(0) {
                0 => para,
                streak if streak >= ROW => para.and(sums::fast_streak(streak), Role::Flagged),
                streak => para.and(sums::fast_streak(streak), Role::Text),
            };
            out.push(self.barred(para, share(r.fast, decided)));
            if r.granted > 0 {
                let said = sums::not_all_seen(r.not_all_seen, r.granted);
                let role = if r.not_all_seen > 0 {
                    Role::Flagged
                } else {
                    Role::Text
                };
                let para = named(sums::UNSEEN).and(said, role);
                out.push(self.barred(para, share(r.not_all_seen, r.granted)));
            }
            let most = r.hours.iter().copied().max().unwrap_or(0);
            let hour = r.hours.iter().position(|n| *n == most).unwrap_or(0);
            let para = self.sparks(named(sums::HOURS), &r.hours);
            out.push(para.and(sums::by_hour(most, hour), Role::Text));
        }
        out.push(named(sums::DRILLS).and(drills(&r.drills), Role::Text));
    }

    fn agent(&self, out: &mut Vec<Para>, a: &OfAgent, most: u64) {
        out.push(who(&a.name, a.uid));
        let para = named(sums::PROPOSALS).and(words::number(a.proposed), Role::Text);
        out.push(self.barred(para, share(a.proposed, most)));
        let outcomes = sums::outcomes([a.granted, a.denied, a.expired, a.blocked]);
        let rest = sums::flagged_and_failed(a.flagged, a.proposed, a.failed);
        out.push(
            named(sums::OUTCOMES)
                .and(outcomes, Role::Text)
                .and(rest, Role::Text),
        );
        out.push(named(sums::LOOK).and(sums::median(a.median_look_ms), Role::Text));
    }

    /// One number a day, from the first day to the last; several days to a cell where they are many.
    fn days(&self, out: &mut Vec<Para>, name: &str, count: fn(&Day) -> u64) {
        let all = &self.stats.days;
        let (Some(first), Some(last)) = (all.first(), all.last()) else {
            return;
        };
        let most_cells = self.columns.saturating_sub(INDENT + NAME).clamp(1, CELLS);
        let days = since(first.day, last.day) + 1;
        let a_cell = days.div_ceil(most_cells).max(1);
        let mut cells = vec![0; days.div_ceil(a_cell)];
        for day in all {
            if let Some(cell) = cells.get_mut(since(first.day, day.day) / a_cell) {
                *cell += count(day);
            }
        }
        // Of equal days the first.
        let most = all.iter().rev().max_by_key(|day| count(day));
        let most = most.unwrap_or(first);
        let said = sums::most_on(
            all.iter().map(count).sum(),
            count(most),
            &most.day.to_string(),
        );
        let span = sums::by_day(&first.day.to_string(), &last.day.to_string(), a_cell);
        match self.drawn {
            true => {
                out.push(self.sparks(named(name), &cells));
                out.push(named("").and(span, Role::Dim));
                out.push(named("").and(said, Role::Text));
            }
            false => out.push(named(name).and(said, Role::Text)),
        }
    }

    fn runs(&self, out: &mut Vec<Para>, runs: &Runs) {
        out.push(named(sums::RUNS).and(sums::ended(runs.ended), Role::Text));
        let most = runs.limits.values().copied().max().unwrap_or(0);
        if runs.limits.is_empty() {
            out.push(named(sums::LIMITS).and(sums::NO_LIMIT, Role::Text));
        }
        for (limit, count) in &runs.limits {
            let para = named(limit).and(words::number(*count), Role::Text);
            out.push(self.barred(para, share(*count, most)));
        }
        if runs.scopes.is_empty() {
            out.push(named(sums::SCOPES).and(sums::NO_ACCESS_COUNTED, Role::Text));
        }
        let asked = |allowed: u64, blocked: u64| allowed.saturating_add(blocked);
        let most = runs.scopes.values().map(|s| asked(s.allowed, s.blocked));
        let most = most.max().unwrap_or(0);
        for (scope, of) in &runs.scopes {
            let said = sums::scope(of.allowed, of.blocked, of.runs);
            let para = named(scope).and(said, Role::Text);
            out.push(self.barred(para, share(asked(of.allowed, of.blocked), most)));
        }
    }

    /// A bar behind the number that it draws.
    fn barred(&self, para: Para, share: f64) -> Para {
        let room = self.columns.saturating_sub(para.text().len() + INDENT + 1);
        match self.drawn && share > 0.0 {
            true => para.and(
                format!(" {}", bar(share, room.min(BAR), false)),
                Role::Accent,
            ),
            false => para,
        }
    }

    fn sparks(&self, para: Para, counts: &[u64]) -> Para {
        let most = counts.iter().copied().max().unwrap_or(0);
        let cells: String = counts.iter().map(|n| spark(*n, most)).collect();
        match self.drawn {
            true => para.and(cells, Role::Accent).and(" ", Role::Text),
            false => para,
        }
    }
}

fn heading(out: &mut Vec<Para>, name: &str) {
    if !out.is_empty() {
        out.push(Para::default());
    }
    out.push(Para::new(name, Role::Strong));
}

fn more(out: &mut Vec<Para>, what: &str, all: usize) {
    if all > MOST {
        let said = sums::more_rows_of(what, all - MOST);
        out.push(Para::new(said, Role::Dim).indent(INDENT));
    }
}

/// A name, which may be an agent's claim, and the uid that the system vouches for.
fn who(name: &str, uid: u32) -> Para {
    let para = Para::default().indent(1);
    claim::and(para, &claim::named(name, WHO), Role::Accent).and(sums::uid(uid), Role::Dim)
}

fn named(name: &str) -> Para {
    Para::new(format!("{name:NAME$}"), Role::Dim)
        .indent(INDENT)
        .hang(NAME)
}

fn share(some: u64, all: u64) -> f64 {
    match all {
        0 => 0.0,
        all => some as f64 / all as f64,
    }
}

fn drills(count: &Count) -> String {
    match count.shown {
        0 => sums::NO_DRILLS.to_owned(),
        shown => sums::drills(shown, count.caught, count.granted, count.unanswered),
    }
}

/// Whether decisions that are counted are neighbours.
fn keeps_rows(question: &str) -> bool {
    Query::parse(question, Timestamp::UNIX_EPOCH).is_ok_and(|query| query.keeps_rows())
}

/// Days from one to another.
fn since(first: Date, day: Date) -> usize {
    let days = day.duration_since(first).as_hours() / 24;
    usize::try_from(days).unwrap_or(0)
}
