//! How much analysis time and how many log bytes one peer and one uid may use, and how their
//! refusals are counted into few records (invariant 10).

use std::collections::HashMap;
use std::time::Duration;

use crate::model::Peer;

/// The uid and pid of a peer.
pub(super) type PeerKey = (u32, i32);

pub(super) fn key(peer: &Peer) -> PeerKey {
    (peer.uid, peer.pid)
}

/// A leaky bucket: its content drains at a fixed rate.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    used: u64,
    at: Duration,
}

/// How much may be used at once, and how fast it is restored.
#[derive(Clone, Copy, Debug)]
struct Allowance {
    burst: u64,
    per_second: u64,
}

impl Bucket {
    fn drained(self, allowance: Allowance, now: Duration) -> u64 {
        let elapsed = now.saturating_sub(self.at).as_millis();
        let elapsed = u64::try_from(elapsed).unwrap_or(u64::MAX);
        self.used
            .saturating_sub(elapsed.saturating_mul(allowance.per_second) / 1000)
    }
}

/// The buckets for one resource and one kind of holder.
#[derive(Clone, Debug)]
struct Buckets<K> {
    allowance: Allowance,
    held: HashMap<K, Bucket>,
}

impl<K: std::hash::Hash + Eq + Copy> Buckets<K> {
    fn new(burst: u64, per_second: u64) -> Self {
        Self {
            allowance: Allowance { burst, per_second },
            held: HashMap::new(),
        }
    }

    fn charge(&mut self, holder: K, amount: u64, now: Duration) {
        // Short-lived processes leave buckets behind; drained ones are no longer needed.
        if self.held.len() >= 4096 {
            let allowance = self.allowance;
            self.held.retain(|_, b| b.drained(allowance, now) > 0);
        }
        let bucket = self
            .held
            .entry(holder)
            .or_insert(Bucket { used: 0, at: now });
        bucket.used = bucket.drained(self.allowance, now).saturating_add(amount);
        bucket.at = now;
    }

    fn used(&self, holder: K, now: Duration) -> u64 {
        let held = self.held.get(&holder);
        held.map_or(0, |b| b.drained(self.allowance, now))
    }

    /// Milliseconds until the holder is back under its allowance; `None` if it is under it now.
    fn wait_ms(&self, holder: K, now: Duration) -> Option<u64> {
        let used = self.held.get(&holder)?.drained(self.allowance, now);
        let over = used.checked_sub(self.allowance.burst)?;
        Some((over.saturating_mul(1000) / self.allowance.per_second).max(1))
    }
}

/// How long a peer must wait, for its own usage or for its uid's. When a uid is over its allowance,
/// only peers that used more than their share wait, so that one that floods does not block the
/// others. Beyond twice the allowance all its peers wait, because processes are cheap.
fn wait_ms(
    peers: &Buckets<PeerKey>,
    uids: &Buckets<u32>,
    peer: PeerKey,
    now: Duration,
) -> Option<u64> {
    let own = peers.wait_ms(peer, now);
    let of_uid = uids.wait_ms(peer.0, now).filter(|_| {
        let burst = uids.allowance.burst;
        let used = peers.held.keys().filter(|(uid, _)| *uid == peer.0);
        let using = used.filter(|key| peers.used(**key, now) > 0).count();
        let share = burst / (using.max(1) as u64);
        peers.used(peer, now) > share || uids.used(peer.0, now) >= 2 * burst
    });
    own.max(of_uid)
}

/// Refusals of one peer with one code, between two records.
#[derive(Clone, Debug)]
pub(super) struct Refusals {
    pub peer: Peer,
    pub code: i64,
    pub message: String,
    /// Refusals since the last record.
    pub count: u64,
    since: Duration,
}

/// How long refusals are counted before they become one record.
const REFUSAL_WINDOW: Duration = Duration::from_secs(10);
/// How many peers and codes are counted separately; further refusals go unrecorded until a window
/// ends.
const REFUSAL_HOLDERS: usize = 1024;

const MIB: u64 = 1024 * 1024;

#[derive(Clone, Debug)]
pub(super) struct Quotas {
    analysis_peer: Buckets<PeerKey>,
    analysis_uid: Buckets<u32>,
    log_peer: Buckets<PeerKey>,
    log_uid: Buckets<u32>,
    refusals: HashMap<(PeerKey, i64), Refusals>,
}

