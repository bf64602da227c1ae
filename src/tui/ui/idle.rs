//! A key that changes nothing says so: where it works, why it has nothing to do here, or that nothing has it.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use crossterm::event::KeyCode;

use crate::broker::BrokerState;

use super::super::keys::{Command, Key, Meaning};
use super::super::words;
use super::{Challenge, Notice, OnScreen, Over, Pane, Part, Place, Prompt, UiState, View};

/// Stands for all that keys change: if it is the same before and after a key, the key did nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tui) struct Stand(u64);

impl UiState {
    pub(in crate::tui) fn stand(&self) -> Stand {
        let mut all = DefaultHasher::new();
        std::mem::discriminant(&self.over).hash(&mut all);
        match &self.over {
            Over::Nothing | Over::Picker(_) => {}
            Over::Help { top } => top.hash(&mut all),
            Over::Sheet(sheet) => {
                (sheet.id(), sheet.top, sheet.detail).hash(&mut all);
                (self.typed_digits(), self.is_hurried()).hash(&mut all);
            }
            Over::Palette(palette) => {
                (palette.input.value(), palette.input.cursor(), palette.at).hash(&mut all);
            }
            Over::Diff(compared) => (compared.number, compared.top).hash(&mut all),
            Over::Prompt(prompt) => {
                std::mem::discriminant(prompt).hash(&mut all);
                let input = prompt.input();
                let typed = input.map(|input| (input.value(), input.cursor()));
                typed.hash(&mut all);
                if let Prompt::Export(field) = prompt {
                    std::mem::discriminant(&field.format).hash(&mut all);
                }
            }
        }
        match &self.place {
            OnScreen::Queue => 0.hash(&mut all),
            OnScreen::Audit(log) => {
                (
                    1,
                    log.row,
                    log.top,
                    log.set,
                    log.page.detail.is_some(),
                    log.shows.stand(),
                    log.opening.is_some(),
                )
                    .hash(&mut all);
                log.beside.stage().hash(&mut all);
            }
            OnScreen::Agents(screen) => {
                (2, screen.part, &screen.at, screen.top, screen.detail).hash(&mut all);
            }
        }
        self.stand_in_queue(&mut all);
        (self.common.themes.at(), &self.common.found, self.asked_anew).hash(&mut all);
        Stand(all.finish())
    }

    fn stand_in_queue(&self, all: &mut DefaultHasher) {
        let queue = &self.queue;
        (queue.selected, queue.focus, queue.zoom).hash(all);
        (queue.wrap, queue.as_drawn).hash(all);
        let lists = &queue.lists;
        (lists.order, lists.filter.words(), lists.live.len()).hash(all);
        if let Some(looked) = queue.selected.and_then(|id| self.looked(id)) {
            (looked.top, looked.across).hash(all);
            // The cursor is drawn where it has the keys.
            if queue.focus == Pane::Code {
                looked.cursor.hash(all);
            }
            (&looked.open, looked.point, looked.found).hash(all);
            let scrolled = |pane| looked.scroll.get(pane).copied().unwrap_or(0);
            scrolled(&queue.focus).hash(all);
            let reading = &looked.reading;
            (reading.at, reading.across, reading.found).hash(all);
        }
    }

    /// Says what became of a key that changed nothing.
    pub(super) fn tell_idle(&mut self, state: &BrokerState, key: Key, meaning: Meaning) {
        let said = match (&self.over, meaning) {
            (Over::Prompt(Prompt::AskAll(_)), _) => {
                words::not_in_question(&key.to_string(), &self.key(Command::Confirm))
            }
            (Over::Prompt(prompt), _) => {
                let denies = matches!(prompt, Prompt::Deny { .. } | Prompt::DenyAll { .. });
                self.idle_in_field(key, denies)
            }
            (Over::Palette(_), _) => self.idle_in_field(key, false),
            (Over::Sheet(_), _) if self.on_digits(key, meaning) => {
                let first = self.typed_digits().is_some_and(str::is_empty);
                words::no_digit(&key.to_string(), first)
            }
            (Over::Sheet(_), _) if key.is(KeyCode::Backspace) && self.typed_digits().is_some() => {
                words::NO_DIGIT_YET.to_owned()
            }
            (Over::Sheet(_), Meaning::Does(Command::Open)) => words::no_grant(
                &key.to_string(),
                &self.key(Command::Confirm),
                &self.key(Command::Back),
            ),
            // A front end that speaks says what stands here.
            (Over::Sheet(_), Meaning::Does(Command::Confirm)) if self.common.spoken => return,
            (Over::Sheet(_), Meaning::Does(Command::Confirm)) => words::NOT_YET.to_owned(),
            (_, Meaning::Begins) if self.common.spoken => return,
            (_, Meaning::Begins) => {
                let whole = self.common.keys.beginning(key).into_iter();
                let whole: Vec<_> = whole.map(|(keys, does)| (keys, does.name())).collect();
                words::begins(&key.to_string(), &whole)
            }
            (Over::Nothing, Meaning::Nothing) => {
                words::no_key(&key.to_string(), &self.key(Command::Help))
            }
            (_, Meaning::Nothing) => words::no_key_over(&key.to_string(), &self.key(Command::Back)),
            (_, Meaning::Does(command)) => {
                return self.tell_command(state, &key.to_string(), command);
            }
        };
        self.remarks.notice = Some(Notice::Idle(said.into()));
    }

