//! Screen 2: the audit log's proposals, newest first, the question that selects them, and one proposal's records.

use std::sync::Arc;

use ratatui::layout::Rect;

use crate::audit::query::{Own, Query, QueryError};

use super::super::action::{AuditPage, AuditRow};
use super::super::canvas::Canvas;
use super::super::claim;
use super::super::flow::{Flow, Para};
use super::super::gutter::Gutter;
use super::super::keys::Command;
use super::super::text;
use super::super::theme::Role;
use super::super::ui::{Asking, Beside, FlowKey, LogScreen, Prompt};
use super::super::words;
use super::super::words::sums;
use super::facets::BESIDE;
use super::spoken_rows::RECORD_TEXT;
use super::{Drawn, Screen, draw_flow};

/// Screens of fewer rows have none for the columns' names.
const HEADED: u16 = 5;
/// Rows that stay free for the log while a question is typed.
const LEFT: u16 = 4;
/// Columns of a heading's rule and of the gap before its last words.
const HEADING: usize = 5;
/// Columns of an offer, and of a key's name.
const OFFER: u16 = 40;
const NAME: u16 = 9;
/// Columns before the gutter of a kept text: it stands below the fields' names.
const TEXT_INDENT: usize = 4;

impl Screen<'_> {
    pub(super) fn audit(
        &self,
        canvas: &mut Canvas<'_>,
        area: Rect,
        log: &LogScreen,
        drawn: &mut Drawn,
    ) {
        let page = &log.page;
        if let Some(replay) = log.replay() {
            let flow = replay.flow(area.width.saturating_sub(4));
            let heading = [
                (words::dossier::REPLAY.to_owned(), Role::Accent),
                (format!("  {}", replay.said()), Role::Dim),
            ];
            // The end is what was printed last.
            self.page(canvas, area, &heading, &flow, flow.rows.len(), drawn);
            return;
        }
        if let Some(dossier) = log.dossier() {
            let width = area.width.saturating_sub(4);
            let key = FlowKey::Dossier(log.set, width);
            let flow = self.ui.flow(&key).cloned().unwrap_or_else(|| {
                let flow = Arc::new(dossier.flow(width));
                drawn.flows.push((key, flow.clone()));
                flow
            });
            let mut heading = vec![
                (words::dossier::PROPOSAL.to_owned(), Role::Accent),
                (format!("  {}", dossier.id), Role::Dim),
            ];
            let stands = [dossier.state(), dossier.judged()];
            heading.extend(
                stands
                    .into_iter()
                    .flatten()
                    .map(|said| (format!("  {said}"), Role::Strong)),
            );
            self.page(canvas, area, &heading, &flow, log.top, drawn);
            mark_found(canvas, area, log, flow.rows.len());
            drawn.starts.clone_from(&flow.starts);
            return;
        }
        if let Some(detail) = &page.detail {
            let width = area.width.saturating_sub(4);
            let key = FlowKey::Record(log.set, width);
            let flow = self.ui.flow(&key).cloned().unwrap_or_else(|| {
                let flow = Arc::new(Flow::new(&record(detail), width));
                drawn.flows.push((key, flow.clone()));
                flow
            });
            let id = page
                .dossier
                .as_ref()
                .map_or(String::new(), |d| format!("  {}", d.id));
            let heading = [
                (words::dossier::RECORD.to_owned(), Role::Accent),
                (format!("{id}  {}", self.zone()), Role::Dim),
            ];
            self.page(canvas, area, &heading, &flow, log.top, drawn);
            mark_found(canvas, area, log, flow.rows.len());
            return;
        }
        let typed = self.ui.prompt().is_some();
        let area = match &log.beside {
            Beside::Facets(list) if area.width >= BESIDE || !typed => {
                match self.facets(canvas, area, log, list, drawn) {
                    Some(rest) => rest,
                    None => return,
                }
            }
            _ => area,
        };
        if let Beside::Statistics(stats) = &log.beside {
            return self.statistics(canvas, area, log, stats.as_ref(), drawn);
        }
        let mut heading = vec![("AUDIT".to_owned(), Role::Accent)];
        let loaded = log.set > 0;
        if let Some(total) = log.total() {
            heading.push((format!("  {}", self.listed(log, total)), Role::Dim));
        }
        if let Some(goes) = self.ui.exports() {
            heading.push((format!("  {}", sums::export_goes(goes)), Role::Flagged));
        }
        if !log.query.is_empty() {
            let query = words::of_query(&claim::drawn(&log.query));
            heading.push((query, Role::Strong));
        }
        let wide = |heading: &[(String, Role)]| -> usize {
            heading.iter().map(|(said, _)| text::width(said)).sum()
        };
        let zone = format!("  {}", self.zone());
        if loaded && wide(&heading) + text::width(&zone) + HEADING <= usize::from(area.width) {
            heading.push((zone, Role::Dim));
        }
        let used = wide(&heading);
        match &page.damage {
            Some(damage) if loaded => heading.push((format!("  DAMAGED: {damage}"), Role::Bad)),
            None if log.opening.is_some() => {
                heading.push((format!("  {}", words::OPENING), Role::Flagged));
            }
            None if page.reading.is_some() => {
                let reading = match self.ui.reviewed() {
                    // The banner says how far that is.
                    Some(_) => words::NOT_CHECKED.to_owned(),
                    None => words::reading_log(page.reading.unwrap_or_default()),
                };
                heading.push((format!("  {reading}"), Role::Flagged));
            }
            // The header of the program that only reads says it, of the whole log.
            None if loaded && self.ui.reviewed().is_none() => {
                let room = usize::from(area.width).saturating_sub(used + HEADING);
                let state = words::consistent(page.anchored, page.anchored_from, room);
                if !state.is_empty() {
                    heading.push((format!("  {state}"), Role::Dim));
                }
            }
            _ => {}
        }
        canvas.headed_rule(area.x, area.y, area.width, &heading);
        let mut rows = Rect {
            y: area.y + 1,
            height: area.height.saturating_sub(1),
            ..area
        };
        if let Some(Prompt::Query(asking)) = self.ui.prompt() {
            let height = self.asking(canvas, rows, asking, page);
            rows.height -= height;
        }
        if loaded && page.total == 0 && page.damage.is_none() && page.reading.is_none() {
            let own = self.asks_for_own(log);
            let none = match (log.query.is_empty(), own) {
                (true, _) => words::AUDIT_EMPTY.to_owned(),
                (_, Some(own)) if own.is_of_removals() => words::REMOVED_NOTHING.to_owned(),
                (_, Some(_)) => words::NO_SUCH_RECORD.to_owned(),
                (false, None) => words::none_such(log.all, &self.ui.key(Command::Back)),
            };
            canvas.put(rows.x + 2, rows.y, rows.width, &none, Role::Dim);
        } else if rows.height > HEADED {
            draw_columns(canvas, Rect { height: 1, ..rows });
            rows.y += 1;
            rows.height -= 1;
        }
        let height = usize::from(rows.height);
        drawn.list_rows = height;
        // The selected row stays a third from the top, so there is no second scroll position to
        // store.
        let last = page.total.saturating_sub(height);
        let top = log.row.saturating_sub(height / 3).min(last);
        for (y, place) in (rows.y..rows.bottom()).zip(top..page.total) {
            let line = Rect::new(rows.x, y, rows.width, 1);
            match place
                .checked_sub(page.offset)
                .and_then(|i| page.rows.get(i))
            {
                Some(row) => draw_row(canvas, line, row),
                None => {
                    canvas.put(line.x + 1, y, line.width, "…", Role::Dim);
                }
            }
            if place == log.row {
                canvas.put(line.x, y, 1, words::HERE, Role::Accent);
                canvas.tint(line, Role::Selected);
            }
        }
    }

    /// The records of the dashboard itself that the question asks for.
    fn asks_for_own(&self, log: &LogScreen) -> Option<Own> {
        Query::parse(&log.query, self.now.wall).ok()?.own()
    }

    /// How many rows there are of what.
    fn listed(&self, log: &LogScreen, total: usize) -> String {
        match self.asks_for_own(log).is_some() {
            true => words::count(total, "record"),
            false => words::proposals(total),
        }
    }

    /// In which zone the times of this screen are.
    pub(super) fn zone(&self) -> String {
        let zone = &self.ui.common.zone;
        match zone.iana_name() {
            Some(name) => words::times_in(name),
            None => {
                let at = self.now.wall.to_zoned(zone.clone());
                words::times_in(&at.strftime("UTC%:z").to_string())
            }
        }
    }

    /// What can stand where a question is typed, or what is wrong with it, at the end of the area. Returns its rows.
    fn asking(
        &self,
        canvas: &mut Canvas<'_>,
        area: Rect,
        asking: &Asking,
        page: &AuditPage,
    ) -> u16 {
        let at = |rows: u16| Rect {
            y: area.bottom() - rows,
            height: rows,
            ..area
        };
        if let Some(wrong) = &asking.wrong {
            let said = Flow::new(
                &[Para::new(wrong.to_string(), Role::Flagged)],
                area.width.saturating_sub(4),
            );
            let rows = u16::try_from(said.rows.len()).unwrap_or(u16::MAX);
            let area = at(rows.saturating_add(3).min(area.height));
            let heading = [(words::NOT_A_QUERY.to_owned(), Role::Flagged)];
            canvas.headed_rule(area.x, area.y, area.width, &heading);
            marked(canvas, area, wrong);
            let below = Rect {
                x: area.x + 2,
                y: area.y + 3,
                width: area.width.saturating_sub(4),
                height: area.height.saturating_sub(3),
            };
            draw_flow(canvas, below, &said, 0);
            return area.height;
        }
        let offers = asking.offers(&page.rows).all;
        let room = usize::from(area.height.saturating_sub(LEFT));
        if room < 2 {
            return 0;
        }
        let all = offers.len();
        let taken = asking.taken();
        // What was taken stays in sight.
        let shown = all.min(room - 1);
        let first = taken.map_or(0, |taken| (taken + 1).saturating_sub(shown));
        let shown = if all > room - 1 { room - 2 } else { shown };
        let rows = match all {
            0 => 1,
            all if all > shown => shown + 1,
            _ => shown,
        };
        let area = at(u16::try_from(rows + 1).unwrap_or(u16::MAX));
        let heading = [(words::CAN_STAND.to_owned(), Role::Dim)];
        canvas.headed_rule(area.x, area.y, area.width, &heading);
        let x = area.x + 2;
        let width = area.width.saturating_sub(3);
        let some = offers.iter().enumerate().skip(first).take(shown);
        for (y, (i, offer)) in (area.y + 1..).zip(some) {
            let role = match taken == Some(i) {
                true => Role::Accent,
                false => Role::Key,
            };
            let used = canvas.put_claim(x, y, width.min(OFFER), &offer.text, role);
            let at = used.max(NAME) + 1;
            if taken == Some(i) {
                canvas.put(x - 1, y, 1, words::HERE, Role::Accent);
            }
            if !offer.what.is_empty() {
                canvas.put_cut(x + at, y, width.saturating_sub(at), offer.what, Role::Text);
            }
        }
        let hidden = |i: &usize| !(first..first + shown).contains(i);
        let more: Vec<&str> = (0..all)
            .filter(hidden)
            .map(|i| offers[i].text.trim_end_matches(':'))
            .collect();
        let last = area.bottom() - 1;
        if all == 0 {
            canvas.put_cut(x, last, width, words::WORDS_STAND, Role::Dim);
        } else if !more.is_empty() {
            canvas.put_cut(x, last, width, &words::more_offers(&more), Role::Dim);
        }
        area.height
    }
}

