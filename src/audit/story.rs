//! The records of one proposal in sentences: what was asked, how it was judged, who looked and decided, when and after
//! how long, and what came of it. Texts that are not the program's go through the caller, who knows where they will stand.

mod looked;
mod replaced;
mod votes;

use jiff::Timestamp;

use crate::model::{
    BoundInput, Digest, DrillEnd, EditedLog, Exit, FinishedLog, GrantedLog, InputKind, LogEvent,
    ProposedLog, Reviewer, Sensitivity, Verdict, Viewed, grouped,
};

use super::Record;
pub use looked::looked;

/// Findings and files that are named; more of them are counted.
const NAMED: usize = 12;

/// How a story is told.
#[derive(Clone, Copy)]
pub struct Teller<'a> {
    /// A time.
    pub at: &'a dyn Fn(Timestamp) -> String,
    /// A text of an agent, a person, a run or a file, in quotes.
    pub given: &'a dyn Fn(&str) -> String,
}

impl Teller<'_> {
    /// A name: in quotes unless it is plain.
    fn name(&self, text: &str) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        match !text.is_empty() && text.chars().all(plain) {
            true => text.to_owned(),
            false => (self.given)(text),
        }
    }
}

/// What is told so far.
struct Story<'a> {
    teller: Teller<'a>,
    lines: Vec<String>,
    /// When it was asked.
    asked: Option<Timestamp>,
    /// The code that a person made of it last.
    edited: Option<Digest>,
    /// How many findings the last verdict had.
    findings: usize,
    ended: bool,
    runs: bool,
    /// In a reviewer's log: the host that asked.
    elsewhere: Option<String>,
}

/// What one record tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    pub at: Timestamp,
    pub lines: Vec<String>,
}

/// The sentences, oldest first; none without the record that it was proposed.
pub fn story(records: &[Record], teller: Teller<'_>) -> Vec<String> {
    let moments = timeline(records, teller).into_iter();
    moments.flat_map(|moment| moment.lines).collect()
}

/// The same, by the records that they tell.
pub fn timeline(records: &[Record], teller: Teller<'_>) -> Vec<Moment> {
    let mut moments = Vec::new();
    let mut story = Story {
        teller,
        lines: Vec::new(),
        asked: None,
        edited: None,
        findings: 0,
        ended: false,
        runs: false,
        elsewhere: None,
    };
    for record in records {
        story.tell(record);
        story.lines.extend(replaced::sentences(record, teller));
        let lines = std::mem::take(&mut story.lines);
        let at = record.ts;
        moments.extend((!lines.is_empty()).then_some(Moment { at, lines }));
    }
    if story.asked.is_some() && !story.ended {
        let waits = match story.runs {
            true => "It has not ended.",
            false => "Nobody has decided.",
        };
        if let Some(last) = moments.last_mut() {
            last.lines.push(waits.to_owned());
        }
    }
    if let (Some(host), false) = (story.elsewhere.take(), story.ended)
        && let Some(last) = moments.last_mut()
    {
        let open = format!("The log does not say how it ended at {host}.");
        last.lines.push(open);
    }
    moments
}

