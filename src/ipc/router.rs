//! The way back to agents: which connection an answer goes to, and how much may wait for it.
//!
//! Nothing here ever waits for a peer. Output that a peer does not read is queued up to a limit,
//! for each connection and each uid. Beyond it the connection is dropped, so that a peer that never
//! reads costs the others nothing.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::broker::{Note, Reply, RpcError};
use crate::model::{CallId, ConnId};

use super::encode;
use super::envelope::Id;
use super::pace::Paces;
use super::shares::{self, Full, Held, Room};

/// Bytes of small frames that are written together.
const WRITE_AT_ONCE: usize = 64 * 1024;

/// How much of each resource a peer may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Connections of all uids together.
    pub connections: usize,
    /// Connections of one uid. Shares are computed from this and `connections`.
    pub connections_per_uid: usize,
    /// Unanswered calls of one connection.
    pub calls: usize,
    /// Bytes queued until one connection reads them.
    pub queued: usize,
    /// The same for all connections of one uid.
    pub queued_per_uid: usize,
    /// How long a line may take to arrive completely once it has begun.
    pub line_time: Duration,
    /// How long a closing connection has to read why.
    pub linger: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connections: 256,
            connections_per_uid: 128,
            calls: 1024,
            queued: 8 * 1024 * 1024,
            queued_per_uid: 64 * 1024 * 1024,
            line_time: Duration::from_secs(30),
            linger: Duration::from_secs(2),
        }
    }
}

impl Bounds {
    /// With so many connections, half of them for one uid.
    pub fn of(connections: usize) -> Self {
        Self {
            connections,
            connections_per_uid: connections.div_ceil(2),
            ..Self::default()
        }
    }
}

/// Delivers answers and notifications to connections. Cheap to clone; all clones share one table.
#[derive(Clone, Debug)]
pub struct Router {
    table: Arc<Mutex<Table>>,
    pub(super) bounds: Bounds,
    /// Notified whenever something was written or a connection closed, for [`Self::drain`] only.
    settled: Arc<Notify>,
}

impl Default for Router {
    fn default() -> Self {
        Self::with_bounds(Bounds::default())
    }
}

#[derive(Debug, Default)]
struct Table {
    lanes: HashMap<ConnId, Lane>,
    /// Bytes queued for all connections of a uid.
    queued: HashMap<u32, usize>,
    /// The open connections of each peer, by uid and pid.
    peers: HashMap<u32, HashMap<i32, usize>>,
    paces: Paces,
    next: u64,
    /// A logical clock, to tell which event was last.
    events: u64,
}

/// One connection's output.
#[derive(Debug)]
struct Lane {
    /// Uid and pid.
    peer: (u32, i32),
    /// When it last sent a request or was sent something.
    active: u64,
    /// It was displaced by another connection, and is only being told so.
    displaced: bool,
    /// Notified when it is displaced.
    evict: Arc<Notify>,
    frames: VecDeque<Vec<u8>>,
    /// Bytes in `frames` and in the frame that is being written.
    queued: usize,
    calls: HashMap<CallId, Option<Id>>,
    /// It fell too far behind; nothing more is written.
    lost: bool,
    /// It ends once the queued frames are written.
    ending: bool,
    wake: Arc<Notify>,
    /// Notified when something of it was answered or written, or it is lost. Of its own, so that what others are sent
    /// wakes nobody who waits in [`Router::idle`].
    settled: Arc<Notify>,
}

impl Table {
    /// Queues a frame, or drops the connection if there is no room for it.
    fn push(&mut self, conn: ConnId, frame: Vec<u8>, bounds: &Bounds) {
        let Some(lane) = self.lanes.get_mut(&conn).filter(|lane| !lane.lost) else {
            return;
        };
        let of_uid = self.queued.entry(lane.peer.0).or_default();
        let size = frame.len();
        if lane.queued + size > bounds.queued || *of_uid + size > bounds.queued_per_uid {
            lane.lost = true;
            lane.frames.clear();
            lane.settled.notify_one();
        } else {
            lane.queued += size;
            *of_uid += size;
            lane.frames.push_back(frame);
        }
        self.events += 1;
        lane.active = self.events;
        lane.wake.notify_one();
    }

    /// The connections that count: all except displaced ones.
    fn held(&self) -> Vec<Held> {
        let counted = self.lanes.iter().filter(|(_, lane)| !lane.displaced);
        counted
            .map(|(conn, lane)| Held {
                conn: *conn,
                peer: lane.peer,
                calls: lane.calls.len(),
                active: lane.active,
            })
            .collect()
    }

    /// Forgets one connection of a peer.
    fn leave(&mut self, (uid, pid): (u32, i32)) {
        let Some(of_uid) = self.peers.get_mut(&uid) else {
            return;
        };
        if let Some(open) = of_uid.get_mut(&pid) {
            *open -= 1;
            if *open == 0 {
                of_uid.remove(&pid);
            }
        }
        if of_uid.is_empty() {
            self.peers.remove(&uid);
        }
    }

