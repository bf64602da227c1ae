//! From keys to decisions: the conditions for `a` to open the sheet and for the sheet to become a
//! grant. Any key that was not clearly deliberate is dropped.

use std::borrow::Cow;
use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent};
use tui_input::Input;

use crate::broker::{BrokerState, Entry};
use crate::broker::{Refused, grant_digest};
use crate::clock::Now;
use crate::model::{Environment, State, VerdictKind};

use super::super::action::{Action, GrantRequest};
use super::super::document::Document;
use super::super::keys::{Command, Key, Meaning};
use super::super::words;
use super::reasons::{Denial, Enter, Reason, Reasons};
use super::votes::{not_asked, too_late_to_deny};
use super::{Challenge, Looked, Notice, Over, Prompt, SHEET_GRACE, Sheet, Span, UiState, closed};

/// The longest deny reason, in characters.
const REASON: usize = 1_000;

impl UiState {
    /// `a`: opens the sheet, or says what prevents it.
    pub(super) fn ask(&mut self, state: &BrokerState, now: Now) {
        match (self.obstacle(state, now), self.entry(state)) {
            (None, Some(entry)) => self.open_sheet(state, entry, now),
            (_, Some(entry)) => self.remarks.notice = Some(Notice::CannotAsk(entry.proposal.id)),
            (_, None) => self.remarks.notice = Some(Notice::NothingSelected),
        }
    }

