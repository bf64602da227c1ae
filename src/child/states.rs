//! The states of a child.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::clock::Now;
use crate::model::Isolation;
use crate::sandbox::protocol::{Command, Ending, Says};
use crate::sandbox::raw;

use super::alive::{Alive, Client, Outcome, Wish};
use super::fault::Fault;
use super::meter::Meter;
use super::{outside, surroundings};

/// The result of a step: the next state, or the end of the child.
// Made once per step of a child, so a box would save nothing noticeable.
#[allow(clippy::large_enum_variant)]
pub enum Step<T> {
    On(T),
    /// The child was killed or ended by itself.
    Ended(Ended),
}

/// A helper has its order.
pub struct Launched {
    alive: Alive,
}

/// The helper reports that the payload has confined itself.
pub struct Confined {
    alive: Alive,
    pid: i32,
    /// Layers that the kernel does not show, as reported by the helper's own code.
    reported: Vec<String>,
    /// The layers that are mounts, read before the runner was ready.
    mounted: Vec<&'static str>,
}

/// The payload's confinement was read from outside and is what its tier requires.
pub struct Held {
    alive: Alive,
    isolation: Isolation,
    pid: i32,
    resident_kib: u64,
}

/// The payload reads what it is to run.
pub struct Released {
    alive: Alive,
    at: (Instant, Duration),
}

/// No process of the child is left.
pub struct Ended {
    alive: Alive,
    pub ending: Ending,
    /// The time of the helper's report, by CLOCK_MONOTONIC and CLOCK_BOOTTIME.
    pub at: (Instant, Duration),
}

/// A failed examination, with the unchanged child.
pub struct Unconfined {
    pub fault: Fault,
    pub confined: Confined,
}

impl Launched {
    pub(super) fn new(alive: Alive) -> Self {
        Self { alive }
    }

    /// The child's folder on this machine, if its host made one for it alone.
    pub fn folder(&self) -> Option<&PathBuf> {
        self.alive.host.folder()
    }

    /// Waits until the payload has confined itself, for at most `patience`. The runner has the rest
    /// of that time to become ready.
    pub fn confined(
        mut self,
        patience: Duration,
        client: &mut dyn Client,
    ) -> Result<Step<Confined>, Fault> {
        self.alive.within(patience);
        let outcome = self.alive.until(client, false, |alive, _, message| {
            let Some((Says::Started { pid, layers }, folder)) = message else {
                return Ok(None);
            };
            alive.folder = folder;
            // The payload can no longer change its mounts, so they are read while it gets ready.
            let mounted = surroundings::mounted(pid, &alive.confinement);
            Ok(Some((pid, layers, mounted)))
        })?;
        Ok(Step::of(outcome, |alive, (pid, reported, mounted)| {
            Confined {
                alive,
                pid,
                reported,
                mounted,
            }
        }))
    }
}

impl Confined {
    /// Waits until the runner is ready, then examines the payload.
    pub fn held(mut self, client: &mut dyn Client) -> Result<Step<Held>, Fault> {
        // The runner's word may have been read together with the helper's, and nothing comes after it.
        if client.is_ready() {
            return self.look().map(Step::On).map_err(|found| found.fault);
        }
        let outcome = self.alive.until(client, false, |_, client, _| {
            Ok(client.is_ready().then_some(()))
        })?;
        match Step::of(outcome, |alive, ()| alive) {
            Step::Ended(ended) => Ok(Step::Ended(ended)),
            Step::On(alive) => {
                self.alive = alive;
                self.look().map(Step::On).map_err(|found| found.fault)
            }
        }
    }

    /// Only for tests, which show what a disabled layer would allow.
    #[cfg(test)]
    pub(super) fn held_unexamined(self, isolation: Isolation) -> Held {
        Held {
            alive: self.alive,
            isolation,
            pid: self.pid,
            resident_kib: 0,
        }
    }

    #[cfg(test)]
    pub(super) const fn confinement(&self) -> &super::Confinement {
        &self.alive.confinement
    }

    /// Sets the confinement that the child is compared with from now on.
    #[cfg(test)]
    pub(crate) fn compared_with(mut self, confinement: super::Confinement) -> Self {
        self.mounted = surroundings::mounted(self.pid, &confinement);
        self.alive.confinement = confinement;
        self
    }

