//! What hosts' logs say of each other, as it reaches this host's log, its screen and its grants.

use crate::audit::Store;
use crate::broker::{Event, LogDoubt};
use crate::config::{Config, DeskConfig};
use crate::desk::post::evidence::ReadHosts;
use crate::desk::{Hosts, Word};
use crate::model::{Lane, LogEvent, Ticket};
use crate::paths::{Trust, read_trusted};
use crate::tui::LogCheck;

use super::works::Works;

/// A line for the operator, or for who sits at the screen.
pub fn line(word: &Word) -> String {
    match word {
        Word::Doubted {
            why, is_own: true, ..
        } => {
            format!("nothing is granted: {why}")
        }
        Word::Doubted { host, why, .. } => {
            format!("{host}: {why}; its checkpoints are not signed any more")
        }
        Word::Unheard(Some(why)) => why.clone(),
        Word::Unheard(None) => {
            "others hear now that this log is not the one that was signed".to_owned()
        }
        Word::Odd(what) => what.clone(),
    }
}

impl Works {
    /// Records what contradicts itself. Returns what that means for grants: what this host signed is its own log's doubt.
    pub fn heard(&mut self, word: Word) -> Option<Event> {
        let (host, why, is_own, known) = match word {
            Word::Doubted {
                host,
                why,
                is_own,
                known,
            } => (host, why, is_own, known),
            Word::Unheard(why) => {
                self.header.unheard = why;
                return None;
            }
            Word::Odd(_) => return None,
        };
        if !known {
            let event = LogEvent::Doubted {
                host,
                reason: why.clone(),
            };
            let log = &self.hands.log;
            log.submit_in(Lane::Person, Ticket::Unawaited, event, Vec::new());
        }
        if !is_own {
            return None;
        }
        // The notary may have found it before, and has other words for it.
        let found = &self.header.log;
        if let (LogCheck::Damaged(by_notary), Some(LogDoubt::Contradicted(told))) =
            (found, &self.state.log_doubt)
            && by_notary == told
        {
            self.header.log = LogCheck::Sound;
        }
        self.own_doubt = Some(why.clone());
        Some(Event::LogDoubted(LogDoubt::Contradicted(why)))
    }
}

/// Where this host's checkpoints are.
pub fn store(config: &Config) -> Store {
    let configured = config.audit.checkpoints.as_deref();
    configured.map_or_else(|| Store::beside(&config.paths.state_dir), Store::at)
}

/// How the file of hosts is read. A host without one looks at nobody's checkpoints.
pub fn hosts(desk: &DeskConfig) -> ReadHosts {
    let path = desk.hosts.clone();
    Box::new(move || {
        if !path.exists() {
            return Ok(Hosts::default());
        }
        let text = read_trusted(&path, Trust::RootOrUser).map_err(|e| e.to_string())?;
        Hosts::read(text.as_bytes()).map_err(|e| e.to_string())
    })
}
