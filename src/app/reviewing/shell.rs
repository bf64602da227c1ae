//! The loop: what a person asks is read away from it, and what comes back is shown.

use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep_until};

use crate::app::exporting::{self, ExportNews};
use crate::app::review::{self, Source};
use crate::app::signals::{Asked, Signals};
use crate::app::summing;
use crate::audit::{Log, Stage};
use crate::clock::Now;
use crate::error::Failure;
use crate::tui::keyboard::{Keyboard, Typed};
use crate::tui::terminal::{Heard, Terminal, has_job_control};
use crate::tui::{AuditPage, Reading, Review, Sums, Vouched};

use super::setup::Setup;
use super::vouch::{self, Checks};

/// The least time between two frames.
const FRAME: Duration = Duration::from_millis(16);
/// How soon to check again whether the terminal has taken a frame.
const TAKING: Duration = Duration::from_millis(20);
/// How often to look whether the log grew.
const LOOK: Duration = Duration::from_millis(700);
/// How often the bar of progress moves.
const PROGRESS: Duration = Duration::from_millis(200);

/// What comes back to the loop.
enum Input {
    /// The answer to the question of this number.
    Page(u64, AuditPage),
    Sums(Sums),
    Export(ExportNews),
    Vouched(Vouched),
    /// The log grew, or a dashboard came or went: whether one has it open.
    Changed(bool),
}

enum Woken {
    Typed(Option<Typed>),
    Asked(Asked),
    Input(Input),
    Time,
}

struct Shell {
    screen: Review,
    source: Source,
    terminal: Terminal,
    keyboard: Keyboard,
    inbox: UnboundedSender<Input>,
    checks: Checks,
    /// How many records the latest checkpoint signs, as far as is known.
    signed: u64,
    /// The number of the last question for rows or a page, and of the last one that was answered.
    asked: u64,
    answered: u64,
    /// The log changed since what is shown was asked for.
    behind: bool,
    redraw: bool,
    drawn_at: Option<Instant>,
    /// Until it ended; a quit stops it.
    exporting: Option<exporting::Underway>,
    leaving: bool,
    /// The terminal is closed.
    gone: bool,
}

/// Shows the log until a person leaves.
pub async fn run(setup: Setup) -> Result<u8, Failure> {
    let failed = |e: &dyn std::fmt::Display| Failure::general(format!("cannot start: {e}"));
    let mut signals = Signals::listen().map_err(|e| failed(&e))?;
    let (inbox, mut answers) = unbounded_channel();
    watch(&setup.source, inbox.clone()).map_err(|e| failed(&e))?;
    let mut shell = Shell::start(setup, inbox).map_err(|e| failed(&e))?;
    shell.serve(&mut answers, &mut signals).await;
    if let Some(line) = shell.screen.end_line().filter(|_| !shell.gone) {
        let _ = shell.terminal.say(&line, crate::tui::Drawn::default());
    }
    shell.terminal.leave("");
    Ok(u8::from(shell.gone))
}

/// Looks from time to time whether the log grew.
fn watch(source: &Source, inbox: UnboundedSender<Input>) -> std::io::Result<()> {
    let mut log = Log::watch(&source.state_dir);
    let checkpoints = source.checkpoints.clone();
    let mut signed = 0;
    let follow = move || {
        loop {
            // A folder that cannot be looked at for a moment is looked at again.
            let grew = log.changed().unwrap_or(false);
            let before = std::mem::replace(&mut signed, review::vouched(&checkpoints).size());
            if (grew || before != signed) && inbox.send(Input::Changed(log.is_written())).is_err() {
                return;
            }
            if inbox.is_closed() {
                return;
            }
            std::thread::sleep(LOOK);
        }
    };
    let thread = std::thread::Builder::new().name("watch".to_owned());
    thread.spawn(follow).map(drop)
}

