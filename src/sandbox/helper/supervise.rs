//! Supervises the payload: releases it, ends it on time-out, on command or when the dashboard is
//! gone, and cleans up.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

use crate::model::Tier;

use super::super::events::Events;
use super::super::protocol::{self, Command, EndedBy, Ending, Lost, Order, Says};
use super::super::raw::{self, Reaped};
use super::super::scratch;
use super::layer::{Layer, on};
use super::payload::Started;
use super::{Attempt, Prepared, Reason, Refusal, Step};
use super::{jail, pair, tree};

/// How long the broker may take to collect the output of the run; longer than the broker's own
/// limit.
const COLLECT_MAX: Duration = Duration::from_secs(120);

/// Starts the payload and returns when nothing of it is left.
pub fn run(
    socket: &OwnedFd,
    lifeline: &OwnedFd,
    order: &Order,
    prepared: Prepared,
    held: &scratch::Held,
) -> Result<(), Refusal> {
    let mask = hold_signals()?;
    // A pid namespace ends with its pid 1. Without one, two processes are needed to leave nothing
    // behind.
    let other = match order.tier {
        Tier::Process => match pair::divide()? {
            pair::Half::Watches(half) => return half.outlive(prepared, held),
            pair::Half::Works(other) => Some(other),
        },
        _ => None,
    };
    let children = SignalFd::with_flags(&mask, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
        .step(Step::WaitForSignals)?;

    let identity = prepared.identity.as_ref();
    let started = match order.tier {
        Tier::Process => prepared.payload.start(identity, lifeline),
        _ => jail::start(order, &prepared.payload, identity, lifeline),
    };
    let uid = prepared.identity.as_ref().map(|identity| identity.uid);
    let started = match started {
        Ok(started) => started,
        Err(refusal) => {
            tree::sweep(uid, |_| {});
            prepared.view.dissolve();
            return Err(refusal);
        }
    };
    for pid in [started.pid, started.payload] {
        // A payload that has already ended (ESRCH) is reaped next; nothing was released.
        if let Err(e) = prepared.cgroup.take(pid)
            && e.raw_os_error() != Some(nix::libc::ESRCH)
        {
            tree::sweep(uid, |_| {});
            prepared.view.dissolve();
            return Err(Refusal::new(Step::PutIntoControlGroup, e));
        }
    }
    let mut watch = Watch {
        socket,
        lifeline,
        children: &children,
        other: other.as_ref(),
        prepared: &prepared,
        started: &started,
        wall: Duration::from_secs(order.limits.wall_s),
        deadline: None,
        ended: None,
        lost: Lost::default(),
        cpu_s: order.limits.cpu_s,
    };
    // If the broker is gone, the lifeline shows it.
    let _ = protocol::send_folder(
        socket,
        &Says::Started {
            pid: started.payload,
            layers: started.layers.clone(),
        },
        &started.output,
    );
    let by = watch.wait();
    let (mut ended, orphans) = (watch.ended, watch.lost);
    if let Some(pidfd) = &started.pidfd {
        // Kills the whole jail at once. Pid 1 may have ended by itself; the sweep finds what is
        // left.
        let _ = raw::pidfd_signal(pidfd.as_fd(), Signal::SIGKILL);
    }
    let clean = tree::sweep(uid, |one| {
        if one.pid == started.pid {
            ended = Some(as_payload(one, &started));
        }
    });
    // Also closes the helper's ends of the payload's pipes, so that the output has an end now.
    let Prepared {
        payload,
        view,
        cgroup,
        ..
    } = prepared;
    drop(payload);
    let Some(by) = by else {
        view.dissolve();
        return Err(Refusal::new(
            Reason::HelperKilled,
            "the other half of the helper is gone",
        ));
    };
    let _ = protocol::send(
        socket,
        &Says::Ended(Ending {
            status: ended.map_or(nix::libc::SIGKILL, |(one, _)| one.status),
            by,
            cpu_us: ended.map_or(0, |(one, _)| one.cpu.as_micros() as u64),
            peak_kib: ended.map_or(0, |(one, _)| one.peak_kib),
            out_of_memory: cgroup.out_of_memory(),
            lost: ended.map_or(orphans, |(_, lost)| lost.and(orphans)),
            clean,
        }),
    );
    // The broker collects the output before the folder is removed.
    await_leave(socket, lifeline);
    view.dissolve();
    if let Err(e) = held.remove() {
        return Err(Refusal::new(Step::RemoveFolder, e));
    }
    Ok(())
}

/// Returns when the broker has closed its end, is gone or has used up its time.
fn await_leave(socket: &OwnedFd, lifeline: &OwnedFd) {
    let until = Instant::now() + COLLECT_MAX;
    loop {
        let events = Events::new()
            .on(Heard::Lifeline, lifeline.as_fd())
            .on(Heard::Broker, socket.as_fd());
        let Ok(happened) = events.wait(Some(until)) else {
            return;
        };
        if happened.is_empty() && Instant::now() < until {
            continue;
        }
        // Reads and ignores a command that was sent before the broker read the end.
        if !happened.has(Heard::Broker)
            || happened.has(Heard::Lifeline)
            || !matches!(protocol::receive::<Command>(socket), Ok(Some(_)))
        {
            return;
        }
    }
}

/// Turns SIGCHLD into a pollable event. The terminal's signals do not reach this session; one sent
/// by hand must not end the supervisor before the payload.
pub fn hold_signals() -> Result<SigSet, Refusal> {
    let mut mask = SigSet::empty();
    for signal in [
        Signal::SIGCHLD,
        Signal::SIGTERM,
        Signal::SIGINT,
        Signal::SIGHUP,
        Signal::SIGQUIT,
        Signal::SIGPIPE,
        Signal::SIGTSTP,
        Signal::SIGUSR1,
        Signal::SIGUSR2,
        Signal::SIGALRM,
    ] {
        mask.add(signal);
    }
    mask.thread_block().step(Step::WaitForSignals)?;
    Ok(mask)
}

/// How the payload ended: the helper's own child, or as the jail's pid 1 reported it. If pid 1
/// reported nothing, it was killed together with the payload.
fn as_payload(one: Reaped, started: &Started) -> (Reaped, Lost) {
    let killed = Reaped {
        status: nix::libc::SIGKILL,
        ..one
    };
    match &started.exit {
        None => (one, Lost::default()),
        Some(exit) => jail::init::read_exit(exit, started.payload)
            .unwrap_or_else(|| (killed, Lost::default())),
    }
}

/// Events that a supervisor waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Heard {
    Lifeline,
    Broker,
    Children,
    /// Reaches its end when the other half of the helper ends.
    OtherHalf,
}