    /// The same for a command that was chosen by its name.
    pub(super) fn tell_idle_command(&mut self, state: &BrokerState, command: Command) {
        let key = match self.key(command) {
            key if key.is_empty() => format!("{}{}", self.key(Command::Palette), command.name()),
            key => key,
        };
        self.tell_command(state, &key, command);
    }

    fn tell_command(&mut self, state: &BrokerState, key: &str, command: Command) {
        self.remarks.notice = match self.elsewhere(key, command) {
            Some(said) => Some(Notice::Idle(said.into())),
            // A front end that speaks says what stands here.
            None if self.common.spoken && (scrolls(command) || stands(command)) => None,
            None => self.done(state, key, command),
        };
    }

    fn idle_in_field(&self, key: Key, denies: bool) -> String {
        if key.typed().is_some() {
            words::FULL.to_owned()
        } else if denies && (key.is(KeyCode::Up) || key.is(KeyCode::Down)) {
            words::NO_OTHER_REASON.to_owned()
        } else {
            words::not_in_field(&key.to_string())
        }
    }

    /// Whether this is a character that the sheet's digits refuse. Before the first digit it is the key of a command.
    fn on_digits(&self, key: Key, meaning: Meaning) -> bool {
        let digits = self
            .sheet()
            .is_some_and(|sheet| matches!(sheet.challenge, Challenge::Digits { .. }));
        let begun = self.typed_digits().is_some_and(|typed| !typed.is_empty());
        let goes = match meaning {
            Meaning::Does(command) => !begun && command != Command::Confirm || scrolls(command),
            Meaning::Begins | Meaning::Nothing => false,
        };
        digits && key.typed().is_some() && !goes
    }

    /// Where a command works that does nothing here; `None` if it belongs here.
    fn elsewhere(&self, key: &str, command: Command) -> Option<String> {
        let view = self.view();
        let over = match &self.over {
            Over::Sheet(_) => Some(words::OUTSIDE_SHEET),
            Over::Help { .. } => Some(words::OUTSIDE_HELP),
            Over::Diff(_) => Some(words::OUTSIDE_DIFF),
            Over::Picker(_) => Some(words::OUTSIDE_PICKER),
            Over::Nothing | Over::Palette(_) | Over::Prompt(_) => None,
        };
        let record = self
            .place
            .log()
            .is_some_and(|log| log.page.detail.is_some());
        let covered = over.or(record.then_some(words::OUTSIDE_RECORD));
        let there = works_on(command, view);
        if let OnScreen::Audit(log) = &self.place
            && matches!(
                command,
                Command::NextPane | Command::PreviousPane | Command::Details
            )
            && over.is_none()
        {
            let open = self.key(Command::Open);
            return (!record && log.id().is_some())
                .then(|| words::elsewhere(key, command.name(), words::ON_PAGE, &open));
        }
        if goes_to_part(command)
            && over.is_none()
            && self.place.log().is_some_and(|log| log.dossier().is_some())
        {
            return Some(words::PART_SHOWN.into());
        }
        if self.reviewed().is_some() && over.is_none() {
            return None;
        }
        if matches!(
            command,
            Command::Facets | Command::Statistics | Command::Export
        ) && !there
        {
            let audit = self.key(Command::Audit);
            return Some(words::elsewhere(key, command.name(), words::ON_LOG, &audit));
        }
        if there && (covered.is_none() || scrolls(command)) && command != Command::Confirm {
            return None;
        }
        let mut steps = Vec::new();
        if over.is_some() || record && there {
            steps.push(self.key(Command::Back));
        }
        if !there {
            steps.push(self.key(Command::Queue));
        }
        if command == Command::Confirm {
            steps.push(self.key(Command::Grant));
            return Some(words::confirms(key, &steps.join(" ")));
        }
        let place = match there {
            true => covered.unwrap_or_default(),
            false => words::IN_QUEUE,
        };
        Some(words::elsewhere(
            key,
            command.name(),
            place,
            &steps.join(" "),
        ))
    }

