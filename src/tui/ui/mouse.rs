//! The mouse, if `mouse = true`: the wheel scrolls what is under it, a click selects, a second click opens. It never asks for
//! a grant, confirms, denies or types, and to the rules of quiet it is input like any other.

use std::time::Duration;

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use crate::broker::BrokerState;
use crate::clock::Now;
use crate::model::ProposalId;

use super::super::action::Action;
use super::super::keys::Command;
use super::{OnScreen, Over, Pane, UiState};

/// The longest time between the two clicks that open.
const DOUBLE: Duration = Duration::from_millis(400);
/// Rows for one step of the wheel.
const STEP: usize = 3;

/// What an area of the screen shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tui) enum Place {
    /// A row of the queue.
    Entry(ProposalId),
    Pane(Pane),
    /// A list or text that fills the screen, or lies over it.
    Page,
}

/// The last click.
#[derive(Clone, Copy, Debug)]
pub(in crate::tui) struct Click {
    at: Position,
    boot: Duration,
}

impl UiState {
    pub(super) fn on_mouse(
        &mut self,
        state: &BrokerState,
        event: &MouseEvent,
        now: Now,
    ) -> Vec<Action> {
        let at = Position::new(event.column, event.row);
        match event.kind {
            MouseEventKind::ScrollDown => self.wheel(state, at, Command::Down, now),
            MouseEventKind::ScrollUp => self.wheel(state, at, Command::Up, now),
            MouseEventKind::Down(MouseButton::Left) => self.click(state, at, now),
            _ => Vec::new(),
        }
    }

    /// What was on the screen there; the last drawn lies above.
    fn place_at(&self, at: Position) -> Option<Place> {
        let hit = |(area, _): &&(Rect, Place)| area.contains(at);
        self.frame
            .places
            .iter()
            .rev()
            .find(hit)
            .map(|(_, place)| *place)
    }

    fn wheel(
        &mut self,
        state: &BrokerState,
        at: Position,
        command: Command,
        now: Now,
    ) -> Vec<Action> {
        match (self.place_at(at), &self.over, &self.place) {
            (Some(Place::Page), Over::Nothing, OnScreen::Audit(log))
                if log.page.detail.is_none() =>
            {
                return self.on_audit(command, now);
            }
            (Some(Place::Page), ..) => {
                (0..STEP).for_each(|_| self.scroll_over(command));
            }
            (Some(Place::Entry(_) | Place::Pane(Pane::Queue)), Over::Nothing, _) => {
                self.move_selection(command, now);
                self.redocument(state, now);
            }
            (Some(Place::Pane(Pane::Code)), Over::Nothing | Over::Sheet(_), _) => {
                self.roll_code(command, STEP);
            }
            (Some(Place::Pane(Pane::Output)), Over::Nothing, _) => {
                (0..STEP).for_each(|_| self.scroll_output(state, command));
            }
            (Some(Place::Pane(pane)), Over::Nothing, _) => {
                (0..STEP).for_each(|_| self.scroll_pane(pane, command));
            }
            _ => {}
        }
        Vec::new()
    }

    fn click(&mut self, state: &BrokerState, at: Position, now: Now) -> Vec<Action> {
        let click = Click { at, boot: now.boot };
        let before = self.clicked.replace(click);
        if !matches!(self.over, Over::Nothing) {
            return Vec::new();
        }
        let again = before.is_some_and(|before| {
            before.at == at && now.boot.saturating_sub(before.boot) <= DOUBLE
        });
        match self.place_at(at) {
            Some(Place::Entry(id)) => {
                self.select(id, now);
                self.redocument(state, now);
                self.focus_on(if again { Pane::Code } else { Pane::Queue });
            }
            Some(Place::Pane(Pane::Code)) if again => self.toggle_fold(),
            Some(Place::Pane(pane)) => self.focus_on(pane),
            Some(Place::Page) | None => {}
        }
        Vec::new()
    }
}