impl Default for Quotas {
    fn default() -> Self {
        Self {
            // Microseconds of the analyser. A snippet that hits its time limit costs half a second,
            // and more on a busy machine: ten such snippets at once, then one every two seconds.
            analysis_peer: Buckets::new(5_000_000, 250_000),
            analysis_uid: Buckets::new(10_000_000, 250_000),
            // Bytes of the audit log.
            log_peer: Buckets::new(64 * MIB, MIB),
            log_uid: Buckets::new(256 * MIB, MIB),
            refusals: HashMap::new(),
        }
    }
}

/// What a peer has used of its quotas, and how much each allows at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaUse {
    pub pending: (usize, usize),
    pub log_bytes: (u64, u64),
    /// Microseconds of the analyser.
    pub analysis_us: (u64, u64),
}

impl QuotaUse {
    /// The fullest of them in per cent.
    pub fn per_cent(&self) -> u64 {
        let of = |(used, all): (u64, u64)| used.saturating_mul(100) / all.max(1);
        let pending = (self.pending.0 as u64, self.pending.1 as u64);
        let all = [of(pending), of(self.log_bytes), of(self.analysis_us)];
        all.into_iter().max().unwrap_or(0)
    }
}

impl Quotas {
    pub fn usage(&self, peer: PeerKey, pending: (usize, usize), now: Duration) -> QuotaUse {
        let of = |buckets: &Buckets<PeerKey>| (buckets.used(peer, now), buckets.allowance.burst);
        QuotaUse {
            pending,
            log_bytes: of(&self.log_peer),
            analysis_us: of(&self.analysis_peer),
        }
    }

    pub fn charge_analysis(&mut self, peer: PeerKey, spent: Duration, now: Duration) {
        let us = u64::try_from(spent.as_micros()).unwrap_or(u64::MAX);
        self.analysis_peer.charge(peer, us, now);
        self.analysis_uid.charge(peer.0, us, now);
    }

    pub fn charge_log(&mut self, peer: PeerKey, bytes: u64, now: Duration) {
        self.log_peer.charge(peer, bytes, now);
        self.log_uid.charge(peer.0, bytes, now);
    }

    /// The exhausted quota with the longest wait, and that wait in milliseconds.
    pub fn exhausted(&self, peer: PeerKey, now: Duration) -> Option<(&'static str, u64)> {
        let analysis = wait_ms(&self.analysis_peer, &self.analysis_uid, peer, now);
        let log = wait_ms(&self.log_peer, &self.log_uid, peer, now);
        if analysis >= log {
            analysis.map(|ms| ("analysis time", ms))
        } else {
            log.map(|ms| ("log bytes", ms))
        }
    }

    /// Counts a refusal. If true, it is the first of its window and is to be recorded at once with
    /// count 1; [`Quotas::due_refusals`] returns the rest.
    pub fn refused(&mut self, peer: &Peer, code: i64, message: &str, now: Duration) -> bool {
        let holder = (key(peer), code);
        if let Some(open) = self.refusals.get_mut(&holder) {
            open.count += 1;
            return false;
        }
        if self.refusals.len() >= REFUSAL_HOLDERS {
            return false;
        }
        let message = message.to_owned();
        let open = Refusals {
            peer: peer.clone(),
            code,
            message,
            count: 0,
            since: now,
        };
        self.refusals.insert(holder, open);
        true
    }

    /// Closes the windows that are over and returns those with refusals still to be recorded.
    pub fn due_refusals(&mut self, now: Duration, all: bool) -> Vec<Refusals> {
        let mut due = Vec::new();
        self.refusals.retain(|_, open| {
            let over = all || now >= open.since.saturating_add(REFUSAL_WINDOW);
            if over && open.count > 0 {
                due.push(open.clone());
            }
            !over
        });
        due
    }

