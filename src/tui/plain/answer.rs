//! The answer to a key: where it led, what it changed, or why it did nothing.

use std::time::Duration;

use tui_input::Input;

use crate::model::ProposalId;

use super::super::glossary;
use super::super::keys::Command;
use super::super::ui::{Beside, Notice, Over, Pane, Prompt};
use super::super::words;
use super::lines::{Lines, exact, plain};
use super::page::{Page, What};
use super::turn::{Came, Place, Turn};
use super::{Idle, Plain, field, warnings};

/// A key that comes too early again within this time is held down, or pressed in impatience.
const HELD: Duration = Duration::from_secs(1);
/// Words that the field of commands explains at once.
const EXPLAINED: usize = 3;
/// Proposals that a list reads out.
const LISTED: usize = 20;

impl Plain {
    /// Answers a key, and tells what the person is looking at now.
    pub(super) fn answer(&mut self, turn: &Turn<'_>, out: &mut Lines) {
        let place = turn.place();
        let before = self.said.place.replace(place);
        let moved = before != Some(place);
        let typed = matches!(before, Some(Place::Prompt(..)));
        // In a text field a key is a letter.
        let command = match turn.pressed && !typed {
            true => turn.ui.heard.command,
            false => None,
        };
        let selected = turn.ui.selected();
        let chosen = self.said.selected != selected;
        if moved {
            out.end();
            self.field.close();
        }
        let came = self.came(before, place);
        let begun = out.len();
        let denials = self.news.denials(turn.screen, turn.state);
        for line in &denials {
            out.line(line);
        }
        if !denials.is_empty() && selected.is_some() && turn.state.pending_count() == 0 {
            out.line(words::plain::NOTHING_WAITS);
        }
        let denying = std::mem::take(&mut self.said.denying);
        if chosen {
            self.said.selected = selected;
            self.page = None;
            // Its line says the time left.
            let entry = turn.screen.selected();
            self.said.warned = entry.map_or(0, |e| warnings(e.left(turn.now)));
        }
        self.tell_edit(turn, out);
        let notice = turn.ui.remark();
        // A key that is held down is answered once.
        let early = matches!(notice, Some(Notice::TooEarly(_)));
        let held = early
            && self.said.notice.as_ref() == notice
            && (self.said.too_early).is_some_and(|at| turn.now.boot < at.saturating_add(HELD));
        if turn.pressed {
            self.said.too_early = early.then_some(turn.now.boot);
        }
        let noted =
            notice.is_some() && !held && (turn.pressed || self.said.notice.as_ref() != notice);
        self.said.notice = notice.cloned();
        if noted && let Some(text) = turn.ui.notice(turn.state, turn.now) {
            let unread = matches!(notice, Some(Notice::CannotAsk(_)))
                && turn.ui.to_be_read(turn.state, turn.now).is_ok();
            let code = |page: &&Page| matches!(page.what, What::Code(..));
            let read = self
                .page
                .as_ref()
                .filter(code)
                .map_or(0..0, |page| page.rows.clone());
            let total = unread.then(|| match self.left_out(turn, &read) {
                // What is missing is being read out.
                0 => 0,
                _ => self.left_out(turn, &(0..0)),
            });
            let total = match total {
                Some(rows) => words::plain::in_all(rows),
                None => turn.screen.spoken_blocks(notice),
            };
            out.line(&format!("{}{total}", plain(&words::plain::of(&text))));
        }
        self.said.denying = turn.ui.denies() || denying && !chosen && (typed || !turn.pressed);
        match place {
            Place::Prompt(..) if moved => {
                self.said.chosen = None;
                out.line(&plain(&turn.screen.spoken_prompt().unwrap_or_default()));
            }
            Place::Prompt(..) => {
                self.tell_chosen(turn, out);
                self.tell_filtered(turn, out);
            }
            Place::Agents => self.show_agent(turn, moved, command, out),
            Place::Log(_) => self.show_log(turn, moved, command, out),
            Place::Summing if moved || command.is_some() => out.line(words::plain::READING_LOG),
            Place::Summing => {}
            Place::Facets(known) => self.show_facets(turn, known, moved, command, out),
            Place::Page(What::Pane(pane, _))
                if command == Some(Command::PageCode) && !moved && !turn.pages(pane) =>
            {
                self.read(turn, true, out);
            }
            Place::Page(what @ What::Pane(Pane::Output, _)) => {
                let searched = was_search(before) && turn.ui.heard.command != Some(Command::Back);
                let came = match searched {
                    true if noted => Came::Stayed,
                    true => Came::ToMatch,
                    false => came,
                };
                self.show_output(turn, what, came, command, out);
            }
            // An answer to what was typed is not followed by all that was read before.
            Place::Page(what) => {
                let came = match came {
                    Came::Anew if typed && noted => Came::Stayed,
                    came => came,
                };
                self.show_page(turn, what, came, command, out);
            }
            Place::Queue | Place::Code => {
                let filtered = self.tell_filter(turn, out, false);
                let shows = !turn.ui.queue.lists.live.is_empty();
                // A grant is told by its run, a stale sheet by its notice.
                let closed = matches!(before, Some(Place::Page(What::Sheet(..))));
                let back = moved && !noted && before.is_some() && place == Place::Queue;
                let listed = chosen
                    || back && (!closed || command == Some(Command::Back)) && !typed
                    || filtered && shows;
                match selected {
                    Some(id) if listed && command != Some(Command::Queue) => {
                        let line = turn.screen.spoken_line(id);
                        match chosen && denying {
                            true => out.line(&words::plain::selected_now(&line, true)),
                            false => out.line(&line),
                        }
                    }
                    None if listed && before.is_some() => out.line(words::NONE_WAITS),
                    _ => {}
                }
                if matches!(
                    before,
                    Some(
                        Place::Page(_)
                            | Place::Log(_)
                            | Place::Summing
                            | Place::Facets(_)
                            | Place::Agents
                    )
                ) && moved
                {
                    self.page = None;
                }
                if let Some(command) = command {
                    self.queue_command(turn, command, noted, moved, out);
                }
                self.follow_cursor(turn, chosen, command, out);
            }
        }
        if turn.ui.asked_anew != self.said.redraws {
            self.said.redraws = turn.ui.asked_anew;
            self.again(turn, out);
        }
        if turn.state.is_closing() && !std::mem::replace(&mut self.said.closing, true) {
            out.line(words::CLOSING);
        }
        // What was typed and taken back is answered with what stands here.
        let taken_back = typed && turn.ui.heard.command == Some(Command::Back);
        let silent = out.is_empty() || taken_back && out.len() == begun;
        if turn.pressed && silent && !held && !matches!(place, Place::Prompt(..)) {
            self.nothing_said(turn, place, command, typed, out);
        }
    }

