//! Counts undecided or unannounced proposals, by peer and by uid.

use std::collections::HashMap;
use std::hash::Hash;

use super::quota::PeerKey;

#[derive(Clone, Debug, Default)]
pub(super) struct Census {
    pub total: usize,
    by_uid: HashMap<u32, usize>,
    by_peer: HashMap<PeerKey, usize>,
}

impl Census {
    pub fn add(&mut self, peer: PeerKey) {
        self.total += 1;
        *self.by_uid.entry(peer.0).or_default() += 1;
        *self.by_peer.entry(peer).or_default() += 1;
    }

    pub fn remove(&mut self, peer: PeerKey) {
        self.total = self.total.saturating_sub(1);
        take_one(&mut self.by_uid, peer.0);
        take_one(&mut self.by_peer, peer);
    }

    pub fn of_peer(&self, peer: PeerKey) -> usize {
        self.by_peer.get(&peer).copied().unwrap_or(0)
    }

    pub fn of_uid(&self, uid: u32) -> usize {
        self.by_uid.get(&uid).copied().unwrap_or(0)
    }
}

fn take_one<K: Hash + Eq>(counts: &mut HashMap<K, usize>, key: K) {
    if let Some(n) = counts.get_mut(&key) {
        *n = n.saturating_sub(1);
        if *n == 0 {
            counts.remove(&key);
        }
    }
}