/// Marks the row that a search found.
fn mark_found(canvas: &mut Canvas<'_>, area: Rect, log: &LogScreen, rows: usize) {
    let height = usize::from(area.height.saturating_sub(1));
    let top = log.top.min(rows.saturating_sub(height));
    let at = log.found.and_then(|found| found.checked_sub(top));
    if let Some(at) = at.filter(|at| *at < height) {
        // It is below the height of the area.
        let y = area.y + 1 + at as u16;
        canvas.tint(Rect::new(area.x, y, area.width, 1), Role::Selected);
    }
}

/// The question with marks below what is wrong, as far to the left as they need.
fn marked(canvas: &mut Canvas<'_>, area: Rect, wrong: &QueryError) {
    let (x, width) = (area.x + 2, usize::from(area.width.saturating_sub(4)));
    let chars: Vec<char> = wrong.question.chars().collect();
    let from = wrong.column - 1;
    let text = |from: usize, to: usize| -> String {
        chars[from.min(chars.len())..to.min(chars.len())]
            .iter()
            .collect()
    };
    let mut first = 0;
    while first < from && claim::width(&text(first, from + wrong.length)) > width {
        first += 1;
    }
    let before = claim::width(&text(first, from));
    let long = claim::width(&text(from, from + wrong.length)).max(1);
    let columns = u16::try_from(width).unwrap_or(u16::MAX);
    canvas.put_claim(
        x,
        area.y + 1,
        columns,
        &text(first, chars.len()),
        Role::Text,
    );
    let at = u16::try_from(before.min(width)).unwrap_or(u16::MAX);
    let marks = "^".repeat(long.min(width));
    canvas.put(
        x + at,
        area.y + 2,
        columns.saturating_sub(at),
        &marks,
        Role::Flagged,
    );
}

