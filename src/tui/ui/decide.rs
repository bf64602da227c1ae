//! From keys to decisions: what has to be true before `a` opens the sheet and before the sheet
//! becomes a grant. Everything that is not plainly meant is dropped.

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent};
use tui_input::Input;

use crate::broker::decision::{Refused, grant_digest};
use crate::broker::{BrokerState, Environment};
use crate::clock::Now;
use crate::model::{State, VerdictKind};

use super::super::action::{Action, GrantRequest};
use super::super::keys::{Command, Key, Meaning};
use super::super::words;
use super::{Challenge, Looked, Prompt, REPEAT, SHEET_GRACE, Sheet, UiState, View};

/// Characters of a deny reason.
const REASON: usize = 1_000;

impl UiState {
    /// Whether this press of the grant or the confirm key is the same key held down. Where the
    /// terminal reports repeats, they never get here.
    pub(super) fn is_held(&mut self, key: Key, now: Now) -> bool {
        let last = self.pressed.iter().position(|(k, _)| *k == key);
        let before = last.map(|i| self.pressed.swap_remove(i).1);
        self.pressed.push((key, now.boot));
        !self.repeats_reported && before.is_some_and(|t| now.boot.saturating_sub(t) < REPEAT)
    }

    /// `a`: opens the sheet, or says what stands against it.
    pub(super) fn ask(&mut self, state: &BrokerState, now: Now) {
        if now.boot < self.grace {
            return;
        }
        if let Err(why) = self.open_sheet(state, now) {
            self.notice = Some(why);
        }
    }

    fn open_sheet(&mut self, state: &BrokerState, now: Now) -> Result<(), String> {
        let entry = self.entry(state).ok_or(words::NOTHING_SELECTED)?;
        let id = entry.proposal.id;
        let refuse = |why: Refused| words::cannot_grant(&why.to_string());
        if entry.state == State::Blocked
            || entry
                .verdict
                .as_ref()
                .is_some_and(|v| !v.verdict.grantable())
        {
            return Err(words::NOT_GRANTABLE.to_owned());
        }
        if !entry.awaits_decision() {
            return Err(words::already(entry.state));
        }
        if entry.left(now).is_zero() {
            return Err(refuse(Refused::TooLate));
        }
        if state.is_closing() {
            return Err(refuse(Refused::Closing));
        }
        if state.audit.is_down() {
            return Err(refuse(Refused::AuditDown));
        }
        let verdict = entry.verdict.as_ref().ok_or(words::NO_VERDICT)?;
        if self.frame.too_small {
            return Err(words::TOO_SMALL.to_owned());
        }
        match &state.environment {
            Environment::Ready { .. } => {}
            Environment::Making { .. } => return Err(words::ENVIRONMENT_WAIT.to_owned()),
            Environment::Failed { .. } => return Err(refuse(Refused::NoEnvironment)),
        }
        let digest = grant_digest(state, entry).map_err(refuse)?;
        let doc = self
            .doc
            .as_ref()
            .filter(|d| d.id == id && d.has_inputs)
            .ok_or(words::NO_VERDICT)?;
        let layout = self.frame.layout.as_deref();
        let layout = layout.filter(|l| Arc::ptr_eq(&l.doc, doc));
        let none = Looked::default();
        let looked = self.looked.get(&id).unwrap_or(&none);
        if let Some(missing) = doc.missing(&looked.seen, layout) {
            let goes = if self.unseen_elsewhere() {
                words::goes_there(&self.key(Command::PageCode))
            } else if self.wrap {
                words::NOT_LONG_ENOUGH.to_owned()
            } else {
                words::wraps(&self.key(Command::Wrap))
            };
            let said = format!("{missing}{goes}");
            self.said_unseen = Some(said.clone());
            return Err(said);
        }
        let challenge = if verdict.verdict == VerdictKind::Clear {
            Challenge::Key
        } else {
            let digits = (self.digits)().ok_or(words::NO_RANDOM)?;
            Challenge::Digits {
                wanted: format!("{digits:04x}"),
                typed: String::new(),
            }
        };
        self.notice = None;
        self.sheet = Some(Sheet::new(
            id,
            digest,
            challenge,
            now.boot.saturating_add(SHEET_GRACE),
        ));
        Ok(())
    }

