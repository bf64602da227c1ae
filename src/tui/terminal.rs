//! The terminal's modes: set once, and restored in every case (exit, suspend, panic, drop).
//!
//! Together with [`super::outlet`], this is the only part of the dashboard that writes to the
//! terminal.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::fs::File;
use std::io::{self, Write as _, stdout};
use std::os::fd::AsFd as _;
use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Once, OnceLock};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, EnableBracketedPaste, EnableFocusChange, Event,
    KeyboardEnhancementFlags, PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::terminal::{
    EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode, size,
};
use crossterm::{Command as _, cursor, queue};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, raise};
use nix::sys::termios::{FlushArg, SetArg, Termios, tcflush, tcgetattr, tcsetattr};
use nix::unistd::{Pid, getpgid, getpgrp, getppid, getsid, tcgetpgrp, tcsetpgrp};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::model::visible_lines;

use super::calls::Calls;
use super::charset::Charset;
use super::glass::{Glass, WRAP};
use super::keyboard::Read;
use super::outlet::Outlet;
use super::queries::Queries;
use super::screen::{Copied, Drawn};
use super::text;

/// The minimum time between two bells: a flood of proposals rings once.
const BELL: Duration = Duration::from_secs(2);

/// Whether the modes are set; for the panic hook and for drop.
static ENTERED: AtomicBool = AtomicBool::new(false);
/// Whether only raw mode is set, for lines that a screen reader follows.
static IN_LINES: AtomicBool = AtomicBool::new(false);
/// Whether the window's title is to be given back.
static TITLED: AtomicBool = AtomicBool::new(false);
/// Whether the terminal reports the mouse.
static MOUSED: AtomicBool = AtomicBool::new(false);
/// Whether the terminal was told what this program waits for.
static REPORTED: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();
/// The process's only writer to its terminal.
static OUTLET: OnceLock<Outlet> = OnceLock::new();

/// The longest wait for a frame. The terminal accepts nearly all frames at once.
const SOON: Duration = Duration::from_millis(5);
/// The longest wait for the terminal to accept the restore sequences.
const FAREWELL: Duration = Duration::from_secs(1);
/// The largest screen, in columns and rows. A terminal can claim 65535 × 65535.
const LARGEST: (u16, u16) = (1000, 500);

/// BDSM, explicit mode (ECMA-48 8.3.18): a terminal that reorders right-to-left text by itself
/// would not show code in execution order. Terminals without BDSM ignore it.
const NO_REORDERING: &str = "\x1b[8l";
const REORDERING: &str = "\x1b[8h";

/// DSR (ECMA-48 8.3.35): a terminal reports that it is ready once it has processed all earlier
/// bytes. A frame in its input buffer is not yet visible.
const ASK: &str = "\x1b[5n";
/// The longest wait for a first answer. After it, the terminal counts as one that never answers.
const FIRST_ANSWER: Duration = Duration::from_millis(500);
/// The longest wait at exit for an answer that would otherwise reach the shell as input.
const LAST_ANSWER: Duration = Duration::from_millis(50);

/// Presses and the wheel (1000), in SGR form (1006); no motion, which would be input without end.
const MOUSE: &str = "\x1b[?1000h\x1b[?1006h";
const NO_MOUSE: &str = "\x1b[?1006l\x1b[?1000l";

/// Whether the terminal may still answer a query, for [`restore`].
static UNANSWERED: AtomicBool = AtomicBool::new(false);

/// A frame that the terminal has not yet confirmed to show.
struct OnItsWay {
    drawn: Drawn,
    since: Instant,
}

/// What is known about the terminal's answers.
enum Answers {
    /// Answers cannot be received, or none came in time.
    Never,
    /// No answer yet; the first query was sent at this time.
    NotYet(Option<Instant>),
    Given,
}

/// What came from the terminal.
#[derive(Debug)]
pub enum Heard<'a> {
    Event(&'a Event),
    /// Nobody typed it. What is typed around it may not count.
    Noise,
    /// The answer to a query.
    Answer,
}

