//! One terminal event in, actions out.

use crossterm::event::{Event, KeyEvent, KeyEventKind};
use tui_input::Input;

use crate::broker::{BrokerState, selection};
use crate::clock::Now;
use crate::model::ProposalId;

use super::super::action::Action;
use super::super::caps::Depth;
use super::super::keys::{Command, Key, Meaning};
use super::super::words;
use super::{Notice, Pane, Prompt, Span, UiState, View, panes};

/// Rows of screen 2 that are loaded at once.
pub const AUDIT_ROWS: usize = 500;

impl UiState {
    /// An event that was read as it was typed.
    pub fn on_event(&mut self, state: &BrokerState, event: &Event, now: Now) -> Vec<Action> {
        self.on_typed(state, event, Span::at(now.boot), now)
    }

    /// An event, with the time in which it could have been typed.
    pub fn on_typed(
        &mut self,
        state: &BrokerState,
        event: &Event,
        when: Span,
        now: Now,
    ) -> Vec<Action> {
        self.accrue(now);
        self.count(now);
        let actions = match event {
            Event::Key(key) => return self.on_key(state, key, when, now),
            Event::Paste(text) => {
                self.paste(text);
                self.fresh_grace(now);
                Vec::new()
            }
            Event::Resize(..) => {
                self.fresh_grace(now);
                Vec::new()
            }
            Event::FocusGained => {
                self.focused = Some(true);
                // A key may have gone down elsewhere.
                self.stalled(now);
                Vec::new()
            }
            Event::FocusLost => {
                self.focused = Some(false);
                self.fresh_grace(now);
                Vec::new()
            }
            Event::Mouse(_) => Vec::new(),
        };
        self.quiet.heard(when);
        actions
    }

    /// Input that is no event: bytes that mean nothing.
    pub fn on_noise(&mut self, when: Span) {
        self.quiet.heard(when);
    }

    fn on_key(
        &mut self,
        state: &BrokerState,
        event: &KeyEvent,
        when: Span,
        now: Now,
    ) -> Vec<Action> {
        let key = Key::of(event);
        let (asks, confirms) = (self.asks(key, when), self.confirms(key, when));
        if event.kind != KeyEventKind::Release {
            // It answered the key before.
            self.notice = None;
        }
        match event.kind {
            KeyEventKind::Press => self.quiet.pressed(key, when),
            KeyEventKind::Release => {
                self.quiet.heard(when);
                return Vec::new();
            }
            KeyEventKind::Repeat => {
                self.quiet.pressed(key, when);
                // A held key moves a line and deletes in a text field; it does nothing else.
                let moves = matches!(
                    self.keys.meaning(None, key),
                    Meaning::Does(Command::Up | Command::Down | Command::Left | Command::Right)
                );
                let field = matches!(
                    self.prompt,
                    Some(Prompt::Deny { .. } | Prompt::Search { .. })
                );
                let edits = field && !key.is(crossterm::event::KeyCode::Enter);
                if !edits && (field || !moves) {
                    return Vec::new();
                }
            }
        }
        // Also on the sheet and in a text field, unless it would be typed there.
        let redraws = self.keys.meaning(None, key) == Meaning::Does(Command::Redraw);
        if redraws && key.typed().is_none() {
            self.asked_anew += 1;
            return Vec::new();
        }
        if self.prompt.is_some() {
            return self.on_prompt(state, event, now);
        }
        if self.help.is_some() {
            return self.on_help(key);
        }
        if self.sheet.is_some() {
            return self.on_sheet(state, key, when, confirms, now);
        }
        let meaning = self.keys.meaning(self.before.take(), key);
        let command = match meaning {
            Meaning::Does(command) => command,
            Meaning::Begins => {
                self.before = Some(key);
                return Vec::new();
            }
            Meaning::Nothing => return Vec::new(),
        };
        if command == Command::Grant && self.view == View::Queue && !asks {
            // What stands against it anyway says more.
            self.notice = match (self.obstacle(state, now), self.selected) {
                (Some(_), Some(id)) => Some(Notice::CannotAsk(id)),
                _ => Some(Notice::TooEarly(key)),
            };
            return Vec::new();
        }
        self.command(state, command, now)
    }

    fn on_help(&mut self, key: Key) -> Vec<Action> {
        match self.keys.meaning(self.before.take(), key) {
            Meaning::Does(Command::Help | Command::Back | Command::Quit) => self.help = None,
            Meaning::Does(Command::Suspend) => return vec![Action::Suspend],
            Meaning::Does(command) => self.scroll_over(command),
            Meaning::Begins => self.before = Some(key),
            Meaning::Nothing => {}
        }
        Vec::new()
    }