    /// Subtracts bytes that are no longer queued from a uid's total.
    fn settle(&mut self, uid: u32, size: usize) {
        if let Some(queued) = self.queued.get_mut(&uid) {
            *queued = queued.saturating_sub(size);
            if *queued == 0 {
                self.queued.remove(&uid);
            }
        }
    }
}

impl Router {
    pub fn with_bounds(bounds: Bounds) -> Self {
        Self {
            table: Arc::default(),
            bounds,
            settled: Arc::default(),
        }
    }

    /// Answers a call. Does nothing when the connection is gone or the call already answered.
    pub fn reply(&self, conn: ConnId, call: CallId, result: Result<Reply, RpcError>) {
        let id = match self.table().lanes.get(&conn) {
            Some(lane) => lane.calls.get(&call).cloned(),
            None => None,
        };
        let Some(id) = id else { return };
        // Encode without holding the lock, because an outcome takes a while.
        let frame = id.map(|id| encode::response(&id, &result));
        let mut table = self.table();
        let answered = table.lanes.get_mut(&conn).is_some_and(|lane| {
            lane.settled.notify_one();
            lane.calls.remove(&call).is_some()
        });
        if let Some(frame) = frame.filter(|_| answered) {
            table.push(conn, frame, &self.bounds);
        }
        drop(table);
        self.settled.notify_waiters();
    }

    /// Sends a notification. Does nothing when the connection is gone.
    pub fn notify(&self, conn: ConnId, note: &Note) {
        for frame in encode::note(note) {
            self.push(conn, frame);
        }
    }

    /// Number of open connections.
    pub fn connections(&self) -> usize {
        self.table().lanes.len()
    }

    /// Waits until every peer was sent what is queued for it, but no longer than `limit`. Used
    /// before exiting, so that waiting agents hear how their proposals ended.
    pub async fn drain(&self, limit: Duration) {
        let empty = || self.table().lanes.values().all(|l| l.lost || l.queued == 0);
        let _ = tokio::time::timeout(limit, self.until(empty)).await;
    }

    /// Waits until `reached` holds; checked whenever something was written or a connection closed.
    async fn until(&self, reached: impl Fn() -> bool) {
        loop {
            let changed = self.settled.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if reached() {
                return;
            }
            changed.await;
        }
    }

    /// A panic while the lock is held would be a defect here. The table stays consistent even then,
    /// because every change to it consists of steps that cannot fail.
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Admits a connection. If there is no room and the peer has less than its share, another
    /// connection is displaced.
    pub(super) fn open(&self, peer: (u32, i32), owner: u32) -> Result<ConnId, Full> {
        let mut table = self.table();
        if let Room::Instead(conn) = shares::room(&table.held(), peer, owner, &self.bounds)?
            && let Some(lane) = table.lanes.get_mut(&conn)
        {
            lane.displaced = true;
            lane.evict.notify_one();
        }
        table.next += 1;
        table.events += 1;
        let conn = ConnId(table.next);
        let lane = Lane {
            peer,
            active: table.events,
            displaced: false,
            evict: Arc::default(),
            frames: VecDeque::new(),
            queued: 0,
            calls: HashMap::new(),
            lost: false,
            ending: false,
            wake: Arc::default(),
            settled: Arc::default(),
        };
        table.lanes.insert(conn, lane);
        let of_uid = table.peers.entry(peer.0).or_default();
        *of_uid.entry(peer.1).or_default() += 1;
        Ok(conn)
    }

    /// Ends when the connection is displaced. Returns how many displaced connections are being told
    /// so at the moment.
    pub(super) async fn displaced(&self, conn: ConnId) -> usize {
        loop {
            let evict = {
                let table = self.table();
                match table.lanes.get(&conn) {
                    Some(lane) if lane.displaced => {
                        return table.lanes.values().filter(|l| l.displaced).count();
                    }
                    Some(lane) => lane.evict.clone(),
                    None => Arc::default(),
                }
            };
            evict.notified().await;
        }
    }

    /// Notes that a connection sent a line of this size, and waits until its peer may send the next
    /// one.
    pub(super) async fn pace(&self, conn: ConnId, bytes: usize) {
        let wait = {
            let mut table = self.table();
            let Some(peer) = table.lanes.get(&conn).map(|lane| lane.peer) else {
                return;
            };
            let peers = table.peers.get(&peer.0).map_or(0, HashMap::len);
            let now = tokio::time::Instant::now();
            table.paces.charge(peer, bytes, peers, now)
        };
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
    }

    pub(super) fn close(&self, conn: ConnId) {
        let mut table = self.table();
        if let Some(lane) = table.lanes.remove(&conn) {
            table.settle(lane.peer.0, lane.queued);
            table.leave(lane.peer);
            lane.settled.notify_one();
        }
        drop(table);
        self.settled.notify_waiters();
    }

    /// Notes an open call, with its `id` or `None` for a notification. Returns `false` if too many
    /// calls are open.
    pub(super) fn begin(&self, conn: ConnId, call: CallId, id: Option<Id>) -> bool {
        let mut table = self.table();
        let Table { lanes, events, .. } = &mut *table;
        let Some(lane) = lanes.get_mut(&conn) else {
            return false;
        };
        if lane.calls.len() >= self.bounds.calls {
            return false;
        }
        *events += 1;
        lane.active = *events;
        lane.calls.insert(call, id);
        true
    }