    /// Takes back an answer that the key before had, if both did nothing and came in one burst: of a held key, or of a
    /// paste.
    pub(super) fn say_once(&mut self, turn: &Turn<'_>, mark: (usize, usize), out: &mut Lines) {
        if !turn.pressed {
            return;
        }
        let command = turn.ui.heard.command;
        let ends = matches!(command, Some(Command::Top | Command::Bottom));
        let moves = !turn.ui.is_in_field() && command.is_some_and(Command::scrolls) && !ends;
        let this = (moves || turn.ui.idle().is_some()).then(|| Idle {
            said: out.since(mark).to_owned(),
            at: turn.now.boot,
            stand: turn.ui.stand(),
            command,
        });
        let before = std::mem::replace(&mut self.idle, this);
        if let (Some(this), Some(before)) = (&mut self.idle, before)
            && (before.stand, before.command) == (this.stand, this.command)
            && this.at < before.at.saturating_add(HELD)
            && (this.said == before.said || this.said.is_empty())
        {
            out.back_to(mark);
            this.said = before.said;
        }
    }

    /// Takes in where the person went. What a field or a question covers is kept.
    fn came(&mut self, before: Option<Place>, place: Place) -> Came {
        let typed = matches!(before, Some(Place::Prompt(..)));
        match place {
            place if before == Some(place) => Came::Stayed,
            Place::Prompt(..) => {
                if !typed {
                    self.said.behind = self.page.take();
                }
                self.page = None;
                Came::Anew
            }
            Place::Page(what) => {
                match self.said.behind.take().filter(|p| typed && p.what == what) {
                    Some(page) => {
                        self.page = Some(page.stopped());
                        Came::Back
                    }
                    None => Came::Anew,
                }
            }
            _ => {
                self.said.behind = None;
                Came::Anew
            }
        }
    }

