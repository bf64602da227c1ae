//! Keys of a run's output that is played: pause, speed, cut waits, from the beginning.

use crate::clock::Now;

use super::super::dossier::{Part, Replay};
use super::super::keys::Command;
use super::super::words;
use super::{OnScreen, Shows, UiState};

impl UiState {
    /// Prints what of a replay is due.
    pub(super) fn play_on(&mut self, now: Now) {
        if let OnScreen::Audit(log) = &mut self.place
            && let Some(replay) = log.replay_mut()
        {
            replay.advance(now.boot);
        }
    }

    /// Plays the output of the page's run. Plain lines have it in the page.
    pub(super) fn play(&mut self, now: Now) {
        let spoken = self.common.spoken;
        let OnScreen::Audit(log) = &mut self.place else {
            return;
        };
        let Some(dossier) = log.dossier().cloned() else {
            return;
        };
        match dossier.plays() {
            None => self.remarks.notice = Some(words::dossier::NOTHING_TO_PLAY.into()),
            Some(_) if spoken => {
                let part = dossier.place(Part::Output);
                let start = part.and_then(|part| self.frame.starts.get(part));
                log.top = start.copied().unwrap_or(log.top);
            }
            Some(played) => {
                let replay = Replay::start(played.clone(), now.boot);
                log.shows = Shows::Replay(Box::new(replay));
            }
        }
    }

    pub(super) fn on_replay(&mut self, command: Command, now: Now) {
        let OnScreen::Audit(log) = &mut self.place else {
            return;
        };
        let Some(replay) = log.replay_mut() else {
            return;
        };
        replay.advance(now.boot);
        match command {
            Command::Open | Command::PageCode => replay.turn(now.boot),
            Command::Right => replay.faster(),
            Command::Left => replay.slower(),
            Command::NextPane => replay.cut(),
            Command::Top => replay.restart(now.boot),
            Command::Back | Command::Details => log.shows = Shows::Page,
            _ => {}
        }
    }
}