    /// Why a command that works here had nothing to do.
    fn done(&self, state: &BrokerState, key: &str, command: Command) -> Option<Notice> {
        let on_queue = self.view() == View::Queue && matches!(self.over, Over::Nothing);
        let entry = self.entry(state);
        if on_queue && entry.is_none() && !goes(command) {
            return Some(Notice::NothingSelected);
        }
        if on_queue && command == Command::PageCode && self.is_unread(state) {
            return self.queue.selected.map(Notice::CannotAsk);
        }
        let agents = match &self.place {
            OnScreen::Agents(screen) => screen.part == Part::Agents,
            OnScreen::Queue | OnScreen::Audit(_) => true,
        };
        let said = match command {
            Command::Up | Command::PageUp | Command::Top => words::AT_TOP.into(),
            Command::Down | Command::PageDown | Command::PageCode | Command::Bottom => {
                match self.over {
                    Over::Diff(_) => {
                        words::end_of_diff(&self.key(Command::Back), &self.key(Command::Grant))
                            .into()
                    }
                    _ => words::AT_END.into(),
                }
            }
            Command::Left | Command::Right => self.sideways(state, key, command),
            Command::Open if on_queue => words::NOTHING_CONDENSED.into(),
            Command::Open if !agents => {
                words::opens_agents(key, &self.key(Command::NextPane)).into()
            }
            Command::Urgent => words::MOST_URGENT.into(),
            Command::SearchNext | Command::SearchPrevious => words::ONLY_MATCH.into(),
            Command::Queue | Command::Policies => words::HERE_ALREADY.into(),
            Command::Back => words::nothing_open(&self.key(Command::Quit)).into(),
            _ => words::nothing_to_do(key, command.name()).into(),
        };
        Some(Notice::Idle(said))
    }

    /// Whether the queue has the keys in one line.
    pub(super) fn is_on_line(&self) -> bool {
        let on_queue = self.view() == View::Queue && matches!(self.over, Over::Nothing);
        let mut places = self.frame.places.iter();
        let keys = on_queue && self.queue.focus == Pane::Queue && !self.queue.zoom;
        keys && places.any(|(area, place)| *place == Place::Pane(Pane::Queue) && area.height <= 2)
    }

    /// Whether a row of the selected code must still be seen before a grant.
    fn is_unread(&self, state: &BrokerState) -> bool {
        let waits = self.entry(state).filter(|entry| entry.awaits_decision());
        waits.is_some_and(|entry| {
            let looked = self.queue.looked.get(&entry.proposal.id);
            let doc = self.queue.doc.as_ref();
            !doc.zip(looked).is_some_and(|(doc, l)| doc.is_seen(&l.seen))
        })
    }

    fn sideways(&self, state: &BrokerState, key: &str, command: Command) -> Cow<'static, str> {
        let left = command == Command::Left;
        match self.focus_now(self.entry(state)) {
            Pane::Queue if left => words::NO_OPEN_GROUP.into(),
            Pane::Queue => words::NO_CLOSED_GROUP.into(),
            Pane::Code | Pane::Output if self.queue.wrap => {
                words::scrolls_unwrapped(key, &self.key(Command::Wrap)).into()
            }
            Pane::Code | Pane::Output if left => words::AT_LEFT_EDGE.into(),
            Pane::Code | Pane::Output => words::AT_RIGHT_EDGE.into(),
            _ => words::NOT_SIDEWAYS.into(),
        }
    }
}

/// Whether the command goes through what is open, or out of it.
const fn scrolls(command: Command) -> bool {
    command.scrolls() || matches!(command, Command::Back)
}

/// Whether plain lines answer the command with what stands here.
const fn stands(command: Command) -> bool {
    matches!(command, Command::Open | Command::Queue | Command::Urgent)
}

/// Whether the command goes somewhere without a selected proposal.
const fn goes(command: Command) -> bool {
    matches!(
        command,
        Command::Queue
            | Command::Policies
            | Command::Back
            | Command::SearchNext
            | Command::SearchPrevious
            | Command::Urgent
    )
}

/// Whether the command can do something on this screen while nothing covers it.
/// Commands that go to a part of the page of a proposal.
const fn goes_to_part(command: Command) -> bool {
    matches!(
        command,
        Command::Inputs | Command::Diff | Command::OpenOutside
    )
}

const fn works_on(command: Command, view: View) -> bool {
    match command {
        Command::Search | Command::SearchNext | Command::SearchPrevious => {
            matches!(view, View::Queue | View::Audit)
        }
        Command::Facets | Command::Statistics | Command::Export => matches!(view, View::Audit),
        Command::NextPane
        | Command::PreviousPane
        | Command::Details
        | Command::DenyAll
        | Command::Pause
        | Command::Resume => matches!(view, View::Queue | View::Agents),
        Command::Left
        | Command::Right
        | Command::Inputs
        | Command::NextPoint
        | Command::PreviousPoint
        | Command::Diff
        | Command::Wrap
        | Command::Zoom
        | Command::AsDrawn
        | Command::OpenOutside
        | Command::Save
        | Command::Copy
        | Command::Order
        | Command::Filter
        | Command::Alike
        | Command::Urgent
        | Command::Grant
        | Command::Confirm
        | Command::Deny
        | Command::Edit
        | Command::Kill => matches!(view, View::Queue),
        _ => true,
    }
}