impl Shell {
    fn start(setup: Setup, inbox: UnboundedSender<Input>) -> std::io::Result<Self> {
        let mut screen = setup.screen;
        let first = screen.opens();
        let mut terminal = match setup.plain {
            true => Terminal::enter_in_lines(setup.calls, setup.charset)?,
            false => Terminal::enter(setup.calls, setup.charset, setup.mouse)?,
        };
        let keyboard = Keyboard::listen()?;
        if keyboard.hears_answers() {
            terminal.ask_for_answers();
        }
        let mut shell = Self {
            screen,
            source: setup.source,
            terminal,
            keyboard,
            inbox,
            checks: Checks::default(),
            signed: 0,
            asked: 0,
            answered: 0,
            behind: false,
            redraw: true,
            drawn_at: None,
            exporting: None,
            leaving: false,
            gone: false,
        };
        first.into_iter().for_each(|reading| shell.read(reading));
        Ok(shell)
    }

    async fn serve(&mut self, answers: &mut UnboundedReceiver<Input>, signals: &mut Signals) {
        while !self.leaving {
            self.hear_terminal();
            self.draw_when_due();
            self.keyboard.watch(false);
            let wake = self.wake();
            let woken = tokio::select! {
                biased;
                typed = self.keyboard.next(), if !self.gone => Woken::Typed(typed),
                asked = signals.next() => Woken::Asked(asked),
                Some(input) = answers.recv() => Woken::Input(input),
                () = sleep_until(wake) => Woken::Time,
            };
            match woken {
                Woken::Typed(Some(typed)) => self.typed(&typed),
                Woken::Typed(None) => self.lose_terminal(),
                Woken::Asked(Asked::Close) => self.leaving = true,
                Woken::Asked(Asked::Suspend) => self.suspend(),
                Woken::Asked(Asked::GoOn) => {
                    self.terminal.went_on();
                    self.interrupted();
                }
                Woken::Asked(Asked::Fit) => {
                    self.keyboard.resized();
                    self.redraw = true;
                }
                Woken::Input(input) => self.take(input),
                Woken::Time => {
                    self.check_when_due();
                    self.redraw = true;
                }
            }
        }
    }

    /// When the loop must wake although nothing arrives.
    fn wake(&self) -> Instant {
        let frame = self.redraw.then(|| match self.drawn_at {
            Some(at) => FRAME.saturating_sub(at.elapsed()),
            None => Duration::ZERO,
        });
        let frame = frame.map(|least| least.max(self.terminal.settles_in()));
        let frame = match self.terminal.owes() {
            Some(_) => Some(TAKING),
            None => frame,
        };
        let progress = match self.stage() {
            Stage::Making { .. } => Some(PROGRESS),
            Stage::None | Stage::Copied | Stage::Made => None,
        };
        let check = self.check_due();
        let all = [frame, progress, check, self.screen.next_wake(Now::read())];
        let least = all.into_iter().flatten().min();
        Instant::now() + least.unwrap_or(Duration::from_secs(3600))
    }

    fn stage(&self) -> Stage {
        let apart = self.source.apart.as_ref();
        apart.map_or(Stage::None, |apart| apart.stage())
    }

    fn typed(&mut self, typed: &Typed) {
        let event = match self.terminal.hear(&typed.read) {
            Heard::Event(event) => event,
            Heard::Noise => {
                self.screen.on_noise(typed.when);
                return;
            }
            Heard::Answer => return,
        };
        let asked = self.screen.on_typed(event, typed.when, Now::read());
        asked.into_iter().for_each(|reading| self.read(reading));
        self.redraw = true;
        self.drawn_at = None;
    }

    fn read(&mut self, reading: Reading) {
        let inbox = self.inbox.clone();
        match reading {
            Reading::Rows {
                query,
                offset,
                count,
            } => self.load(query, review::Wanted::Page { offset, count }),
            Reading::Record { query, id } => self.load(query, review::Wanted::Record(id)),
            Reading::Sums { query, what } => {
                summing::load(self.source.clone(), query, what, move |sums| {
                    let _ = inbox.send(Input::Sums(sums));
                });
            }
            Reading::Export(wanted) => {
                let underway = exporting::start(self.source.clone(), wanted, move |news| {
                    let _ = inbox.send(Input::Export(news));
                });
                self.exporting = Some(underway);
            }
            // Without a shell to resume it, the program would hang the terminal forever.
            Reading::Suspend if has_job_control() => self.suspend(),
            Reading::Suspend => {}
            Reading::Quit => self.leaving = true,
        }
    }