    /// Says the verdict on the person's edit, and what can be done with it.
    fn tell_edit(&mut self, turn: &Turn<'_>, out: &mut Lines) {
        let entry = turn.screen.selected();
        let code = entry.map(|entry| (entry.proposal.id, entry.code().digest()));
        let before = std::mem::replace(&mut self.said.code, code);
        let edited = before
            .zip(code)
            .is_some_and(|(a, b)| a.0 == b.0 && a.1 != b.1);
        if let Some(entry) = entry.filter(|_| edited) {
            for said in turn.screen.spoken_edit(entry) {
                out.line(&said.text);
            }
        }
    }

    fn show_agent(
        &mut self,
        turn: &Turn<'_>,
        new: bool,
        command: Option<Command>,
        out: &mut Lines,
    ) {
        let said = turn.screen.spoken_agent();
        if new {
            self.page = None;
            out.line(&words::plain::agents(&turn.ui.key(Command::NextPane)));
        }
        let agent = said.as_ref().map(|(agent, _)| agent.clone());
        let stays = !new && agent == self.said.agent;
        if !stays || command.is_some_and(Command::scrolls) {
            let line = said.map_or_else(|| words::NO_AGENT.to_owned(), |(_, line)| line);
            out.line(&format!("{}{line}", edge(stays, command)));
        }
        self.said.agent = agent;
    }

    pub(super) fn show_log(
        &mut self,
        turn: &Turn<'_>,
        new: bool,
        command: Option<Command>,
        out: &mut Lines,
    ) {
        let row = turn.ui.place().log().map_or(0, |log| log.row);
        if turn.place() == Place::Log(false) {
            if new || command == Some(Command::Audit) {
                out.line(words::plain::READING_LOG);
            }
            return;
        }
        if new {
            self.page = None;
            out.line(&turn.screen.spoken_log().unwrap_or_default());
        }
        let stays = !new && row == self.said.log_row;
        if !stays || command.is_some_and(Command::scrolls) {
            let line = turn.screen.spoken_log_row();
            let asked = turn.ui.place().log().filter(|log| !log.query.is_empty());
            let none = || match asked {
                Some(log) => words::none_such(log.all, &turn.ui.key(Command::Back)),
                None => words::AUDIT_EMPTY.to_owned(),
            };
            let line = line.unwrap_or_else(none);
            out.line(&format!("{}{line}", edge(stays, command)));
        }
        self.said.log_row = row;
    }

    pub(super) fn show_facets(
        &mut self,
        turn: &Turn<'_>,
        known: bool,
        new: bool,
        command: Option<Command>,
        out: &mut Lines,
    ) {
        let Some(log) = turn.ui.place().log() else {
            return;
        };
        let Beside::Facets(list) = &log.beside else {
            return;
        };
        let row = list.index();
        if new {
            self.page = None;
            out.line(&turn.screen.spoken_facets(log, list));
        }
        let stays = !new && row == self.said.log_row;
        if known
            && (!stays || command.is_some_and(Command::scrolls))
            && let Some(line) = turn.screen.spoken_facet(list)
        {
            out.line(&format!("{}{line}", edge(stays, command)));
        }
        self.said.log_row = row;
    }

