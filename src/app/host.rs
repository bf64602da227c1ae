//! A dashboard without a screen, where only signed votes grant: its loop, and whether one can start.
//!
//! It takes no keys and has no act of a person to hand to the core but the quit, which a signal asks for.

mod lines;

use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal::{Signal, raise};
use tokio::time::{Instant, sleep_until};

use crate::broker::{Effect, Event, next_deadline};
use crate::clock::Now;
use crate::config::Config;
use crate::desk::Word;
use crate::error::Failure;
use crate::policy::Policy;
use crate::tui::LogCheck;

use super::Input;
use super::effects::Next;
use super::evidence;
use super::session::Session;
use super::signals::{Asked, Signals};
use super::startup::Setup;
use super::works::{CLOSING, FAREWELL, Inboxes, LONGEST_SLEEP, Started, Works, take_turn};
use lines::Lines;

/// Writes one line for the operator.
pub type Tell<'a> = &'a dyn Fn(&str);

/// Refuses a host at which nothing could ever be granted.
///
/// # Errors
/// What is missing, and what would be right.
pub fn can_start(config: &Config, in_force: &[Arc<Policy>]) -> Result<(), Failure> {
    if in_force.iter().all(|policy| policy.grant.is_empty()) {
        return Err(Failure::usage(
            "a host grants by signed votes alone, and no profile in force asks for any: add [grant] to a policy's file, and \
             list it in `profiles` of config.toml",
        ));
    }
    let Some(desk) = &config.desk else {
        return Err(Failure::usage(
            "a host grants by signed votes alone, and config.toml has no [desk] that says whose count: add one, with \
             `socket` or `url` for where they come from",
        ));
    };
    match (&desk.socket, &desk.url) {
        (None, None) => Err(Failure::usage(
            "votes have no way to this host: set `desk.socket` for the people of this machine, `desk.url` for an engine, or \
             both",
        )),
        _ => Ok(()),
    }
}

struct Host<'a> {
    works: Works,
    session: Session,
    lines: Lines,
    tell: Tell<'a>,
    leave_by: Option<Instant>,
    leaving: bool,
}

/// What ended a wait of the loop.
enum Woken {
    Asked(Asked),
    Decided(Input),
    Time,
    Rest(Input),
    Agent(Event),
}

/// Opens the sockets and runs until everything is settled after a signal. Returns the exit code.
pub async fn run(config: &Config, setup: Setup, tell: Tell<'_>) -> Result<u8, Failure> {
    let failed = |what: &str, e: &dyn std::fmt::Display| Failure::general(format!("{what}: {e}"));
    let mut signals = Signals::listen().map_err(|e| failed("cannot listen for signals", &e))?;
    lines::opening(config, &setup.parts)
        .iter()
        .for_each(|line| tell(line));
    let Started {
        works,
        mut inboxes,
        door,
        ..
    } = Works::start(setup.parts).await?;
    let mut host = Host {
        works,
        session: Session::default(),
        lines: Lines::default(),
        tell,
        leave_by: None,
        leaving: false,
    };
    door.open();
    tell("ready");
    host.serve(&mut inboxes, &mut signals).await;
    let (audit, dir) = (&host.works.state.audit, &host.works.state_dir);
    let farewell = host.session.farewell(audit, Some(dir));
    host.works.hands.outbox.drain(FAREWELL).await;
    host.works.close();
    farewell.lines().for_each(tell);
    Ok(0)
}

