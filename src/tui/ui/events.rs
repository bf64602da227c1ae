//! Turns one terminal event into actions.

use std::mem::{Discriminant, discriminant};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind};
use tui_input::Input;

use crate::broker::BrokerState;
use crate::clock::Now;
use crate::model::State;

use super::super::action::{Action, AuditPage};
use super::super::caps::Depth;
use super::super::charset;
use super::super::keys::{Command, Key, Meaning};
use super::super::words;
use super::pausing::Turn;
use super::{LogScreen, Notice, OnScreen, Over, Palette, Pane, Prompt, Shows, Span, UiState, View};

/// Rows of screen 2 loaded at once.
pub const AUDIT_ROWS: usize = 500;

/// A key with when it was typed, and whether it was meant.
#[derive(Clone, Copy)]
struct Typed {
    key: Key,
    when: Span,
    /// As a key that opens the sheet, and as one that confirms it.
    asks: bool,
    confirms: bool,
}

/// A text field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Palette,
    Prompt(Discriminant<Prompt>),
}

impl UiState {
    /// Handles an event that was read as soon as it was typed.
    pub fn on_event(&mut self, state: &BrokerState, event: &Event, now: Now) -> Vec<Action> {
        self.on_typed(state, event, Span::at(now.boot), now)
    }

    /// Handles an event with the time span in which it could have been typed.
    pub fn on_typed(
        &mut self,
        state: &BrokerState,
        event: &Event,
        when: Span,
        now: Now,
    ) -> Vec<Action> {
        charset::scope(self.common.charset, || self.hear(state, event, when, now))
    }

    fn hear(&mut self, state: &BrokerState, event: &Event, when: Span, now: Now) -> Vec<Action> {
        self.accrue(now);
        self.count(now);
        let actions = match event {
            Event::Key(key) => return self.on_key(state, key, when, now),
            Event::Paste(text) => {
                self.paste(state, text);
                self.fresh_grace(now);
                Vec::new()
            }
            Event::Resize(..) => {
                self.fresh_grace(now);
                Vec::new()
            }
            Event::FocusGained => {
                match self.attention.focused {
                    Some(false) => self.tell_of_absence(state),
                    // A first report that the focus came means that it was elsewhere until now.
                    None => self.forget_focus(),
                    Some(true) => {}
                }
                self.attention.focused = Some(true);
                // A key may have been pressed in another window.
                self.stalled(now);
                Vec::new()
            }
            Event::FocusLost => {
                self.attention.focused = Some(false);
                self.attention.left_at = Some(now);
                self.fresh_grace(now);
                Vec::new()
            }
            Event::Mouse(event) => self.on_mouse(state, event, now),
        };
        self.attention.quiet.heard(when);
        actions
    }

    /// Handles meaningless bytes: input that is not an event.
    pub fn on_noise(&mut self, when: Span) {
        self.attention.quiet.heard(when);
    }

    fn on_key(
        &mut self,
        state: &BrokerState,
        event: &KeyEvent,
        when: Span,
        now: Now,
    ) -> Vec<Action> {
        let key = Key::of(event);
        if event.kind == KeyEventKind::Release {
            self.attention.quiet.heard(when);
            return Vec::new();
        }
        let typed = Typed {
            key,
            when,
            asks: self.asks(key, when),
            confirms: self.confirms(key, when),
        };
        self.attention.quiet.pressed(key, when);
        if event.kind == KeyEventKind::Repeat && !self.repeats(key) {
            self.heard.at = now.boot;
            return Vec::new();
        }
        if self.attention.quiet.is_rest() {
            self.heard.at = now.boot;
            self.remarks.notice = Some(words::REST_OF_PASTE.into());
            return Vec::new();
        }
        let field = self.field();
        // The notice answered the previous key.
        self.remarks.notice = None;
        self.hear_key(key, now);
        let meaning = self.common.keys.meaning(self.attention.before, key);
        if !matches!(self.over, Over::Prompt(_) | Over::Palette(_)) {
            self.note_after_denial(key, meaning);
        }
        let stand = self.stand();
        let actions = self.on_pressed(state, event, typed, now);
        if field.is_some() && key.is(KeyCode::Enter) && self.field() != field {
            self.attention.quiet.left_field();
        }
        if actions.is_empty() && self.remarks.notice.is_none() && self.stand() == stand {
            self.tell_idle(state, key, meaning);
        }
        actions
    }

    /// Whether a held key goes on: it only moves by lines or columns, and edits in a text field.
    fn repeats(&self, key: Key) -> bool {
        let moves = matches!(
            self.common.keys.meaning(None, key),
            Meaning::Does(Command::Up | Command::Down | Command::Left | Command::Right)
        );
        match self.is_in_field() {
            true => !key.is(KeyCode::Enter),
            false => moves,
        }
    }

