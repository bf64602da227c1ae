//! What the log says of earlier proposals, small and indexed, so that a person sees at once what is new.
//!
//! Filled by the reader that checks the log at the start, then by each record that the dashboard writes. It
//! counts what a person decided: a proposal that expired, was withdrawn or was blocked is listed and is
//! neither granted nor denied.
//!
//! Memory: at most [`PROPOSALS`] proposals, the oldest go first. One with code, title and shape of its own takes
//! about 550 bytes (an [`Earlier`] of 280, five links of 12, six to eight tallies of 12 to 24, its texts), so a full
//! memory has at most 30 MB. Every text is cut, see [`TEXT`].

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use super::{
    Blob, BoundInput, Digest, InputKind, LogEvent, ProposalId, ProposedLog, Shape, State,
    VerdictKind, agent_name,
};
use jiff::Timestamp;

mod edited;
mod follow;
mod given;
mod heads;
mod seen;

pub use given::{Given, Other};
use heads::{Heads, Key};

/// The number of proposals that are remembered.
pub const PROPOSALS: usize = 50_000;
/// Characters kept of a title or a name; a question compares the whole text.
const TEXT: usize = 200;
/// Characters kept of a reviewer's reason, as many as the dashboard lets a person type.
const REASON: usize = 1_000;
/// After how many forgotten proposals names that nobody uses any more are forgotten.
const SWEEP: u32 = 4096;
/// The most proposals that a list is looked for in.
const WALK: usize = 2_000;
const NONE: u32 = u32::MAX;

/// The decision of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    pub granted: bool,
    pub at: Timestamp,
    /// The person's uid.
    pub by: u32,
    pub reason: Option<Arc<str>>,
}

/// One earlier proposal. Its texts come from agents and people: draw them only as claims.
#[derive(Clone, Debug, PartialEq)]
pub struct Earlier {
    pub id: ProposalId,
    /// When it was proposed.
    pub at: Timestamp,
    pub agent: Arc<str>,
    pub uid: u32,
    pub title: Option<Arc<str>>,
    pub profile: Arc<str>,
    /// What was granted, or what was proposed. While it waits, what a person made of it counts.
    pub code: Digest,
    /// `None` until its code was read, and for code that has none.
    pub shape: Option<Shape>,
    /// Names of its data sets, each once.
    pub data: Box<[Arc<str>]>,
    pub given: Arc<Given>,
    /// Whether one of its inputs is private.
    pub private: bool,
    /// Whether one is a file that an earlier run left.
    pub left: bool,
    pub verdict: VerdictKind,
    pub decided: Option<Decided>,
    pub state: State,
    links: Box<[Link]>,
    /// The code and the shape as proposed, once a person edited it.
    proposed: Option<Box<(Digest, Option<Shape>)>>,
}

/// A question's key, and the next older proposal that it also finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Link {
    key: Key,
    older: u32,
}

/// Which proposals a question is about.
#[derive(Clone, Copy, Debug)]
pub enum Of<'a> {
    /// Uid and name: another uid with the same name is another agent.
    Agent(u32, &'a str),
    Title(&'a str),
    /// A title of this agent.
    Titled(u32, &'a str, &'a str),
    Data(&'a str),
    /// A data set in the hands of this agent.
    Reads(u32, &'a str, &'a str),
    Code(Digest),
    /// The same code but for its comments, empty lines and blanks.
    Tokens(Shape),
    /// The same code but for its numbers.
    Numbers(Shape),
    /// The same code but for its numbers and the contents of its strings.
    Texts(Shape),
}

impl Of<'_> {
    fn key(&self) -> Key {
        match self {
            Self::Agent(uid, name) => Key::of(0, *uid, &[name.as_bytes()]),
            Self::Title(title) => Key::of(1, 0, &[title.as_bytes()]),
            Self::Titled(uid, name, title) => {
                Key::of(2, *uid, &[name.as_bytes(), title.as_bytes()])
            }
            Self::Data(data) => Key::of(3, 0, &[data.as_bytes()]),
            Self::Reads(uid, name, data) => Key::of(4, *uid, &[name.as_bytes(), data.as_bytes()]),
            Self::Code(digest) => Key::of(5, 0, &[digest.as_bytes()]),
            Self::Numbers(shape) => Key::of(6, 0, &[&shape.numbers]),
            Self::Texts(shape) => Key::of(7, 0, &[&shape.texts]),
            Self::Tokens(shape) => Key::of(8, 0, &[&shape.tokens]),
        }
    }
}

/// The answer to a question.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally<'a> {
    pub granted: u32,
    pub denied: u32,
    /// What the analysis blocked, so that nobody could grant it.
    pub blocked: u32,
    pub last_granted: Option<&'a Earlier>,
    pub last_denied: Option<&'a Earlier>,
}

