//! The votes on a proposal in sentences.

use jiff::Timestamp;

use super::{Story, count};
use crate::model::{About, GrantedLog, HeardVote, Person, Via, VoteKind, VotedLog, Votes};

const fn did(kind: VoteKind) -> &'static str {
    match kind {
        VoteKind::Grant => "granted",
        VoteKind::Deny => "denied",
        VoteKind::Veto => "vetoed",
    }
}

impl Story<'_> {
    /// In a reviewer's log: what another host asked about.
    fn about(&mut self, v: &VotedLog, about: &About) {
        let host = self.name(&v.host);
        let title = match &about.title {
            Some(title) => self.given(title),
            None => "something without a title".to_owned(),
        };
        let (agent, asked) = (
            self.given(&about.agent),
            (self.teller.at)(about.proposed_at),
        );
        self.say(format!(
            "The host {host} asked about {title}, of an agent named {agent} (uid {}) there, proposed at {asked}.",
            about.uid
        ));
        self.say(format!(
            "Judged {} under the profile {}, {}; its code has {}.",
            about.verdict,
            self.name(&about.profile),
            count(about.findings as usize, "finding"),
            v.code
        ));
        if !about.data.is_empty() {
            let names: Vec<String> = about.data.iter().map(|name| self.name(name)).collect();
            self.say(format!("It uses {}.", names.join(", ")));
        }
        self.elsewhere = Some(host);
    }

    /// Who had voted at another host, by its word.
    pub(super) fn heard_votes(&mut self, host: &str, votes: &[HeardVote]) {
        let each = votes.iter().map(|one| {
            let at = (self.teller.at)(one.at);
            format!("{} {} at {at}", one.voter, did(one.vote))
        });
        let each: Vec<String> = each.collect();
        if !each.is_empty() {
            self.say(format!("Who voted, as {host} told: {}.", each.join(", ")));
        }
    }

    pub(super) fn voted(&mut self, v: &VotedLog, ts: Timestamp) {
        if let (Some(about), None, None) = (&v.about, self.asked, &self.elsewhere) {
            self.about(v, about);
        }
        let (voter, did) = (&v.vote.voter, did(v.vote.kind));
        let (at, after) = ((self.teller.at)(ts), self.after(ts));
        let (via, key) = (self.via(&v.via), self.given(&v.key));
        let touched = match v.touched {
            Some(true) => ", touched",
            Some(false) => ", not touched",
            None => "",
        };
        let reason = v.vote.reason.as_deref();
        let reason = reason.map_or_else(String::new, |reason| {
            format!(", with the reason {}", self.given(reason))
        });
        self.say(format!(
            "{voter} {did} version {} at {at}{after}, {via}, signed with the key {key}{touched}{reason}.",
            v.version
        ));
        self.viewed(&v.vote.viewed);
    }

    /// A vote that did not count, and how often it came so far.
    pub(super) fn vote_refused(
        &mut self,
        (voter, kind): (&Person, VoteKind),
        why: &str,
        via: &Via,
        times: u64,
    ) {
        let (via, why) = (self.via(via), self.given(why));
        let times = match times {
            0 | 1 => String::new(),
            more => format!(" It came {} so far.", count(more as usize, "time")),
        };
        let kind = kind.as_str();
        self.say(format!(
            "A vote of {voter} to {kind} did not count, {via}: {why}.{times}"
        ));
    }

    /// Who was asked too, after whom.
    pub(super) fn escalated(&mut self, asked: &[Person], also: &[Person], ts: Timestamp) {
        let names = |people: &[Person]| {
            let names: Vec<&str> = people.iter().map(Person::as_str).collect();
            match names.is_empty() {
                true => "nobody".to_owned(),
                false => names.join(", "),
            }
        };
        let (at, after) = ((self.teller.at)(ts), self.after(ts));
        self.say(format!(
            "{} had been asked, and at {at}{after} {} as well.",
            names(asked),
            names(also)
        ));
    }

    /// That votes granted it. Each of them was told before.
    pub(super) fn granted_by_votes(&self, what: &str, g: &GrantedLog, votes: &Votes) -> String {
        let by: Vec<&str> = votes.by.iter().map(Person::as_str).collect();
        let counted = self.person(&g.by);
        format!(
            "{what} by the votes of {}, counted by the program of {counted}",
            by.join(", ")
        )
    }

    fn via(&self, via: &Via) -> String {
        match via {
            Via::Terminal(by) => format!("at the terminal of {}", self.person(by)),
            Via::Socket { uid, pid } => format!("over the socket from uid {uid}, pid {pid}"),
            Via::Engine { login } => {
                format!("over the engine from the login {}", self.name(login))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{Record, samples};
    use super::super::{Teller, story};
    use crate::model::{LogEvent, ProposalId, Reviewer, State, Via, VoteKind};
    use jiff::Timestamp;

    fn voted(id: ProposalId, kind: VoteKind, reason: Option<&str>) -> LogEvent {
        let mut v = samples::voted(id, "ana");
        (v.vote.kind, v.vote.reason) = (kind, reason.map(str::to_owned));
        v.vote.viewed.selected_ms = 34_000;
        v.touched = Some(true);
        LogEvent::Voted(Box::new(v))
    }

    #[test]
    fn votes_are_told_with_who_how_and_why() {
        let id = ProposalId::new();
        let granted = samples::granted_by(id, &["ana", "ben"]);
        let refused = LogEvent::VoteRefused {
            id,
            voter: "eve".parse().unwrap(),
            vote: VoteKind::Grant,
            why: "no key".to_owned(),
            via: Via::Terminal(Reviewer::default()),
            count: 10,
        };
        let settled = LogEvent::Settled {
            id,
            host: "lab-1".to_owned(),
            state: State::Expired,
            message: "nobody decided".to_owned(),
            votes: Vec::new(),
        };
        let events = [
            samples::proposed(id, "revenue").0,
            voted(id, VoteKind::Grant, None),
            refused,
            voted(id, VoteKind::Veto, Some("too wide")),
            granted,
            settled,
        ];
        let record = |(i, event)| Record {
            seq: i as u64 + 1,
            batch: None,
            boot_id: String::new(),
            mono_ns: 0,
            ts: Timestamp::from_second(1_000 + i as i64).unwrap(),
            event,
            actor: "person".to_owned(),
            redacted: Default::default(),
            line: String::new(),
        };
        let records: Vec<Record> = events.into_iter().enumerate().map(record).collect();
        let teller = Teller {
            at: &|ts| format!("T{}", ts.as_second()),
            given: &|text| format!("<{text}>"),
        };
        let text = story(&records, teller).join("\n");
        for part in [
            "\nana granted version 1 at T1001, 1.0 s after it was asked, over the socket from uid 7, pid 9, signed with the key <SHA256:ana>, touched.\nIt was selected for 34 s: ",
            "\nA vote of eve to grant did not count, at the terminal of uid 0: <no key>. It came 10 times so far.\n",
            "\nana vetoed version 1 at T1003, ",
            ", touched, with the reason <too wide>.\n",
            "\nGranted as proposed by the votes of ana, ben, counted by the program of uid 0 at T1004, ",
            "\nThe host lab-1 says that it ended: expired, <nobody decided>.",
        ] {
            assert!(text.contains(part), "{part:?}: {text}");
        }
    }
}
