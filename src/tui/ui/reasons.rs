//! The field of a reason: `↑` goes to earlier ones, `↓` back to what was typed, and `Enter` right behind another denial
//! asks once more, so that stray typing denies one proposal and not the next ones.

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::KeyCode;
use tui_input::Input;

use super::super::keys::Key;
use super::quiet::Typing;

/// What `Enter` does in the field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::tui) enum Enter {
    #[default]
    Denies,
    /// The field was opened in one go with the denial of another proposal: it asks if it is also sent so.
    Swift,
    /// The field was opened in the middle of the typing that denied another proposal.
    Asks,
    /// The next one denies if it comes after a pause.
    Asked,
}

/// A person's last denial, and the keys since then.
#[derive(Clone, Copy, Debug)]
pub(in crate::tui) struct Denial {
    pub at: Duration,
    /// Whether no key since then came after a pause.
    pub swift: bool,
    /// Whether a key since then means nothing.
    pub stray: bool,
}

impl Denial {
    pub const fn new(at: Duration) -> Self {
        Self {
            at,
            swift: true,
            stray: false,
        }
    }

    /// What `Enter` does in a field that the last key opened. `runs`: whether nobody paused to look up since then.
    pub fn enter(self, key: Typing, runs: bool) -> Enter {
        match runs && !key.calm {
            true if self.stray || key.since <= self.at => Enter::Asks,
            true if self.swift && key.alone => Enter::Swift,
            _ => Enter::Denies,
        }
    }
}

/// The field of a reason.
#[derive(Debug, Default)]
pub(in crate::tui) struct Reason {
    pub input: Input,
    pub earlier: Reasons,
    pub enter: Enter,
}

impl Reason {
    /// Takes in a key other than `Enter` and `Esc`; true if it went through earlier reasons.
    pub fn goes(&mut self, key: Key, typing: Typing) -> bool {
        let goes = self.earlier.go(&mut self.input, key);
        self.enter = match (goes, self.enter) {
            // Stray typing has no arrows.
            (true, _) => Enter::Denies,
            (false, Enter::Swift) if typing.calm || !typing.alone => Enter::Denies,
            (false, Enter::Asked) => Enter::Asks,
            (false, enter) => enter,
        };
        goes
    }

    /// `Enter`: whether it denies.
    pub const fn sends(&mut self, typing: Typing) -> bool {
        match self.enter {
            Enter::Denies => true,
            Enter::Asked if typing.calm => true,
            Enter::Swift if typing.calm || !typing.alone => true,
            Enter::Swift | Enter::Asks | Enter::Asked => {
                self.enter = Enter::Asked;
                false
            }
        }
    }
}

/// This person's earlier reasons, and which one stands in the field.
#[derive(Debug, Default)]
pub(in crate::tui) struct Reasons {
    /// The newest first, each once.
    all: Vec<Arc<str>>,
    /// `None`: what the person typed.
    at: Option<usize>,
    typed: String,
}

impl Reasons {
    pub fn of(all: Vec<Arc<str>>) -> Self {
        Self {
            all,
            ..Self::default()
        }
    }

    pub const fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The one that stands in the field, the newest being 0.
    pub const fn at(&self) -> Option<usize> {
        self.at
    }

    /// Handles a key; false if it is none of these.
    pub fn go(&mut self, input: &mut Input, key: Key) -> bool {
        let to = if key.is(KeyCode::Up) {
            let next = self.at.map_or(0, |at| at + 1);
            match next < self.all.len() {
                true => Some(next),
                false => self.at,
            }
        } else if key.is(KeyCode::Down) {
            self.at.and_then(|at| at.checked_sub(1))
        } else {
            return false;
        };
        if to == self.at {
            return true;
        }
        if self.at.is_none() {
            self.typed = input.value().to_owned();
        }
        self.at = to;
        let text = match to {
            Some(at) => self.all[at].to_string(),
            None => std::mem::take(&mut self.typed),
        };
        *input = Input::new(text);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::action::Action;
    use super::super::super::bench::*;
    use super::*;

    fn denied(reasons: &[&str]) -> Bench {
        denied_by("notebook", reasons)
    }

    fn denied_by(agent: &'static str, reasons: &[&str]) -> Bench {
        let making = || Making {
            agent: Some(agent),
            ..Making::clear("print(len(df))\n")
        };
        let mut b = Bench::new(120, 40);
        for reason in reasons {
            let id = b.propose(making());
            b.choose(id);
            b.keys("d");
            b.keys(reason);
            b.press(KeyCode::Enter);
            b.carry_out();
        }
        let id = b.propose(making());
        b.choose(id);
        b
    }

    fn sent(b: &mut Bench) -> Option<String> {
        match b.press(KeyCode::Enter).pop() {
            Some(Action::Deny { reason, .. }) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn earlier_reasons_come_back_newest_first_and_each_once() {
        for (ups, expected) in [(1, "why e-mail?"), (2, "too much"), (9, "too much")] {
            let mut b = denied(&["too much", "why e-mail?", "too much", "why e-mail?"]);
            b.keys("d");
            for _ in 0..ups {
                b.press(KeyCode::Up);
            }
            assert_eq!(sent(&mut b).as_deref(), Some(expected), "{ups}");
        }
    }

    #[test]
    fn what_was_typed_comes_back_and_an_earlier_reason_can_be_edited() {
        let mut b = denied(&["why e-mail?"]);
        b.keys("dmine");
        b.press(KeyCode::Up);
        b.press(KeyCode::Down);
        b.press(KeyCode::Down);
        b.keys("!");
        assert_eq!(sent(&mut b).as_deref(), Some("mine!"));
        let mut b = denied(&["why e-mail?"]);
        b.keys("d");
        b.press(KeyCode::Up);
        b.press(KeyCode::Backspace);
        assert_eq!(sent(&mut b).as_deref(), Some("why e-mail"));
    }

    #[test]
    fn an_earlier_reason_is_shown_whole_on_80_columns() {
        let reason = "print no rows of people: counts will do!";
        assert_eq!(reason.len(), 40);
        let mut b = denied_by("hr-insights-2026", &[reason]);
        b.size = (80, 24);
        b.keys("d");
        assert!(b.draw().contains("reason for hr-insights-2026:"));
        // The second time there is no other one, which is said beside it.
        for said in ["", "no other reason"] {
            b.press(KeyCode::Up);
            let screen = b.draw();
            assert!(screen.contains(reason) && screen.contains(said), "{screen}");
            assert!(screen.contains("hr-insights-2026:"), "{screen}");
        }
    }

    #[test]
    fn the_latest_denial_s_reason_comes_first_whenever_its_proposal_came() {
        let mut b = Bench::new(120, 40);
        let [first, second] = [(); 2].map(|()| b.propose(Making::clear("print(len(df))\n")));
        b.deny(second, "of the one that came last");
        b.deny(first, "of the one that came first");
        let id = b.propose(Making::clear("print(len(df))\n"));
        b.choose(id);
        b.keys("d");
        b.press(KeyCode::Up);
        assert_eq!(sent(&mut b).as_deref(), Some("of the one that came first"));
    }

    #[test]
    fn without_earlier_reasons_the_arrows_do_nothing_and_are_not_offered() {
        let mut b = denied(&[]);
        b.keys("dno");
        b.press(KeyCode::Up);
        assert!(!b.draw().contains("earlier"));
        assert_eq!(sent(&mut b).as_deref(), Some("no"));
        let mut b = denied(&["no"]);
        b.keys("d");
        assert!(b.draw().contains("↑ earlier"));
    }
}