    /// When the next window ends.
    pub fn next_due(&self) -> Option<Duration> {
        self.refusals
            .values()
            .map(|r| r.since.saturating_add(REFUSAL_WINDOW))
            .min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    #[test]
    fn analysis_time_comes_back_and_a_uid_cannot_multiply_it_by_forking() {
        let mut q = Quotas::default();
        assert_eq!(q.exhausted((1, 1), s(0)), None);
        q.charge_analysis((1, 1), s(6), s(0));
        assert_eq!(q.exhausted((1, 1), s(0)), Some(("analysis time", 4000)));
        assert_eq!(
            q.exhausted((1, 2), s(0)),
            None,
            "another peer of the uid may still ask"
        );
        assert_eq!(q.exhausted((1, 1), s(5)), None);
        for pid in 2..4 {
            q.charge_analysis((1, pid), s(4), s(0));
        }
        assert!(q.exhausted((1, 2), s(0)).is_some(), "more than its share");
        assert_eq!(q.exhausted((1, 9), s(0)), None, "it used nothing of it");
        for pid in 4..6 {
            q.charge_analysis((1, pid), s(4), s(0));
        }
        assert!(q.exhausted((1, 9), s(0)).is_some(), "but not without end");
        assert_eq!(
            q.exhausted((2, 9), s(0)),
            None,
            "another uid is not touched"
        );
    }

    /// Asserts that the table of quotas in internals.md has this row.
    fn is_in_the_table(row: &str) {
        let table = include_str!("../../assets/docs/internals.md");
        assert!(table.lines().any(|line| line == row), "not in it: {row}");
    }

    /// Just below the burst nothing is refused, and from the burst on there is a wait. The rate
    /// shows in the wait after a charge of the burst and ten seconds more.
    fn of_peer<Q>(charge: fn(&mut Quotas, PeerKey, u64), most: u64, a_second: u64, quota: Q)
    where
        Q: Fn(u64) -> Option<(&'static str, u64)>,
    {
        let wait = |used| {
            let mut q = Quotas::default();
            charge(&mut q, (1, 1), used);
            assert_eq!(q.exhausted((1, 2), s(0)), None, "it is the peer's own");
            q.exhausted((1, 1), s(0))
        };
        assert_eq!(wait(most - 1), None);
        assert_eq!(wait(most), quota(1));
        assert_eq!(wait(most + 10 * a_second), quota(10_000));
    }

    /// The same for a uid. Its peers use up its allowance, each staying below its own.
    fn of_uid<Q>(charge: fn(&mut Quotas, PeerKey, u64), most: u64, a_second: u64, quota: Q)
    where
        Q: Fn(u64) -> Option<(&'static str, u64)>,
    {
        let wait = |used: u64| {
            let mut q = Quotas::default();
            for pid in 0..8 {
                charge(&mut q, (1, pid), used / 8);
            }
            // The peer that used more than its share has to wait.
            charge(&mut q, (1, 0), used % 8 + 8);
            q.exhausted((1, 0), s(0))
        };
        assert_eq!(wait(most - 9), None);
        assert_eq!(wait(most - 8), quota(1));
        assert_eq!(wait(most - 8 + 4 * a_second), quota(4_000));
    }

    #[test]
    fn analysis_time_is_what_the_table_says() {
        let charge =
            |q: &mut Quotas, peer, us| q.charge_analysis(peer, Duration::from_micros(us), s(0));
        let quota = |ms| Some(("analysis time", ms));
        of_peer(charge, 5_000_000, 250_000, quota);
        of_uid(charge, 10_000_000, 250_000, quota);
        is_in_the_table(
            "| analyser time at once, then regained | 5 s, 0.25 s/s | 10 s, 0.25 s/s |",
        );
    }

    #[test]
    fn log_bytes_are_what_the_table_says() {
        let charge = |q: &mut Quotas, peer, bytes| q.charge_log(peer, bytes, s(0));
        let quota = |ms| Some(("log bytes", ms));
        of_peer(charge, 64 * MIB, MIB, quota);
        of_uid(charge, 256 * MIB, MIB, quota);
        is_in_the_table(
            "| log bytes at once, then regained | 64 MiB, 1 MiB/s | 256 MiB, 1 MiB/s |",
        );
    }

    #[test]
    fn repeated_refusals_become_one_record() {
        let mut q = Quotas::default();
        let peer = Peer {
            uid: 1,
            gid: 1,
            pid: 1,
            exe: None,
            gateway: None,
        };
        assert!(q.refused(&peer, -32001, "too large", s(0)));
        for _ in 0..500 {
            assert!(!q.refused(&peer, -32001, "too large", s(1)));
        }
        assert!(q.due_refusals(s(2), false).is_empty());
        let due = q.due_refusals(s(11), false);
        assert_eq!((due.len(), due[0].count), (1, 500));
        assert!(q.next_due().is_none());
    }
}