/// The memory; see the module documentation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Past {
    /// Oldest first. The first one has the number `first`.
    all: VecDeque<Earlier>,
    first: u32,
    numbers: HashMap<ProposalId, u32>,
    heads: Heads,
    names: HashSet<Arc<str>>,
    givens: HashSet<Arc<Given>>,
    /// `None`: [`PROPOSALS`].
    most: Option<usize>,
}

impl Past {
    /// A memory of fewer proposals, for tests.
    #[cfg(test)]
    fn of_at_most(most: usize) -> Self {
        Self {
            most: Some(most),
            ..Self::default()
        }
    }

    /// Takes in a record that is about to be written. One that cannot be written changes no answer that counts:
    /// without the log nothing is granted any more, and a proposal that was not recorded is never decided.
    pub fn learn_written(&mut self, at: Timestamp, event: &LogEvent, blobs: &[Blob]) {
        let shape = match event {
            LogEvent::Proposed(proposed) => Some(proposed.digest),
            LogEvent::Edited(edited) => Some(edited.digest),
            _ => None,
        }
        .and_then(|code| blobs.iter().find(|blob| blob.sha256 == code))
        .and_then(|blob| std::str::from_utf8(&blob.bytes).ok())
        .and_then(Shape::of);
        self.learn(at, event, shape);
    }

    /// Takes in a record. `shape` is that of a proposed or edited code, if its bytes are at hand.
    pub fn learn(&mut self, at: Timestamp, event: &LogEvent, shape: Option<Shape>) {
        if let LogEvent::Proposed(proposed) = event {
            // A drill says nothing of the agent whose name it has.
            if proposed.drill.is_none() {
                self.propose(at, proposed, shape);
            }
            return;
        }
        let Some(number) = event.id().and_then(|id| self.numbers.get(&id).copied()) else {
            return;
        };
        let decided = |granted, by, reason: Option<&String>| Decided {
            granted,
            at,
            by,
            reason: reason.map(|text| cut(text, REASON).into()),
        };
        match event {
            LogEvent::Edited(edited) => self.recode(number, edited.digest, shape),
            LogEvent::Granted(granted) => {
                self.recode(number, granted.digest, None);
                self.decide(number, decided(true, granted.by.uid, None));
            }
            // An edit that was not granted counts for nothing.
            LogEvent::Denied { reason, by, .. } => {
                self.restore(number);
                self.decide(number, decided(false, by.uid, reason.as_ref()));
            }
            ended if ended.state().is_some_and(State::is_final) => self.restore(number),
            _ => {}
        }
        if let Some(state) = event.state()
            && let Some(earlier) = self.all.get_mut((number - self.first) as usize)
        {
            earlier.state = state;
        }
    }

    fn propose(&mut self, at: Timestamp, proposed: &ProposedLog, shape: Option<Shape>) {
        if self.numbers.contains_key(&proposed.id) {
            return;
        }
        if self.all.len() >= self.most.unwrap_or(PROPOSALS) {
            self.forget_oldest();
        }
        let number = self.first + self.all.len() as u32;
        let uid = proposed.peer.uid;
        let agent = agent_name(proposed.agent.as_ref(), &proposed.peer);
        let mut data: Vec<&str> = proposed
            .inputs
            .iter()
            .filter_map(|input| match &input.kind {
                InputKind::Dataset { dataset, .. } => Some(dataset.as_str()),
                _ => None,
            })
            .collect();
        data.sort_unstable();
        data.dedup();
        let mut questions = vec![Of::Agent(uid, agent), Of::Code(proposed.digest)];
        if let Some(title) = &proposed.title {
            questions.extend([Of::Title(title), Of::Titled(uid, agent, title)]);
        }
        for name in &data {
            questions.extend([Of::Data(name), Of::Reads(uid, agent, name)]);
        }
        let is_blocked = proposed.verdict.verdict == VerdictKind::Blocked;
        let links = questions.iter().map(|of| {
            let key = of.key();
            let older = self.add_link(key, number, is_blocked);
            Link { key, older }
        });
        let links = links.collect();
        let earlier = Earlier {
            id: proposed.id,
            at,
            agent: self.name(agent),
            uid,
            title: proposed.title.as_deref().map(|title| self.name(title)),
            profile: self.name(&proposed.profile),
            code: proposed.digest,
            shape: None,
            data: data.iter().map(|name| self.name(name)).collect(),
            given: self.given(Given::of(&proposed.policy_sha256, &proposed.inputs)),
            private: proposed.inputs.iter().any(BoundInput::is_private),
            left: proposed
                .inputs
                .iter()
                .any(|input| matches!(input.kind, InputKind::Artifact { .. })),
            verdict: proposed.verdict.verdict,
            decided: None,
            state: State::Pending,
            links,
            proposed: None,
        };
        self.numbers.insert(proposed.id, number);
        self.push(earlier);
        if let Some(shape) = shape {
            self.shape_of(number, shape);
        }
    }