/// A record's lines; wrapped rows keep their line's indent. Kept texts, of code or of a run, stand behind the gutter.
pub(super) fn record(lines: &[String]) -> Vec<Para> {
    let para = |line: &String| {
        if let Some(text) = line.strip_prefix(RECORD_TEXT) {
            let para = Para::default().given(text, Role::Text);
            return para.behind(Gutter::PLAIN.indent(TEXT_INDENT));
        }
        let text = line.trim_start_matches(' ');
        let indent = line.len() - text.len();
        let empty = Para::default().indent(indent).hang(2);
        match indent == 0 || text.starts_with("agent: ") || text.starts_with("title: ") {
            true => claim::and(empty, text, Role::Text),
            false => empty.given(text, Role::Text),
        }
    };
    lines.iter().map(para).collect()
}

/// A column's heading, its width, and from which width of the screen it is there.
type Column = (&'static str, u16, u16);

/// The title has the rest.
const COLUMNS: [Column; 10] = [
    ("asked, local", 14, 100),
    ("decided, local", 14, 0),
    ("outcome", 10, 0),
    ("by", 9, 50),
    ("took", 7, 72),
    ("looked", 7, 60),
    ("ran", 7, 110),
    ("verdict", 12, 130),
    ("agent", 12, 72),
    ("profile", 10, 150),
];

fn columns(width: u16) -> impl Iterator<Item = (usize, &'static Column)> {
    let columns = COLUMNS.iter().enumerate();
    columns.filter(move |(_, (_, _, from))| width >= *from)
}

fn draw_columns(canvas: &mut Canvas<'_>, line: Rect) {
    let mut x = line.x + 1;
    for (_, (name, wide, _)) in columns(line.width) {
        canvas.put(x, line.y, *wide, name, Role::Dim);
        x += wide + 1;
    }
    canvas.put(
        x,
        line.y,
        line.right().saturating_sub(x + 1),
        "title",
        Role::Dim,
    );
}

fn draw_row(canvas: &mut Canvas<'_>, line: Rect, row: &AuditRow) {
    let decided = match row.decided.is_empty() {
        true => words::WAITS,
        false => &row.decided,
    };
    let cells: [(&str, Role); 10] = [
        (&row.time, Role::Dim),
        (decided, Role::Dim),
        (&row.state, state_role(&row.state)),
        (&row.by, Role::Text),
        (&row.after, Role::Dim),
        (&row.looked, Role::Text),
        (&row.ran, Role::Dim),
        (&row.verdict, Role::Text),
        (&row.agent, Role::Text),
        (&row.profile, Role::Dim),
    ];
    let mut x = line.x + 1;
    for (i, (_, wide, _)) in columns(line.width) {
        let (text, role) = cells[i];
        let room = line.right().saturating_sub(x + 1);
        canvas.put_claim(x, line.y, (*wide).min(room), text, role);
        x = x.saturating_add(wide + 1);
    }
    let room = line.right().saturating_sub(x + 1);
    canvas.put_claim(x, line.y, room, &row.title, Role::Text);
}

fn state_role(state: &str) -> Role {
    match state {
        "succeeded" => Role::Good,
        "failed" | "error" => Role::Bad,
        "blocked" => Role::Blocked,
        _ => Role::Dim,
    }
}