    /// The keys of the queue that are answered with what they ask for.
    pub(super) fn queue_command(
        &mut self,
        turn: &Turn<'_>,
        command: Command,
        noted: bool,
        moved: bool,
        out: &mut Lines,
    ) {
        let in_code = turn.place() == Place::Code;
        match command {
            Command::Queue => self.list(turn, out),
            Command::NextPane | Command::PreviousPane if in_code && moved => {
                out.line(&words::plain::code(&turn.ui.key(Command::PageCode)));
            }
            Command::PageCode => self.read(turn, true, out),
            Command::Open | Command::Inputs if in_code => self.read(turn, false, out),
            Command::PageDown | Command::PageUp | Command::Top | Command::Bottom if in_code => {
                self.read(turn, false, out);
            }
            Command::Up | Command::Down if in_code => self.read_row(turn, command, out),
            Command::NextPoint | Command::PreviousPoint if noted => {
                self.read_row(turn, command, out);
            }
            Command::Urgent if !noted => {
                if let Some(id) = turn.ui.selected().filter(|_| out.is_empty()) {
                    out.line(&turn.screen.spoken_line(id));
                }
            }
            _ => {}
        }
    }

    /// What was searched for, and where it is.
    pub(super) fn tell_found(&self, turn: &Turn<'_>, out: &mut Lines) {
        let words = exact(&turn.ui.common.found.replace('"', "\\\"")).0;
        let of = turn.ui.searched(turn.state);
        out.line(&words::plain::found(&words, of, turn.ui.hit(turn.state)));
    }

    /// A search that found something moved the cursor.
    pub(super) fn follow_cursor(
        &mut self,
        turn: &Turn<'_>,
        chosen: bool,
        command: Option<Command>,
        out: &mut Lines,
    ) {
        let cursor = turn.looked().map(|l| l.cursor);
        let searched = matches!(
            command,
            None | Some(Command::SearchNext | Command::SearchPrevious)
        );
        if turn.pressed
            && !chosen
            && searched
            && cursor != self.said.cursor
            && !turn.ui.common.found.is_empty()
        {
            if command.is_none() {
                self.tell_found(turn, out);
            }
            self.read_row(turn, Command::SearchNext, out);
        }
    }

    /// Everything that waits, and the news.
    pub(super) fn list(&mut self, turn: &Turn<'_>, out: &mut Lines) {
        self.page = None;
        self.tell_news(turn, out);
        if let Some(line) = turn.screen.spoken_filter(false) {
            out.line(&line);
        }
        let ids = &turn.ui.queue.lists.live;
        if ids.is_empty() {
            out.line(words::NONE_WAITS);
        }
        let listed = ids.iter().take(LISTED);
        if let Some(id) = turn
            .ui
            .selected()
            .filter(|id| !listed.clone().any(|listed| listed == id))
        {
            out.line(&words::plain::selected_now(
                &turn.screen.spoken_line(id),
                false,
            ));
        }
        for id in listed {
            let selected = if Some(*id) == turn.ui.selected() {
                "selected, "
            } else {
                ""
            };
            out.line(&format!("{selected}{}", turn.screen.spoken_line(*id)));
        }
        let lists = &turn.ui.queue.lists;
        let told = |ids: &[ProposalId]| {
            let selected = turn.ui.selected();
            usize::from(ids.iter().any(|id| Some(*id) == selected))
        };
        let rest = ids.get(LISTED..).unwrap_or_default();
        let (more, decided) = (
            rest.len() - told(rest),
            lists.decided.len() - told(&lists.decided),
        );
        if more + decided > 0 {
            let (down, up) = (turn.ui.key(Command::Down), turn.ui.key(Command::Up));
            out.line(&words::plain::more_proposals(more, decided, &down, &up));
        }
    }

    /// What the filter shows, once its words stay the same for a moment.
    fn tell_filtered(&mut self, turn: &Turn<'_>, out: &mut Lines) {
        self.said.filter_due = None;
        let words = turn.ui.queue.lists.filter.words();
        if turn.ui.filter_words().is_none() || words == self.said.filter {
            return;
        }
        let due = turn.ui.heard.at.saturating_add(field::REST);
        match turn.now.boot < due {
            true => self.said.filter_due = Some(due),
            false => {
                self.tell_filter(turn, out, true);
            }
        }
    }

