//! What a host remembers of earlier proposals, so that its offers can say what is new. Only a host on which people vote
//! does; what it remembers decides nothing.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::clock::Now;
use crate::model::{Before, Digest, Earlier, GrantedBefore, Past, Shape};

use super::effect::Effect;
use super::entry::Entry;
use super::news;
use super::poll::Voting;
use super::state::BrokerState;

/// The most codes that an offer names as granted before.
const NAMED_MAX: usize = 3;
/// The most bytes of their texts in one offer.
const TEXTS_MAX: usize = 32 * 1024;
/// Codes whose texts are kept, the newest.
pub const CODES_MAX: usize = 256;
/// The most bytes of all of them.
const CODES_BYTES: usize = 2 * 1024 * 1024;

/// What was read from the log.
#[derive(Clone, Debug, PartialEq)]
pub enum Remembered {
    /// All of it, up to the start.
    Past(Box<Past>),
    Shapes(Vec<(Digest, Shape)>),
    /// Codes that were granted, as the log has them.
    Codes(Vec<(Digest, Arc<str>)>),
}

/// The log of a host, as far as its offers tell of it.
#[derive(Debug, Default)]
pub struct Memory {
    past: Past,
    /// Whether it has what is from before the start.
    is_read: bool,
    codes: BTreeMap<Digest, Arc<str>>,
    /// Of them, the oldest first.
    order: VecDeque<Digest>,
    bytes: usize,
}

impl Memory {
    fn keep(&mut self, code: Digest, text: Arc<str>) {
        if text.len() > TEXTS_MAX || self.codes.contains_key(&code) {
            return;
        }
        self.bytes += text.len();
        self.codes.insert(code, text);
        self.order.push_back(code);
        while self.order.len() > CODES_MAX || self.bytes > CODES_BYTES {
            let Some(oldest) = self.order.pop_front() else {
                break;
            };
            let gone = self.codes.remove(&oldest);
            self.bytes -= gone.map_or(0, |text| text.len());
        }
    }
}

impl BrokerState {
    pub(super) fn remembered(&mut self, what: Remembered) {
        if !self.settings.is_host() {
            return;
        }
        match what {
            Remembered::Past(past) => {
                let since = std::mem::replace(&mut self.memory.past, *past);
                self.memory.past.follow(since);
                self.memory.is_read = true;
            }
            Remembered::Shapes(shapes) => {
                for (code, shape) in shapes {
                    self.memory.past.shape(code, shape);
                }
            }
            Remembered::Codes(codes) => {
                for (code, text) in codes {
                    self.memory.keep(code, text);
                }
            }
        }
    }

    /// Takes in the records that are about to be written.
    pub(super) fn learn(&mut self, fx: &[Effect], now: Now) {
        if !self.settings.is_host() {
            return;
        }
        for effect in fx {
            if let Effect::Record { event, blobs, .. } = effect {
                self.memory.past.learn_written(now.wall, event, blobs);
            }
        }
    }

    /// What the log says beside a proposal, for those who may see the proposal: as if what they may not see never was.
    pub(super) fn said_before(&self, entry: &Entry, voting: &Voting) -> Before {
        if !self.memory.is_read {
            return Before::default();
        }
        let past = &self.memory.past;
        let may_see = |earlier: &Earlier| {
            let theirs = voting.routes.of(earlier.data.iter().map(|name| &**name));
            let both = entry.readers.clone().and(&theirs);
            // A file that a run left is seen as what that run used, which is not remembered.
            both == entry.readers && !earlier.left
        };
        let p = &entry.proposal;
        let agent = (p.peer.uid, p.agent_name());
        let routed = !voting.routes.0.is_empty();
        let only = routed.then_some(&may_see as &dyn Fn(&Earlier) -> bool);
        let found = past.granted_like(p.id, agent, p.title.as_deref(), only, NAMED_MAX);
        let mut room = TEXTS_MAX;
        let granted = found.into_iter().filter_map(|earlier| {
            let text = self.memory.codes.get(&earlier.code);
            let text = text.filter(|text| text.len() <= room).cloned();
            room -= text.as_ref().map_or(0, |text| text.len());
            Some(GrantedBefore {
                proposal: earlier.id,
                at: earlier.decided.as_ref()?.at,
                agent: earlier.agent.clone(),
                title: earlier.title.clone(),
                data: earlier.data.to_vec(),
                code: earlier.code,
                text,
            })
        });
        Before {
            is_read: true,
            granted: granted.collect(),
            news: news::news(past, entry, only),
        }
    }
}