impl Story<'_> {
    fn say(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    fn given(&self, text: &str) -> String {
        (self.teller.given)(text)
    }

    fn name(&self, text: &str) -> String {
        self.teller.name(text)
    }

    fn tell(&mut self, record: &Record) {
        let at = (self.teller.at)(record.ts);
        match &record.event {
            LogEvent::Proposed(p) => {
                self.asked = Some(record.ts);
                self.proposed(p, &at);
            }
            LogEvent::Blocked { .. } => self.end("The verdict blocked it: no person was asked."),
            LogEvent::Edited(e) => self.edited(e, record.ts),
            LogEvent::Granted(g) => self.granted(g, record.ts),
            LogEvent::Started { isolation, .. } => {
                let layers = isolation.layers.len();
                self.say(format!(
                    "The run began at {at}, in tier {} of {}.",
                    isolation.tier,
                    count(layers, "layer")
                ));
            }
            LogEvent::Finished(f) => self.finished(f),
            LogEvent::Denied {
                reason, by, viewed, ..
            } => {
                let reason = match reason {
                    Some(reason) => format!("with the reason {}", self.given(reason)),
                    None => "without a reason".to_owned(),
                };
                let who = self.decided("Denied", by, record.ts);
                self.end(format!("{who}, {reason}."));
                self.viewed(viewed);
            }
            LogEvent::Voted(v) => self.voted(v, record.ts),
            LogEvent::VoteRefused {
                voter,
                vote,
                why,
                via,
                count,
                ..
            } => self.vote_refused((voter, *vote), why, via, *count),
            LogEvent::Escalated { asked, also, .. } => self.escalated(asked, also, record.ts),
            LogEvent::Settled {
                host,
                state,
                message,
                votes,
                ..
            } => {
                let (host, message) = (self.name(host), self.given(message));
                self.end(format!(
                    "The host {host} says that it ended: {state}, {message}."
                ));
                self.heard_votes(&host, votes);
            }
            LogEvent::Drilled(d) => {
                let end = match d.end {
                    DrillEnd::Caught => "The drill was caught",
                    DrillEnd::Granted => "The drill was granted, and nothing ran",
                    DrillEnd::Unanswered => "Nobody answered the drill",
                };
                let who = d.by.as_ref().map(|by| self.decided(end, by, record.ts));
                self.end(format!("{}.", who.unwrap_or_else(|| end.to_owned())));
                if let Some(viewed) = &d.viewed {
                    self.viewed(viewed);
                }
            }
            LogEvent::Expired { .. } => {
                let after = self.after(record.ts);
                self.end(format!("Nobody decided: it expired at {at}{after}."));
            }
            LogEvent::Withdrawn { disconnected, .. } => {
                let how = match disconnected {
                    true => "Its agent's connection closed",
                    false => "Its agent withdrew it",
                };
                let after = self.after(record.ts);
                self.end(format!("{how} at {at}{after}."));
            }
            LogEvent::Unattended { .. } => {
                self.end("The dashboard ended before anybody decided.");
            }
            LogEvent::Failed { state, message, .. } => {
                let message = self.given(message);
                self.end(format!("It could not be run ({state}): {message}."));
            }
            LogEvent::Killed { by, .. } => match by {
                Some(by) => {
                    let who = self.person(by);
                    self.say(format!("Killed by {who} at {at}."));
                }
                None => self.say(format!(
                    "Killed at {at}, since its agent's connection closed."
                )),
            },
            LogEvent::Replicated { by, .. } => {
                let who = self.person(by);
                self.say(format!(
                    "Its code was run again, unconfined, by {who} at {at}."
                ));
            }
            LogEvent::Erased {
                contents,
                reason,
                by,
                ..
            } => {
                let mut parts: Vec<&str> = contents.iter().map(|c| c.part.as_str()).collect();
                parts.dedup();
                let parts = parts.join(", ");
                let (who, reason) = (self.person(by), self.given(reason));
                self.say(format!(
                    "{who} erased its contents ({parts}) at {at}, with the reason {reason}."
                ));
            }
            _ => {}
        }
    }

    fn end(&mut self, line: impl Into<String>) {
        self.ended = true;
        self.say(line);
    }

    fn proposed(&mut self, p: &ProposedLog, at: &str) {
        self.findings = p.verdict.findings.len();
        let claim = p.agent.as_ref().map(|a| &a.name);
        let claim = claim.filter(|name| !name.is_empty());
        let exe = p.peer.exe.as_deref().filter(|exe| !exe.is_empty());
        let (name, program) = match (claim, exe.map(|exe| self.name(exe))) {
            (Some(name), exe) => (
                format!("named {}", self.given(name)),
                exe.map_or_else(String::new, |exe| format!(", program {exe}")),
            ),
            // Lists call it by its program.
            (None, Some(exe)) => (format!("known by its program, {exe},"), String::new()),
            (None, None) => ("without a name".to_owned(), String::new()),
        };
        let title = p.title.as_deref().map(|title| self.given(title));
        let title = title.unwrap_or_else(|| "something without a title".to_owned());
        self.say(format!(
            "At {at} an agent {name} ({}{program}) asked for {title}.",
            p.peer.process(", ")
        ));
        if p.drill.is_some() {
            self.say("It is a drill of the dashboard: nothing of it could run, and that agent had no part in it.");
        }
        match &p.reason {
            Some(reason) => {
                let reason = self.given(reason);
                self.say(format!("Its reason: {reason}."));
            }
            None => self.say("It gave no reason."),
        }
        if p.inputs.is_empty() {
            self.say("It was given no data.");
        } else {
            let each: Vec<String> = p.inputs.iter().map(|input| self.input(input)).collect();
            self.say(format!("It was given {}.", each.join("; ")));
        }
        let judged = self.judged(&p.verdict);
        self.say(format!("Judged {judged}."));
    }

    fn input(&self, input: &BoundInput) -> String {
        let name = self.given(&input.name);
        let what = match &input.kind {
            InputKind::Dataset {
                dataset,
                rows,
                sensitivity,
                ..
            } => format!(
                "the {} data set {}, {}",
                match sensitivity {
                    Sensitivity::Private => "private",
                    Sensitivity::Public => "public",
                },
                self.given(dataset),
                count(*rows as usize, "row")
            ),
            InputKind::Json { .. } => "JSON that it brought".to_owned(),
            InputKind::Text { format, .. } => format!("{} that it brought", format.as_str()),
            InputKind::Artifact { artifact, id, .. } => {
                format!("{} of the run {id}", self.given(artifact))
            }
        };
        format!("{name}, {what}, {} bytes", grouped(input.bytes))
    }

    /// `flagged under the profile analysis, 1 finding: line 3 FS002 computed-file-name, medium, flag`.
    fn judged(&self, verdict: &Verdict) -> String {
        let profile = self.name(&verdict.policy.profile);
        let all = &verdict.findings;
        let mut each: Vec<String> = all
            .iter()
            .take(NAMED)
            .map(|f| {
                let (rule, name) = (self.name(&f.rule), self.name(&f.name));
                let action = f.action.as_str();
                format!("line {} {rule} {name} ({}, {action})", f.line, f.severity)
            })
            .collect();
        if all.len() > NAMED {
            each.push(format!("and {} more", all.len() - NAMED));
        }
        let found = match each.is_empty() {
            true => "no findings".to_owned(),
            false => format!("{}: {}", count(all.len(), "finding"), each.join("; ")),
        };
        format!("{} under the profile {profile}, {found}", verdict.verdict)
    }

    fn edited(&mut self, e: &EditedLog, ts: Timestamp) {
        self.edited = Some(e.digest);
        self.findings = e.verdict.findings.len();
        let (who, judged) = (self.decided("Edited", &e.by, ts), self.judged(&e.verdict));
        self.say(format!("{who}; the edit was judged {judged}."));
    }

    fn granted(&mut self, g: &GrantedLog, ts: Timestamp) {
        self.runs = true;
        let what = match self.edited == Some(g.digest) {
            true => "Granted as edited",
            false => "Granted as proposed",
        };
        let who = match &g.votes {
            Some(votes) => {
                let (by, at) = (self.granted_by_votes(what, g, votes), (self.teller.at)(ts));
                format!("{by} at {at}{}", self.after(ts))
            }
            None => self.decided(what, &g.by, ts),
        };
        let told = match g.private_told {
            true => " The policy tells private values to the agent.",
            false => "",
        };
        self.say(format!("{who}.{told}"));
        // Of votes, each said what its voter looked at.
        if g.votes.is_none() {
            self.viewed(&g.viewed);
        }
    }

    fn viewed(&mut self, v: &Viewed) {
        self.lines.extend(looked(v, self.findings));
    }

    fn finished(&mut self, f: &FinishedLog) {
        let exit = match &f.exit {
            Exit::Code(code) => format!("exit code {code}"),
            Exit::Signal(name) => format!("ended by the signal {}", self.name(name)),
        };
        let limit = f.limit.map_or_else(String::new, |limit| {
            format!(", over the limit {}", limit.as_str())
        });
        self.end(format!(
            "It {} after {}, {exit}{limit}; it printed {} bytes, and {} on standard error.",
            f.state,
            spelled(f.duration_ms),
            grouped(f.stdout_bytes),
            grouped(f.stderr_bytes)
        ));
        if let Some(error) = &f.error {
            let line = error
                .line
                .map_or_else(String::new, |n| format!(" in line {n}"));
            let message = self.given(&error.message);
            self.say(format!("{}{line}: {message}.", error.kind.as_str()));
        }
        if !f.artifacts.is_empty() {
            let names = f.artifacts.iter().take(NAMED);
            let mut names: Vec<String> = names.map(|file| self.given(&file.name)).collect();
            if f.artifacts.len() > NAMED {
                names.push(format!("and {} more", f.artifacts.len() - NAMED));
            }
            let files = count(f.artifacts.len(), "file");
            self.say(format!("It left {files}: {}.", names.join(", ")));
        }
        if !f.unsearched.is_empty() {
            let names = f.unsearched.iter().take(NAMED);
            let mut names: Vec<String> = names.map(|name| self.given(name)).collect();
            if f.unsearched.len() > NAMED {
                names.push(format!("and {} more", f.unsearched.len() - NAMED));
            }
            let names = names.join(", ");
            self.say(format!("Not searched for secrets, being no text: {names}."));
        }
    }

    /// `Denied by ana (uid 1000) at …, 2 min 3 s after it was asked`.
    fn decided(&self, what: &str, by: &Reviewer, ts: Timestamp) -> String {
        let (who, at) = (self.person(by), (self.teller.at)(ts));
        format!("{what} by {who} at {at}{}", self.after(ts))
    }

    fn person(&self, by: &Reviewer) -> String {
        match by.login.as_deref() {
            Some(login) => format!("{} (uid {})", self.name(login), by.uid),
            None => format!("uid {}", by.uid),
        }
    }

    /// `, 2 min 3 s after it was asked`; nothing if the clock went back.
    fn after(&self, ts: Timestamp) -> String {
        let since = self
            .asked
            .map(|asked| ts.as_millisecond() - asked.as_millisecond());
        match since.and_then(|ms| u64::try_from(ms).ok()) {
            Some(ms) => format!(", {} after it was asked", spelled(ms)),
            None => String::new(),
        }
    }
}