impl Host<'_> {
    async fn serve(&mut self, inboxes: &mut Inboxes, signals: &mut Signals) {
        while !self.leaving {
            let wake = self.wake();
            // Priority order: the operator, the consequences of votes, then everybody else.
            let woken = tokio::select! {
                biased;
                asked = signals.next() => Woken::Asked(asked),
                Some(input) = inboxes.decided.recv() => Woken::Decided(input),
                () = sleep_until(wake) => Woken::Time,
                Some(input) = inboxes.rest.recv() => Woken::Rest(input),
                Some(event) = inboxes.agents.recv() => Woken::Agent(event),
            };
            match woken {
                Woken::Asked(Asked::Close) => self.quit(),
                Woken::Asked(Asked::Suspend) => {
                    // Not SIGTSTP: this program handles that signal and would be notified again.
                    let _ = raise(Signal::SIGSTOP);
                    self.core(Event::Tick);
                }
                Woken::Asked(Asked::GoOn | Asked::Fit) | Woken::Time => self.core(Event::Tick),
                Woken::Decided(input) => {
                    self.input(input);
                    take_turn(|| {
                        let input = inboxes.decided.try_recv();
                        input.map(|input| self.input(input)).is_ok()
                    });
                }
                Woken::Rest(input) => {
                    self.input(input);
                    take_turn(|| inboxes.next_rest().map(|input| self.input(input)).is_some());
                }
                Woken::Agent(event) => {
                    self.core(event);
                    take_turn(|| inboxes.next_agent().map(|event| self.core(event)).is_some());
                }
            }
            if self.leave_by.is_some_and(|limit| Instant::now() >= limit) {
                self.leaving = true;
            }
        }
        inboxes.last(|event| self.core(event)).await;
    }

    /// When the loop must wake although nothing arrives.
    fn wake(&self) -> Instant {
        let now = Now::read();
        let deadline = next_deadline(&self.works.state).map(|t| t.saturating_sub(now.boot));
        let closing = self.leave_by.map(|_| LONGEST_SLEEP);
        let least = [deadline.map(|d| d.min(LONGEST_SLEEP)), closing];
        let least = least.into_iter().flatten().min();
        Instant::now() + least.unwrap_or(Duration::from_secs(3600))
    }

    fn core(&mut self, event: Event) {
        let now = Now::read();
        self.lines.hear(&event, self.tell);
        let mut offered = None;
        for effect in self.works.update(event, now) {
            match &effect {
                Effect::Record { ticket, event, .. } => {
                    self.session.learn(event);
                    self.lines.hold(*ticket, event);
                }
                Effect::Publish(publication) => {
                    offered = lines::offered(publication, self.tell).or(offered);
                }
                _ => {}
            }
            if self.works.hands.carry_out(effect) == Next::Exit {
                self.leaving = true;
            }
        }
        if let Some(why) = offered.and_then(|id| lines::hopeless(&self.works.state, id, now)) {
            (self.tell)(&why);
        }
    }

    fn input(&mut self, input: Input) {
        match input {
            Input::Core(event) => self.core(event),
            Input::Python(report) => {
                let event = self.works.python(report);
                self.core(event);
            }
            Input::Damaged(first) => {
                self.works.header.log = LogCheck::Damaged(first);
                self.tell_of_log();
            }
            Input::Checked(checked) => {
                let event = self.works.checked(checked).event;
                self.core(event);
                self.tell_of_log();
            }
            Input::Notary(event) => {
                if let Some(event) = self.works.signed(event) {
                    self.core(event);
                }
                self.tell_of_log();
            }
            Input::Engine(news) => {
                (self.tell)(news.as_deref().unwrap_or("the engine is reached"));
                self.core(Event::Reached(news.map_or(Ok(()), Err)));
            }
            Input::Evidence(word) => {
                // The core tells what stops all grants.
                if !matches!(word, Word::Doubted { is_own: true, .. }) {
                    (self.tell)(&evidence::line(&word));
                }
                if let Some(event) = self.works.heard(word) {
                    self.core(event);
                }
                self.tell_of_log();
            }
            Input::Notices(news) => {
                (self.tell)(
                    news.as_deref()
                        .unwrap_or("notices: the command works again"),
                );
            }
            // A screen's, or those of a person at one.
            Input::Audit(_)
            | Input::Sums(_)
            | Input::Recalled(_)
            | Input::Edited(_)
            | Input::Host(_)
            | Input::Odd(_)
            | Input::Doubts(_)
            | Input::Claim(..)
            | Input::Sign(_)
            | Input::SignedInTerminal
            | Input::Highlighted => {}
        }
    }

    fn tell_of_log(&mut self) {
        self.lines.log(&self.works.header, self.tell);
    }

    fn quit(&mut self) {
        if self.leave_by.is_none() {
            (self.tell)("closing");
            self.leave_by = Some(Instant::now() + CLOSING);
        }
        self.core(self.works.quits());
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Options, Surroundings, load_in};

    /// What a host with these files says.
    fn starts(config: &str, policies: &[(&str, &str)]) -> Result<(), String> {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let write = |name: &str, text: &str| {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::write(at(name), text).unwrap();
            std::fs::set_permissions(at(name), mode).unwrap();
        };
        std::fs::create_dir_all(at("config/policies")).unwrap();
        write("config/config.toml", config);
        for (name, text) in policies {
            write(&format!("config/policies/{name}.toml"), text);
        }
        let around = Surroundings::below(dir.path());
        let config = load_in(&Options::default(), &around).unwrap();
        let caps = crate::tui::TerminalCaps::NONE;
        let written = super::super::Written::of(&config, caps).unwrap();
        written.can_host(&config).map_err(|failure| {
            assert_eq!(failure.code, 2, "{failure}");
            failure.to_string()
        })
    }

    #[test]
    fn a_host_at_which_nothing_could_be_granted_does_not_start_and_says_what_is_right() {
        let grave = (
            "grave",
            "name = \"grave\"\nextends = \"analysis\"\n[grant]\nquorum = 2\n",
        );
        let listed = "profiles = [\"grave\"]\n";
        let socket = format!("{listed}[desk]\nsocket = \"desk.sock\"\n");
        let url = format!("{listed}[desk]\nurl = \"postgresql://host_lab1@db.example.org/desk\"\n");
        let nowhere = format!("{listed}[desk]\nname = \"lab-1\"\n");
        // The configuration, the policies, and what is wrong with them.
        type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], Option<&'a str>);
        let rows: [Row<'_>; 6] = [
            ("", &[], Some("add [grant] to a policy's file")),
            // It is there, and no proposal can name it.
            (
                "[desk]\nsocket = \"desk.sock\"\n",
                &[grave],
                Some("list it in `profiles`"),
            ),
            (listed, &[grave], Some("no [desk]")),
            (&nowhere, &[grave], Some("set `desk.socket`")),
            (&socket, &[grave], None),
            (&url, &[grave], None),
        ];
        for (config, policies, wrong) in rows {
            let started = starts(config, policies);
            match (&started, wrong) {
                (Ok(()), None) => {}
                (Err(said), Some(part)) if said.contains(part) => {}
                _ => panic!("{config:?} leads to {started:?}, expected {wrong:?}"),
            }
        }
    }
}
