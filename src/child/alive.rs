//! The data common to all states of a child, and the one loop that attends it.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use crate::clock::Now;
use crate::sandbox::events::Events;
use crate::sandbox::protocol::{self, Command, Ending, Says};

use super::confinement::Confinement;
use super::fault::{Fault, Why};
use super::host::{HELPER_MAX, Host};

/// How long to read the pipes after every possible writer is dead.
const DRAIN_MAX: Duration = Duration::from_secs(2);

/// The outputs of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Stdout,
    Stderr,
    /// The runner's report of the run.
    Report,
}

/// What a client wants to happen to its child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    GoOn,
    /// Ends the child. One such answer is enough; later answers do not change it.
    Kill,
}

/// The user of a child: receives its outputs and is asked before each wait.
pub trait Client {
    /// Takes bytes. `released` tells whether the child had been released when they were read.
    fn take(&mut self, from: Source, bytes: &[u8], released: bool);

    /// Called before each wait, including the waits for the rest of the pipes.
    fn tick(&mut self) {}

    /// Asked before each wait until the child has ended.
    fn wish(&mut self) -> Wish;

    /// Whether the runner reported that it waits for its release.
    fn is_ready(&mut self) -> bool;

    /// Whether the child may be released. Asked while it is held.
    fn may_release(&mut self) -> bool {
        true
    }

    /// The latest time at which the client wants to be asked again.
    fn due(&self) -> Option<Instant> {
        None
    }

    /// A descriptor that becomes readable when the client wants to be asked at once.
    fn bell(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Called when the bell was readable; makes it unreadable again.
    fn quiet(&mut self) {}
}

/// Descriptors to wait for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Name {
    Bell,
    Helper,
    Pipe(Source),
}

/// A message and the descriptor that came with it.
type Message = (Says, Option<OwnedFd>);

/// The result of attending a child.
pub(super) enum Outcome<T> {
    Next(Alive, T),
    /// With the time of the helper's report, by CLOCK_MONOTONIC and CLOCK_BOOTTIME.
    Ended(Alive, Ending, (Instant, Duration)),
}

/// A child in any state.
pub(super) struct Alive {
    // The first field, so it is closed before the host: a zygote ends a run whose socket is closed.
    socket: OwnedFd,
    pipes: [(Source, Option<File>); 3],
    pub host: Box<dyn Host>,
    pub confinement: Confinement,
    /// The deadline of the next step.
    deadline: Option<Instant>,
    patience: Duration,
    killed: bool,
    /// Whether the child was killed for missing a deadline; its end is then reported as that fault.
    overdue: bool,
    pub folder: Option<OwnedFd>,
}

impl Alive {
    pub fn new(
        socket: OwnedFd,
        [stdout, stderr, report]: [OwnedFd; 3],
        host: Box<dyn Host>,
        confinement: Confinement,
    ) -> Self {
        let open = |source, fd: OwnedFd| (source, Some(File::from(fd)));
        Self {
            socket,
            pipes: [
                open(Source::Stdout, stdout),
                open(Source::Stderr, stderr),
                open(Source::Report, report),
            ],
            host,
            confinement,
            deadline: None,
            patience: Duration::MAX,
            killed: false,
            overdue: false,
            folder: None,
        }
    }

    /// Kills the child if the next step does not come within this time.
    pub fn within(&mut self, patience: Duration) {
        self.patience = patience;
        self.deadline = Instant::now().checked_add(patience);
    }

    /// The next step may take any time.
    pub fn at_leisure(&mut self) {
        self.deadline = None;
    }

    pub fn send(&self, command: Command) -> bool {
        // If the helper is gone, the end of its socket shows it.
        protocol::send(&self.socket, &command).is_ok()
    }