/// The terminal in the dashboard's modes.
pub struct Terminal {
    glass: Glass<Outlet>,
    outlet: Outlet,
    on_its_way: Option<OnItsWay>,
    answers: Answers,
    queries: Queries,
    rang: Option<Instant>,
    calls: Calls,
    mouse: bool,
}

impl Terminal {
    /// Sets raw mode, alternate screen, bracketed paste, focus reports and, if supported, key
    /// repeat reports. Also installs a panic hook that undoes them before the message is printed.
    /// Call this on the drawing thread.
    pub fn enter(calls: Calls, charset: Charset, mouse: bool) -> io::Result<Self> {
        Self::enter_as(calls, charset, mouse, false)
    }

    /// Sets raw mode and nothing else: the terminal gets whole lines ([`super::Plain`]) and no escape sequence.
    pub fn enter_in_lines(calls: Calls, charset: Charset) -> io::Result<Self> {
        Self::enter_as(calls.in_lines(), charset, false, true)
    }

    fn enter_as(calls: Calls, charset: Charset, mouse: bool, in_lines: bool) -> io::Result<Self> {
        IN_LINES.store(in_lines, Ordering::SeqCst);
        HOOK.call_once(|| {
            let drawing = std::thread::current().id();
            std::panic::set_hook(Box::new(move |info| {
                let report = report(info);
                // A panic on another thread ends only its own task; the screen stays.
                if std::thread::current().id() == drawing {
                    restore();
                    // If standard error is closed, the report has no reader.
                    let _ = writeln!(io::stderr(), "{}", visible_lines(&report));
                } else {
                    tracing::error!("{report}");
                }
            }));
        });
        let outlet = match OUTLET.get() {
            Some(outlet) => outlet.clone(),
            None => {
                let out = File::from(stdout().as_fd().try_clone_to_owned()?);
                let outlet = Outlet::open(out)?;
                OUTLET.get_or_init(|| outlet).clone()
            }
        };
        let mut terminal = Self {
            glass: Glass::new(outlet.clone(), charset),
            outlet,
            on_its_way: None,
            answers: Answers::Never,
            queries: Queries::default(),
            rang: None,
            calls,
            mouse,
        };
        terminal.modes_on()?;
        Ok(terminal)
    }

    fn modes_on(&mut self) -> io::Result<()> {
        enable_raw_mode()?;
        ENTERED.store(true, Ordering::SeqCst);
        if IN_LINES.load(Ordering::SeqCst) {
            self.on_its_way = None;
            return Ok(());
        }
        let out = &mut self.outlet;
        queue!(
            out,
            EnterAlternateScreen,
            EnableBracketedPaste,
            EnableFocusChange,
            // Terminals without the protocol ignore this sequence and the matching pop.
            PushKeyboardEnhancementFlags(
                KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES
                    | KeyboardEnhancementFlags::REPORT_EVENT_TYPES
                    | KeyboardEnhancementFlags::REPORT_ALTERNATE_KEYS
            ),
            cursor::Hide
        )?;
        out.write_all(NO_REORDERING.as_bytes())?;
        if self.mouse {
            MOUSED.store(true, Ordering::SeqCst);
            out.write_all(MOUSE.as_bytes())?;
        }
        if self.calls.titles() {
            TITLED.store(true, Ordering::SeqCst);
            out.write_all(Calls::KEEP_TITLE.as_bytes())?;
            self.calls.forget();
        }
        out.flush()?;
        self.glass.forget();
        self.on_its_way = None;
        out.settle(SOON).map(drop)
    }

    /// Restores the original modes, and writes some last lines, if the terminal takes them soon.
    pub fn leave(mut self, lines: &str) {
        restore();
        // `restore` only loses what a terminal does not take; so do these lines.
        let _ = self.outlet.write_all(visible_lines(lines).as_bytes());
        let _ = self.outlet.flush();
        let _ = self.outlet.settle(FAREWELL);
    }