    /// Whether a text field has the keys.
    pub(in crate::tui) fn is_in_field(&self) -> bool {
        self.field().is_some()
    }

    /// The text field that has the keys.
    fn field(&self) -> Option<Field> {
        match &self.over {
            Over::Palette(_) => Some(Field::Palette),
            Over::Prompt(prompt) => {
                let prompt = prompt.input().map(|_| discriminant(prompt));
                prompt.map(Field::Prompt)
            }
            _ => None,
        }
    }

    fn on_pressed(
        &mut self,
        state: &BrokerState,
        event: &KeyEvent,
        typed: Typed,
        now: Now,
    ) -> Vec<Action> {
        let Typed {
            key,
            when,
            asks,
            confirms,
        } = typed;
        let blank = KeyEvent::from(KeyCode::Char(' '));
        // In a paste without brackets it is a line break, and a blank as in one with brackets.
        let pasted = key == Key::LINE_FEED && !when.alone && self.is_in_field();
        let event = if pasted { &blank } else { event };
        // Redraw also works on the sheet and in a text field, unless its key types a character
        // there.
        let redraws = self.common.keys.meaning(None, key) == Meaning::Does(Command::Redraw);
        if redraws && key.typed().is_none() {
            self.asked_anew += 1;
            return Vec::new();
        }
        match self.over {
            Over::Nothing => {}
            Over::Prompt(_) => return self.on_prompt(state, event, asks, now),
            Over::Help { .. } => return self.on_help(key),
            Over::Palette(_) => return self.on_palette(state, event, now),
            Over::Picker(_) => return self.on_picker(key),
            Over::Diff(_) => {
                if let Some(actions) = self.on_diff(state, key) {
                    return actions;
                }
            }
            Over::Sheet(_) => return self.on_sheet(state, key, when, confirms, now),
        }
        let meaning = self.common.keys.meaning(self.attention.before.take(), key);
        let command = match meaning {
            Meaning::Does(command) => command,
            Meaning::Begins => {
                self.attention.before = Some(key);
                return Vec::new();
            }
            Meaning::Nothing => return Vec::new(),
        };
        if command == Command::Grant && self.view() == View::Queue && !asks {
            // Another obstacle is more informative than "too early".
            self.remarks.notice = match (self.obstacle(state, now), self.queue.selected) {
                (Some(_), Some(id)) => Some(Notice::CannotAsk(id)),
                (_, None) => Some(Notice::NothingSelected),
                _ => Some(Notice::TooEarly(key)),
            };
            return Vec::new();
        }
        self.command(state, command, now)
    }

    /// What ended by itself while the terminal had no focus.
    fn tell_of_absence(&mut self, state: &BrokerState) {
        let Some(left) = self.attention.left_at.take() else {
            return;
        };
        let ended = state
            .decided()
            .take_while(|entry| entry.ended().is_some_and(|at| at.boot > left.boot));
        let (mut expired, mut withdrawn) = (0, 0);
        for entry in ended {
            match entry.state() {
                State::Expired => expired += 1,
                State::Withdrawn => withdrawn += 1,
                _ => {}
            }
        }
        if expired + withdrawn > 0 {
            self.remarks.notice = Some(words::while_away(expired, withdrawn).into());
        }
    }

    fn on_help(&mut self, key: Key) -> Vec<Action> {
        match self.common.keys.meaning(self.attention.before.take(), key) {
            Meaning::Does(Command::Help | Command::Back | Command::Quit) => self.over.close(),
            Meaning::Does(Command::Suspend) => return vec![Action::Suspend],
            Meaning::Does(Command::TimeLeft) => self.say_time_left(),
            Meaning::Does(command) => self.scroll_over(command),
            Meaning::Begins => self.attention.before = Some(key),
            Meaning::Nothing => {}
        }
        Vec::new()
    }

