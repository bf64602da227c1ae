//! A queue that is fair between uids, then between the peers of a uid, then by arrival.

use std::collections::{HashMap, VecDeque};

/// Round-robin over uids, and within a uid over pids. A peer that queues a thousand items delays
/// another peer by only one.
#[derive(Clone, Debug)]
pub struct FairQueue<T> {
    uids: VecDeque<u32>,
    peers: HashMap<u32, VecDeque<i32>>,
    items: HashMap<(u32, i32), VecDeque<T>>,
}

impl<T> Default for FairQueue<T> {
    fn default() -> Self {
        Self {
            uids: VecDeque::new(),
            peers: HashMap::new(),
            items: HashMap::new(),
        }
    }
}

impl<T> FairQueue<T> {
    pub fn push(&mut self, peer: (u32, i32), item: T) {
        let (uid, pid) = peer;
        let pids = self.peers.entry(uid).or_default();
        if pids.is_empty() {
            self.uids.push_back(uid);
        }
        let items = self.items.entry(peer).or_default();
        if items.is_empty() {
            pids.push_back(pid);
        }
        items.push_back(item);
    }

    /// The next item in turn.
    pub fn pop(&mut self) -> Option<T> {
        let uid = self.uids.pop_front()?;
        let pids = self.peers.get_mut(&uid)?;
        let pid = pids.pop_front()?;
        let items = self.items.get_mut(&(uid, pid))?;
        let item = items.pop_front()?;
        if items.is_empty() {
            self.items.remove(&(uid, pid));
        } else {
            pids.push_back(pid);
        }
        if pids.is_empty() {
            self.peers.remove(&uid);
        } else {
            self.uids.push_back(uid);
        }
        Some(item)
    }

    /// How many items this peer has waiting.
    pub fn of_peer(&self, peer: (u32, i32)) -> usize {
        self.items.get(&peer).map_or(0, VecDeque::len)
    }

    /// How many items the peers of this uid have waiting.
    pub fn of_uid(&self, uid: u32) -> usize {
        let pids = self.peers.get(&uid).into_iter().flatten();
        pids.map(|pid| self.of_peer((uid, *pid))).sum()
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.items.values().map(VecDeque::len).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_from_one_peer_delays_another_by_one_turn() {
        let mut q = FairQueue::default();
        for i in 0..1000 {
            q.push((1, 10), format!("flood{i}"));
        }
        q.push((2, 20), "other uid".to_owned());
        q.push((1, 11), "other peer".to_owned());
        let first: Vec<_> = (0..5).map_while(|_| q.pop()).collect();
        assert_eq!(
            first,
            ["flood0", "other uid", "other peer", "flood1", "flood2"]
        );
        assert_eq!(q.len(), 997);
        assert_eq!(q.of_peer((1, 10)), 997);
        assert_eq!((q.of_uid(1), q.of_uid(2)), (997, 0));
    }

    #[test]
    fn everything_pushed_is_popped_once_in_the_order_of_its_peer() {
        let mut q = FairQueue::default();
        for i in 0..60_u32 {
            q.push((i % 3, (i % 4) as i32), i);
        }
        let mut seen: Vec<u32> = std::iter::from_fn(|| q.pop()).collect();
        let of_peer = |k: u32| {
            seen.iter()
                .copied()
                .filter(|i| i % 12 == k)
                .collect::<Vec<_>>()
        };
        for k in 0..12 {
            assert!(of_peer(k).is_sorted());
        }
        seen.sort_unstable();
        assert_eq!(seen, (0..60).collect::<Vec<_>>());
        assert_eq!(q.len(), 0);
    }
}