    /// Waits until the runner is ready, without examining the payload.
    #[cfg(test)]
    pub(crate) fn ready(self, client: &mut dyn Client) -> Result<Step<Self>, Fault> {
        if client.is_ready() {
            return Ok(Step::On(self));
        }
        let Self {
            alive,
            pid,
            reported,
            mounted,
        } = self;
        let outcome = alive.until(client, false, |_, client, _| {
            Ok(client.is_ready().then_some(()))
        })?;
        Ok(Step::of(outcome, |alive, ()| Self {
            alive,
            pid,
            reported,
            mounted,
        }))
    }

    /// Reads the payload's current confinement from outside.
    ///
    /// # Errors
    /// A layer of the tier is missing, or the payload is gone. The error contains the child: one
    /// that is only starting may be examined again.
    pub fn look(mut self) -> Result<Held, Box<Unconfined>> {
        let found = outside::examine(
            self.pid,
            &self.reported,
            &*self.alive.host,
            &self.alive.confinement,
            &self.mounted,
        );
        match found {
            Ok(found) => {
                self.alive.at_leisure();
                Ok(Held {
                    alive: self.alive,
                    isolation: found.isolation,
                    pid: self.pid,
                    resident_kib: found.resident_kib,
                })
            }
            Err(fault) => Err(Box::new(Unconfined {
                fault,
                confined: self,
            })),
        }
    }
}

impl Held {
    /// The confinement as read from outside.
    pub const fn isolation(&self) -> &Isolation {
        &self.isolation
    }

    /// Resident memory of the payload in kibibytes.
    pub const fn resident_kib(&self) -> u64 {
        self.resident_kib
    }

    /// How the child was started: `cold` or `warm`.
    pub fn start(&self) -> &'static str {
        self.alive.host.start()
    }

    /// A pidfd of the payload. The payload is held, so its pid cannot have been reused.
    pub fn payload(&self) -> Option<OwnedFd> {
        raw::pidfd_open(self.pid).ok()
    }

    /// Measures the child's processes; `None` if the payload is gone.
    pub fn meter(&self) -> Option<Meter> {
        Meter::of(self.pid, self.resident_kib).ok()
    }

    /// Waits until the client permits the release, then has the payload read what it is to run.
    pub fn released(self, client: &mut dyn Client) -> Result<Step<Released>, Fault> {
        let mut alive = self.alive;
        // Checked before the first wait, so that an earlier decision takes effect at once.
        if let Some(at) = release(&alive, client) {
            return Ok(Step::On(Released { alive, at }));
        }
        alive.at_leisure();
        let outcome = alive.until(client, false, |alive, client, _| Ok(release(alive, client)))?;
        Ok(Step::of(outcome, |alive, at| Released { alive, at }))
    }
}

/// Releases the payload if the client permits it. The wish is asked last, so that a kill that came
/// before the release counts.
fn release(alive: &Alive, client: &mut dyn Client) -> Option<(Instant, Duration)> {
    let may = client.may_release() && client.wish() == Wish::GoOn;
    (may && alive.send(Command::Release)).then(|| (Instant::now(), Now::read().boot))
}

impl Released {
    /// The time of the release, by CLOCK_MONOTONIC and CLOCK_BOOTTIME.
    pub const fn at(&self) -> (Instant, Duration) {
        self.at
    }

    /// Ends the child if it has not ended by itself in this time. The helper keeps the child's own
    /// wall clock.
    #[must_use]
    pub fn within(mut self, patience: Duration) -> Self {
        self.alive.within(patience);
        self
    }

    /// Attends the payload to its end.
    pub fn ended(self, client: &mut dyn Client) -> Result<Ended, Fault> {
        let outcome = self
            .alive
            .until(client, true, |_, _, _| Ok(None::<std::convert::Infallible>))?;
        match Step::of(outcome, |_, never| never) {
            Step::Ended(ended) => Ok(ended),
            Step::On(never) => match never {},
        }
    }
}

impl Ended {
    /// Bytes of inputs that the payload mapped.
    pub const fn mapped(&self) -> u64 {
        self.alive.confinement.mapped
    }

    /// The child's output folder, if it had one. Its contents are removed with this value.
    pub const fn folder(&self) -> Option<&OwnedFd> {
        self.alive.folder.as_ref()
    }
}

impl<T> Step<T> {
    fn of<U>(outcome: Outcome<U>, then: impl FnOnce(Alive, U) -> T) -> Self {
        match outcome {
            Outcome::Next(alive, next) => Self::On(then(alive, next)),
            Outcome::Ended(alive, ending, at) => Self::Ended(Ended { alive, ending, at }),
        }
    }
}

impl From<Box<Unconfined>> for Fault {
    fn from(found: Box<Unconfined>) -> Self {
        found.fault
    }
}