    pub(super) fn command(
        &mut self,
        state: &BrokerState,
        command: Command,
        now: Now,
    ) -> Vec<Action> {
        if !self.has(command) {
            return Vec::new();
        }
        if let Some(actions) = self.on_wait_for_page(command) {
            return actions;
        }
        match command {
            Command::Theme
            | Command::Wrap
            | Command::Zoom
            | Command::AsDrawn
            | Command::Left
            | Command::Right
                if self.common.spoken =>
            {
                self.remarks.notice = Some(words::plain::NOTHING_DRAWN.into());
            }
            Command::Theme if self.common.caps.depth == Depth::None => {
                self.remarks.notice = Some(words::NO_COLOURS.into());
            }
            Command::Theme => self.open_picker(),
            Command::Redraw => self.asked_anew += 1,
            Command::Help => self.over = Over::Help { top: 0 },
            Command::Palette => self.over = Over::Palette(Palette::default()),
            Command::Suspend => return vec![Action::Suspend],
            Command::TimeLeft => self.say_time_left(),
            Command::Quit => return self.quit(state),
            Command::Queue if self.is_on_line() => self.queue.zoom = true,
            Command::Queue => {
                self.place = OnScreen::Queue;
                self.focus_on(Pane::Queue);
            }
            Command::Audit => {
                self.place = OnScreen::Audit(LogScreen::default());
                return self.load_log(String::new());
            }
            Command::Policies => self.open_agents(state, now),
            Command::Search | Command::SearchNext | Command::SearchPrevious if !self.searches() => {
            }
            Command::Search if self.view() == View::Audit && !self.has_page() => self.ask_log(),
            Command::Export if self.view() == View::Audit && !self.has_page() => {
                self.ask_export(now);
            }
            Command::SearchNext | Command::SearchPrevious
                if self.view() == View::Audit && !self.has_page() =>
            {
                let (next, asks) = (self.key(command), self.key(Command::Search));
                self.remarks.notice = Some(words::no_next(&next, &asks).into());
            }
            Command::Search if self.lists_nothing() => {
                self.remarks.notice = Some(Notice::NothingPending);
            }
            Command::Search => {
                // Output that is played moves on, so its page is searched.
                if let OnScreen::Audit(log) = &mut self.place
                    && log.replay().is_some()
                {
                    log.shows = Shows::Page;
                }
                self.over = Over::Prompt(Prompt::Search {
                    input: Input::default(),
                });
            }
            Command::SearchNext => return self.search(state, false, now),
            Command::SearchPrevious => return self.search(state, true, now),
            _ => {
                return match self.view() {
                    View::Queue => self.on_queue(state, command, now),
                    View::Audit => self.on_audit(command, now),
                    View::Agents => self.on_agents(state, command, now),
                };
            }
        }
        Vec::new()
    }

    /// Whether the current screen has something to search.
    fn searches(&self) -> bool {
        match &self.place {
            OnScreen::Queue => true,
            OnScreen::Audit(_) => true,
            OnScreen::Agents(_) => false,
        }
    }

    /// Whether a page or records of a proposal are open on screen 2.
    fn has_page(&self) -> bool {
        self.place
            .log()
            .is_some_and(|log| log.page.detail.is_some())
    }

    /// Whether the queue has the keys and no proposal at all.
    pub(super) fn lists_nothing(&self) -> bool {
        let on_list = self.view() == View::Queue && self.queue.focus == Pane::Queue;
        on_list && self.queue.lists.all == (0, 0)
    }

    fn on_queue(&mut self, state: &BrokerState, command: Command, now: Now) -> Vec<Action> {
        match command {
            Command::Open
            | Command::NextPane
            | Command::PreviousPane
            | Command::Inputs
            | Command::NextPoint
            | Command::PreviousPoint
            | Command::Details
            | Command::Zoom
                if self.entry(state).is_none() =>
            {
                self.remarks.notice = Some(Notice::NothingSelected);
            }
            Command::Grant => self.ask(state, now),
            Command::Deny => self.ask_denial(state),
            Command::Edit => return self.ask_edit(state, now),
            Command::DenyAll => self.ask_denial_of_all(state),
            Command::Pause => return self.turn_agent(state, Turn::Pause),
            Command::Resume => return self.turn_agent(state, Turn::Resume),
            Command::Kill => return self.kill(state),
            Command::Diff => return self.ask_diff(state, now),
            Command::Urgent => match self.most_urgent(state) {
                Some(id) => {
                    self.select(id, now);
                    self.focus_on(Pane::Queue);
                    self.unhide(state, id);
                }
                None => self.remarks.notice = Some(Notice::NothingPending),
            },
            Command::NextPane => self.step_focus(state, true),
            Command::PreviousPane => self.step_focus(state, false),
            Command::Open if self.focus_now(self.entry(state)) == Pane::Code => self.toggle_fold(),
            Command::Open => self.queue.focus = Pane::Code,
            Command::Inputs => self.show_inputs(state),
            Command::OpenOutside => return self.ask_open(state),
            Command::Save => self.ask_save(state),
            Command::Copy => return vec![Action::Copy],
            Command::Order => {
                self.queue.lists.order = self.queue.lists.order.next();
                self.relist(state);
                self.remarks.notice = Some(words::order(self.queue.lists.order.as_str()).into());
            }
            Command::NextPoint => self.step_point(state, true),
            Command::PreviousPoint => self.step_point(state, false),
            Command::Details => self.show_details(state),
            Command::Wrap => {
                self.queue.wrap = !self.queue.wrap;
                let (left, right) = (self.key(Command::Left), self.key(Command::Right));
                self.remarks.notice = Some(words::wrapping(self.queue.wrap, &left, &right).into());
            }
            Command::Zoom => self.queue.zoom = !self.queue.zoom,
            Command::AsDrawn => {
                self.queue.as_drawn = !self.queue.as_drawn;
                // Cached flows were wrapped with the previous setting.
                self.kept.flows.clear();
                self.remarks.notice =
                    Some(words::as_drawn(self.queue.as_drawn, self.hides(state)).into());
            }
            Command::Filter if self.queue.lists.all == (0, 0) => {
                self.remarks.notice = Some(Notice::NothingPending);
            }
            Command::Filter => self.ask_filter(),
            Command::Alike => self.turn_group(state, command, now),
            Command::Back if self.queue.zoom => self.queue.zoom = false,
            Command::Back if self.filters() => {
                self.set_filter(state, "");
                self.remarks.notice = Some(words::FILTER_OFF.into());
            }
            Command::Back => {
                self.common.found.clear();
                self.focus_on(Pane::Queue);
            }
            _ => self.scroll_queue(state, command, now),
        }
        self.redocument(state, now);
        Vec::new()
    }