    /// A key on the sheet. Scroll keys scroll it, Esc goes back, the confirmation confirms,
    /// other keys do nothing.
    pub(super) fn on_sheet(
        &mut self,
        state: &BrokerState,
        event: &KeyEvent,
        now: Now,
    ) -> Vec<Action> {
        let key = Key::of(event);
        let meaning = self.keys.meaning(self.before.take(), key);
        let held = meaning == Meaning::Does(Command::Confirm) && self.is_held(key, now);
        let Some(sheet) = &mut self.sheet else {
            return Vec::new();
        };
        let early = now.boot < sheet.ready_at();
        if let Challenge::Digits { wanted, typed } = &mut sheet.challenge {
            let digit = key.typed().filter(|c| matches!(c, '0'..='9' | 'a'..='f'));
            if let Some(digit) = digit {
                if !early && typed.len() < wanted.len() {
                    typed.push(digit);
                }
                return Vec::new();
            }
            if key.is(KeyCode::Backspace) {
                if !early {
                    typed.pop();
                }
                return Vec::new();
            }
            if key.is(KeyCode::Enter) {
                if early {
                    return Vec::new();
                }
                let right = typed == wanted;
                typed.clear();
                if right {
                    return self.confirm(state, now);
                }
                self.notice = Some(words::WRONG_DIGITS.to_owned());
                return Vec::new();
            }
        }
        let plain = sheet.challenge == Challenge::Key;
        match meaning {
            Meaning::Does(Command::Confirm) if plain && !early && !held => {
                return self.confirm(state, now);
            }
            Meaning::Does(Command::Back) => {
                self.sheet = None;
                self.notice = None;
            }
            Meaning::Does(Command::Suspend) => return vec![Action::Suspend],
            Meaning::Does(command) => self.scroll_over(command),
            Meaning::Begins => self.before = Some(key),
            Meaning::Nothing => {}
        }
        Vec::new()
    }

    /// The sheet was confirmed: the grant, if it is still what the sheet showed.
    fn confirm(&mut self, state: &BrokerState, now: Now) -> Vec<Action> {
        let Some(sheet) = &self.sheet else {
            return Vec::new();
        };
        if self.frame.too_small {
            self.notice = Some(words::TOO_SMALL.to_owned());
            return Vec::new();
        }
        if sheet.missing().is_some() {
            // What stands on the glass only has to stand there for longer.
            let scrolls = self.key(Command::PageCode);
            let said = sheet.missing_elsewhere();
            self.notice = said.map(|(first, last)| words::sheet_not_seen(first, last, &scrolls));
            self.said_unseen.clone_from(&self.notice);
            return Vec::new();
        }
        let (id, digest) = (sheet.id(), sheet.digest());
        let held = sheet.holds(state).and_then(|()| match state.entry(id) {
            Some(entry) if entry.left(now).is_zero() => {
                Err(words::cannot_grant(&Refused::TooLate.to_string()))
            }
            Some(_) if state.audit.is_down() => {
                Err(words::cannot_grant(&Refused::AuditDown.to_string()))
            }
            Some(_) => Ok(()),
            None => Err(words::GONE.to_owned()),
        });
        let viewed = self.viewed(state, id);
        self.sheet = None;
        match held {
            Ok(()) => vec![Action::Grant(GrantRequest { id, digest, viewed })],
            Err(why) => {
                self.notice = Some(why);
                Vec::new()
            }
        }
    }

    /// `d`: asks for the reason.
    pub(super) fn ask_denial(&mut self, state: &BrokerState) {
        match self.entry(state) {
            None => self.notice = Some(words::NOTHING_SELECTED.to_owned()),
            Some(entry) if !entry.awaits_decision() => {
                self.notice = Some(words::already(entry.state));
            }
            Some(entry) => {
                self.prompt = Some(Prompt::Deny {
                    id: entry.proposal.id,
                    input: Input::default(),
                });
            }
        }
    }

