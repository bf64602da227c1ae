//! The keys of the language.

use super::super::super::model::nearest;

/// What a term asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    State,
    Verdict,
    Rule,
    Cap,
    Agent,
    Uid,
    By,
    Profile,
    Title,
    Says,
    Reason,
    Data,
    Private,
    File,
    Edited,
    Drill,
    Shown,
    Tier,
    Host,
    Seq,
    Id,
    Digest,
    Limit,
    Error,
    Output,
    Took,
    Look,
    Ran,
    Since,
    Until,
    On,
    Kind,
}

/// A key as help names it.
pub struct Entry {
    pub key: Key,
    pub name: &'static str,
    pub example: &'static str,
    pub what: &'static str,
}

const fn entry(key: Key, name: &'static str, example: &'static str, what: &'static str) -> Entry {
    Entry {
        key,
        name,
        example,
        what,
    }
}

/// Every key, in the order of help.
pub const KEYS: [Entry; 32] = [
    entry(
        Key::State,
        "state",
        "state:denied",
        "what became of it: pending, running, succeeded, failed, denied, expired, withdrawn, blocked, \
         unattended, error, drilled; granted is whatever a person granted",
    ),
    entry(
        Key::Verdict,
        "verdict",
        "verdict:flagged",
        "clear, flagged, blocked or unanalyzable",
    ),
    entry(Key::Rule, "rule", "rule:NET*", "the code of a finding"),
    entry(Key::Cap, "cap", "cap:NETWORK_OUT", "a capability"),
    entry(
        Key::Agent,
        "agent",
        "agent:etl*",
        "the agent's name, its claim",
    ),
    entry(
        Key::Uid,
        "uid",
        "uid:1000",
        "the agent's uid, the kernel's word",
    ),
    entry(
        Key::By,
        "by",
        "by:ana",
        "who decided: login or uid; of what nobody decided, who had the dashboard open",
    ),
    entry(
        Key::Profile,
        "profile",
        "profile:analysis",
        "the profile it was proposed for",
    ),
    entry(
        Key::Title,
        "title",
        "title:\"head count\"",
        "a part of the title",
    ),
    entry(
        Key::Says,
        "says",
        "says:board",
        "a part of the agent's reason",
    ),
    entry(
        Key::Reason,
        "reason",
        "reason:email",
        "a part of the reason of a denial",
    ),
    entry(Key::Data, "data", "data:staff", "a data set it was given"),
    entry(
        Key::Private,
        "private",
        "private:yes",
        "whether a data set it was given is private",
    ),
    entry(Key::File, "file", "file:*.png", "a file that the run left"),
    entry(
        Key::Edited,
        "edited",
        "edited:yes",
        "whether a person edited what was granted",
    ),
    entry(
        Key::Drill,
        "drill",
        "drill:no",
        "whether the dashboard made it",
    ),
    entry(
        Key::Shown,
        "shown",
        "shown:none",
        "how many of its findings stood on the screen of the person who decided: all, some or none",
    ),
    entry(
        Key::Tier,
        "tier",
        "tier:kernel",
        "the tier that was granted: process, kernel, container or microvm",
    ),
    entry(
        Key::Host,
        "host",
        "host:desk*",
        "the machine on which a person decided",
    ),
    entry(
        Key::Seq,
        "seq",
        "seq:17",
        "the proposal that has this record; records of the dashboard itself belong to none",
    ),
    entry(
        Key::Id,
        "id",
        "id:019a",
        "the beginning or the end of its id",
    ),
    entry(
        Key::Digest,
        "digest",
        "digest:9f2c",
        "the beginning of the code's SHA-256, as proposed or as granted",
    ),
    entry(
        Key::Limit,
        "limit",
        "limit:wall",
        "the limit that ended the run: wall, cpu, memory, processes, files, output or ticks",
    ),
    entry(
        Key::Error,
        "error",
        "error:ZeroDivisionError",
        "the type of the run's error, or its exception",
    ),
    entry(
        Key::Output,
        "output",
        "output:\"total 42\"",
        "words that the run printed or returned, in the first 64 KiB of stdout, of stderr and of the result",
    ),
    entry(
        Key::Took,
        "took",
        "took:<5s",
        "from the proposal to the decision, looked at or not",
    ),
    entry(
        Key::Look,
        "look",
        "look:<5s",
        "how long the person who decided had it on the screen; took: is the time from the proposal on",
    ),
    entry(Key::Ran, "ran", "ran:>1m", "how long the run took"),
    entry(
        Key::Since,
        "since",
        "since:7d",
        "decided or ended (what waits: proposed) since: 90s, 30m, 12h, 7d, 4w ago, or 2026-11-01, 2026-11",
    ),
    entry(
        Key::Until,
        "until",
        "until:2026-11-30",
        "before the beginning of this: the same forms",
    ),
    entry(
        Key::On,
        "on",
        "on:2026-11-30",
        "in this day, month (2026-11) or year (2026), all of it",
    ),
    entry(
        Key::Kind,
        "kind",
        "kind:removed",
        "records that belong to no proposal, instead of proposals: own (all of them), opened, closed, paused and so on; \
         removed: what went",
    ),
];

impl Key {
    fn entry(self) -> &'static Entry {
        // Every key is in the table: a test counts them.
        KEYS.iter().find(|e| e.key == self).unwrap_or(&KEYS[0])
    }

    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// A term with this key.
    pub fn example(self) -> &'static str {
        self.entry().example
    }

    /// The key of this name, in lower case.
    ///
    /// # Errors
    /// Names the nearest key, or all.
    pub(super) fn named(name: &str) -> Result<Self, String> {
        if let Some(found) = KEYS.iter().find(|e| e.name == name) {
            return Ok(found.key);
        }
        let names = || KEYS.iter().map(|e| e.name);
        Err(match nearest(name, names()) {
            Some(near) => format!(
                "there is no key `{name}`; did you mean `{near}`? To look for the text, put it into quotation marks"
            ),
            None => format!(
                "there is no key `{name}`; the keys are {}. To look for the text, put it into quotation marks",
                names().collect::<Vec<_>>().join(", ")
            ),
        })
    }
}