fn count(n: usize, what: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{} {what}{s}", grouped(n as u64))
}

/// `41 ms`, `34 s`, `2 min 3 s`, `1 h 5 min`.
pub fn spelled(ms: u64) -> String {
    match ms / 1000 {
        0 => format!("{ms} ms"),
        // Cut, as everywhere: what took less than 5 s never reads `5.0 s`.
        s @ ..10 => format!("{s}.{} s", ms % 1000 / 100),
        s @ ..60 => format!("{s} s"),
        s @ ..3600 => format!("{} min {} s", s / 60, s % 60),
        s => format!("{} h {} min", s / 3600, s / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;
    use crate::model::{ProposalId, State};

    fn told(events: Vec<LogEvent>) -> Vec<String> {
        let records: Vec<Record> = events
            .into_iter()
            .enumerate()
            .map(|(i, event)| Record {
                seq: i as u64 + 1,
                batch: None,
                boot_id: String::new(),
                mono_ns: 0,
                ts: Timestamp::from_second(1_000 + 70 * i as i64).unwrap(),
                event,
                actor: "person".to_owned(),
                redacted: Default::default(),
                line: String::new(),
            })
            .collect();
        let teller = Teller {
            at: &|ts| format!("T{}", ts.as_second()),
            given: &|text| format!("<{text}>"),
        };
        story(&records, teller)
    }

    #[test]
    fn a_run_is_told_from_its_question_to_its_end() {
        let id = ProposalId::new();
        let (proposed, _) = samples::proposed(id, "revenue");
        let (edited, _) = samples::edited(id, samples::CODE, samples::EDITED);
        let mut granted = samples::granted_as(id, samples::EDITED);
        if let LogEvent::Granted(g) = &mut granted {
            g.by.login = Some("ana".to_owned());
            g.viewed.selected_ms = 34_000;
            g.viewed.lines_seen = 1;
        }
        let (finished, _) = samples::finished(id);
        let lines = told(vec![
            proposed,
            edited,
            granted,
            samples::started(id),
            finished,
        ]);
        let text = lines.join("\n");
        for part in [
            "At T1000 an agent named <etl-bot> (uid 1000, pid 42, program python3) asked for <revenue>.\nIt gave no reason.\nIt was given <extra>, csv that it brought, 8 bytes.\nJudged clear under the profile analysis, no findings.\n",
            "Edited by uid 0 at T1070, 1 min 10 s after it was asked; the edit was judged clear",
            "Granted as edited by ana (uid 0) at T1140, 2 min 20 s after it was asked.\nIt was selected for 34 s: 1 line of code seen, 0 findings shown.\n",
            "\nThe run began at T1210, in tier process of ",
            "\nIt succeeded after ",
        ] {
            assert!(text.contains(part), "{part:?}: {text}");
        }
    }

    #[test]
    fn an_agent_without_a_claim_has_the_name_of_its_program() {
        let named = |claim: Option<&str>, exe: Option<&str>| {
            let (mut proposed, _) = samples::proposed(ProposalId::new(), "revenue");
            if let LogEvent::Proposed(p) = &mut proposed {
                match claim {
                    Some(name) => name.clone_into(&mut p.agent.as_mut().unwrap().name),
                    None => p.agent = None,
                }
                p.peer.exe = exe.map(str::to_owned);
            }
            told(vec![proposed]).remove(0)
        };
        for (claim, exe, said) in [
            (
                None,
                Some("python3"),
                "an agent known by its program, python3, (uid 1000, pid 42) ",
            ),
            (
                Some(""),
                Some("a b"),
                "an agent known by its program, <a b>, (uid 1000, pid 42) ",
            ),
            (None, None, "an agent without a name (uid 1000, pid 42) "),
        ] {
            let line = named(claim, exe);
            assert!(line.contains(said), "{line}");
        }
    }

    #[test]
    fn an_end_without_a_run_says_who_or_what_ended_it() {
        let id = ProposalId::new();
        let proposed = || samples::proposed(id, "revenue").0;
        let denied = LogEvent::Denied {
            id,
            reason: Some("no e-mail".to_owned()),
            by: Reviewer::default(),
            viewed: Viewed::default(),
        };
        let ends = [
            (
                denied,
                "Denied by uid 0 at T1070, 1 min 10 s after it was asked, with the reason <no e-mail>.",
            ),
            (
                LogEvent::Expired { id },
                "Nobody decided: it expired at T1070",
            ),
            (
                LogEvent::Withdrawn {
                    id,
                    disconnected: true,
                },
                "Its agent's connection closed at T1070",
            ),
            (
                LogEvent::Unattended { id },
                "The dashboard ended before anybody decided.",
            ),
            (
                LogEvent::Failed {
                    id,
                    state: State::Error,
                    message: "no child".to_owned(),
                },
                "It could not be run (error): <no child>.",
            ),
        ];
        for (event, said) in ends {
            let text = told(vec![proposed(), event]).join("\n");
            assert!(text.contains(said), "{said}: {text}");
            assert!(!text.contains("Nobody has decided"), "{text}");
        }
        assert_eq!(
            told(vec![proposed()]).last().unwrap(),
            "Nobody has decided."
        );
        assert!(told(Vec::new()).is_empty());
    }
}