    /// `x`: kills what runs.
    pub(super) fn kill(&mut self, state: &BrokerState) -> Vec<Action> {
        match self.entry(state) {
            Some(entry) if matches!(entry.state, State::Granted | State::Running) => {
                self.notice = Some(words::KILLING.to_owned());
                vec![Action::Kill {
                    id: entry.proposal.id,
                }]
            }
            Some(_) => {
                self.notice = Some(words::NOT_RUNNING.to_owned());
                Vec::new()
            }
            None => {
                self.notice = Some(words::NOTHING_SELECTED.to_owned());
                Vec::new()
            }
        }
    }

    /// `q`: leaves, or asks where something would be lost.
    pub(super) fn quit(&mut self, state: &BrokerState) -> Vec<Action> {
        if state.pending_count() + state.running_count() == 0 {
            return vec![Action::Quit];
        }
        self.prompt = Some(Prompt::Quit);
        Vec::new()
    }

    /// A key in a text field or a question.
    pub(super) fn on_prompt(
        &mut self,
        state: &BrokerState,
        event: &KeyEvent,
        now: Now,
    ) -> Vec<Action> {
        let key = Key::of(event);
        let meaning = self.keys.meaning(None, key);
        if meaning == Meaning::Does(Command::Suspend) {
            return vec![Action::Suspend];
        }
        match &mut self.prompt {
            None => {}
            Some(Prompt::Quit) => {
                self.prompt = None;
                if meaning == Meaning::Does(Command::Confirm) {
                    return vec![Action::Quit];
                }
            }
            Some(Prompt::Deny { input, .. } | Prompt::Search { input }) => {
                // `Enter` and `Esc` are the same in every text field, whatever is bound.
                if key.is(KeyCode::Enter) {
                    return self.send_prompt(state, now);
                }
                if key.is(KeyCode::Esc) {
                    self.prompt = None;
                } else {
                    edit(input, key, event.code);
                }
            }
        }
        Vec::new()
    }

    fn send_prompt(&mut self, state: &BrokerState, now: Now) -> Vec<Action> {
        match self.prompt.take() {
            Some(Prompt::Deny { id, input }) => {
                let reason = input.value().trim();
                self.denied = Some(id);
                vec![Action::Deny {
                    id,
                    reason: (!reason.is_empty()).then(|| reason.to_owned()),
                    viewed: self.viewed(state, id),
                }]
            }
            Some(Prompt::Search { input }) => {
                self.found = input.value().to_owned();
                self.looked.values_mut().for_each(|l| l.found = None);
                self.search(state, false, now)
            }
            Some(Prompt::Quit) | None => Vec::new(),
        }
    }

    /// Pasted text goes into a text field, and nowhere else.
    pub(super) fn paste(&mut self, text: &str) {
        if self.view == View::Queue && self.sheet.is_some() {
            return;
        }
        if let Some(Prompt::Deny { input, .. } | Prompt::Search { input }) = &mut self.prompt {
            for c in text.chars() {
                insert(input, if c.is_whitespace() { ' ' } else { c });
            }
        }
    }
}

fn insert(input: &mut Input, c: char) {
    if !c.is_control() && input.value().chars().count() < REASON {
        input.handle(tui_input::InputRequest::InsertChar(c));
    }
}

fn edit(input: &mut Input, key: Key, code: KeyCode) {
    use tui_input::InputRequest as R;
    let request = match code {
        KeyCode::Backspace if key.is(code) => R::DeletePrevChar,
        KeyCode::Delete if key.is(code) => R::DeleteNextChar,
        KeyCode::Left if key.is(code) => R::GoToPrevChar,
        KeyCode::Right if key.is(code) => R::GoToNextChar,
        KeyCode::Home if key.is(code) => R::GoToStart,
        KeyCode::End if key.is(code) => R::GoToEnd,
        _ => {
            if let Some(c) = key.typed() {
                insert(input, c);
            }
            return;
        }
    };
    input.handle(request);
}
