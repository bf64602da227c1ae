//! The helper of a zygote: one jail with a process that has the libraries loaded, and beside that
//! process the slots of runs. Two slots are made in advance.
//!
//! After a grant, a run needs only one message to its slot's pid 1, a fork, and the payload's
//! restriction of itself; interpreter and libraries are loaded. The helper does for every run what
//! the helper of a cold start does for its only one: it hashes, holds the gate, keeps the wall
//! clock, kills, and reports the end. If the helper ends, the jail and all its runs end.

mod seed;
mod slot;

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};

use super::super::events::Events;
use super::super::protocol::{self, Descriptors, Order, Says};
use super::super::scratch;
use super::{Attempt, Reason, Refusal, Step, check_files, identity, jail, supervise, tree, view};

use seed::Seed;
use slot::Slot;

/// Number of slots that wait for a grant.
const SPARES: usize = 2;

/// A new slot is made when a run has ended or after this time, so that the run has priority.
const PAUSE: Duration = Duration::from_millis(250);

/// The zygote is given up after this many failed slots in a row.
const FAILURES_MAX: u32 = 3;

/// Keeps a zygote while the broker holds its end of the socket or runs go on.
pub fn keep(
    socket: &OwnedFd,
    order: &Order,
    descriptors: Descriptors<OwnedFd>,
    held: &scratch::Held,
) -> Result<(), Refusal> {
    check_files(order, &descriptors)?;
    let identity = identity::of_run()?;
    let (control, theirs) = socketpair(
        AddressFamily::Unix,
        SockType::SeqPacket,
        None,
        SockFlag::SOCK_CLOEXEC,
    )
    .step(Step::MakeSocket)?;
    // Must come before the view: it reads the real paths of the libraries.
    let (seed, lifeline) = Seed::new(order, descriptors, theirs)?;
    let _view = view::View::reachable(order, identity.as_ref())?;
    supervise::hold_signals()?;
    let started = jail::start(order, &seed, identity.as_ref(), &lifeline);
    // The end of the zygote's descriptors shows only if nobody else holds them.
    drop(seed);
    let result = started.and_then(|_| {
        Keeper {
            socket,
            lifeline: &lifeline,
            control: Some(control),
            order,
            slots: Vec::new(),
            made: 0,
            failures: 0,
            is_ready: false,
            is_let_go: false,
            rest_until: Instant::now(),
        }
        .run()
    });
    tree::sweep(identity.map(|identity| identity.uid), |_| {});
    result.and_then(|()| held.remove().step(Step::RemoveZygoteFolder))
}

struct Keeper<'a> {
    socket: &'a OwnedFd,
    lifeline: &'a OwnedFd,
    /// The socket to the zygote; `None` once the zygote is given up.
    control: Option<OwnedFd>,
    order: &'a Order,
    slots: Vec<Slot>,
    made: u64,
    failures: u32,
    /// Whether the libraries are loaded.
    is_ready: bool,
    /// Whether the broker wants no more slots.
    is_let_go: bool,
    rest_until: Instant,
}

/// Events that the helper of a zygote waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Lifeline,
    Broker,
    Zygote,
    Run(usize),
    Door(usize),
    Pid(usize),
}