    pub(super) fn push(&self, conn: ConnId, frame: Vec<u8>) {
        self.table().push(conn, frame, &self.bounds);
    }

    /// Lets the connection end once everything that waits for it is written.
    pub(super) fn end(&self, conn: ConnId) {
        if let Some(lane) = self.table().lanes.get_mut(&conn) {
            lane.ending = true;
            lane.wake.notify_one();
        }
    }

    /// The next frames to write, several small ones at once; `None` when there will be no more.
    pub(super) async fn next_frames(&self, conn: ConnId) -> Option<Vec<u8>> {
        loop {
            let wake = {
                let mut table = self.table();
                let lane = table.lanes.get_mut(&conn)?;
                if lane.lost {
                    return None;
                }
                if let Some(mut frames) = lane.frames.pop_front() {
                    while let Some(next) = lane
                        .frames
                        .pop_front_if(|next| frames.len() + next.len() <= WRITE_AT_ONCE)
                    {
                        frames.extend_from_slice(&next);
                    }
                    return Some(frames);
                }
                if lane.ending {
                    return None;
                }
                lane.wake.clone()
            };
            // A leftover permit only makes the loop check once more.
            wake.notified().await;
        }
    }

    /// Ends when the connection has fallen too far behind.
    pub(super) async fn lost(&self, conn: ConnId) {
        loop {
            let wake = {
                let table = self.table();
                match table.lanes.get(&conn) {
                    Some(lane) if !lane.lost => lane.wake.clone(),
                    _ => return,
                }
            };
            wake.notified().await;
        }
    }

    /// Notes that a frame was written.
    pub(super) fn written(&self, conn: ConnId, size: usize) {
        let mut table = self.table();
        if let Some(lane) = table.lanes.get_mut(&conn) {
            lane.queued = lane.queued.saturating_sub(size);
            lane.settled.notify_one();
            let uid = lane.peer.0;
            table.settle(uid, size);
        }
        drop(table);
        self.settled.notify_waiters();
    }

    /// Ends when every call of the connection is answered and every answer written.
    pub(super) async fn idle(&self, conn: ConnId) {
        loop {
            let settled = match self.table().lanes.get(&conn) {
                Some(lane) if !lane.lost && (!lane.calls.is_empty() || lane.queued > 0) => {
                    lane.settled.clone()
                }
                _ => return,
            };
            // A leftover permit only makes the loop check once more.
            settled.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Wake, Waker};

    use super::*;

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn the_peers_of_a_uid_are_those_with_an_open_connection() {
        let router = Router::default();
        let of = |router: &Router, uid| router.table().peers.get(&uid).map_or(0, HashMap::len);
        let open = |peer| router.open(peer, 1).unwrap();
        let all = [(1, 10), (1, 10), (1, 11), (2, 12)].map(open);
        assert_eq!((of(&router, 1), of(&router, 2)), (2, 1));
        router.close(all[0]);
        assert_eq!(of(&router, 1), 2);
        router.close(all[1]);
        // Closing twice forgets nobody else.
        router.close(all[1]);
        assert_eq!(of(&router, 1), 1);
        router.close(all[2]);
        router.close(all[3]);
        assert!(router.table().peers.is_empty());
    }

    #[test]
    fn a_closed_connection_is_waited_for_no_longer() {
        let router = Router::default();
        let conn = router.open((1, 10), 1).unwrap();
        assert!(router.begin(conn, CallId(1), Some(Id::null())));
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(wakes.clone());
        let mut context = Context::from_waker(&waker);
        let mut idle = pin!(router.idle(conn));
        assert!(idle.as_mut().poll(&mut context).is_pending());
        router.close(conn);
        assert!(wakes.0.load(Ordering::Relaxed) > 0);
        assert!(idle.as_mut().poll(&mut context).is_ready());
    }

    #[test]
    fn what_others_are_answered_wakes_no_one_who_waits_for_its_own_end() {
        let router = Router::default();
        let waits = router.open((1, 10), 1).unwrap();
        let other = router.open((1, 11), 1).unwrap();
        assert!(router.begin(waits, CallId(1), Some(Id::null())));
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(wakes.clone());
        let mut context = Context::from_waker(&waker);
        let mut idle = pin!(router.idle(waits));
        assert!(idle.as_mut().poll(&mut context).is_pending());
        let answer = || Err(RpcError::new(RpcError::UNKNOWN_ID, "x"));
        for call in 1..100 {
            assert!(router.begin(other, CallId(call), Some(Id::null())));
            router.reply(other, CallId(call), answer());
            router.written(other, 1);
        }
        router.close(other);
        assert_eq!(wakes.0.load(Ordering::Relaxed), 0);
        router.reply(waits, CallId(1), answer());
        assert!(idle.as_mut().poll(&mut context).is_pending(), "not written");
        let queued = router.table().lanes[&waits].queued;
        router.written(waits, queued);
        assert!(idle.as_mut().poll(&mut context).is_ready());
        assert!(wakes.0.load(Ordering::Relaxed) > 0);
    }
}
