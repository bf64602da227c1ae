//! What is typed: read on a thread that does nothing else, and dated by when it could have been
//! typed. The dates hold however late the loop comes to the events.

use std::io;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
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

use super::ui::Span;

/// How often input is looked at where time decides whether a key counts.
const LOOK_MS: u16 = 25;
/// How long bytes may take to become an event before it is unknown when they came.
const LATE: Duration = Duration::from_millis(100);
/// How long what can be read may take to be read. Longer, and it never will: the event source
/// learns of a burst once and reads its first kilobyte.
const STUCK: Duration = Duration::from_millis(20);

/// Events that are read at once, at most.
const AT_ONCE: usize = 1024;

/// One event, or bytes that were none: noise, or the terminal's answer to a question.
#[derive(Debug)]
pub struct Typed {
    pub event: Option<Event>,
    pub when: Span,
    flushes: u64,
}

#[derive(Debug)]
struct Shared {
    closely: AtomicBool,
    /// The window has another size, and the event source was not asked since.
    resized: AtomicBool,
    /// How often input was thrown away.
    flushes: AtomicU64,
    wake: EventFd,
}

/// The terminal's input.
#[derive(Debug)]
pub struct Keyboard {
    typed: UnboundedReceiver<Typed>,
    shared: Arc<Shared>,
    hears_answers: bool,
}

/// Opens the terminal anew for this process's input, so that a read of bytes that are no event does
/// not wait for the next key. What others have open keeps its mode.
fn own_input() -> nix::Result<()> {
    let flags = OFlag::O_RDWR | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
    dup2_stdin(open("/proc/self/fd/0", flags, Mode::empty())?)
}

impl Keyboard {
    /// Begins to read. The terminal must be in raw mode.
    pub fn listen() -> io::Result<Self> {
        let hears_answers = own_input()
            .inspect_err(|e| tracing::info!("the terminal is not asked what it shows: {e}"))
            .is_ok();
        let shared = Arc::new(Shared {
            closely: AtomicBool::new(false),
            resized: AtomicBool::new(false),
            flushes: AtomicU64::new(0),
            wake: EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?,
        });
        let (out, typed) = unbounded_channel();
        let of_thread = shared.clone();
        std::thread::Builder::new()
            .name("keyboard".to_owned())
            .spawn(move || {
                // The channel's end tells the loop; the reason is in the local log.
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

    /// Whether an answer of the terminal comes as an event that is none.
    pub const fn hears_answers(&self) -> bool {
        self.hears_answers
    }

    /// The next event; `None` when the terminal is gone. May be dropped while it waits.
    pub async fn next(&mut self) -> Option<Typed> {
        loop {
            let typed = self.typed.recv().await?;
            if typed.flushes == self.shared.flushes.load(Ordering::SeqCst) {
                return Some(typed);
            }
        }
    }

    /// Throws away what was typed until now, wherever it waits.
    pub fn flush(&self) {
        self.shared.flushes.fetch_add(1, Ordering::SeqCst);
        // What the kernel keeps all the same is dated like any other input.
        let _ = tcflush(io::stdin(), FlushArg::TCIFLUSH);
    }

    /// The window has another size: takes the event out of the source at once. Left there until the
    /// next key, it would come together with that key, and the source then loses the key.
    pub fn resized(&self) {
        self.shared.resized.store(true, Ordering::SeqCst);
        let _ = self.shared.wake.write(1);
    }

    /// Whether events are to be dated closely. Costs a few wakes a second.
    pub fn watch(&self, closely: bool) {
        if self.shared.closely.swap(closely, Ordering::SeqCst) != closely && closely {
            // Only a full counter refuses, and that wakes too.
            let _ = self.shared.wake.write(1);
        }
    }
}

/// What there is to read.
enum Look {
    Nothing,
    Something,
    Interrupted,
}

/// Looks for input, at most this long.
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

/// Reads until the terminal or the loop is gone.
fn read(shared: &Shared, out: &UnboundedSender<Typed>) -> io::Result<()> {
    let boot = || Now::read().boot;
    // When input was last known to be empty.
    let mut empty = Duration::ZERO;
    loop {
        // Before the look: the process may be stopped right after it.
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
        let send = |event| {
            let until = boot();
            let late = until.saturating_sub(found) > LATE;
            let since = if late { Duration::ZERO } else { empty };
            let when = Span {
                since,
                until,
                alone,
            };
            out.send(Typed {
                event,
                when,
                flushes,
            })
        };
        if events.is_empty() && send(None).is_err() {
            return Ok(());
        }
        for event in events {
            if send(Some(event)).is_err() {
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
