//! The last line: what is missing before a grant, the keys and the digest; or a text field.

use ratatui::layout::Rect;

use crate::broker::Entry;
use crate::model::file_name::may_be_saved;
use crate::model::{ProposalId, State, VoteKind};

use super::super::canvas::Canvas;
use super::super::claim;
use super::super::interval::IntervalSet;
use super::super::keys::Command;
use super::super::text;
use super::super::theme::Role;
use super::super::ui::{
    AllOf, Beside, Detail, OnScreen, Over, Pane, Part, Prompt, REVIEW_QUITS, Searched, View,
    is_paused, of_namesakes, too_late,
};
use super::super::words;
use super::super::words::sums;
use super::said::WITH_DIGEST;
use super::{Drawn, Screen};

/// The columns that a reason has at least on 80 columns.
const REASON: usize = 40;
/// The columns between a text and the hint behind it, so that the next characters have room.
const GROWS: usize = 4;

impl Screen<'_> {
    pub(super) fn footer(&self, canvas: &mut Canvas<'_>, area: Rect, drawn: &Drawn) {
        let area = Rect {
            x: area.x + 1,
            width: area.width.saturating_sub(2),
            ..area
        };
        if let Over::Palette(palette) = self.ui.over() {
            let keys = "Enter does it  Esc goes back";
            self.field(canvas, area, "command", keys, &palette.input);
            return;
        }
        if let Over::Picker(picker) = self.ui.over() {
            let picks = || words::picks(&self.ui.theme().name, self.ui.former_theme(picker));
            let (words, role) = match self.ui.idle() {
                Some(said) => (said.to_owned(), Role::Flagged),
                None => (picks(), Role::Key),
            };
            canvas.put_cut(area.x, area.y, area.width, &words, role);
            return;
        }
        match self.ui.prompt() {
            Some(Prompt::Deny { id, reason }) => match too_late(self.state, *id) {
                None => {
                    let label = self.deny_label_within(*id, area.width);
                    let keys = words::deny_keys(!reason.earlier.is_empty());
                    self.field(canvas, area, &label, keys, &reason.input);
                }
                Some(why) => {
                    let label = format!("{why}, nothing is sent");
                    self.field(
                        canvas,
                        area,
                        &label,
                        "Enter or Esc goes back",
                        &reason.input,
                    );
                }
            },
            Some(Prompt::AskAll(all)) => {
                let paused = is_paused(self.state, &all.agent);
                let keys = words::ask_all_keys(&self.ui.key(Command::Confirm), paused);
                let whom = claim::drawn(&claim::named(&all.agent.name, 16));
                let question = words::ask_all(all.waiting(self.state).len(), &whom);
                self.asked(canvas, area, &question, &keys);
            }
            Some(Prompt::DenyAll { all, reason }) => {
                let count = all.waiting(self.state).len();
                let whom = claim::drawn(&claim::named(&all.agent.name, 16));
                let paused = is_paused(self.state, &all.agent);
                let label = self.deny_all_label(all, &whom);
                let earlier = !reason.earlier.is_empty();
                let keys = words::deny_all_keys(count > 0, paused, earlier);
                self.field(canvas, area, &label, &keys, &reason.input);
            }
            Some(Prompt::Query(asking)) => {
                self.field(canvas, area, words::QUERY, words::QUERY_KEYS, &asking.input);
            }
            Some(Prompt::Export(field)) => {
                let label = sums::export_as(field.format);
                let keys = match field.offered {
                    true => sums::EXPORT_KEYS_OFFERED,
                    false => sums::EXPORT_KEYS,
                };
                let text = self.field(canvas, area, &label, keys, &field.input);
                if field.offered {
                    canvas.tint(text, Role::Selected);
                }
            }
            Some(Prompt::Search { input }) => {
                let keys = "Enter searches  Esc goes back";
                self.field(canvas, area, self.search_label(), keys, input);
            }
            Some(Prompt::Open { of, input }) => {
                let label = words::which_file(self.files(*of));
                self.field(canvas, area, &label, "Enter opens  Esc goes back", input);
            }
            Some(Prompt::Save { of, input }) => {
                let label = self.save_label(*of);
                self.field(canvas, area, &label, "Enter saves  Esc goes back", input);
            }
            Some(Prompt::Filter { input, .. }) => {
                self.field(
                    canvas,
                    area,
                    "filter",
                    "Enter keeps it  Esc goes back",
                    input,
                );
            }
            Some(Prompt::Quit) => {
                let keys = sums::quit_keys(&self.quits());
                let wide = text::width(&keys) + 2;
                let fits = |asks: &&String| text::width(asks) + wide <= usize::from(area.width);
                let forms = self.quit_questions();
                let question = forms.iter().find(fits).or(forms.last());
                let question = question.map_or(words::QUIT, String::as_str);
                self.asked(canvas, area, question, &keys);
            }
            None => self.status(canvas, area, drawn),
        }
    }

    /// A question, and its keys or what is said of the last one.
    fn asked(&self, canvas: &mut Canvas<'_>, area: Rect, question: &str, keys: &str) {
        let used = canvas.put_cut(area.x, area.y, area.width, question, Role::Flagged) + 2;
        let (words, role) = match self.ui.idle() {
            Some(said) => (said, Role::Flagged),
            None => (keys, Role::Key),
        };
        let room = area.width.saturating_sub(used);
        canvas.put_cut(area.x + used, area.y, room, words, role);
    }

    /// The key that quits when the screen asks.
    pub(super) fn quits(&self) -> String {
        match self.ui.reviewed() {
            Some(_) => REVIEW_QUITS.to_string(),
            None => self.ui.key(Command::Confirm),
        }
    }

    /// The question whether to quit, with all that ends, then shorter.
    pub(super) fn quit_questions(&self) -> Vec<String> {
        let (pending, running) = (self.state.pending_count(), self.state.running_count());
        let mut forms = Vec::new();
        if let Some(goes) = self.ui.exports() {
            forms.extend(sums::quit_exports(goes));
        }
        if pending + running > 0 {
            let asks = words::quit_question(pending, running);
            let exports = forms.first().cloned();
            forms = exports
                .map(|said| format!("{asks} {said}"))
                .into_iter()
                .collect();
            forms.push(asks);
        }
        forms.push(words::QUIT.to_owned());
        forms
    }

    fn search_label(&self) -> &'static str {
        match self.ui.searched(self.state) {
            Searched::Queue if self.ui.queue.lists.all.0 == 0 => words::SEARCH_DECIDED,
            Searched::Queue => "search the queue",
            Searched::Output => "search the output",
            Searched::Code => "search the code",
            Searched::Page => "search the page",
            Searched::Nothing => words::SEARCH,
        }
    }

    /// How many files this run left.
    pub(super) fn files(&self, of: ProposalId) -> usize {
        let run = self.state.entry(of).and_then(Entry::run);
        run.map_or(0, |run| run.artifacts.len())
    }

    /// The label of the field for a folder: how many files will be there.
    pub(super) fn save_label(&self, of: ProposalId) -> String {
        let run = self.state.entry(of).and_then(Entry::run);
        let files = run.map_or(&[][..], |run| run.artifacts.as_slice());
        let good = files.iter().filter(|file| may_be_saved(&file.name).is_ok());
        words::save_where(good.count(), files.len())
    }

    /// How many of an agent's would be denied. `whom`: its name, as it is shown.
    pub(super) fn deny_all_label(&self, all: &AllOf, whom: &str) -> String {
        let count = all.waiting(self.state).len();
        match of_namesakes(self.state, &all.agent) {
            others if count == 0 && others > 0 => words::nothing_but(others, whom, all.agent.pid),
            _ => words::deny_all(count, whom),
        }
    }

    /// The field's label names whom the denial is for.
    pub(super) fn deny_label(&self, id: ProposalId) -> String {
        let name = self.denied_name(id);
        match self.vetoes(id) {
            true => words::votes::veto_reason(&name),
            false => words::deny_reason(&name),
        }
    }

    /// Whether a denial is a veto here.
    fn vetoes(&self, id: ProposalId) -> bool {
        let entry = self.state.entry(id);
        entry.is_some_and(|entry| self.state.denies_as(entry) == VoteKind::Veto)
    }

    /// The agent's name. Marks stand for letters that imitate others, as everywhere.
    fn denied_name(&self, id: ProposalId) -> String {
        let entry = self.state.entry(id);
        let name = entry.map_or("", |entry| entry.proposal.agent_name());
        claim::drawn(&claim::named(name, 16))
    }

    /// The same, shorter where the reason would have too little room.
    fn deny_label_within(&self, id: ProposalId, width: u16) -> String {
        let label = self.deny_label(id);
        let said = self.ui.idle().map_or(0, |said| text::width(said) + 2);
        match text::width(&label) + 2 + said + REASON <= usize::from(width) {
            true => label,
            false if self.vetoes(id) => words::votes::short_veto_reason(&self.denied_name(id)),
            false => words::short_deny_reason(&self.denied_name(id)),
        }
    }

    fn field(
        &self,
        canvas: &mut Canvas<'_>,
        area: Rect,
        label: &str,
        keys: &str,
        input: &tui_input::Input,
    ) -> Rect {
        let used = canvas.put(
            area.x,
            area.y,
            area.width,
            &format!("{label}: "),
            Role::Accent,
        );
        let x = area.x + used;
        let value = input.value();
        // The text has its room before the keys.
        let needed = usize::from(used) + text::width(value) + 1 + GROWS;
        let fits = |hint: &String| needed + text::width(hint) <= usize::from(area.width);
        // What is said of the last key takes the place of the hint, and never the field's.
        let (hint, most, role) = match self.ui.idle() {
            Some(said) => (format!("  {said}"), area.width / 2, Role::Flagged),
            None => {
                let hints = words::shorter_keys(keys).into_iter();
                let hint = hints.map(|keys| format!("  {keys}")).find(fits);
                let hint = hint.unwrap_or_default();
                (hint, area.width, Role::Dim)
            }
        };
        let wide = (text::width(&hint) as u16).min(most);
        let room = area.width.saturating_sub(used + wide + 1);
        // The text before the cursor decides how far the field is scrolled.
        let cursor = value
            .char_indices()
            .nth(input.cursor())
            .map_or(value.len(), |(i, _)| i);
        let before = &value[..cursor];
        let mut from = 0;
        let mut columns = text::width(before);
        for piece in text::pieces(before) {
            if columns < usize::from(room) {
                break;
            }
            columns -= piece.width;
            from = piece.end;
        }
        canvas.put(x, area.y, room + 1, &value[from..], Role::Text);
        let right = area.right().saturating_sub(wide);
        canvas.put_cut(right, area.y, wide, &hint, role);
        canvas.tint(Rect::new(x + columns as u16, area.y, 1, 1), Role::Selected);
        let shown = (text::width(&value[from..]) as u16).min(room);
        Rect::new(x, area.y, shown, 1)
    }

    fn status(&self, canvas: &mut Canvas<'_>, area: Rect, drawn: &Drawn) {
        let mut x = area.x;
        let mut right = area.right();
        let room = |x: u16, right: u16| right.saturating_sub(x);
        let over = matches!(self.ui.over(), Over::Help { .. } | Over::Diff(_));
        let mut missing = None;
        if self.ui.view() == View::Queue && !over {
            if let Some(entry) = self.entry
                && area.width >= WITH_DIGEST
            {
                let digest = format!("sha256 {}", words::fingerprint(entry.code().digest()));
                let wide = text::width(&digest) as u16;
                right = right.saturating_sub(wide);
                canvas.put(right, area.y, wide, &digest, Role::Dim);
                right = right.saturating_sub(2);
            }
            let (progress, what) = self.progress(drawn, area.width);
            if let Some(progress) = progress {
                x += canvas.put_spans(x, area.y, room(x, right), &progress) + 2;
            }
            missing = what;
        }
        let said = self.said();
        let voting = said.is_some() && self.notice().is_none();
        // What has no room here stands above.
        let first = said.filter(|(said, _)| !self.is_above(said, area.width));
        let told = |said: &String| (said.clone(), Role::Flagged);
        if let Some((said, role)) = first.or(missing.as_ref().map(told)) {
            x += canvas.put_cut(x, area.y, room(x, right), &said, role) + 2;
        }
        // A key that did nothing leaves what was said before it.
        let still = missing.as_ref();
        let still = still.filter(|_| self.ui.idle().is_some() || voting);
        if let Some(missing) = still
            && text::width(missing) <= usize::from(room(x, right))
        {
            x += canvas.put(x, area.y, room(x, right), missing, Role::Flagged) + 2;
        }
        if self.state.is_closing() {
            return;
        }
        let over_now = self
            .entry
            .is_some_and(|entry| entry.state() != State::Pending);
        if over_now && self.notice().is_none() && !over && self.state.pending_count() == 0 {
            x += canvas.put(x, area.y, room(x, right), words::NOTHING_WAITS, Role::Dim) + 2;
        }
        let offers = self.offers(missing.is_some());
        let wide = |(key, word): &(String, &str)| (text::width(key) + text::width(word) + 3) as u16;
        // The way to the help always has its room.
        let help = offers.last().map_or(0, wide);
        let last = offers.len().saturating_sub(1);
        for (i, offer) in offers.into_iter().enumerate() {
            let kept = if i == last { 0 } else { help };
            if wide(&offer) + kept > room(x, right) + 2 {
                continue;
            }
            let (key, word) = offer;
            x += canvas.put(x, area.y, room(x, right), &key, Role::Key);
            x += canvas.put(x, area.y, room(x, right), &format!(" {word}"), Role::Dim) + 2;
        }
    }

    pub(super) fn notice(&self) -> Option<String> {
        if self.state.is_closing() {
            return Some(words::CLOSING.to_owned());
        }
        self.ui.notice(self.state, self.now)
    }

    /// How much was seen, and what is missing. The current frame does not count yet.
    fn progress(&self, drawn: &Drawn, width: u16) -> (Option<Vec<(String, Role)>>, Option<String>) {
        let (Some(entry), Some(layout)) = (self.entry, drawn.layout.as_ref()) else {
            return (None, None);
        };
        if entry.state() != State::Pending {
            return (None, None);
        }
        let none = IntervalSet::default();
        let seen = self.looked().map_or(&none, |l| &l.seen);
        let (have, total) = layout.progress(seen);
        let filled = (have * 5).checked_div(total).unwrap_or(5);
        let spans = vec![
            ("seen ".to_owned(), Role::Dim),
            ("▮".repeat(filled), Role::Accent),
            ("▯".repeat(5 - filled), Role::Rule),
            (
                format!(
                    " {}/{}{}",
                    words::number(have as u64),
                    words::number(total as u64),
                    if width < 60 { "" } else { " rows" }
                ),
                Role::Text,
            ),
        ];
        let missing = layout.doc.missing(seen, Some(layout));
        let wraps = |m| format!("{m}{}", words::wraps(&self.ui.key(Command::Wrap)));
        let missing = if self.ui.queue.wrap {
            missing
        } else {
            missing.map(wraps)
        };
        (Some(spans), missing)
    }

    fn has_files(&self) -> bool {
        let run = self.entry.filter(|e| e.is_recorded()).and_then(Entry::run);
        run.is_some_and(|run| !run.artifacts.is_empty())
    }

    /// The keys that are useful now, the most useful first.
    fn offers(&self, missing: bool) -> Vec<(String, &'static str)> {
        use Command as C;
        if matches!(self.ui.over(), Over::Help { .. }) {
            return vec![(self.ui.key(C::Back), "closes the help")];
        }
        if let Over::Diff(compared) = self.ui.over() {
            let more = compared.at + 1 < compared.choices.len();
            let word = if more { "an earlier one" } else { "closes it" };
            return vec![(self.ui.key(C::Diff), word), (self.ui.key(C::Back), "back")];
        }
        let mut out = Vec::new();
        match self.ui.place() {
            OnScreen::Queue => {
                match self.entry.map(|e| e.state()) {
                    Some(State::Pending) => {
                        if missing {
                            out.push((C::PageCode, "next"));
                        } else if self.ui.obstacle(self.state, self.now).is_none() {
                            let from = self.ui.askable_from();
                            let works = from.is_some_and(|from| self.now.boot >= from);
                            // Both words have the same width, so the others do not move.
                            out.push((C::Grant, if works { "grant" } else { "waits" }));
                        }
                        if self.entry.is_some_and(Entry::awaits_decision) {
                            out.push((C::Deny, "deny"));
                        }
                        let id = self.entry.map(|e| e.proposal.id);
                        if id.is_some_and(|id| self.state.editable(id, self.now).is_ok()) {
                            out.push((C::Edit, "edit"));
                        }
                    }
                    Some(State::Granted | State::Running) => out.push((C::Kill, "kill")),
                    Some(_) if self.has_files() => {
                        out.extend([(C::OpenOutside, "open"), (C::Save, "save")]);
                    }
                    _ => {}
                }
                if self.ui.hides(self.state) {
                    let word = if self.ui.queue.as_drawn {
                        "marks only"
                    } else {
                        "as drawn"
                    };
                    out.push((C::AsDrawn, word));
                }
                if self
                    .ui
                    .most_urgent(self.state)
                    .is_some_and(|id| Some(id) != self.ui.selected())
                {
                    out.push((C::Urgent, words::NEXT_WAITING));
                }
                if self.entry.is_some() {
                    out.push((C::NextPane, "pane"));
                    let focus = self.ui.focus_now(self.entry);
                    if self.ui.queue.zoom {
                        out.push((C::Zoom, "smaller"));
                    } else if !matches!(focus, Pane::Queue | Pane::Code) {
                        out.push((C::Zoom, "larger"));
                    }
                    out.push((C::Search, "search"));
                }
            }
            OnScreen::Audit(log) if matches!(log.beside, Beside::Facets(_)) => {
                out.extend([
                    (C::Open, "narrows"),
                    (C::Search, "query"),
                    (C::Facets, "closes"),
                ]);
            }
            OnScreen::Audit(log) if log.page.detail.is_some() || log.beside.stage() > 0 => {
                if let Some(replay) = log.replay() {
                    let turn = if replay.is_over() { "again" } else { "pause" };
                    out.extend([(C::Open, turn), (C::Left, "slower"), (C::Right, "faster")]);
                    out.extend([(C::NextPane, "cut waits"), (C::Top, "restart")]);
                } else if let Some(dossier) = log.dossier() {
                    out.extend([(C::NextPane, "part"), (C::Details, "records")]);
                    if dossier.plays().is_some() {
                        out.push((C::Open, "play"));
                    }
                } else if log.page.dossier.is_some() {
                    out.push((C::Details, "page"));
                }
                out.push((C::Back, "back"));
                if log.page.detail.is_some() && log.replay().is_none() {
                    out.push((C::Search, "search"));
                }
            }
            OnScreen::Audit(log) => {
                if log.id().is_some() || log.own().is_some() {
                    out.push((C::Open, "show"));
                }
                let leaves = match self.ui.reviewed() {
                    Some(_) => (C::Quit, "quit"),
                    None => (C::Queue, "queue"),
                };
                out.extend([(C::Search, "query"), leaves, (C::Facets, "facets")]);
                out.extend([(C::Statistics, "statistics"), (C::Export, "export")]);
            }
            OnScreen::Agents(screen) => {
                let folded = self.ui.folded_at_hand(self.state, self.now) > 0;
                if screen.part == Part::Agents && folded {
                    out.push((C::Open, "shows each"));
                } else if screen.part == Part::Agents && screen.at.is_some() {
                    out.extend([(C::Open, "its first"), (C::DenyAll, "deny all, pause")]);
                }
                let details = match screen.detail {
                    Detail::Folded => "details",
                    Detail::Whole => "fewer details",
                };
                out.extend([(C::NextPane, "pane"), (C::Details, details)]);
                out.push((C::Queue, "queue"));
            }
        }
        out.push((C::Help, "help"));
        out.into_iter()
            .filter(|(command, _)| self.ui.has(*command))
            .map(|(command, word)| (self.ui.key(command), word))
            .collect()
    }
}