    /// Draws one frame, synchronised if the terminal supports it. The frame is shown once
    /// [`Terminal::taken`] returns it; draw no other frame until then.
    pub fn draw(&mut self, draw: impl FnOnce(Rect, &mut Buffer) -> Drawn) -> io::Result<()> {
        let (columns, rows) = size()?;
        let area = Rect::new(0, 0, columns.min(LARGEST.0), rows.min(LARGEST.1));
        let drawn = self.glass.frame(area, draw)?;
        let now = Instant::now();
        self.on_its_way = Some(OnItsWay { drawn, since: now });
        if !matches!(self.answers, Answers::Never) {
            self.queries.begin(now);
            self.ask(now)?;
        }
        self.outlet.settle(SOON).map(drop)
    }

    /// The terminal's columns, for lines; 0 if it does not say.
    pub fn columns() -> u16 {
        size().map_or(0, |(columns, _)| columns)
    }

    /// Appends text, which shows `drawn` once [`Terminal::taken`] returns it.
    pub fn say(&mut self, text: &str, drawn: Drawn) -> io::Result<()> {
        let now = Instant::now();
        self.outlet.write_all(text.as_bytes())?;
        self.outlet.flush()?;
        self.on_its_way = Some(OnItsWay { drawn, since: now });
        self.outlet.settle(SOON).map(drop)
    }

    /// From now on, asks after each frame whether it is shown; and once whether the terminal takes OSC 7501. Call when
    /// the keyboard is read: an answer would otherwise be taken for keys by whoever reads it.
    pub fn ask_for_answers(&mut self) {
        if IN_LINES.load(Ordering::SeqCst) {
            return;
        }
        self.answers = Answers::NotYet(None);
        if self.calls.titles() {
            // The next frame reports a terminal that cannot be written.
            let _ = self.outlet.write_all(Calls::STATUS_QUERY.as_bytes());
            let _ = self.outlet.flush();
        }
    }