    /// What prevents a grant of the selected proposal now, before its sheet opens.
    pub(in crate::tui) fn obstacle(
        &self,
        state: &BrokerState,
        now: Now,
    ) -> Option<Cow<'static, str>> {
        match self.to_be_read(state, now) {
            Ok(doc) => self.unread(doc),
            Err(why) => Some(why),
        }
    }

    /// What must be seen before a grant of the selected proposal, or what prevents the grant whether it was seen or not.
    pub(in crate::tui) fn to_be_read(
        &self,
        state: &BrokerState,
        now: Now,
    ) -> Result<&Arc<Document>, Cow<'static, str>> {
        let Some(entry) = self.entry(state) else {
            return Err(words::NOTHING_SELECTED.into());
        };
        let refuse = |why: Refused| Err(words::cannot_grant(&why.to_string()).into());
        let verdict = entry.verdict();
        if entry.state() == State::Blocked || verdict.is_some_and(|v| !v.verdict.grantable()) {
            return Err(words::NOT_GRANTABLE.into());
        }
        if !entry.awaits_decision() {
            return Err(words::already(entry.state()).into());
        }
        if entry.left(now).is_zero() {
            return refuse(Refused::TooLate);
        }
        if state.is_closing() {
            return refuse(Refused::Closing);
        }
        if state.audit.is_down() {
            return refuse(Refused::AuditDown);
        }
        if let Some(doubt) = &state.log_doubt {
            return refuse(doubt.into());
        }
        if verdict.is_none() {
            return Err(words::NO_VERDICT.into());
        }
        if self.frame.too_small {
            return Err(words::TOO_SMALL.into());
        }
        if self.attention.focused == Some(false) {
            return Err(words::NO_FOCUS.into());
        }
        match &state.environment {
            Environment::Ready { .. } => {}
            Environment::Making { .. } => return Err(words::ENVIRONMENT_WAIT.into()),
            Environment::Changed { what } => return Err(words::environment_changed(what).into()),
            Environment::Failed { .. } => return refuse(Refused::NoEnvironment),
        }
        if let Err(why) = grant_digest(state, entry) {
            return refuse(why);
        }
        if let Some(why) = not_asked(state, entry, now) {
            return Err(why.into());
        }
        let (id, code) = (entry.proposal.id, entry.code().digest());
        let doc = self.queue.doc.as_ref();
        let doc = doc.filter(|d| d.id == id && d.has_inputs && d.code == code);
        let doc = doc.ok_or(words::NO_INPUTS_YET)?;
        // What the log will not have is told before a grant.
        match doc.held() {
            Some(_) => Ok(doc),
            None => Err(words::SEARCHED_FIRST.into()),
        }
    }

    /// The rows that must still be seen: those that [`Command::PageCode`] goes to.
    fn unread(&self, doc: &Arc<Document>) -> Option<Cow<'static, str>> {
        let layout = self.frame.layout.as_deref();
        let layout = layout.filter(|l| Arc::ptr_eq(&l.doc, doc));
        let none = Looked::default();
        let looked = self.queue.looked.get(&doc.id);
        let looked = looked.filter(|l| l.is_of(doc.code)).unwrap_or(&none);
        let first = doc.missing(&looked.seen, layout)?;
        let next = layout.zip(self.next_unseen());
        let next = next.and_then(|(layout, row)| doc.missing_from(row, &looked.seen, layout));
        let missing = next.unwrap_or(first);
        let goes = if self.unseen_elsewhere() {
            words::goes_there(&self.key(Command::PageCode))
        } else if self.queue.wrap {
            words::NOT_LONG_ENOUGH.to_owned()
        } else {
            words::wraps(&self.key(Command::Wrap))
        };
        Some(format!("{missing}{goes}").into())
    }

    /// Opens the sheet. The caller has checked that there is no obstacle.
    fn open_sheet(&mut self, state: &BrokerState, entry: &Entry, now: Now) {
        let id = entry.proposal.id;
        let kind = entry.verdict().map(|v| v.verdict);
        let challenge = if kind == Some(VerdictKind::Clear) {
            Challenge::Key
        } else {
            let Some(digits) = (self.digits)() else {
                self.remarks.notice = Some(words::NO_RANDOM.into());
                return;
            };
            Challenge::Digits {
                wanted: format!("{digits:04x}"),
                typed: String::new(),
                hurry: None,
            }
        };
        let Ok(digest) = grant_digest(state, entry) else {
            return;
        };
        let ready_at = now.boot.saturating_add(SHEET_GRACE);
        self.over = Over::Sheet(Sheet::new(id, digest, challenge, ready_at));
    }

    /// Handles a key on the sheet. Scroll keys scroll it, Esc goes back, a deliberate confirmation
    /// key confirms, and other keys do nothing.
    pub(super) fn on_sheet(
        &mut self,
        state: &BrokerState,
        key: Key,
        when: Span,
        meant: bool,
        now: Now,
    ) -> Vec<Action> {
        let meaning = self.common.keys.meaning(self.attention.before.take(), key);
        let Some(sheet) = self.over.sheet_mut() else {
            return Vec::new();
        };
        let early = when.since < sheet.ready_at();
        let denies = meaning == Meaning::Does(Command::Deny);
        if let Challenge::Digits { wanted, typed, .. } = &mut sheet.challenge {
            // The first one is no letter, so that the key of a command is none before the person began to type.
            let begun = !typed.is_empty();
            let taken = |c: &char| c.is_ascii_digit() || begun && matches!(c, 'a'..='f');
            let digit = key.typed().filter(taken);
            if let Some(digit) = digit {
                // Accept extra digits, so that a code with one digit too many is wrong.
                let wrong = !wanted[typed.len().min(wanted.len())..].starts_with(digit);
                let refused = match typed.len() < 2 * wanted.len() {
                    true if early => Some(words::EARLY_DIGIT),
                    true => {
                        typed.push(digit);
                        None
                    }
                    false => Some(words::TOO_MANY_DIGITS),
                };
                let denial = || words::types_a_digit(&key.to_string(), &self.key(Command::Back));
                self.remarks.notice = match refused {
                    Some(why) => Some(Notice::Idle(why.into())),
                    None if denies && wrong => Some(Notice::Idle(denial().into())),
                    None => None,
                };
                return Vec::new();
            }
            if key.is(KeyCode::Backspace) {
                if !early {
                    typed.pop();
                }
                return Vec::new();
            }
            if key.is(KeyCode::Enter) {
                if !meant {
                    self.remarks.notice = Some(Notice::TooEarly(key));
                    return Vec::new();
                }
                let right = typed == wanted;
                if right && self.asks_again(state, now) {
                    return Vec::new();
                }
                self.clear_digits();
                if right {
                    return self.confirm(state, now);
                }
                self.remarks.notice = Some(Notice::WrongDigits);
                return Vec::new();
            }
        }
        let plain = sheet.challenge == Challenge::Key;
        match meaning {
            Meaning::Does(Command::Confirm) if plain && meant => {
                return self.confirm(state, now);
            }
            Meaning::Does(Command::Confirm) if plain => {
                self.remarks.notice = Some(Notice::TooEarly(key));
            }
            Meaning::Does(Command::Back) => self.over.close(),
            Meaning::Does(Command::Suspend) => return vec![Action::Suspend],
            Meaning::Does(Command::TimeLeft) => self.say_time_left(),
            Meaning::Does(Command::PageCode) => self.page_sheet(),
            Meaning::Does(Command::Details) => sheet.turn_details(),
            Meaning::Does(command) => self.scroll_over(command),
            Meaning::Begins => self.attention.before = Some(key),
            Meaning::Nothing => {}
        }
        Vec::new()
    }

    /// Handles a confirmation: returns the grant, if it is still what the sheet showed.
    fn confirm(&mut self, state: &BrokerState, now: Now) -> Vec<Action> {
        let Some(sheet) = self.sheet() else {
            return Vec::new();
        };
        if self.frame.too_small {
            self.remarks.notice = Some(words::TOO_SMALL.into());
            return Vec::new();
        }
        if sheet.missing().is_some() {
            // The sheet itself names the missing rows.
            return Vec::new();
        }
        let (id, digest) = (sheet.id(), sheet.digest());
        let held = sheet.holds(state);
        let viewed = self.viewed(state, id);
        self.over.close();
        self.remarks.refused = None;
        if let Err(why) = held {
            self.remarks.notice = Some(closed(state, id, why));
            return Vec::new();
        }
        let late = state.entry(id).is_some_and(|e| e.left(now).is_zero());
        let doc = self.queue.doc.as_ref().filter(|doc| doc.id == id);
        let unsearched = doc.is_some_and(|doc| doc.held().is_none());
        if late || unsearched || state.audit.is_down() {
            self.remarks.notice = Some(Notice::CannotAsk(id));
            return Vec::new();
        }
        self.remember_decision(state, id, true, now);
        vec![Action::Grant(GrantRequest { id, digest, viewed })]
    }

    /// `d`: asks for the reason.
    pub(super) fn ask_denial(&mut self, state: &BrokerState) {
        match self.entry(state) {
            None => self.remarks.notice = Some(Notice::NothingSelected),
            Some(entry) if !entry.awaits_decision() => {
                self.remarks.notice = Some(of(entry, words::already(entry.state())));
            }
            Some(entry) => {
                if let Some(why) = too_late_to_deny(state, entry) {
                    self.remarks.notice = Some(of(entry, why));
                    return;
                }
                let id = entry.proposal.id;
                let reason = self.reason();
                self.over = Over::Prompt(Prompt::Deny { id, reason });
            }
        }
    }

    /// An empty field for a reason, opened by the last key.
    pub(super) fn reason(&self) -> Reason {
        let quiet = &self.attention.quiet;
        let enter = |denial: Denial| denial.enter(quiet.key(), quiet.runs_since(denial.at));
        Reason {
            input: Input::default(),
            earlier: Reasons::of(self.reasons()),
            enter: self.attention.denial.map_or(Enter::Denies, enter),
        }
    }

    /// Takes in a key outside text fields that was pressed after a denial.
    pub(super) fn note_after_denial(&mut self, key: Key, meaning: Meaning) {
        let calm = self.attention.quiet.key().calm;
        if let Some(denial) = &mut self.attention.denial {
            denial.swift &= !calm;
            denial.stray |= meaning == Meaning::Nothing && key.typed().is_some();
        }
    }

    /// `x`: kills the selected proposal's run.
    pub(super) fn kill(&mut self, state: &BrokerState) -> Vec<Action> {
        match self.entry(state) {
            Some(entry) if matches!(entry.state(), State::Granted | State::Running) => {
                self.remarks.notice = Some(of(entry, words::KILLING));
                vec![Action::Kill {
                    id: entry.proposal.id,
                }]
            }
            Some(entry) if entry.state() == State::Pending => {
                self.remarks.notice = Some(of(entry, words::NOT_RUNNING));
                Vec::new()
            }
            Some(entry) => {
                self.remarks.notice = Some(of(entry, words::already(entry.state())));
                Vec::new()
            }
            None => {
                self.remarks.notice = Some(Notice::NothingSelected);
                Vec::new()
            }
        }
    }

    /// `q`: quits, or asks first if a proposal or run would be lost.
    pub(super) fn quit(&mut self, state: &BrokerState) -> Vec<Action> {
        if state.pending_count() + state.running_count() == 0 && self.exports().is_none() {
            return vec![Action::Quit];
        }
        self.over = Over::Prompt(Prompt::Quit);
        Vec::new()
    }

    /// Handles a key in a text field or a question.
    pub(super) fn on_prompt(
        &mut self,
        state: &BrokerState,
        event: &KeyEvent,
        meant: bool,
        now: Now,
    ) -> Vec<Action> {
        let key = Key::of(event);
        let meaning = self.common.keys.meaning(None, key);
        if meaning == Meaning::Does(Command::Suspend) {
            return vec![Action::Suspend];
        }
        if let Some(actions) = self.on_all(state, key, meant) {
            return actions;
        }
        let typing = self.attention.quiet.key();
        let Over::Prompt(prompt) = &mut self.over else {
            return Vec::new();
        };
        if matches!(prompt, Prompt::Quit) {
            self.over.close();
            // The program that only reads has no other key of a confirmation.
            let quits = match self.reviewed() {
                Some(_) => key.is(KeyCode::Char(REVIEW_QUITS)),
                None => meaning == Meaning::Does(Command::Confirm),
            };
            return match quits {
                true => vec![Action::Quit],
                false => {
                    self.remarks.notice = Some(words::NOT_QUIT.into());
                    Vec::new()
                }
            };
        }
        // Key bindings do not change `Enter` and `Esc` in text fields.
        if key.is(KeyCode::Esc) {
            self.leave_prompt(state);
        } else if key.is(KeyCode::Enter) {
            if prompt
                .reason_mut()
                .is_none_or(|reason| reason.sends(typing))
            {
                return self.send_prompt(state, now);
            }
            self.remarks.notice = Some(Notice::Idle(words::DENY_AGAIN.into()));
        } else if key.is(KeyCode::Tab) && matches!(prompt, Prompt::Query(_)) {
            self.complete_query();
        } else if key.is(KeyCode::Tab) && matches!(prompt, Prompt::Export(_)) {
            self.next_format();
        } else if !prompt
            .reason_mut()
            .is_some_and(|reason| reason.goes(key, typing))
        {
            if let Prompt::Export(field) = prompt {
                field.on_key(key);
            }
            if let Some(input) = prompt.input_mut() {
                edit(input, key, event.code);
            }
            if let Prompt::Query(asking) = prompt {
                asking.typed();
            }
            self.follow_filter(state);
        }
        Vec::new()
    }

    /// `Esc` in a text field.
    fn leave_prompt(&mut self, state: &BrokerState) {
        if let Over::Prompt(Prompt::Filter { before, .. }) = std::mem::take(&mut self.over) {
            self.set_filter(state, &before);
        }
    }

    /// Narrows the queue to the words typed so far.
    fn follow_filter(&mut self, state: &BrokerState) {
        if let Over::Prompt(Prompt::Filter { input, .. }) = &self.over {
            let typed = input.value().to_owned();
            self.set_filter(state, &typed);
        }
    }

    fn send_prompt(&mut self, state: &BrokerState, now: Now) -> Vec<Action> {
        match std::mem::take(&mut self.over) {
            Over::Prompt(Prompt::Deny { id, reason }) => {
                if let Some(why) = super::too_late(state, id) {
                    self.remarks.notice = Some(closed(state, id, why));
                    return Vec::new();
                }
                let reason = reason.input.value().trim();
                self.attention.denial = Some(Denial::new(now.boot));
                self.queue.denied.insert(id);
                self.remember_decision(state, id, false, now);
                vec![Action::Deny {
                    id,
                    reason: (!reason.is_empty()).then(|| reason.to_owned()),
                    viewed: self.viewed(state, id),
                }]
            }
            Over::Prompt(Prompt::DenyAll { all, reason }) => {
                self.deny_all(state, &all, reason.input.value().trim(), now)
            }
            Over::Prompt(Prompt::Filter { .. }) => {
                self.enter_filter(state, now);
                Vec::new()
            }
            Over::Prompt(Prompt::Query(asking)) => self.send_query(asking, now),
            Over::Prompt(Prompt::Export(field)) => self.send_export(field),
            Over::Prompt(Prompt::Search { input }) => {
                self.common.found = input.value().to_owned();
                for looked in self.queue.looked.values_mut() {
                    looked.found = None;
                    looked.reading.found = None;
                }
                self.search(state, false, now)
            }
            Over::Prompt(Prompt::Open { of, input }) => {
                self.send_open(state, of, input.value().trim())
            }
            Over::Prompt(Prompt::Save { of, input }) => {
                self.send_save(state, of, input.value().trim())
            }
            Over::Prompt(Prompt::Quit | Prompt::AskAll(_))
            | Over::Nothing
            | Over::Help { .. }
            | Over::Sheet(_)
            | Over::Palette(_)
            | Over::Picker(_)
            | Over::Diff(_) => Vec::new(),
        }
    }

    /// Inserts pasted text into an open text field; otherwise ignores it.
    pub(super) fn paste(&mut self, state: &BrokerState, text: &str) {
        let Over::Prompt(prompt) = &mut self.over else {
            return;
        };
        if let Prompt::Export(field) = prompt {
            field.edits(true);
        }
        if let Some(input) = prompt.input_mut() {
            for c in text.chars() {
                insert(input, if c.is_whitespace() { ' ' } else { c });
            }
        }
        if let Prompt::Query(asking) = prompt {
            asking.typed();
        }
        self.follow_filter(state);
    }
}