    /// Takes no more room than all that are remembered need.
    fn push(&mut self, earlier: Earlier) {
        if self.all.len() == self.all.capacity() {
            let most = self.most.unwrap_or(PROPOSALS);
            let more = self
                .all
                .len()
                .clamp(4, most.saturating_sub(self.all.len()).max(4));
            self.all.reserve_exact(more);
        }
        self.all.push_back(earlier);
    }

    fn given(&mut self, given: Given) -> Arc<Given> {
        if let Some(given) = self.givens.get(&given) {
            return given.clone();
        }
        let given = Arc::new(given);
        self.givens.insert(given.clone());
        given
    }

    /// Each text is kept once.
    fn name(&mut self, text: &str) -> Arc<str> {
        let text = cut(text, TEXT);
        if let Some(name) = self.names.get(text) {
            return name.clone();
        }
        let name: Arc<str> = text.into();
        self.names.insert(name.clone());
        name
    }

    fn decide(&mut self, number: u32, decided: Decided) {
        let Some(earlier) = self.all.get_mut((number - self.first) as usize) else {
            return;
        };
        if earlier.decided.is_some() {
            return;
        }
        let granted = decided.granted;
        earlier.decided = Some(decided);
        for key in keys(earlier).collect::<Vec<_>>() {
            self.count_in(key, granted, number);
        }
    }

    /// Takes in the shape of a code that was read after its records.
    pub fn shape(&mut self, code: Digest, shape: Shape) {
        let found: Vec<u32> = self.chain(&Of::Code(code)).collect();
        // Oldest first, so that the last decision is the newest one's.
        for number in found.into_iter().rev() {
            self.shape_of(number, shape);
        }
    }

    fn shape_of(&mut self, number: u32, shape: Shape) {
        let Some(earlier) = self.all.get_mut((number - self.first) as usize) else {
            return;
        };
        if earlier.shape.replace(shape).is_some() {
            return;
        }
        let decided = earlier.decided.as_ref().map(|d| (d.granted, d.at));
        for key in shape_keys(&shape) {
            self.add_shape(key, number, decided);
        }
    }

    /// The codes whose shape is not known, the newest first, each once.
    pub fn shapeless(&self, most: usize) -> Vec<Digest> {
        let mut seen = HashSet::new();
        self.all
            .iter()
            .rev()
            .filter(|earlier| earlier.shape.is_none())
            .map(|earlier| earlier.code)
            .filter(|code| seen.insert(*code))
            .take(most)
            .collect()
    }

    /// The codes that were granted, the newest first, each once.
    pub fn granted_codes(&self, most: usize) -> Vec<Digest> {
        let granted = |earlier: &&Earlier| earlier.decided.as_ref().is_some_and(|d| d.granted);
        let mut seen = HashSet::new();
        let codes = self.all.iter().rev().filter(granted).map(|e| e.code);
        codes.filter(|code| seen.insert(*code)).take(most).collect()
    }

    fn forget_oldest(&mut self) {
        let Some(earlier) = self.all.pop_front() else {
            return;
        };
        let number = self.first;
        self.first += 1;
        self.numbers.remove(&earlier.id);
        for key in keys(&earlier) {
            self.count_out(key, &earlier, number);
        }
        if self.first.is_multiple_of(SWEEP) {
            drop(earlier);
            self.names.retain(|name| Arc::strong_count(name) > 1);
            self.givens.retain(|given| Arc::strong_count(given) > 1);
        }
    }