impl Keeper<'_> {
    fn run(&mut self) -> Result<(), Refusal> {
        loop {
            self.expire();
            self.bury();
            if self.is_let_go && self.slots.is_empty() {
                return Ok(());
            }
            self.refill();
            for source in self.wait()? {
                match source {
                    // Nobody writes to the lifeline: this is its end, so the dashboard is gone.
                    Source::Lifeline => return Ok(()),
                    Source::Broker => self.is_let_go = true,
                    Source::Zygote => self.hear_zygote(),
                    Source::Run(at) => self.hear_run(at),
                    Source::Door(at) => self.hear_door(at),
                    // Comes last, from the highest index down, because removing a slot moves the
                    // later ones.
                    Source::Pid(at) => self.end(at),
                }
            }
        }
    }

    /// The events that happened. Ends of pid 1s come last, the last slot first.
    fn wait(&self) -> Result<Vec<Source>, Refusal> {
        let mut events = Events::new().on(Source::Lifeline, self.lifeline.as_fd());
        if !self.is_let_go {
            events = events.on(Source::Broker, self.socket.as_fd());
        }
        events = events.on_open(Source::Zygote, self.control.as_ref());
        for (at, slot) in self.slots.iter().enumerate() {
            events = events.on(Source::Run(at), slot.run());
            if let Some(door) = slot.door() {
                events = events.on(Source::Door(at), door);
            }
        }
        for (at, slot) in self.slots.iter().enumerate().rev() {
            if let Some(pidfd) = slot.pidfd() {
                events = events.on(Source::Pid(at), pidfd);
            }
        }
        let happened = events.wait(self.next_due()).step(Step::WaitForZygote)?;
        Ok(happened.iter().collect())
    }

    fn next_due(&self) -> Option<Instant> {
        let rest =
            (self.wants_place() && self.rest_until > Instant::now()).then_some(self.rest_until);
        self.slots
            .iter()
            .filter_map(Slot::deadline)
            .chain(rest)
            .min()
    }

    fn wants_place(&self) -> bool {
        self.is_ready
            && !self.is_let_go
            && self.control.is_some()
            && !self.slots.iter().any(Slot::is_making)
            && self.slots.iter().filter(|slot| slot.is_waiting()).count() < SPARES
    }

    fn refill(&mut self) {
        if !self.wants_place() || Instant::now() < self.rest_until {
            return;
        }
        let Some(control) = &self.control else {
            return;
        };
        match Slot::ask(control) {
            Ok(slot) => self.slots.push(slot),
            Err(refusal) => self.give_up(refusal),
        }
    }

    fn hear_zygote(&mut self) {
        let Some(control) = &self.control else {
            return;
        };
        let mut word = [0u8];
        match nix::unistd::read(control, &mut word) {
            Ok(1) if word == *b"r" => self.is_ready = true,
            _ => self.give_up(Refusal::new(Reason::ZygoteEnded, "end of its socket")),
        }
    }

    fn hear_run(&mut self, at: usize) {
        let slot = &mut self.slots[at];
        let waited = slot.is_waiting();
        slot.hear_run(Duration::from_secs(self.order.limits.wall_s));
        if waited {
            self.rest_until = Instant::now() + PAUSE;
        }
    }

    fn hear_door(&mut self, at: usize) {
        let was_making = self.slots[at].is_making();
        let heard = self.slots[at].hear_door(self.socket, &self.order.limits, self.made);
        self.made += u64::from(was_making);
        match heard {
            Ok(()) if was_making && self.slots[at].is_waiting() => self.failures = 0,
            Ok(()) => {}
            Err(refusal) => {
                self.slots[at].overdue();
                self.failed(refusal);
            }
        }
    }

    fn end(&mut self, at: usize) {
        if self.slots.remove(at).end() {
            self.rest_until = Instant::now();
        }
    }

    fn expire(&mut self) {
        let now = Instant::now();
        for slot in &mut self.slots {
            if slot.deadline().is_some_and(|deadline| now >= deadline) {
                slot.overdue();
            }
        }
    }

    /// Removes slots whose pid 1 ended before it reported.
    fn bury(&mut self) {
        let before = self.slots.len();
        self.slots.retain(|slot| !slot.is_lost());
        if self.slots.len() < before {
            self.failed(Refusal::new(Reason::SlotNotMade, "no pid 1"));
        }
    }

    fn failed(&mut self, refusal: Refusal) {
        self.failures += 1;
        self.rest_until = Instant::now() + PAUSE;
        if self.failures >= FAILURES_MAX {
            self.give_up(refusal);
        }
    }

    /// Makes no more slots: the broker starts cold and lets this zygote go.
    fn give_up(&mut self, refusal: Refusal) {
        if self.control.take().is_some() {
            let _ = protocol::send(self.socket, &Says::Refused(refusal));
        }
    }
}
