//! A vote whose key wants a passphrase or a PIN: `ssh-keygen` has the terminal meanwhile, as an editor has it.

use std::sync::{Arc, OnceLock};

use crate::broker::Event;
use crate::desk::Word;
use crate::model::{NAMESPACE, Person, ProposalId};

use super::super::Input;
use super::super::editor;
use super::super::evidence;
use super::super::voters::AskTerminal;
use super::editing::Editing;
use super::{Redraw, Shell};
use crate::clock::Now;

impl Shell {
    /// In a reviewer's seat: the host is there, or why it is not.
    pub(super) fn heard_of_host(&mut self, news: Option<String>) {
        if let Some(why) = &news {
            self.ui.tell(why.clone());
        }
        let seat = self.works.header.seat.iter_mut();
        for host in seat.flat_map(|seat| &mut seat.hosts) {
            host.away.clone_from(&news);
        }
        self.redraw = Redraw::Soon;
    }

    /// In a reviewer's seat: whose logs are doubted, until the next word.
    pub(super) fn heard_of_doubts(&mut self, doubts: Vec<(String, String)>) {
        if let Some(seat) = &mut self.works.header.seat {
            seat.doubted = doubts;
        }
        self.redraw = Redraw::Soon;
    }

    /// At a host: the engine is there, or why it is not. Agents hear of it when their proposals expire.
    pub(super) fn heard_of_engine(&mut self, news: Option<String>) {
        if let Some(why) = &news {
            self.ui.tell(why.clone());
            tracing::warn!("{why}");
        }
        self.works.header.unreached.clone_from(&news);
        self.core(Event::Reached(news.map_or(Ok(()), Err)));
        self.redraw = Redraw::Soon;
    }

    pub(super) fn heard_of_evidence(&mut self, word: Word) {
        self.ui.tell(evidence::line(&word));
        if let Some(event) = self.works.heard(word) {
            self.core(event);
        }
        self.redraw = Redraw::Soon;
    }

    /// At a host: the command that tells people works again, or why it failed. It holds up nothing.
    pub(super) fn heard_of_notices(&mut self, news: Option<String>) {
        if let Some(why) = news {
            tracing::warn!("{why}");
            self.ui.tell(why);
            self.redraw = Redraw::Soon;
        }
    }

    /// What a sheet says is looked at again while the person reads it.
    pub(super) fn sheet_opened(&self) {
        self.works.hands.environment.look();
        if let Some(desk) = &self.works.hands.desk {
            desk.look_who_votes();
        }
    }

    /// Somebody else says that they read a proposal: a hint.
    pub(super) fn somebody_reads(&mut self, id: ProposalId, by: Person) {
        let entry = self.works.state.entry(id);
        if entry.is_some_and(|entry| entry.poll().is_some()) {
            self.ui.somebody_reads(id, by, Now::read());
            self.redraw = Redraw::Soon;
        }
    }

    /// After a key: tells the others what the person reads.
    pub(super) fn tell_reading(&mut self, now: Now) {
        let Some(desk) = &self.works.hands.desk else {
            return;
        };
        let state = &self.works.state;
        if let Some(id) = self.ui.reads(state, now)
            && let Ok(person) = state.person_here()
        {
            desk.claim(id, person);
        }
    }

    /// Lends the terminal to `ssh-keygen`.
    pub(super) fn sign_in_terminal(&mut self, ask: AskTerminal) {
        let AskTerminal {
            id,
            version,
            vote,
            signer,
            permit,
        } = ask;
        let Some(desk) = self.works.hands.desk.clone() else {
            return;
        };
        let busy = |why: &str| desk.signed(id, version, Err(why.to_owned()));
        if !matches!(self.editing, Editing::Nothing) || self.plain.is_some() || self.gone {
            return busy("the terminal is not free for a passphrase; use an agent, or try again");
        }
        if !self.keyboard.rest() {
            return busy("the keyboard is busy; try again");
        }
        self.keyboard.flush();
        self.ui.lend(Now::read());
        let lent = self.terminal.lend();
        let group = Arc::new(OnceLock::new());
        let (lending, leading) = (lent.clone(), group.clone());
        self.editing = Editing::Signing { group, lent };
        let (hands, decided) = (desk.clone(), self.works.hands.decided.clone());
        let waiting = std::thread::Builder::new().name("signing".to_owned());
        let waiting = waiting.spawn(move || {
            let lend = |pid| {
                let _ = leading.set(pid);
                lending.to(pid);
            };
            let signed = signer.in_terminal(permit, vote.text.as_bytes(), NAMESPACE, lend);
            let _ = decided.send(Input::SignedInTerminal);
            let signed = signed.map(|armour| vote.signed(armour));
            hands.signed(id, version, signed.map_err(|e| e.to_string()));
        });
        if waiting.is_err() {
            self.signed_in_terminal();
            desk.signed(id, version, Err("no thread could be started".to_owned()));
        }
    }

    /// The terminal is the dashboard's again.
    pub(super) fn signed_in_terminal(&mut self) {
        if let Editing::Signing { lent, .. } = std::mem::take(&mut self.editing) {
            self.take_terminal_back(lent);
        }
        self.redraw = Redraw::Soon;
    }

    /// The dashboard closes while `ssh-keygen` asks.
    pub(super) fn end_signing(&mut self) {
        if let Editing::Signing { group, lent } = std::mem::take(&mut self.editing) {
            if let Some(group) = group.get() {
                editor::end(*group);
            }
            lent.back();
        }
    }
}