    fn get(&self, number: u32) -> Option<&Earlier> {
        let index = number.checked_sub(self.first)?;
        self.all.get(index as usize)
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// What is remembered of this proposal.
    pub fn about(&self, id: ProposalId) -> Option<&Earlier> {
        self.get(*self.numbers.get(&id)?)
    }

    /// How many were granted and denied, and the last of each; `but` itself does not count.
    pub fn tally(&self, of: &Of<'_>, but: Option<ProposalId>) -> Tally<'_> {
        let asked = of.key();
        let Some(head) = self.head(asked) else {
            return Tally::default();
        };
        let own = but.and_then(|id| self.numbers.get(&id).copied());
        let counted = own
            .and_then(|number| self.get(number))
            .filter(|earlier| keys(earlier).any(|key| key == asked));
        let own_blocked = counted.is_some_and(|own| own.verdict == VerdictKind::Blocked);
        let own_decided = counted
            .and_then(|earlier| earlier.decided.as_ref())
            .map(|decided| decided.granted);
        let last = |number: u32, granted: bool| match own == Some(number) {
            false => self.get(number),
            true => self
                .chain(of)
                .filter(|number| own != Some(*number))
                .filter_map(|number| self.get(number))
                .find(|e| e.decided.as_ref().is_some_and(|d| d.granted == granted)),
        };
        Tally {
            granted: head.granted - u32::from(own_decided == Some(true)),
            denied: head.denied - u32::from(own_decided == Some(false)),
            blocked: head.blocked.saturating_sub(u32::from(own_blocked)),
            last_granted: last(head.last_granted, true),
            last_denied: last(head.last_denied, false),
        }
    }

    /// The numbers of the proposals that a question finds, the newest first. A shape finds none: only its
    /// decisions are counted.
    fn chain(&self, of: &Of<'_>) -> impl Iterator<Item = u32> + '_ {
        self.walk(of.key())
    }

    fn walk(&self, key: Key) -> impl Iterator<Item = u32> + '_ {
        let newest = self.head(key).map_or(NONE, |head| head.newest);
        let alive = move |number: u32| (number != NONE && number >= self.first).then_some(number);
        std::iter::successors(alive(newest), move |number| {
            alive(self.link_of(*number, key)?.older)
        })
    }

    /// The proposals that a question finds and that no longer wait, the newest first. Looks at no more than
    /// [`WALK`]: it is asked for every frame.
    pub fn found(&self, of: &Of<'_>) -> impl Iterator<Item = &Earlier> + '_ {
        self.chain(of)
            .take(WALK)
            .filter_map(|number| self.get(number))
            .filter(|earlier| earlier.state != State::Pending)
    }

    /// Granted proposals to compare with, each code once: of this agent and title, then of this agent, then of
    /// the same shape; each group's newest first. `may_see`: the others are as if they never were. `None`: all.
    pub fn granted_like(
        &self,
        own: ProposalId,
        agent: (u32, &str),
        title: Option<&str>,
        may_see: Option<&dyn Fn(&Earlier) -> bool>,
        most: usize,
    ) -> Vec<&Earlier> {
        let shape = self.about(own).and_then(|own| own.shape);
        let titled = title.map(|title| Of::Titled(agent.0, agent.1, title));
        let asked = titled.into_iter().chain([Of::Agent(agent.0, agent.1)]);
        let alike = shape
            .into_iter()
            .flat_map(|s| [Of::Tokens(s), Of::Numbers(s), Of::Texts(s)]);
        let alike = alike.filter_map(|of| self.tally(&of, Some(own)).last_granted);
        let mut codes = HashSet::new();
        asked
            .flat_map(|of| self.found(&of).collect::<Vec<_>>())
            .chain(alike)
            .filter(|earlier| earlier.id != own && may_see.is_none_or(|may_see| may_see(earlier)))
            .filter(|earlier| earlier.decided.as_ref().is_some_and(|d| d.granted))
            .filter(|earlier| codes.insert(earlier.code))
            .take(most)
            .collect()
    }

    /// What any of these questions finds besides `own`, the newest first, each once.
    pub fn related(&self, asked: &[Of<'_>], own: ProposalId, most: usize) -> Vec<&Earlier> {
        let mut ids = HashSet::new();
        let each = |of| self.found(of).filter(|e| e.id != own).take(most);
        let mut all: Vec<&Earlier> = asked
            .iter()
            .flat_map(each)
            .filter(|earlier| ids.insert(earlier.id))
            .collect();
        all.sort_by_key(|earlier| std::cmp::Reverse(earlier.at));
        all.truncate(most);
        all
    }

    /// This person's reasons for denials, the latest denial's first, each once.
    pub fn reasons(&self, by: u32, most: usize) -> Vec<Arc<str>> {
        let mut seen = HashSet::new();
        let decided = self.all.iter().rev().filter_map(|e| e.decided.as_ref());
        let mut denials: Vec<&Decided> = decided
            .filter(|decided| !decided.granted && decided.by == by)
            .collect();
        // People decide in another order than proposals arrive.
        denials.sort_by_key(|decided| std::cmp::Reverse(decided.at));
        denials
            .into_iter()
            .filter_map(|decided| decided.reason.clone())
            .filter(|reason| seen.insert(reason.clone()))
            .take(most)
            .collect()
    }
}

/// Every key under which a proposal counts, its shape's included.
fn keys(earlier: &Earlier) -> impl Iterator<Item = Key> + '_ {
    let shape = earlier.shape.iter().flat_map(shape_keys);
    earlier.links.iter().map(|link| link.key).chain(shape)
}

fn shape_keys(shape: &Shape) -> [Key; 3] {
    [Of::Tokens(*shape), Of::Numbers(*shape), Of::Texts(*shape)].map(|of| of.key())
}

fn cut(text: &str, most: usize) -> &str {
    text.char_indices()
        .nth(most)
        .map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
#[path = "past_tests.rs"]
mod tests;
