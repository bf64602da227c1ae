//! Screen 2's question: the language of `audit list`. What was typed stays until it can be read; `Tab` completes it.

use tui_input::Input;

use crate::audit::query::{Key, Offers, Query, QueryError, offers};
use crate::clock::Now;

use super::super::action::{Action, AuditRow};
use super::super::words;
use super::events::AUDIT_ROWS;
use super::{Beside, FlowKey, LogScreen, Notice, OnScreen, Over, Prompt, UiState};

/// The field of a question.
#[derive(Debug, Default)]
pub(in crate::tui) struct Asking {
    pub input: Input,
    /// Why the text that was entered is no question; until the next change.
    pub wrong: Option<QueryError>,
    /// What `Tab` goes through, and where it is.
    turn: Option<(Offers, usize)>,
}

impl Asking {
    /// A blank stands behind a question that is there: what is typed is another term.
    fn of(question: &str) -> Self {
        let text = match question {
            "" => String::new(),
            question => format!("{question} "),
        };
        Self {
            input: text.into(),
            ..Self::default()
        }
    }

    /// What can stand at the cursor. `rows`: their values are known.
    pub fn offers(&self, rows: &[AuditRow]) -> Offers {
        match &self.turn {
            Some((offers, _)) => offers.clone(),
            None => offers(self.input.value(), self.input.cursor(), |key| {
                known(key, rows)
            }),
        }
    }

    /// The offer that `Tab` put there.
    pub fn taken(&self) -> Option<usize> {
        self.turn.as_ref().map(|(_, at)| *at)
    }

    /// The text changed otherwise than by `Tab`.
    pub fn typed(&mut self) {
        (self.wrong, self.turn) = (None, None);
    }

    /// `Tab`: the only offer, or as much as all of them share, or one after the other. Returns how many there are.
    fn complete(&mut self, rows: &[AuditRow]) -> usize {
        self.wrong = None;
        if let Some((offers, at)) = &mut self.turn {
            *at = (*at + 1) % offers.all.len();
            let text = offers.all[*at].text.clone();
            let (from, to) = (offers.from, self.input.cursor());
            replace(&mut self.input, from, to, &text);
            return offers.all.len();
        }
        let offers = self.offers(rows);
        let (from, to) = (offers.from, offers.to);
        let count = offers.all.len();
        let typed = to - from;
        match &offers.all[..] {
            [] => {}
            [one] => {
                // A key goes on with its value.
                let ends = if one.text.ends_with(':') { "" } else { " " };
                replace(&mut self.input, from, to, &format!("{}{ends}", one.text));
            }
            all => {
                let shared = shared(all.iter().map(|offer| offer.text.as_str()));
                if shared.chars().count() > typed {
                    replace(&mut self.input, from, to, &shared);
                } else {
                    let first = all[0].text.clone();
                    replace(&mut self.input, from, to, &first);
                    self.turn = Some((offers, 0));
                }
            }
        }
        count
    }
}

/// The values of a key in the rows at hand.
fn known(key: Key, rows: &[AuditRow]) -> Vec<String> {
    let of = |row: &AuditRow| match key {
        Key::Agent => row.agent.clone(),
        Key::Profile => row.profile.clone(),
        Key::By => row.by.clone(),
        _ => String::new(),
    };
    let mut all: Vec<String> = rows.iter().map(of).filter(|v| !v.is_empty()).collect();
    all.sort();
    all.dedup();
    all
}

/// Puts a text in the place of some characters, with the cursor behind it.
fn replace(input: &mut Input, from: usize, to: usize, text: &str) {
    let chars: Vec<char> = input.value().chars().collect();
    let before: String = chars[..from].iter().collect();
    let after: String = chars[to..].iter().collect();
    let at = from + text.chars().count();
    *input = Input::new(format!("{before}{text}{after}")).with_cursor(at);
}

/// The beginning that all texts share.
fn shared<'t>(mut texts: impl Iterator<Item = &'t str>) -> String {
    let Some(first) = texts.next() else {
        return String::new();
    };
    texts.fold(first.to_owned(), |shared, text| {
        let same = shared.chars().zip(text.chars()).take_while(|(a, b)| a == b);
        same.map(|(a, _)| a).collect()
    })
}

impl UiState {
    /// `/` on screen 2: opens the field with the question in force.
    pub(super) fn ask_log(&mut self) {
        if let OnScreen::Audit(log) = &self.place {
            self.over = Over::Prompt(Prompt::Query(Asking::of(&log.query)));
        }
    }

    /// `Tab` in the field.
    pub(super) fn complete_query(&mut self) {
        let (OnScreen::Audit(log), Over::Prompt(Prompt::Query(asking))) =
            (&self.place, &mut self.over)
        else {
            return;
        };
        let before = asking.input.value().to_owned();
        let offers = asking.offers(&log.page.rows);
        let count = asking.complete(&log.page.rows);
        let spoken = self.common.spoken;
        self.remarks.notice = match count {
            0 => Some(Notice::Idle(words::NOTHING_BEGINS_SO.into())),
            // On a drawn screen they stand above the field.
            2.. if spoken && asking.taken().is_none_or(|at| at == 0) => {
                let all = offers.all.iter().map(|offer| offer.text.as_str());
                Some(Notice::Idle(words::one_of(all).into()))
            }
            _ if before == asking.input.value() => {
                Some(Notice::Idle(words::NOTHING_BEGINS_SO.into()))
            }
            _ => None,
        };
    }

    /// `Enter`: asks, or says what is wrong and leaves the text in the field.
    pub(super) fn send_query(&mut self, mut asking: Asking, now: Now) -> Vec<Action> {
        let text = asking.input.value().trim().to_owned();
        match Query::parse(&text, now.wall) {
            Ok(query) => {
                self.remarks.notice = query.hint().map(Into::into);
                self.load_log(text)
            }
            Err(wrong) => {
                let said = match self.common.spoken {
                    true => wrong.to_string(),
                    false => words::NO_QUERY.to_owned(),
                };
                self.remarks.notice = Some(Notice::Idle(said.into()));
                asking.wrong = Some(wrong);
                self.over = Over::Prompt(Prompt::Query(asking));
                Vec::new()
            }
        }
    }

    /// Shows screen 2 with the rows of a question.
    pub(super) fn load_log(&mut self, query: String) -> Vec<Action> {
        // The numbers in [`FlowKey::Record`] restart.
        let record = |key: &FlowKey| matches!(key, FlowKey::Record(..) | FlowKey::Dossier(..));
        self.kept.flows.retain(|(key, _)| !record(key));
        let beside = self
            .place
            .log()
            .map_or(Beside::Nothing, |log| log.beside.asked_again());
        let sums = beside.wanted().map(|what| Action::SumUp {
            query: query.clone(),
            what,
        });
        self.place = OnScreen::Audit(LogScreen {
            beside,
            all: self.place.log().map_or(0, |log| log.all),
            query: query.clone(),
            ..LogScreen::default()
        });
        let rows = Action::LoadAudit {
            query,
            offset: 0,
            count: AUDIT_ROWS,
        };
        [rows].into_iter().chain(sums).collect()
    }
}
