//! What the writer's thread orders from the one that makes files, without waking it for each content.
//!
//! While it waits for a pause, a content only joins the queue: to wake a thread takes as long as a
//! tenth of a sync. One that is at work is not called at all, and takes all that waits at once.

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
    /// All that waits, in its order; never none.
    Orders(VecDeque<Order>),
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
    taker: Taker,
    over: bool,
}

/// What the thread that takes the orders is at.
#[derive(Clone, Copy, Default, PartialEq)]
enum Taker {
    /// It looks here when it is done.
    #[default]
    AtWork,
    /// It waits to be called.
    Waits,
    /// It waits for a pause and looks again by itself.
    LooksAgain,
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
        let call = match waiting.taker {
            Taker::AtWork => false,
            Taker::Waits => true,
            Taker::LooksAgain => !keeps || waiting.orders.len() >= PROBE,
        };
        if call {
            // Once is enough.
            waiting.taker = Taker::AtWork;
            self.shared.1.notify_one();
        }
    }

    /// Takes what waits; where files are left to be made, waits for it only so long as there is no pause.
    pub fn next(&self, files_left: bool) -> Next {
        let mut waiting = self.waiting();
        loop {
            waiting.taker = Taker::AtWork;
            if !waiting.orders.is_empty() {
                return Next::Orders(std::mem::take(&mut waiting.orders));
            }
            if waiting.over {
                return Next::Over;
            }
            if !files_left {
                waiting.taker = Taker::Waits;
                let woken = self.shared.1.wait(waiting);
                waiting = woken.unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            waiting.taker = Taker::LooksAgain;
            let woken = self.shared.1.wait_timeout(waiting, QUIET);
            let timeout;
            (waiting, timeout) = woken.unwrap_or_else(PoisonError::into_inner);
            if timeout.timed_out() && waiting.orders.is_empty() && !waiting.over {
                waiting.taker = Taker::AtWork;
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

    fn taken(next: &Next) -> Vec<u8> {
        let Next::Orders(orders) = next else {
            return Vec::new();
        };
        let first = |order: &Order| match order {
            Order::Keep(blob) => blob.bytes[0],
            Order::Again | Order::Settle(..) => 0,
        };
        orders.iter().map(first).collect()
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
                        let taken = taken(&next);
                        assert!(!taken.is_empty());
                        for one in taken {
                            assert_eq!(one, expected);
                            expected += 1;
                        }
                    }
                }
            }
        });
        assert!(matches!(orders.next(true), Next::Pause));
        orders.push(content(7));
        orders.close();
        orders.push(content(8));
        assert_eq!(taken(&orders.next(false)), [7]);
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