    /// Whether `Esc` drops the filter: it is on, and the queue has the focus.
    pub(in crate::tui) fn filters(&self) -> bool {
        self.queue.lists.filter.is_on() && self.queue.focus == Pane::Queue
    }

    fn step_focus(&mut self, state: &BrokerState, forward: bool) {
        let entry = self.entry(state);
        let panes = self.panes(entry);
        let here = self.focus_now(entry);
        let at = panes.iter().position(|p| *p == here).unwrap_or(0);
        let step = if forward { 1 } else { panes.len() - 1 };
        self.focus_on(panes[(at + step) % panes.len()]);
    }

    pub(super) fn focus_on(&mut self, pane: Pane) {
        self.queue.focus = pane;
        self.queue.zoom = false;
        if !matches!(self.queue.focus, Pane::Queue | Pane::Code) {
            let focus = self.queue.focus;
            self.queue.recent.retain(|p| *p != focus);
            self.queue.recent.insert(0, focus);
        }
    }

    /// `i`: to the details, and back to the code.
    fn show_details(&mut self, state: &BrokerState) {
        match self.focus_now(self.entry(state)) {
            Pane::Details => self.focus_on(Pane::Code),
            _ => self.focus_on(Pane::Details),
        }
    }

    pub fn set_audit(&mut self, page: AuditPage) {
        // If screen 2 was left meanwhile, or asks something else, its own answer follows.
        if let OnScreen::Audit(log) = &mut self.place
            && log.query == page.query
        {
            log.take(page);
        }
    }

    pub(super) fn on_audit(&mut self, command: Command, now: Now) -> Vec<Action> {
        let OnScreen::Audit(log) = &mut self.place else {
            return Vec::new();
        };
        if log.replay().is_some() {
            self.on_replay(command, now);
            return Vec::new();
        }
        if log.page.detail.is_some() {
            match command {
                Command::Open => self.play(now),
                Command::Back => {
                    (log.page.detail, log.page.dossier) = (None, None);
                    log.top = 0;
                    // The log may have grown since its rows were read.
                    return self.reload();
                }
                Command::Details => log.turn(),
                Command::NextPane => self.step_part(true),
                Command::PreviousPane => self.step_part(false),
                Command::Inputs | Command::Diff | Command::OpenOutside => self.go_to_part(command),
                _ => self.scroll_over(command),
            }
            return Vec::new();
        }
        if let Some(actions) = self.on_sums(command) {
            return actions;
        }
        let OnScreen::Audit(log) = &mut self.place else {
            return Vec::new();
        };
        match command {
            Command::Open => match log.id() {
                Some(id) => {
                    let query = log.query.clone();
                    log.opening = Some(id);
                    let set = log.set;
                    let said = words::opens(&self.key(Command::Back));
                    self.remarks.notice = Some(Notice::OfAuditRows(set, said.into()));
                    return vec![Action::ShowRecord { query, id }];
                }
                None if log.own().is_some() => {
                    log.page.detail = log.own().cloned();
                    (log.top, log.found, log.shows) = (0, None, Shows::Page);
                    // What was laid out is of other rows.
                    log.set += 1;
                }
                None => {
                    self.remarks.notice =
                        Some(Notice::OfAuditRows(log.set, words::NO_RECORD.into()));
                }
            },
            Command::Back if !log.query.is_empty() => {
                self.remarks.notice = Some(words::NO_QUERY_ANY_MORE.into());
                return self.load_log(String::new());
            }
            Command::Back if self.has(Command::Queue) => self.place = OnScreen::Queue,
            Command::Back => {}
            _ => return self.scroll_audit(command),
        }
        Vec::new()
    }
}
