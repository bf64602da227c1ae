//! Reads the terminal's input on a dedicated thread and stamps each event with the time span in
//! which it could have been typed. The stamps stay correct even if the main loop handles the events
//! late.

use std::io;
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crossterm::event::{self, Event, KeyEventKind};
use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::stat::Mode;
use nix::sys::termios::{FlushArg, tcflush};
use nix::unistd::dup2_stdin;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::clock::Now;

use super::answers::{Heard, Strings};
use super::ui::Span;

/// How often to poll for input while its timing decides whether a key counts.
const LOOK_MS: u16 = 25;
/// If bytes take longer than this to become an event, their time of arrival is unknown.
const LATE: Duration = Duration::from_millis(100);
/// The longest wait for available bytes to become events. Later they never do: the event source is
/// notified of a burst once and reads only its first kilobyte.
const STUCK: Duration = Duration::from_millis(20);

/// The longest wait for the thread to rest.
const RESTS: Duration = Duration::from_secs(1);

/// The most events read at once.
const AT_ONCE: usize = 1024;

/// What was read.
#[derive(Debug)]
pub enum Read {
    Event(Event),
    /// Bytes that are not an event: noise, or the terminal's answer to a query.
    Bytes,
    /// Part of a string of the terminal, or its end with its text.
    String(Option<String>),
}

/// One thing that was read, with the time span in which it could have been typed.
#[derive(Debug)]
pub struct Typed {
    pub read: Read,
    pub when: Span,
    flushes: u64,
}

#[derive(Debug)]
struct Shared {
    closely: AtomicBool,
    /// The window was resized, and the event source was not polled since.
    resized: AtomicBool,
    /// How often input was discarded.
    flushes: AtomicU64,
    wake: EventFd,
    turn: Mutex<Turn>,
    turned: Condvar,
}

/// Whose input the terminal's is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Ours,
    /// The thread is asked to rest.
    Asked,
    /// The thread rests: another program reads.
    Theirs,
}

