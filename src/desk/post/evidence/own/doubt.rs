//! A host whose log is not the one that it signed: it says so to others, keeps that in its state folder, and publishes nothing else.
//! It signs no checkpoint of such a log, so once the newer log is put back, everything goes on.

use crate::audit::Tree;
use crate::desk::engine::{CheckpointRow, EngineError};
use crate::desk::evidence::{Admitted, Link, OwnDoubt};

use super::super::{Evidence, Word, now};
use super::Known;

impl Evidence {
    /// Says of this log that it is not the one that was signed, from now on. What it was that was signed: `signed`.
    pub(super) fn admit(&self, known: &mut Known, head: Option<u64>, signed: Link) -> String {
        let last = known.own.last.as_ref().map_or(0, |last| last.number);
        let has = head.unwrap_or(signed.0);
        let admitted = Admitted {
            number: last.max(known.number) + 1,
            at: now(),
            has,
            signed,
            base: known
                .fits
                .filter(|fits| has >= signed.0 && *fits < signed.0),
        };
        let why = admitted.here();
        tracing::error!("{why}");
        self.say(known, admitted);
        why
    }

    /// Signs it, for others to hear, and writes it down.
    fn say(&self, known: &mut Known, admitted: Admitted) {
        let who = (self.host.as_str(), self.host_key.as_str());
        let body = admitted.bytes(who);
        let signature = self.board.sign(&body);
        let body = String::from_utf8(body).map_err(|e| e.to_string());
        match signature.and_then(|signature| Ok((signature, body?))) {
            Ok((signature, body)) => {
                known.number = known.number.max(admitted.number);
                known.doubt = Some(OwnDoubt {
                    key: self.host_key.clone(),
                    admitted,
                    body,
                    signature,
                    unheard: Some("it was not tried yet".to_owned()),
                });
                known.is_told = false;
                self.note(known);
            }
            Err(why) => tracing::error!("that the log is doubted was not signed: {why}"),
        }
    }

    fn note(&self, known: &Known) {
        if let Some(doubt) = &known.doubt
            && let Err(why) = doubt.keep(&self.state_dir)
        {
            tracing::error!("that the log is doubted is not kept: {why}");
        }
    }

    /// Says it anew if the engine has it no more, or has it behind so much noise that nobody reads it: the same row again would be no
    /// new one.
    pub(super) fn say_again(&self, known: &mut Known) {
        let Some(doubt) = known.doubt.as_ref().filter(|_| !known.is_told) else {
            return;
        };
        if doubt.unheard.is_none() {
            let mut admitted = doubt.admitted.clone();
            let last = known.own.last.as_ref().map_or(0, |last| last.number);
            admitted.number = last.max(known.number) + 1;
            admitted.at = now();
            self.say(known, admitted);
        }
    }

    /// Says here that others do not hear it.
    pub(super) fn unheard(&self, known: &mut Known, e: &EngineError, tell: &impl Fn(Word)) {
        if known.is_told {
            return;
        }
        let Some(doubt) = known.doubt.as_mut() else {
            return;
        };
        let why = Some(e.to_string());
        if std::mem::replace(&mut doubt.unheard, why.clone()) == why && known.is_silent {
            return;
        }
        let silence = doubt.silence();
        known.is_silent = true;
        self.note(known);
        if let Some(why) = silence {
            tracing::error!("{why}");
            tell(Word::Unheard(Some(why)));
        }
    }

    /// What an earlier start found, without the engine.
    pub(super) fn recall(
        &self,
        known: &mut Known,
        tree: Option<&Tree>,
        head: Option<u64>,
        tell: &impl Fn(Word),
    ) {
        if std::mem::replace(&mut known.is_recalled, true) {
            return;
        }
        let doubt = match OwnDoubt::open(&self.state_dir, &self.host_key) {
            Ok(Some(doubt)) => doubt,
            Ok(None) => return,
            Err(why) => return tracing::warn!("what was found wrong with the log is lost: {why}"),
        };
        known.number = known.number.max(doubt.admitted.number);
        let (size, root) = doubt.admitted.signed;
        let is_long = head.is_some_and(|head| size <= head);
        if is_long && tree.and_then(|tree| tree.root_at(size)) == Some(root) {
            if let Err(why) = OwnDoubt::end(&self.state_dir) {
                tracing::warn!("{why}");
            }
            return;
        }
        tell(self.own_word(doubt.admitted.here(), true));
        known.doubt = Some(doubt);
    }

    /// What this program's own checkpoints say of the log, which its operator knows. After the look at the engine, whose numbers it
    /// has to exceed.
    pub(super) fn heed(
        &self,
        known: &mut Known,
        tree: Option<&Tree>,
        head: Option<u64>,
        tell: &impl Fn(Word),
    ) {
        if known.doubt.is_some() || !self.board.is_doubted() {
            return;
        }
        let of_tree = tree.map(|tree| (tree.size(), tree.root()));
        let last = known.own.last.as_ref().map(|last| (last.size, last.root));
        if let Some(signed) = of_tree.max(last) {
            let why = self.admit(known, head, signed);
            // In the words, and with the numbers, that others read. The log has a record of it.
            tell(self.own_word(why, true));
        }
    }

    pub(super) fn own_word(&self, why: String, known: bool) -> Word {
        Word::Doubted {
            host: self.host.clone(),
            why,
            is_own: true,
            known,
        }
    }

    /// Has others know. Nothing else of such a log is published. What cannot be put there is tried again at the next look.
    pub(super) async fn tell_doubt(
        &self,
        known: &mut Known,
        tell: &impl Fn(Word),
    ) -> Result<(), EngineError> {
        let Some(doubt) = known.doubt.as_mut() else {
            return Ok(());
        };
        if !known.is_told {
            let row = CheckpointRow {
                host: self.host.clone(),
                size: doubt.admitted.signed.0,
                body: doubt.body.clone().into_bytes(),
                signature: doubt.signature.clone(),
            };
            if let Err(e) = self.engine.publish_checkpoint(&row).await {
                self.unheard(known, &e, tell);
                return Err(e);
            }
            known.is_told = true;
        }
        if doubt.unheard.take().is_some() {
            self.note(known);
        }
        if std::mem::take(&mut known.is_silent) {
            tell(Word::Unheard(None));
        }
        Ok(())
    }
}