    fn load(&mut self, query: String, wanted: review::Wanted) {
        self.asked += 1;
        self.behind = false;
        let (number, inbox) = (self.asked, self.inbox.clone());
        let asked = review::Asked { query, wanted };
        review::load(self.source.clone(), asked, move |page| {
            let _ = inbox.send(Input::Page(number, page));
        });
    }

    fn take(&mut self, input: Input) {
        self.redraw = true;
        match input {
            // The newest rows, while the log is read. The answer follows.
            Input::Page(number, page) if page.reading.is_some() => {
                if number == self.asked {
                    self.screen.set_page(page);
                }
            }
            Input::Page(number, page) => {
                self.answered = self.answered.max(number);
                // Something else was asked for since.
                if number == self.asked {
                    self.learn(&page);
                    self.screen.set_page(page);
                }
            }
            Input::Sums(sums) => self.screen.set_sums(sums),
            Input::Export(ExportNews::Goes(goes)) => self.screen.export_goes(goes),
            Input::Export(ExportNews::Ended(said)) => {
                self.exporting = None;
                self.screen.exported(said);
            }
            Input::Vouched(vouched) => {
                self.checks.end();
                if let Some(reviewed) = self.screen.reviewed_mut() {
                    reviewed.vouched = vouched;
                }
            }
            Input::Changed(is_written) => {
                self.behind = true;
                if let Some(reviewed) = self.screen.reviewed_mut() {
                    reviewed.is_written = is_written;
                }
            }
        }
        // One question at a time, so that a log that grows quickly is not read faster than it can be.
        if self.behind && self.answered == self.asked {
            let again = self.screen.reload();
            again.into_iter().for_each(|reading| self.read(reading));
            self.behind = false;
        }
    }

    /// What a page tells of the log; the header must not contradict it.
    fn learn(&mut self, page: &AuditPage) {
        if let (Some(reviewed), Some(first)) = (self.screen.reviewed_mut(), &page.damage)
            && !matches!(reviewed.vouched, Vouched::Contradicted(_))
        {
            reviewed.vouched = Vouched::Damaged(first.clone());
        }
        self.signed = page.anchored;
        self.check_when_due();
    }

    /// How soon to check the log; not before there are rows to look at.
    fn check_due(&self) -> Option<Duration> {
        let shows = self.answered > 0;
        shows.then(|| self.checks.due_in(self.signed)).flatten()
    }

    /// Reads the whole log away from the loop: at first, and again once there is a newer checkpoint.
    fn check_when_due(&mut self) {
        if self.check_due() == Some(Duration::ZERO) {
            self.checks.begin(self.signed);
            let (source, inbox) = (self.source.clone(), self.inbox.clone());
            tokio::task::spawn_blocking(move || {
                let _ = inbox.send(Input::Vouched(vouch::vouched(&source)));
            });
        }
    }

    fn hear_terminal(&mut self) {
        if self.gone {
            return;
        }
        match self.terminal.taken() {
            Ok(Some(drawn)) => self.screen.shown(drawn, Now::read()),
            Ok(None) => {}
            Err(_) => self.lose_terminal(),
        }
    }

    fn draw_when_due(&mut self) {
        let early = self.drawn_at.is_some_and(|at| at.elapsed() < FRAME);
        if !self.redraw || self.gone || early || self.terminal.owes().is_some() {
            return;
        }
        if !self.terminal.settles_in().is_zero() {
            return;
        }
        let stage = self.stage();
        if let Some(reviewed) = self.screen.reviewed_mut() {
            let before = std::mem::replace(&mut reviewed.index, stage);
            if stage == Stage::Made && before != Stage::Made {
                self.screen.tell_of_index();
            }
        }
        let shown = self.screen.show(&mut self.terminal, Now::read());
        self.redraw = false;
        self.drawn_at = Some(Instant::now());
        match shown {
            Ok(()) => self.hear_terminal(),
            Err(_) => self.lose_terminal(),
        }
    }

    fn lose_terminal(&mut self) {
        self.gone = true;
        self.leaving = true;
    }

    /// Something else was on the terminal, and keys may have been meant for it.
    fn interrupted(&mut self) {
        self.screen.interrupted(Now::read());
        self.keyboard.flush();
        self.redraw = true;
    }

    fn suspend(&mut self) {
        self.terminal.suspend();
        self.interrupted();
        self.drawn_at = None;
    }
}