    /// Attends the child until `step` returns a value or the child has ended. `step` receives the
    /// helper's messages other than the end, and is called after each wait.
    pub fn until<T>(
        mut self,
        client: &mut dyn Client,
        released: bool,
        mut step: impl FnMut(&mut Self, &mut dyn Client, Option<Message>) -> Result<Option<T>, Fault>,
    ) -> Result<Outcome<T>, Fault> {
        loop {
            client.tick();
            if client.wish() == Wish::Kill {
                self.kill();
            }
            if self.is_over_time() && !self.out_of_time() {
                return Err(self.fault_of_end());
            }
            let message = self.turn(client, released, true)?;
            let message = match message {
                Some((Says::Ended(ending), _)) => {
                    let now = (Instant::now(), Now::read().boot);
                    self.drain(client, released)?;
                    if self.overdue {
                        return Err(self.fault_of_end());
                    }
                    if !ending.clean {
                        tracing::error!("the helper could not clean up after a run");
                    }
                    return Ok(Outcome::Ended(self, ending, now));
                }
                Some((Says::Refused(refusal), _)) => return Err(refusal.into()),
                Some((Says::Slot, _)) => return Err(Fault::new(Why::OutOfOrder, "slot")),
                other => other,
            };
            // A child that is being killed takes no further step.
            if !self.killed
                && let Some(next) = step(&mut self, client, message)?
            {
                return Ok(Outcome::Next(self, next));
            }
        }
    }

    /// Reads the rest of the pipes. Every possible writer is dead.
    fn drain(&mut self, client: &mut dyn Client, released: bool) -> Result<(), Fault> {
        self.deadline = Some(Instant::now() + DRAIN_MAX);
        while self.pipes.iter().any(|(_, pipe)| pipe.is_some()) && !self.is_over_time() {
            client.tick();
            self.turn(client, released, false)?;
        }
        Ok(())
    }

    /// Waits for an event and handles it. Returns the helper's message, if one came.
    fn turn(
        &mut self,
        client: &mut dyn Client,
        released: bool,
        listening: bool,
    ) -> Result<Option<Message>, Fault> {
        let mut events = Events::new();
        if let Some(bell) = client.bell() {
            events = events.on(Name::Bell, bell);
        }
        events = events.on_open(Name::Helper, listening.then_some(&self.socket));
        for (source, pipe) in &self.pipes {
            events = events.on_open(Name::Pipe(*source), pipe.as_ref());
        }
        let until = [self.deadline, client.due()].into_iter().flatten().min();
        let happened = events
            .wait(until)
            .map_err(|e| Fault::new(Why::NotWaited, e))?;
        if happened.has(Name::Bell) {
            client.quiet();
        }
        // Read before the helper's message is handled: output comes before the end.
        for (source, pipe) in &mut self.pipes {
            if happened.has(Name::Pipe(*source)) {
                read(*source, pipe, client, released);
            }
        }
        if !happened.has(Name::Helper) {
            return Ok(None);
        }
        match protocol::receive_folder::<Says>(&self.socket) {
            Ok(Some(message)) => Ok(Some(message)),
            Ok(None) => Err(Fault::new(Why::Silent, "end of socket")),
            Err(e) => Err(Fault::new(Why::Silent, e)),
        }
    }

    /// Asks the helper to end everything, once.
    fn kill(&mut self) {
        if !self.killed {
            self.killed = true;
            self.send(Command::Kill);
            self.deadline = Some(Instant::now() + HELPER_MAX);
        }
    }

    fn is_over_time(&self) -> bool {
        self.deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Handles a missed deadline. `false` means that the helper does not even end.
    fn out_of_time(&mut self) -> bool {
        if self.killed {
            return false;
        }
        self.overdue = true;
        self.kill();
        true
    }

    fn fault_of_end(&self) -> Fault {
        if self.overdue {
            Fault::new(Why::NotReady(self.patience), "prepare")
        } else {
            Fault::new(Why::NoAnswer, "helper")
        }
    }
}

/// Reads the available bytes and passes them to the client.
#[expect(
    clippy::large_stack_arrays,
    reason = "one call deep, on a stack of megabytes"
)]
fn read(source: Source, pipe: &mut Option<File>, client: &mut dyn Client, released: bool) {
    let Some(file) = pipe else {
        return;
    };
    let mut buffer = [0u8; 64 * 1024];
    match file.read(&mut buffer) {
        Ok(0) => *pipe = None,
        Ok(n) => client.take(source, &buffer[..n], released),
        Err(e) if is_nothing(&e) => {}
        Err(_) => *pipe = None,
    }
}

/// Whether there was nothing to read: another reader of the pipe may have taken the bytes.
fn is_nothing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
    )
}

#[cfg(test)]
#[path = "alive_tests.rs"]
mod tests;