    fn command(&mut self, state: &BrokerState, command: Command, now: Now) -> Vec<Action> {
        match command {
            Command::Theme if self.caps.depth == Depth::None => {
                self.notice = Some(words::NO_COLOURS.into());
            }
            Command::Theme => {
                self.themes.next();
                self.notice = Some(words::theme(&self.theme().name).into());
            }
            Command::Redraw => self.asked_anew += 1,
            Command::Help => self.help = Some(0),
            Command::Suspend => return vec![Action::Suspend],
            Command::Quit => return self.quit(state),
            Command::Queue => self.view = View::Queue,
            Command::Audit => return self.open_audit(),
            Command::Policies => self.open(View::Policies),
            Command::Search | Command::SearchNext | Command::SearchPrevious if !self.searches() => {
                self.notice = Some(words::only_on_queue(&self.key(Command::Queue)).into());
            }
            Command::Search => {
                self.prompt = Some(Prompt::Search {
                    input: Input::default(),
                });
            }
            Command::SearchNext => return self.search(state, false, now),
            Command::SearchPrevious => return self.search(state, true, now),
            _ => {
                return match self.view {
                    View::Queue => self.on_queue(state, command, now),
                    View::Audit => self.on_audit(command),
                    View::Policies => self.on_policies(command),
                };
            }
        }
        Vec::new()
    }

    /// Whether there is anything to search where we are.
    fn searches(&self) -> bool {
        match self.view {
            View::Queue => true,
            View::Audit => self.audit.detail.is_none(),
            View::Policies => false,
        }
    }

    fn on_queue(&mut self, state: &BrokerState, command: Command, now: Now) -> Vec<Action> {
        match command {
            Command::Grant => self.ask(state, now),
            Command::Deny => self.ask_denial(state),
            Command::Kill => return self.kill(state),
            Command::Urgent => match selection::most_urgent(state) {
                Some(id) => self.select(id, now),
                None => self.notice = Some(Notice::NothingPending),
            },
            Command::NextPane => self.step_focus(state, true),
            Command::PreviousPane => self.step_focus(state, false),
            Command::Open if self.focus_now(self.entry(state)) == Pane::Code => self.toggle_fold(),
            Command::Open => self.focus = Pane::Code,
            Command::Inputs => self.show_inputs(state),
            Command::Wrap => self.wrap = !self.wrap,
            Command::Zoom => {
                self.zoom = !self.zoom;
                if self.zoom && self.focus_now(self.entry(state)) == Pane::Queue {
                    self.focus = Pane::Code;
                }
            }
            Command::AsDrawn => {
                self.as_drawn = !self.as_drawn;
                // Kept panes have such rows, or have not.
                self.flows.clear();
                self.notice = Some(words::as_drawn(self.as_drawn, self.hides(state)).into());
            }
            Command::Back if self.zoom => self.zoom = false,
            Command::Back => self.found.clear(),
            _ => self.scroll_queue(state, command, now),
        }
        self.redocument(state);
        Vec::new()
    }

    fn step_focus(&mut self, state: &BrokerState, forward: bool) {
        let entry = self.entry(state);
        let panes = panes(entry);
        let here = self.focus_now(entry);
        let at = panes.iter().position(|p| *p == here).unwrap_or(0);
        let step = if forward { 1 } else { panes.len() - 1 };
        self.focus_on(panes[(at + step) % panes.len()]);
    }

    pub(super) fn focus_on(&mut self, pane: Pane) {
        self.focus = pane;
        self.zoom = false;
        if !matches!(self.focus, Pane::Queue | Pane::Code) {
            let focus = self.focus;
            self.recent.retain(|p| *p != focus);
            self.recent.insert(0, focus);
        }
    }

    fn open(&mut self, view: View) {
        self.view = view;
        self.scroll = 0;
    }

    fn open_audit(&mut self) -> Vec<Action> {
        self.open(View::Audit);
        self.audit.detail = None;
        self.audit_row = 0;
        vec![Action::LoadAudit {
            offset: 0,
            count: AUDIT_ROWS,
        }]
    }

    fn on_audit(&mut self, command: Command) -> Vec<Action> {
        if self.audit.detail.is_some() {
            match command {
                Command::Back => {
                    self.audit.detail = None;
                    self.scroll = 0;
                }
                _ => self.scroll_over(command),
            }
            return Vec::new();
        }
        match command {
            Command::Open => match self.audit_id() {
                Some(id) => return vec![Action::ShowRecord { id }],
                None => {
                    self.notice =
                        Some(Notice::OfAuditRows(self.audit_set, words::NO_RECORD.into()));
                }
            },
            Command::Back => self.view = View::Queue,
            Command::Grant | Command::Deny | Command::Kill | Command::Urgent => {
                self.notice = Some(words::only_on_queue(&self.key(Command::Queue)).into());
            }
            _ => return self.scroll_audit(command),
        }
        Vec::new()
    }

    pub(in crate::tui) fn audit_id(&self) -> Option<ProposalId> {
        self.audit
            .rows
            .get(self.audit_row.checked_sub(self.audit.offset)?)
            .and_then(|row| row.id)
    }

    fn on_policies(&mut self, command: Command) -> Vec<Action> {
        match command {
            Command::Back => self.view = View::Queue,
            Command::Grant | Command::Deny | Command::Kill | Command::Urgent => {
                self.notice = Some(words::only_on_queue(&self.key(Command::Queue)).into());
            }
            _ => self.scroll_over(command),
        }
        Vec::new()
    }
}