    /// Handles what was read: whether it is an event, an answer of the terminal, or noise.
    pub fn hear<'a>(&mut self, read: &'a Read) -> Heard<'a> {
        match read {
            Read::Event(event) => {
                // It may have come together with an answer.
                self.queries.key();
                Heard::Event(event)
            }
            Read::Bytes if self.answered() => Heard::Answer,
            Read::Bytes => Heard::Noise,
            Read::String(text) => {
                if text.as_deref().is_some_and(|text| self.calls.hear(text)) {
                    tracing::info!("the terminal takes reports of what this program waits for");
                }
                Heard::Noise
            }
        }
    }

    fn ask(&mut self, now: Instant) -> io::Result<()> {
        match &mut self.answers {
            Answers::NotYet(since) => drop(since.get_or_insert(now)),
            Answers::Never | Answers::Given => {}
        }
        UNANSWERED.store(true, Ordering::SeqCst);
        self.outlet.write_all(ASK.as_bytes())?;
        self.outlet.flush()
    }

    /// Whether input that is not an event answered a query.
    fn answered(&mut self) -> bool {
        if matches!(self.answers, Answers::Never) || !self.queries.answer(Instant::now()) {
            return false;
        }
        self.answers = Answers::Given;
        UNANSWERED.store(self.queries.is_due(), Ordering::SeqCst);
        true
    }

    /// The pending frame, if the terminal shows it now. Does not wait.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub fn taken(&mut self) -> io::Result<Option<Drawn>> {
        let taken = self.outlet.settle(Duration::ZERO)?;
        if self.on_its_way.is_none() || !taken {
            return Ok(None);
        }
        let shown = match &self.answers {
            Answers::Never => true,
            Answers::NotYet(since) => since.is_some_and(|at| at.elapsed() >= FIRST_ANSWER),
            Answers::Given => self.queries.is_answered(),
        };
        let now = Instant::now();
        if shown {
            if matches!(self.answers, Answers::NotYet(_)) {
                tracing::info!("the terminal does not say what it shows");
                self.answers = Answers::Never;
            }
            UNANSWERED.store(self.queries.is_due(), Ordering::SeqCst);
            return Ok(self.on_its_way.take().map(|frame| frame.drawn));
        }
        if self.queries.ask_again(now) {
            self.ask(now)?;
        }
        Ok(None)
    }

    /// How long the last frame has been pending; `None` once it was taken.
    pub fn owes(&self) -> Option<Duration> {
        self.on_its_way.as_ref().map(|frame| frame.since.elapsed())
    }

    /// How long the next frame must wait for late answers about the last one.
    pub fn settles_in(&self) -> Duration {
        self.queries.settles_in(Instant::now())
    }

    /// Makes the next frame rewrite everything.
    pub fn forget(&mut self) {
        self.glass.forget();
    }

    /// Calls if nobody looks: fixed bytes, no text from an agent. A failed call is no reason to
    /// stop.
    pub fn attention(&mut self, focused: Option<bool>) {
        let quiet = self.rang.is_none_or(|at| at.elapsed() >= BELL);
        if focused != Some(true) && quiet && self.on_its_way.is_none() {
            self.rang = Some(Instant::now());
            let _ = self.outlet.write_all(self.calls.call());
            let _ = self.outlet.flush();
        }
    }

    /// Sends text to the terminal's clipboard and says so. Only base64 reaches the terminal.
    pub fn copy(&mut self, copied: &Copied) -> String {
        let bytes = self.calls.copy(&STANDARD.encode(&copied.text));
        let sent = bytes.is_some_and(|bytes| {
            let sent = self.outlet.write_all(bytes.as_bytes());
            sent.and_then(|()| self.outlet.flush()).is_ok()
        });
        copied.notice(sent)
    }

    /// Shows the counts in the window's title, and what is waited for in a report, between two frames.
    pub fn title(&mut self, pending: usize, running: usize) {
        if self.on_its_way.is_some() {
            return;
        }
        let title = self.calls.title(pending, running);
        let status = self.calls.status(pending, running);
        if status.is_some() {
            REPORTED.store(true, Ordering::SeqCst);
        }
        let bytes = title.unwrap_or_default() + status.unwrap_or_default();
        if !bytes.is_empty() {
            let _ = self.outlet.write_all(bytes.as_bytes());
            let _ = self.outlet.flush();
        }
    }

    /// Restores the modes, stops this process until it is continued, and sets the modes again.
    /// [`super::UiState::flush_input`] must follow. Before binding it to a key, check
    /// [`has_job_control`].
    pub fn suspend(&mut self) {
        restore();
        // Not SIGTSTP: this program handles that signal and would be notified again.
        // Raised on this thread, so that the process stops before the call returns.
        let _ = raise(Signal::SIGSTOP);
        // The next frame reports a terminal that cannot be written.
        let _ = self.modes_on();
    }
}

/// The terminal in the hands of another program.
#[derive(Debug, Clone)]
pub struct Lent {
    /// The modes from before the dashboard.
    modes: Option<Termios>,
}

impl Lent {
    /// Moves a process group into the foreground. A terminal that is not this process's own has none.
    pub fn to(&self, group: Pid) {
        foreground(group);
    }

    /// Moves this process into the foreground again, with the modes from before the dashboard: a program that
    /// failed may have left others.
    pub fn back(&self) {
        foreground(getpgrp());
        if let Some(modes) = &self.modes {
            let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, modes);
        }
    }
}

/// Blocks SIGTTOU meanwhile, which a process in the background would be stopped by.
fn foreground(group: Pid) {
    let mut stopping = SigSet::empty();
    stopping.add(Signal::SIGTTOU);
    let blocked = stopping.thread_swap_mask(SigmaskHow::SIG_BLOCK);
    let _ = tcsetpgrp(io::stdin(), group);
    if let Ok(before) = blocked {
        let _ = before.thread_set_mask();
    }
}

impl Terminal {
    /// Restores the modes for another program. Draw nothing until [`Terminal::take_back`].
    pub fn lend(&mut self) -> Lent {
        restore();
        Lent {
            modes: tcgetattr(io::stdin()).ok(),
        }
    }