/// A notice that is true while this proposal is in its current state.
fn of(entry: &Entry, words: impl Into<Cow<'static, str>>) -> Notice {
    Notice::While(entry.proposal.id, entry.state(), words.into())
}

/// Answers the question of the program that only reads whether to quit.
pub(in crate::tui) const REVIEW_QUITS: char = 'y';

fn insert(input: &mut Input, c: char) {
    if !c.is_control() && input.value().chars().count() < REASON {
        input.handle(tui_input::InputRequest::InsertChar(c));
    }
}

pub(super) fn edit(input: &mut Input, key: Key, code: KeyCode) {
    use tui_input::InputRequest as R;
    let request = match code {
        KeyCode::Backspace if key.is(code) => R::DeletePrevChar,
        KeyCode::Delete if key.is(code) => R::DeleteNextChar,
        KeyCode::Left if key.is(code) => R::GoToPrevChar,
        KeyCode::Right if key.is(code) => R::GoToNextChar,
        KeyCode::Home if key.is(code) => R::GoToStart,
        KeyCode::End if key.is(code) => R::GoToEnd,
        _ if key == Key::CLEARS => R::DeleteLine,
        _ if key == Key::TAKES_A_WORD => R::DeletePrevWord,
        _ => {
            if let Some(c) = key.typed() {
                insert(input, c);
            }
            return;
        }
    };
    input.handle(request);
}