impl Shared {
    fn turn(&self) -> MutexGuard<'_, Turn> {
        // Code under the lock cannot panic.
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        // The write fails only if the counter is full, and a full counter also wakes the thread.
        let _ = self.wake.write(1);
    }

    /// Rests while another program reads.
    fn rest_if_asked(&self) {
        let mut turn = self.turn();
        while *turn != Turn::Ours {
            *turn = Turn::Theirs;
            self.turned.notify_all();
            turn = self
                .turned
                .wait(turn)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The terminal's input.
#[derive(Debug)]
pub struct Keyboard {
    typed: UnboundedReceiver<Typed>,
    shared: Arc<Shared>,
    hears_answers: bool,
}

/// Reopens the terminal for this process's input, so that reading bytes that are not an event does
/// not wait for the next key. Other open file descriptions keep their mode.
fn own_input() -> nix::Result<()> {
    let flags = OFlag::O_RDWR | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
    dup2_stdin(open("/proc/self/fd/0", flags, Mode::empty())?)
}

impl Keyboard {
    /// Starts reading. The terminal must be in raw mode.
    pub fn listen() -> io::Result<Self> {
        let hears_answers = own_input()
            .inspect_err(|e| tracing::info!("the terminal is not asked what it shows: {e}"))
            .is_ok();
        let shared = Arc::new(Shared {
            closely: AtomicBool::new(false),
            resized: AtomicBool::new(false),
            flushes: AtomicU64::new(0),
            wake: EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?,
            turn: Mutex::new(Turn::Ours),
            turned: Condvar::new(),
        });
        let (out, typed) = unbounded_channel();
        let of_thread = shared.clone();
        std::thread::Builder::new()
            .name("keyboard".to_owned())
            .spawn(move || {
                // The closed channel tells the loop; the local log has the reason.
                if let Err(e) = read(&of_thread, &out) {
                    tracing::warn!("the terminal cannot be read any more: {e}");
                }
            })?;
        Ok(Self {
            typed,
            shared,
            hears_answers,
        })
    }

    /// Whether the terminal's answers arrive as input that is not an event.
    pub const fn hears_answers(&self) -> bool {
        self.hears_answers
    }

    /// The next event; `None` once the terminal is gone. Cancel safe.
    pub async fn next(&mut self) -> Option<Typed> {
        loop {
            let typed = self.typed.recv().await?;
            if typed.flushes == self.shared.flushes.load(Ordering::SeqCst) {
                return Some(typed);
            }
        }
    }

    /// Discards all input typed so far, in every buffer.
    pub fn flush(&self) {
        self.shared.flushes.fetch_add(1, Ordering::SeqCst);
        // Input that remains in the kernel is stamped like any other input.
        let _ = tcflush(io::stdin(), FlushArg::TCIFLUSH);
    }

    /// Handles a window resize: takes the event out of the source at once. Otherwise it would
    /// arrive together with the next key, and the source would then lose that key.
    pub fn resized(&self) {
        self.shared.resized.store(true, Ordering::SeqCst);
        self.shared.wake();
    }

    /// Leaves the input to another program, until [`Keyboard::go_on`]. Returns false if the thread does not
    /// rest in time; then nothing changed.
    pub fn rest(&self) -> bool {
        *self.shared.turn() = Turn::Asked;
        self.shared.wake();
        let (mut turn, _) = self
            .shared
            .turned
            .wait_timeout_while(self.shared.turn(), RESTS, |turn| *turn == Turn::Asked)
            .unwrap_or_else(PoisonError::into_inner);
        let rests = *turn == Turn::Theirs;
        if !rests {
            *turn = Turn::Ours;
        }
        rests
    }

    /// Reads again. What was typed for the other program is discarded.
    pub fn go_on(&self) {
        self.flush();
        *self.shared.turn() = Turn::Ours;
        self.shared.turned.notify_all();
    }

    /// Sets whether events need precise times. Costs a few wakeups per second.
    pub fn watch(&self, closely: bool) {
        if self.shared.closely.swap(closely, Ordering::SeqCst) != closely && closely {
            self.shared.wake();
        }
    }
}

/// The result of polling for input.
enum Look {
    Nothing,
    Something,
    Interrupted,
}

/// Polls for input, at most for `timeout`.
fn look(shared: &Shared, timeout: PollTimeout) -> io::Result<Look> {
    let stdin = io::stdin();
    let mut fds = [
        PollFd::new(stdin.as_fd(), PollFlags::POLLIN),
        PollFd::new(shared.wake.as_fd(), PollFlags::POLLIN),
    ];
    match poll(&mut fds, timeout) {
        Ok(_) => {}
        Err(Errno::EINTR) => return Ok(Look::Interrupted),
        Err(e) => return Err(e.into()),
    }
    let of = |fd: &PollFd<'_>| fd.revents().unwrap_or(PollFlags::empty());
    let (terminal, woken) = (of(&fds[0]), of(&fds[1]));
    if woken.contains(PollFlags::POLLIN) {
        let _ = shared.wake.read();
    }
    if terminal.intersects(PollFlags::POLLHUP | PollFlags::POLLERR | PollFlags::POLLNVAL) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(if terminal.contains(PollFlags::POLLIN) {
        Look::Something
    } else {
        Look::Nothing
    })
}

/// Reads until the terminal is closed or the loop ends.
fn read(shared: &Shared, out: &UnboundedSender<Typed>) -> io::Result<()> {
    let boot = || Now::read().boot;
    // When the input was last known to be empty.
    let mut empty = Duration::ZERO;
    let mut strings = Strings::default();
    loop {
        shared.rest_if_asked();
        // Read before polling: the process may be stopped right after it.
        let before = boot();
        let there = look(shared, PollTimeout::ZERO)?;
        let resized = shared.resized.swap(false, Ordering::SeqCst);
        match there {
            Look::Interrupted => {
                shared.resized.fetch_or(resized, Ordering::SeqCst);
                continue;
            }
            Look::Nothing if resized => empty = before,
            Look::Nothing => {
                empty = before;
                let closely = shared.closely.load(Ordering::SeqCst);
                let most = if closely {
                    PollTimeout::from(LOOK_MS)
                } else {
                    PollTimeout::NONE
                };
                look(shared, most)?;
                continue;
            }
            Look::Something => {}
        }
        let flushes = shared.flushes.load(Ordering::SeqCst);
        let found = boot();
        let bytes =
            || Ok::<_, io::Error>(matches!(look(shared, PollTimeout::ZERO)?, Look::Something));
        let mut more = event::poll(Duration::ZERO)?;
        if !more && bytes()? {
            more = event::poll(STUCK)?;
        }
        if !more && resized && matches!(there, Look::Nothing) {
            continue;
        }
        if !more && bytes()? {
            // Nobody types a kilobyte at once.
            tcflush(io::stdin(), FlushArg::TCIFLUSH)?;
        }
        let mut events = Vec::new();
        while more {
            events.push(event::read()?);
            more = events.len() < AT_ONCE && event::poll(Duration::ZERO)?;
        }
        let alone = events.iter().filter(|e| is_press(e)).count() <= 1;
        let send = |read| {
            let until = boot();
            let late = until.saturating_sub(found) > LATE;
            let since = if late { Duration::ZERO } else { empty };
            let when = Span {
                since,
                until,
                alone,
            };
            out.send(Typed {
                read,
                when,
                flushes,
            })
        };
        if events.is_empty() && send(Read::Bytes).is_err() {
            return Ok(());
        }
        for event in events {
            let read = match strings.sort(event, found) {
                Heard::Event(event) => Read::Event(event),
                Heard::Part => Read::String(None),
                Heard::Answer(text) => Read::String(Some(text)),
            };
            if send(read).is_err() {
                return Ok(());
            }
        }
    }
}

fn is_press(event: &Event) -> bool {
    match event {
        Event::Key(key) => key.kind != KeyEventKind::Release,
        Event::Paste(_) => true,
        Event::FocusGained | Event::FocusLost | Event::Mouse(_) | Event::Resize(..) => false,
    }
}