struct Watch<'a> {
    socket: &'a OwnedFd,
    lifeline: &'a OwnedFd,
    children: &'a SignalFd,
    /// Reaches its end when the other half of the helper ends.
    other: Option<&'a OwnedFd>,
    prepared: &'a Prepared,
    started: &'a Started,
    wall: Duration,
    /// Set when the payload is released.
    deadline: Option<Instant>,
    ended: Option<(Reaped, Lost)>,
    /// Orphans killed by a limit, if the payload has no pid 1.
    lost: Lost,
    cpu_s: u64,
}

impl Watch<'_> {
    /// Returns when the payload has ended or has to end; `None` if the helper's other half was
    /// killed.
    fn wait(&mut self) -> Option<EndedBy> {
        loop {
            self.reap();
            if self.ended.is_some() {
                return Some(EndedBy::Itself);
            }
            if self
                .deadline
                .is_some_and(|deadline| Instant::now() >= deadline)
            {
                return Some(EndedBy::Wall);
            }
            let events = Events::new()
                .on(Heard::Lifeline, self.lifeline.as_fd())
                .on(Heard::Broker, self.socket.as_fd())
                .on(Heard::Children, self.children.as_fd())
                .on_open(Heard::OtherHalf, self.other);
            // A run that cannot be waited for must not go on.
            let Ok(happened) = events.wait(self.deadline) else {
                return Some(EndedBy::Command);
            };
            if happened.has(Heard::OtherHalf) {
                return None;
            }
            if happened.has(Heard::Lifeline) && on(Layer::Lifeline) {
                // Nobody writes to the lifeline: this is its end, so the dashboard is gone.
                return Some(EndedBy::Command);
            }
            if happened.has(Heard::Children) {
                while let Ok(Some(_)) = self.children.read_signal() {}
            }
            if happened.has(Heard::Broker) {
                match protocol::receive::<Command>(self.socket) {
                    Ok(Some(Command::Release)) => self.release(),
                    #[cfg(test)]
                    Ok(None) | Err(_) if !on(Layer::Lifeline) => {
                        std::thread::sleep(Duration::from_millis(20));
                    }
                    Ok(Some(Command::Kill) | None) | Err(_) => return Some(EndedBy::Command),
                }
            }
        }
    }

    fn release(&mut self) {
        if self.deadline.is_none() {
            let now = Instant::now();
            // The clock cannot represent a policy's largest number of seconds, which is as good as
            // no limit.
            self.deadline = Some(
                now.checked_add(self.wall)
                    .unwrap_or(now + Duration::from_secs(u64::from(u32::MAX))),
            );
            // A payload that has already ended is reaped next.
            let _ = self.prepared.payload.release();
        }
    }

    /// Reaps children. Orphans of the payload become children of this process; unreaped, they would
    /// count against the payload's limit of processes.
    fn reap(&mut self) {
        while let Ok(Some(one)) = raw::reap(raw::Wait::No) {
            if one.pid == self.started.pid {
                self.ended = Some(as_payload(one, self.started));
            } else {
                self.lost.count(one.status, one.cpu, self.cpu_s);
            }
        }
    }
}