    /// Sets the modes again after the other program has ended.
    pub fn take_back(&mut self, lent: Lent) {
        lent.back();
        // The next frame reports a terminal that cannot be written.
        let _ = self.modes_on();
    }

    /// Sets the modes again after another process stopped this one: a shell may have changed them
    /// meanwhile. Does so only in the terminal's foreground process group, because writing to a
    /// terminal that another process controls would disturb it.
    pub fn went_on(&mut self) {
        let ours = tcgetpgrp(stdout().as_fd()).is_ok_and(|group| group == getpgrp());
        if !ours || !ENTERED.load(Ordering::SeqCst) {
            return;
        }
        if !IN_LINES.load(Ordering::SeqCst) {
            let mut bytes = String::new();
            // Balances the push before the stop.
            let _ = PopKeyboardEnhancementFlags.write_ansi(&mut bytes);
            let _ = self.outlet.write_all(bytes.as_bytes());
        }
        // crossterm still believes that raw mode is on.
        let _ = disable_raw_mode();
        // The next frame reports a terminal that cannot be written.
        let _ = self.modes_on();
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}

/// A panic's message, sanitised because it can quote an agent's text.
fn report(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let message = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    let place = info
        .location()
        .map_or_else(String::new, |l| format!(" at {}:{}", l.file(), l.line()));
    let trace = Backtrace::capture();
    let trace = match trace.status() {
        BacktraceStatus::Captured => format!("\n{trace}"),
        _ => String::new(),
    };
    format!(
        "countersign stopped on a fault of its own{place}: {}{trace}",
        text::plain(message)
    )
}

/// Whether a shell with job control could continue this process after Ctrl-Z: the parent is in our
/// session and in another process group (POSIX calls a group without such a parent orphaned, and
/// the kernel does not stop it for SIGTSTP). Without job control, stopping would hang the terminal
/// for ever.
pub fn has_job_control() -> bool {
    let (Ok(ours), Ok(theirs)) = (getsid(None), getsid(Some(getppid()))) else {
        return false;
    };
    ours == theirs && getpgid(Some(getppid())).is_ok_and(|group| group != getpgrp())
}

/// Undoes the modes, once. Tries every step, even after a failure.
pub fn restore() {
    if !ENTERED.swap(false, Ordering::SeqCst) {
        return;
    }
    if IN_LINES.load(Ordering::SeqCst) {
        if let Some(outlet) = OUTLET.get() {
            let _ = outlet.settle(FAREWELL);
        }
        let _ = disable_raw_mode();
        return;
    }
    let mut bytes = format!("{REORDERING}{WRAP}");
    if TITLED.swap(false, Ordering::SeqCst) {
        bytes.push_str(Calls::GIVE_TITLE_BACK);
    }
    if MOUSED.swap(false, Ordering::SeqCst) {
        bytes.push_str(NO_MOUSE);
    }
    if REPORTED.swap(false, Ordering::SeqCst) {
        bytes.push_str(Calls::CLEAR_STATUS);
    }
    // Formatting into a String cannot fail.
    let _ = EndSynchronizedUpdate.write_ansi(&mut bytes);
    let _ = PopKeyboardEnhancementFlags.write_ansi(&mut bytes);
    let _ = DisableFocusChange.write_ansi(&mut bytes);
    let _ = DisableBracketedPaste.write_ansi(&mut bytes);
    let _ = LeaveAlternateScreen.write_ansi(&mut bytes);
    let _ = cursor::Show.write_ansi(&mut bytes);
    if let Some(outlet) = OUTLET.get() {
        let mut outlet = outlet.clone();
        let _ = outlet.write_all(bytes.as_bytes());
        let _ = outlet.flush();
        // A blocked terminal does not delay the exit.
        let _ = outlet.settle(FAREWELL);
    }
    if UNANSWERED.swap(false, Ordering::SeqCst) {
        std::thread::sleep(LAST_ANSWER);
        let _ = tcflush(io::stdin(), FlushArg::TCIFLUSH);
    }
    let _ = disable_raw_mode();
}
