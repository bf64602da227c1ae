//! What the writer's thread orders from the one that makes files, without waking it for each content.
//!
//! While it waits for a pause, a content only joins the queue: to wake a thread takes as long as a
//! tenth of a sync.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::settler::Turn;
use crate::model::Blob;

/// Nothing came for so long: time for files.
const QUIET: Duration = Duration::from_millis(20);
/// Of so many contents that come without a pause, one gets its file at once: it shows whether the
/// others will find a descriptor and room.
pub(super) const PROBE: usize = 64;

pub(super) enum Order {
    Keep(Blob),
    /// Tries again what found no descriptor or no room.
    Again,
    Settle(Turn, Sender<io::Result<()>>),
}

/// What came of waiting.
pub(super) enum Next {
    Order(Order),
    /// Nothing came for a while.
    Pause,
    /// Nothing will come any more.
    Over,
}

/// The queue; every clone is the same.
#[derive(Clone, Default)]
pub(super) struct Orders {
    shared: Arc<(Mutex<Waiting>, Condvar)>,
}

#[derive(Default)]
struct Waiting {
    orders: VecDeque<Order>,
    /// Whoever takes them waits for a pause and looks again by itself.
    looks_again: bool,
    over: bool,
}

impl Orders {
    /// What is ordered of a thread that has ended is dropped, and so is the sender in it.
    pub fn push(&self, order: Order) {
        let mut waiting = self.waiting();
        if waiting.over {
            return;
        }
        let keeps = matches!(order, Order::Keep(_));
        waiting.orders.push_back(order);
        if !(keeps && waiting.looks_again && waiting.orders.len() < PROBE) {
            self.shared.1.notify_one();
        }
    }

    /// Takes the next; where files are left to be made, only so long as there is no pause.
    pub fn next(&self, files_left: bool) -> Next {
        let mut waiting = self.waiting();
        loop {
            if let Some(order) = waiting.orders.pop_front() {
                return Next::Order(order);
            }
            if waiting.over {
                return Next::Over;
            }
            if !files_left {
                let woken = self.shared.1.wait(waiting);
                waiting = woken.unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            waiting.looks_again = true;
            let woken = self.shared.1.wait_timeout(waiting, QUIET);
            let timeout;
            (waiting, timeout) = woken.unwrap_or_else(PoisonError::into_inner);
            waiting.looks_again = false;
            if timeout.timed_out() && waiting.orders.is_empty() && !waiting.over {
                return Next::Pause;
            }
        }
    }

    /// Nothing comes after this; what waits is still taken.
    pub fn close(&self) {
        self.waiting().over = true;
        self.shared.1.notify_one();
    }

    /// Nobody takes anything any more.
    pub fn end(&self) {
        let mut waiting = self.waiting();
        waiting.over = true;
        waiting.orders.clear();
    }

    /// No step that is taken under the lock can panic half-way.
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    fn content(n: u8) -> Order {
        Order::Keep(Blob::of(&[n]))
    }

    fn taken(next: &Next) -> Option<u8> {
        match next {
            Next::Order(Order::Keep(blob)) => Some(blob.bytes[0]),
            _ => None,
        }
    }

    #[test]
    fn whoever_waits_for_a_pause_finds_what_came_meanwhile_then_the_pause_then_the_end() {
        let orders = Orders::default();
        let given = orders.clone();
        std::thread::scope(|scope| {
            // More than can wait without a wake-up.
            let count = u8::try_from(PROBE + 2).unwrap();
            scope.spawn(move || (0..count).for_each(|n| given.push(content(n))));
            let mut expected = 0;
            while expected < count {
                match orders.next(true) {
                    Next::Pause => {}
                    next => {
                        assert_eq!(taken(&next), Some(expected));
                        expected += 1;
                    }
                }
            }
        });
        assert!(matches!(orders.next(true), Next::Pause));
        orders.push(content(7));
        orders.close();
        orders.push(content(8));
        assert_eq!(taken(&orders.next(false)), Some(7));
        assert!(matches!(orders.next(false), Next::Over));
    }

    #[test]
    fn whoever_waits_for_a_thread_that_has_ended_hears_so() {
        let orders = Orders::default();
        let ask = || {
            let (done, answer) = channel();
            orders.push(Order::Settle(Turn::default(), done));
            answer
        };
        let before = ask();
        orders.end();
        let after = ask();
        assert!(before.recv().is_err());
        assert!(after.recv().is_err());
    }
}
