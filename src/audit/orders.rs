//! The queue from the writer's thread to the settler's, which does not wake the settler for each blob.
//!
//! While the settler waits for a pause, a blob only joins the queue: waking a thread takes a tenth of the time
//! of a sync. A busy settler is not notified at all; it later takes everything that waits at once.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::settler::Turn;
use crate::model::Blob;

/// After this time without orders the settler writes files.
const QUIET: Duration = Duration::from_millis(20);
/// If blobs arrive without a pause, one in this many gets its file at once, to find out early whether
/// descriptors or space run out.
pub(super) const PROBE: usize = 64;

pub(super) enum Order {
    Keep(Blob),
    /// Retries the files for which descriptors or space ran out.
    Again,
    Settle(Turn, Sender<io::Result<()>>),
}

/// The result of waiting for orders.
pub(super) enum Next {
    /// All waiting orders, in order; never empty.
    Orders(VecDeque<Order>),
    /// No order came for [`QUIET`].
    Pause,
    /// No more orders will come.
    Over,
}

/// The queue. Clones share it.
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

/// What the settler's thread is doing.
#[derive(Clone, Copy, Default, PartialEq)]
enum Taker {
    /// Works; looks at the queue afterwards.
    #[default]
    AtWork,
    /// Waits for a notification.
    Waits,
    /// Waits for a pause, and looks at the queue then without a notification.
    LooksAgain,
}

impl Orders {
    /// Queues an order. If the thread has ended, the order is dropped, and its sender with it, so that whoever
    /// waits for the answer gets an error.
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
            // Do not notify twice.
            waiting.taker = Taker::AtWork;
            self.shared.1.notify_one();
        }
    }

    /// Waits for orders and takes all of them. With files left to write, returns [`Next::Pause`] after
    /// [`QUIET`].
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

    /// Refuses further orders; the waiting ones are still taken.
    pub fn close(&self) {
        self.waiting().over = true;
        self.shared.1.notify_one();
    }

    /// The thread ends: drops waiting and further orders.
    pub fn end(&self) {
        let mut waiting = self.waiting();
        waiting.over = true;
        waiting.orders.clear();
    }

    /// A poisoned lock is ignored: nothing done under it can panic halfway.
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

    fn contents_of(next: &Next) -> Vec<u8> {
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
    fn next_returns_waiting_orders_then_the_pause_then_the_end() {
        let orders = Orders::default();
        let given = orders.clone();
        std::thread::scope(|scope| {
            // More than can be queued without a notification.
            let count = u8::try_from(PROBE + 2).unwrap();
            scope.spawn(move || (0..count).for_each(|n| given.push(content(n))));
            let mut expected = 0;
            while expected < count {
                match orders.next(true) {
                    Next::Pause => {}
                    next => {
                        let taken = contents_of(&next);
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
        assert_eq!(contents_of(&orders.next(false)), [7]);
        assert!(matches!(orders.next(false), Next::Over));
    }

    /// The settler waits for a pause; what comes at the very end of that wait is no pause.
    #[test]
    fn what_came_when_the_wait_ended_comes_before_the_pause() {
        for comes in [true, false] {
            let orders = Orders::default();
            let given = orders.clone();
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    let mut waiting = given.waiting();
                    while waiting.taker != Taker::LooksAgain {
                        drop(waiting);
                        std::thread::yield_now();
                        waiting = given.waiting();
                    }
                    // The wait ends while nobody else can look at the queue.
                    let since = std::time::Instant::now();
                    while since.elapsed() <= QUIET {
                        std::thread::yield_now();
                    }
                    match comes {
                        true => waiting.orders.push_back(content(7)),
                        false => waiting.over = true,
                    }
                });
                let next = loop {
                    match orders.next(true) {
                        // The other thread begins with the next wait.
                        Next::Pause => {
                            let waiting = orders.waiting();
                            assert!(waiting.orders.is_empty() && !waiting.over);
                        }
                        next => break next,
                    }
                };
                match comes {
                    true => assert_eq!(contents_of(&next), [7]),
                    false => assert!(matches!(next, Next::Over)),
                }
            });
        }
    }

    #[test]
    fn an_order_to_a_thread_that_has_ended_fails_its_sender() {
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
