//! How fast a peer's lines are read. A peer that sends more than the dashboard can process waits in
//! its own socket: answering every line, even with a refusal, would take CPU time from others.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

/// Lines that a peer may send at once.
const BURST: u64 = 4_000;
/// Lines per second that are read from one peer.
const OF_PEER: u64 = 4_000;
/// Lines per second that are read from all peers of a uid, because processes are cheap.
const OF_UID: u64 = 8_000;
/// Bytes that count as one more line.
const LINE_BYTES: usize = 4 * 1024;
/// Peers remembered before those that have caught up are forgotten.
const HELD: usize = 1_024;

/// How much peers have sent lately.
#[derive(Debug, Default)]
pub(super) struct Paces {
    /// Lines read and not yet offset by time, in thousandths.
    held: HashMap<(u32, i32), (u64, Instant)>,
}

impl Paces {
    /// Notes a line. Returns how long the peer must wait before its next one. The `peers` of a uid
    /// share the uid's rate, so a peer that sends little does not wait for the others.
    pub fn charge(
        &mut self,
        peer: (u32, i32),
        bytes: usize,
        peers: usize,
        now: Instant,
    ) -> Duration {
        let per_second = OF_PEER.min(OF_UID / (peers.max(1) as u64)).max(1);
        let left = |(used, at): (u64, Instant)| {
            let passed = u64::try_from(now.duration_since(at).as_millis()).unwrap_or(u64::MAX);
            used.saturating_sub(passed.saturating_mul(per_second))
        };
        if self.held.len() >= HELD {
            self.held.retain(|_, held| left(*held) > 0);
        }
        let lines = 1 + (bytes / LINE_BYTES) as u64;
        let used = self.held.get(&peer).map_or(0, |held| left(*held)) + lines * 1_000;
        self.held.insert(peer, (used, now));
        Duration::from_millis(used.saturating_sub(BURST * 1_000) / per_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_flooding_peer_waits_and_another_peer_of_its_uid_does_not() {
        let mut paces = Paces::default();
        let now = Instant::now();
        let mut longest = Duration::ZERO;
        for _ in 0..2 * BURST {
            longest = longest.max(paces.charge((1, 10), 100, 2, now));
        }
        assert_eq!(longest, Duration::from_secs(BURST / OF_PEER));
        assert_eq!(paces.charge((1, 11), 100, 2, now), Duration::ZERO);
        let later = now + Duration::from_secs(3);
        assert_eq!(paces.charge((1, 10), 100, 2, later), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn long_lines_count_for_several_and_many_peers_share_their_uid() {
        let mut paces = Paces::default();
        let now = Instant::now();
        let mut sent = 0;
        while paces.charge((1, 10), 64 * 1024, 1, now).is_zero() {
            sent += 1;
        }
        assert_eq!(sent, BURST / 17);
        for _ in 0..BURST {
            paces.charge((1, 12), 0, 80, now);
        }
        assert_eq!(paces.charge((1, 12), 0, 80, now), Duration::from_millis(10));
    }

    #[tokio::test(start_paused = true)]
    async fn the_pace_of_reading_matches_the_table() {
        let now = Instant::now();
        let waits = |lines: u32, bytes, peers| {
            let mut paces = Paces::default();
            for _ in 1..lines {
                paces.charge((1, 10), bytes, peers, now);
            }
            paces.charge((1, 10), bytes, peers, now).as_millis()
        };
        // The burst, with so many peers that one more line means ten milliseconds.
        assert_eq!((waits(4_000, 100, 80), waits(4_001, 100, 80)), (0, 10));
        assert_eq!(waits(4_000, 4 * 1024 - 1, 80), 0);
        assert_eq!(waits(2_000, 4 * 1024, 80), 0);
        assert_eq!(waits(2_001, 4 * 1024, 80), 20);
        // 8,000 more: from a single peer, and from peers that share a rate.
        assert_eq!(waits(12_000, 100, 1), 2_000);
        assert_eq!(waits(12_000, 100, 2), 2_000);
        assert_eq!(waits(12_000, 100, 4), 4_000);
        let row = "| lines read at once, then a second (4 KiB count as one) | 4000, 4000 | –, 8000 shared by its peers |";
        let table = include_str!("../../assets/docs/internals.md");
        assert!(
            table.lines().any(|line| line == row),
            "the table lacks the row {row}"
        );
    }

    #[test]
    fn the_memory_of_peers_is_bounded() {
        let mut paces = Paces::default();
        let now = Instant::now();
        for pid in 0..100_000 {
            paces.charge((1, pid), 0, 1, now + Duration::from_millis(pid as u64));
        }
        assert!(paces.held.len() <= HELD);
    }
}
