//! What the log, the agents of screen 3 and the text fields say in plain lines.

use crate::model::AgentId;

use super::super::action::AuditRow;
use super::super::claim;
use super::super::flow::Para;
use super::super::keys::Command;
use super::super::plain::{exact, plain};
use super::super::ui::{LogScreen, OnScreen, Over, Prompt, agent_rows, is_paused, too_late};
use super::super::words;
use super::Screen;
use super::queue::SOON;
use super::spoken::{TITLE, claimed, short};

impl Screen<'_> {
    /// The audit log as a whole, and one of its rows.
    pub(in crate::tui) fn spoken_log(&self) -> Option<String> {
        let log = self.ui.place().log()?;
        let page = &log.page;
        let state = match &page.damage {
            None if page.reading.is_some() => {
                format!(", {}", words::reading_log(page.reading.unwrap_or_default()))
            }
            // The program that only reads says it of the whole log, once that was read.
            None if self.ui.reviewed().is_some() => String::new(),
            None => format!(
                ", {}",
                words::consistent(page.anchored, page.anchored_from, usize::MAX)
            ),
            Some(damage) => format!(", DAMAGED: {damage}"),
        };
        let query = match log.query.as_str() {
            "" => String::new(),
            query => format!(" of the query \"{}\"", exact(&query.replace('"', "\\\"")).0),
        };
        Some(plain(&format!(
            "AUDIT, {}{query}{state}, {}",
            words::proposals(page.total),
            self.zone()
        )))
    }

    pub(in crate::tui) fn spoken_log_row(&self) -> Option<String> {
        let screen = self.ui.place().log()?;
        let row: &AuditRow = screen
            .page
            .rows
            .get(screen.row.checked_sub(screen.page.offset)?)?;
        let name = claimed(&claim::named(&row.agent, 24));
        let end = words::plain::settled(
            [&row.decided, &row.by, &row.after, &row.looked, &row.ran].map(|t| exact(t).0),
        );
        Some(format!(
            "{} of {}, {}, asked {}{end}, {}, {}; agent {name} says: {}",
            screen.row + 1,
            screen.page.total,
            row.state,
            row.time,
            row.verdict,
            row.profile,
            short(&row.title, TITLE)
        ))
    }

    /// What the filter shows: `filter "x": 3 of 12`, with `first` also the first of them. What it hides and expires soon
    /// comes before.
    pub(in crate::tui) fn spoken_filter(&self, first: bool) -> Option<String> {
        let lists = &self.ui.queue.lists;
        let on = lists.filter.is_on();
        let shown = lists.shown + lists.decided.len();
        let all = lists.all.0 + lists.all.1;
        let left = lists
            .hidden_until
            .map(|at| at.saturating_sub(self.now.boot));
        let soon = left.filter(|left| *left < SOON);
        let words = exact(&lists.filter.words().replace('"', "\\\"")).0;
        let out = words::plain::filter(&words, shown, all, soon);
        let shows = lists.live.first().or(lists.decided.first());
        on.then(|| match shows {
            Some(id) if first => format!("{out}; first: {}", self.spoken_line(*id)),
            Some(_) => out,
            None => format!(
                "{out}; {}",
                words::plain::shows_all(&self.ui.key(Command::Back))
            ),
        })
    }

    /// The selected agent of screen 3, and its place.
    pub(in crate::tui) fn spoken_agent(&self) -> Option<(AgentId, String)> {
        let OnScreen::Agents(screen) = self.ui.place() else {
            return None;
        };
        let rows = agent_rows(self.state, self.now, &screen.unfolded);
        let at = rows
            .iter()
            .position(|row| screen.at.as_ref().is_some_and(|at| row.has(at)))
            .unwrap_or(0);
        let row = rows.get(at)?;
        let paused = if row.paused { "paused, " } else { "" };
        let (t, facts) = (&row.counts, self.agent_facts(row));
        let counts = words::plain::agent_counts(
            t.undecided,
            [t.granted, t.denied, t.blocked],
            t.per_minute,
            &format!("{}%", self.fullest(row)),
        );
        let facts = plain(&format!("{counts} · {facts}"));
        // In quotes it can be no fact.
        let name = claimed(&claim::named(&row.agent.name, 24)).replace('"', "\\\"");
        Some((
            row.agent.clone(),
            format!(
                "{} of {}, agent \"{name}\", {paused}{facts}",
                at + 1,
                rows.len()
            ),
        ))
    }

    /// A question's or a field's label, with its keys.
    pub(in crate::tui) fn spoken_prompt(&self) -> Option<String> {
        if matches!(self.ui.over(), Over::Palette(_)) {
            return Some(words::plain::COMMAND.to_owned());
        }
        Some(match self.ui.prompt()? {
            Prompt::Deny { id, reason } => match too_late(self.state, *id) {
                None => {
                    let keys = words::plain::reason_keys(!reason.earlier.is_empty(), None);
                    format!("{}: {keys}", self.deny_label(*id))
                }
                Some(why) => format!("{why}, {}", words::plain::NOT_SENT),
            },
            Prompt::AskAll(all) => {
                let paused = is_paused(self.state, &all.agent);
                let keys = words::plain::ask_all_keys(&self.ui.key(Command::Confirm), paused);
                let whom = claimed(&claim::named(&all.agent.name, 16));
                let count = all.waiting(self.state).len();
                format!("{} {keys}", words::ask_all(count, &whom))
            }
            Prompt::DenyAll { all, reason } => {
                let count = all.waiting(self.state).len();
                let whom = claimed(&claim::named(&all.agent.name, 16));
                let (label, paused) = (
                    self.deny_all_label(all, &whom),
                    is_paused(self.state, &all.agent),
                );
                if count == 0 {
                    return Some(format!("{label}: {}", words::plain::pause_keys(paused)));
                }
                let earlier = !reason.earlier.is_empty();
                let keys = words::plain::reason_keys(earlier, Some(paused));
                format!("{label}, reason: {keys}")
            }
            Prompt::Open { of, input } => {
                let label = words::which_file(self.files(*of));
                format!("{label}. {}", words::plain::open_keys(input.value()))
            }
            Prompt::Save { of, input } => {
                let label = self.save_label(*of);
                let files: Vec<String> = self.to_save(*of).iter().map(Para::text).collect();
                let keys = words::plain::save_keys(&exact(input.value()).0);
                format!("{label} a folder: {}. {keys}", files.join("; "))
            }
            Prompt::Export(field) => {
                let rows = self.ui.place().log().and_then(LogScreen::total);
                let has = exact(&field.input.value().replace('"', "\\\"")).0;
                words::sums::spoken_export(rows, field.format, &has)
            }
            Prompt::Filter { input, .. } => {
                words::plain::filter_keys(&exact(&input.value().replace('"', "\\\"")).0)
            }
            Prompt::Query(asking) => {
                words::plain::query_keys(&exact(&asking.input.value().replace('"', "\\\"")).0)
            }
            Prompt::Search { .. } => words::plain::search(self.ui.searched(self.state)),
            Prompt::Quit => {
                let keys = words::plain::quit_keys(&self.quits());
                let asks = self.quit_questions().into_iter().next();
                format!("{} {keys}", asks.unwrap_or_default())
            }
        })
    }
}
