//! Requests of agents on their way to the core, taking turns between uids, then between peers.
//!
//! Each connection has only a few events in flight and holds back the rest. So the number of
//! waiting events is bounded by the number of connections, and a peer that sends a thousand
//! requests delays another peer by a few.

use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::broker::{Event, FairQueue};
use crate::model::Peer;

/// Events of one connection that the core may not have taken yet.
const OF_CONNECTION: usize = 2;

struct Waiting {
    event: Event,
    of: (u32, i32),
    /// The permit is returned when the core takes the event.
    _place: OwnedSemaphorePermit,
}

/// The core's end.
pub struct Inbox {
    arriving: UnboundedReceiver<Waiting>,
    waiting: FairQueue<Waiting>,
}

/// The socket's end. The inbox ends when every entrance and every door is gone.
#[derive(Clone)]
pub struct Entrance(UnboundedSender<Waiting>);

/// One connection's sender.
pub(super) struct Door {
    way: UnboundedSender<Waiting>,
    of: (u32, i32),
    places: Arc<Semaphore>,
}

/// The core is gone.
#[derive(Debug)]
pub(super) struct Gone;

/// Creates the queue from the socket to the core.
pub fn inbox() -> (Entrance, Inbox) {
    let (way, arriving) = unbounded_channel();
    let waiting = FairQueue::default();
    (Entrance(way), Inbox { arriving, waiting })
}

impl Inbox {
    /// The next event in turn; `None` when no more can come.
    pub async fn recv(&mut self) -> Option<Event> {
        if let Some(event) = self.try_recv() {
            return Some(event);
        }
        self.arriving.recv().await.map(|waiting| waiting.event)
    }

    /// The next event in turn, if one waits.
    pub fn try_recv(&mut self) -> Option<Event> {
        while let Ok(arrived) = self.arriving.try_recv() {
            self.waiting.push(arrived.of, arrived);
        }
        self.waiting.pop().map(|waiting| waiting.event)
    }
}

impl Entrance {
    pub(super) fn door(&self, peer: &Peer) -> Door {
        Door {
            way: self.0.clone(),
            of: (peer.uid, peer.pid),
            places: Arc::new(Semaphore::new(OF_CONNECTION)),
        }
    }

    /// Ends when the core takes no more events.
    pub(super) async fn closed(&self) {
        self.0.closed().await;
    }

    /// Whether the core takes no more events.
    pub(super) fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

impl Door {
    /// Sends an event, once this connection may have another one in flight.
    pub async fn send(&self, event: Event) -> Result<(), Gone> {
        let place = tokio::select! {
            place = self.places.clone().acquire_owned() => place.map_err(|_| Gone)?,
            () = self.way.closed() => return Err(Gone),
        };
        let of = self.of;
        self.way
            .send(Waiting {
                event,
                of,
                _place: place,
            })
            .map_err(|_| Gone)
    }

    /// Ends when the core takes no more events.
    pub async fn closed(&self) {
        self.way.closed().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ConnId;

    fn peer(uid: u32, pid: i32) -> Peer {
        Peer {
            uid,
            gid: uid,
            pid,
            exe: None,
            gateway: None,
        }
    }

    fn event(n: u64) -> Event {
        Event::Disconnected { conn: ConnId(n) }
    }

    fn number(event: Option<Event>) -> u64 {
        match event {
            Some(Event::Disconnected { conn }) => conn.0,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn a_peer_with_many_connections_delays_another_peer_by_one_turn() {
        let (entrance, mut inbox) = inbox();
        let flood: Vec<Door> = (0..100).map(|_| entrance.door(&peer(1, 10))).collect();
        for (n, door) in (0_u64..).zip(&flood) {
            door.send(event(n)).await.unwrap();
        }
        entrance
            .door(&peer(1, 11))
            .send(event(1_000))
            .await
            .unwrap();
        entrance
            .door(&peer(2, 20))
            .send(event(2_000))
            .await
            .unwrap();
        let mut first = Vec::new();
        for _ in 0..4 {
            first.push(number(inbox.recv().await));
        }
        assert_eq!(first, [0, 2_000, 1_000, 1]);
    }

    #[tokio::test]
    async fn a_connection_waits_beyond_its_share() {
        let (entrance, mut inbox) = inbox();
        let door = entrance.door(&peer(1, 10));
        for n in 0..OF_CONNECTION as u64 {
            door.send(event(n)).await.unwrap();
        }
        {
            let third = door.send(event(9));
            tokio::pin!(third);
            assert!(is_pending(third.as_mut()).await);
            assert_eq!(number(inbox.try_recv()), 0);
            third.await.unwrap();
        }
        assert_eq!(number(inbox.recv().await), 1);
        assert_eq!(number(inbox.recv().await), 9);
        drop((door, entrance));
        assert!(inbox.recv().await.is_none());
    }

    #[tokio::test]
    async fn the_bound_on_open_requests_of_a_connection_matches_the_table() {
        let (entrance, _inbox) = inbox();
        let door = entrance.door(&peer(1, 10));
        let mut under_way = 0;
        loop {
            let next = door.send(event(0));
            tokio::pin!(next);
            if is_pending(next).await {
                break;
            }
            under_way += 1;
        }
        let row =
            format!("| requests of one connection on their way to the core | {under_way} | – |");
        let table = include_str!("../../assets/docs/internals.md");
        assert!(
            table.lines().any(|line| line == row),
            "the table lacks the row {row}"
        );
    }

    /// Whether a future is still pending after one poll.
    async fn is_pending(mut future: std::pin::Pin<&mut impl Future>) -> bool {
        std::future::poll_fn(|context| {
            std::task::Poll::Ready(future.as_mut().poll(context).is_pending())
        })
        .await
    }
}