    /// The filter, if it is another one than the last that was told. `first`: with the first row that it shows. Returns
    /// whether it was told.
    fn tell_filter(&mut self, turn: &Turn<'_>, out: &mut Lines, first: bool) -> bool {
        let words = turn.ui.queue.lists.filter.words();
        if words == self.said.filter {
            return false;
        }
        words.clone_into(&mut self.said.filter);
        let said = turn.ui.remark().is_some_and(Notice::is_of_filter);
        match turn.screen.spoken_filter(first) {
            Some(line) => out.line(&line),
            // The notice says it.
            None if said => return false,
            None => out.line(words::FILTER_OFF),
        }
        true
    }

    /// What the palette would do.
    pub(super) fn tell_chosen(&mut self, turn: &Turn<'_>, out: &mut Lines) {
        self.said.chosen_due = None;
        let Over::Palette(palette) = turn.ui.over() else {
            return;
        };
        let due = turn.ui.heard.at.saturating_add(field::REST);
        let program = &turn.ui.common.program;
        let chosen = palette.found(program).get(palette.at).copied();
        let typed = palette.input.value();
        let told = chosen == self.said.chosen && typed == self.said.explained;
        // What the last key was answered with names it too.
        if told || typed.is_empty() || turn.ui.idle().is_some() {
            return;
        }
        if turn.now.boot < due {
            self.said.chosen_due = Some(due);
        } else {
            let same = std::mem::replace(&mut self.said.chosen, chosen) == chosen;
            typed.clone_into(&mut self.said.explained);
            let meanings = glossary::explain(program.glossary(), typed);
            let chosen = chosen.filter(|c| meanings.is_empty() || palette.is_meant(*c));
            match chosen {
                Some(_) if same => {}
                Some(command) => out.line(&plain(&turn.ui.command_said(turn.state, command))),
                None if meanings.is_empty() => out.line(&plain(&palette.none(program))),
                None => {}
            }
            for (word, meaning) in meanings.iter().take(EXPLAINED) {
                out.line(&plain(&words::plain::means(word, meaning)));
            }
        }
    }

    /// A key that was answered by nothing else.
    pub(super) fn nothing_said(
        &mut self,
        turn: &Turn<'_>,
        place: Place,
        command: Option<Command>,
        typed: bool,
        out: &mut Lines,
    ) {
        let ui = turn.ui;
        let here = || match ui.selected() {
            Some(id) => turn.screen.spoken_line(id),
            None => words::NONE_WAITS.to_owned(),
        };
        if let (Place::Page(What::Sheet(..)), Some(sheet)) = (place, ui.sheet()) {
            if ui.typed_digits().is_some_and(|typed| !typed.is_empty()) {
                return;
            }
            let total = self.rows.len();
            let read = self.page.as_ref().map_or(0, |page| page.rows.end);
            let key = ui.key(Command::PageCode);
            out.line(&match self.sheet_gap(turn, total) {
                _ if read > total => turn.screen.spoken_question(sheet),
                _ if read < total => words::plain::more(&key, read, total, "Row"),
                Some((first, last)) => words::plain::sheet_left_out(first, last, &key),
                None => words::plain::WAIT.to_owned(),
            });
            return;
        }
        match command {
            // The field was closed.
            None if typed => out.line(&here()),
            None if ui.heard.begins => out.line(&words::plain::begins(&ui.begun())),
            None => {}
            Some(Command::Back) => out.line(&here()),
            Some(command) if command.scrolls() => {
                out.line(&format!("{}{}", edge(true, Some(command)), here()));
            }
            Some(_) => {}
        }
    }
}

/// Whether the field of a search had the keys.
fn was_search(place: Option<Place>) -> bool {
    let input = Input::default();
    let search = std::mem::discriminant(&Prompt::Search { input });
    matches!(place, Some(Place::Prompt(_, Some(prompt))) if prompt == search)
}

/// Said before a row that a key did not go beyond.
pub(super) const fn edge(stays: bool, command: Option<Command>) -> &'static str {
    match command {
        Some(Command::Down | Command::PageDown | Command::Bottom) if stays => {
            words::plain::edge(true)
        }
        Some(Command::Up | Command::PageUp | Command::Top) if stays => words::plain::edge(false),
        _ => "",
    }
}
