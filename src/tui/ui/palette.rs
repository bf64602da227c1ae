//! `:`: every command by name. Choosing one does what its key does, no more: granting opens the sheet.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent};
use tui_input::Input;

use crate::broker::BrokerState;
use crate::clock::Now;

use super::super::action::Action;
use super::super::glossary;
use super::super::keys::{Command, Key};
use super::super::program::Program;
use super::super::words;
use super::pausing::spoken;
use super::{Notice, Over, UiState, View, decide};

/// Without a key for this long, the chosen command was said.
const SAID: Duration = Duration::from_millis(800);

/// The open palette.
#[derive(Debug, Default)]
pub(in crate::tui) struct Palette {
    pub input: Input,
    /// The chosen one of [`Palette::found`].
    pub at: usize,
    /// The command that `Enter` named, since its name does not begin as the typed text does. The next `Enter` runs it.
    asked: Option<Command>,
}

impl Palette {
    /// The commands whose name or description has the typed letters in this order, the best first.
    pub fn found(&self, program: &Program) -> Vec<Command> {
        let typed = self.input.value();
        let mut found: Vec<(usize, Command)> = program
            .commands()
            .filter(|command| !matches!(command, Command::Confirm | Command::Palette))
            .filter_map(|command| {
                let name = rank(command.name(), typed);
                // A description is worth less than any name.
                let words = || rank(program.words(command), typed).map(|r| r + 1_000);
                Some((name.or_else(words)?, command))
            })
            .collect();
        found.sort_by_key(|(rank, _)| *rank);
        found.into_iter().map(|(_, command)| command).collect()
    }

    /// Whether the typed text begins the command's name or a word of it, or whether it was chosen otherwise: by an
    /// arrow, or by a second `Enter`.
    pub fn is_meant(&self, command: Command) -> bool {
        let typed = self.input.value().trim().to_lowercase();
        let name = command.name().to_lowercase();
        let mut starts = name.match_indices(['-', ' ']).map(|(i, _)| i + 1);
        let begins = name.starts_with(&typed) || starts.any(|i| name[i..].starts_with(&typed));
        !typed.is_empty() && begins || self.at > 0 || self.asked == Some(command)
    }

    /// What is said if the typed letters find no command.
    pub fn none(&self, program: &Program) -> String {
        let names: Vec<&str> = program.commands().map(Command::name).collect();
        words::no_command(self.input.value(), &names)
    }
}

/// How far apart the typed letters stand in the text; less is better. `None` if they are not in it in this order.
fn rank(text: &str, typed: &str) -> Option<usize> {
    let text: Vec<char> = text.to_lowercase().chars().collect();
    let (mut from, mut first) = (0, None);
    for wanted in typed.to_lowercase().chars().filter(|c| !c.is_whitespace()) {
        let at = from + text[from..].iter().position(|c| *c == wanted)?;
        first.get_or_insert(at);
        from = at + 1;
    }
    // The span that the letters take, and where it begins.
    let first = first.unwrap_or(0);
    Some((from - first.min(from)) * 4 + first)
}

impl UiState {
    /// Handles a key in the palette. `Enter` and `Esc` are not bound to commands there.
    pub(super) fn on_palette(
        &mut self,
        state: &BrokerState,
        event: &KeyEvent,
        now: Now,
    ) -> Vec<Action> {
        let key = Key::of(event);
        let Over::Palette(palette) = &mut self.over else {
            return Vec::new();
        };
        let program = &self.common.program;
        let last = palette.found(program).len().saturating_sub(1);
        if key.is(KeyCode::Esc) {
            self.over.close();
        } else if key.is(KeyCode::Enter) {
            let Some(chosen) = palette.found(program).get(palette.at).copied() else {
                self.remarks.notice = Some(Notice::Idle(palette.none(program).into()));
                return Vec::new();
            };
            if !palette.is_meant(chosen) {
                let typed = palette.input.value();
                if let Some((word, meaning)) = glossary::explain(program.glossary(), typed).first()
                {
                    let said = words::is_no_command(word, meaning);
                    self.remarks.notice = Some(Notice::Idle(said.into()));
                    return Vec::new();
                }
                palette.asked = Some(chosen);
                let said = words::enter_again(typed, chosen.name());
                self.remarks.notice = Some(Notice::Idle(said.into()));
                return Vec::new();
            }
            // Where nothing is drawn, nobody knows what is chosen before it was said.
            let said = self.common.spoken.then_some(self.attention.quiet.key().gap);
            if said.is_some_and(|gap| gap < SAID) && palette.asked != Some(chosen) {
                palette.asked = Some(chosen);
                let does = self.command_said(state, chosen);
                let said = words::plain::enter_does(&does);
                self.remarks.notice = Some(Notice::Idle(said.into()));
                return Vec::new();
            }
            self.over.close();
            return self.choose(state, chosen, now);
        } else if key.is(KeyCode::Up) {
            palette.at = palette.at.saturating_sub(1);
        } else if key.is(KeyCode::Down) {
            palette.at = (palette.at + 1).min(last);
        } else {
            decide::edit(&mut palette.input, key, event.code);
            palette.at = 0;
            palette.asked = None;
        }
        Vec::new()
    }

    /// What `Enter` would do, and to whom.
    pub(in crate::tui) fn command_said(&self, state: &BrokerState, command: Command) -> String {
        let whom = match command {
            Command::Pause | Command::Resume | Command::DenyAll => self.agent_at_hand(state),
            _ => None,
        };
        let whom = whom.map(|agent| spoken(&agent.name));
        let what = self.common.program.spoken(command);
        words::plain::does(command, what, whom.as_deref())
    }

    /// Does what the command's key does.
    fn choose(&mut self, state: &BrokerState, command: Command, now: Now) -> Vec<Action> {
        let stand = self.stand();
        let actions = match command {
            Command::Grant if self.view() == View::Queue => {
                self.ask(state, now);
                Vec::new()
            }
            command => self.command(state, command, now),
        };
        if actions.is_empty() && self.remarks.notice.is_none() && self.stand() == stand {
            self.tell_idle_command(state, command);
        }
        actions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(typed: &str) -> Vec<Command> {
        let palette = Palette {
            input: Input::new(typed.to_owned()),
            ..Palette::default()
        };
        palette.found(&Program::Dashboard)
    }

    #[test]
    fn letters_in_order_find_a_command_and_its_name_comes_first() {
        assert_eq!(found("deny")[0], Command::Deny);
        assert_eq!(found("zm")[0], Command::Zoom);
        assert_eq!(found("AUDIT")[0], Command::Audit);
        assert_eq!(found("next f")[0], Command::NextPoint);
        assert_eq!(found("zzzz"), []);
    }

    #[test]
    fn every_command_is_there_but_the_confirmation_and_the_palette_itself() {
        let all = found("");
        assert_eq!(all.len(), Command::ALL.len() - 2);
        assert!(!all.contains(&Command::Confirm) && !all.contains(&Command::Palette));
    }
}
