//! Groups of the alike: pending proposals of one agent that differ in numbers only stand folded under the first one.
//!
//! A group saves rows, not decisions: each proposal is selected, seen and decided by itself. What a row would say
//! besides numbers must be the same for all of a group: the profile, the verdict, what the code touches, its data, and
//! the contents of all inputs. Where the code changes values, how it does must be the same too, numbers included.

mod spread;

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use crate::broker::{BrokerState, Entry};
use crate::clock::Now;
use crate::model::{BoundInput, Digest, InputKind, Past, ProposalId, Shape};

use super::super::document;
use super::super::keys::Command;
use super::super::shown;
use super::super::words;
use super::UiState;
pub(in crate::tui) use spread::Differs;
use spread::{Base, Own, Spread};

/// Groups of which the code read last is kept.
const READ: usize = 64;

/// Stands for what the proposals of a group have in common.
type Key = Digest;

/// `None` for code without a shape, and for code that a person edits or edited.
fn key_of(past: &Past, entry: &Entry) -> Option<Key> {
    if entry.is_edited() || entry.is_revising() {
        return None;
    }
    let p = &entry.proposal;
    let mut common = Vec::new();
    let mut put = |bytes: &[u8]| {
        common.extend((bytes.len() as u64).to_le_bytes());
        common.extend(bytes);
    };
    put(&past.about(p.id)?.shape?.numbers);
    put(&p.peer.uid.to_le_bytes());
    put(p.agent_name().as_bytes());
    put(p.profile.as_bytes());
    let verdict = entry.verdict()?;
    put(verdict.verdict.as_str().as_bytes());
    // Values that another number changes otherwise are no detail: the row that says so must not fold.
    for altered in &verdict.flows.alters {
        put(&serde_json::to_vec(&(&altered.what, &altered.how)).ok()?);
    }
    let tags = shown::effect_tags(entry);
    put(&[tags.len() as u8]);
    for (tag, _) in tags {
        put(tag.as_bytes());
    }
    for input in entry.inputs().into_iter().flat_map(|inputs| inputs.iter()) {
        put(input.name.as_bytes());
        put(what(input).as_bytes());
        put(&[u8::from(input.is_private())]);
        put(input.sha256.as_bytes());
    }
    Some(Digest::of(&common))
}

fn what(input: &BoundInput) -> String {
    match &input.kind {
        InputKind::Dataset { dataset, .. } => format!("data set {dataset}"),
        InputKind::Json { .. } => "json".to_owned(),
        InputKind::Text { format, .. } => format!("text {}", format.as_str()),
        InputKind::Artifact { artifact, .. } => format!("artifact {artifact}"),
    }
}

#[derive(Debug)]
pub(in crate::tui) struct Group {
    pub first: ProposalId,
    /// The others, in the order of the queue.
    pub rest: Vec<ProposalId>,
    /// The earliest boot time at which one of the others expires.
    pub until: Duration,
    spread: Spread,
}

#[derive(Debug, Default)]
pub(in crate::tui) struct Groups {
    /// `None`: it is like no other.
    keys: HashMap<ProposalId, Option<Key>>,
    /// What is in the groups now: what waits, without what the filter hides.
    placed: HashSet<ProposalId>,
    all: HashMap<Key, Group>,
    /// How many groups have more than one proposal.
    many: usize,
    /// Groups whose members have rows of their own.
    open: HashSet<Key>,
    /// What the codes of a group are compared with, also after it is gone itself.
    bases: HashMap<Key, Base>,
    /// What differs in each code.
    own: HashMap<ProposalId, Own>,
    /// The code of each group that was read last, the latest first.
    read: VecDeque<(Key, Arc<str>)>,
}

/// Where a pending proposal goes.
pub(super) enum Place {
    Row,
    /// Under the first of its group, which is folded.
    Folded,
    /// Behind this row of its group.
    Behind(ProposalId),
}

impl Groups {
    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.placed.clear();
        self.many = 0;
    }

    /// An edit gave a proposal another code and verdict.
    pub(super) fn forget_keys(&mut self) {
        self.keys.clear();
        self.bases.clear();
        self.own.clear();
    }

    /// Forgets what is gone.
    pub(super) fn retain(&mut self, state: &BrokerState) {
        self.keys.retain(|id, _| state.entry(*id).is_some());
        let all = &self.all;
        self.open.retain(|key| all.contains_key(key));
        self.bases.retain(|key, _| all.contains_key(key));
        self.own.retain(|id, _| state.entry(*id).is_some());
    }

    /// Takes in the next pending proposal. Only an edit changes what its group has in common.
    pub(super) fn add(&mut self, past: &Past, entry: &Entry) -> Place {
        let id = entry.proposal.id;
        let key = self.keys.entry(id).or_insert_with(|| key_of(past, entry));
        let Some(key) = *key else {
            return Place::Row;
        };
        self.placed.insert(id);
        let code = entry.code().text();
        let base = self.bases.entry(key).or_insert_with(|| Base::new(code));
        let own = self.own.entry(id).or_insert_with(|| base.unlike(code));
        let Some(group) = self.all.get_mut(&key) else {
            let mut group = Group {
                first: id,
                rest: Vec::new(),
                until: Duration::MAX,
                spread: Spread::default(),
            };
            group.spread.add(id, own);
            self.all.insert(key, group);
            return Place::Row;
        };
        self.many += usize::from(group.rest.is_empty());
        let last = group.rest.last().copied().unwrap_or(group.first);
        group.rest.push(id);
        group.spread.add(id, own);
        group.until = group.until.min(entry.deadline);
        match self.open.contains(&key) {
            true => Place::Behind(last),
            false => Place::Folded,
        }
    }

    fn key(&self, id: ProposalId) -> Option<Key> {
        *self.keys.get(&id)?
    }

    /// The group of this proposal if it is not the only one in it, and whether the group is open.
    pub fn of(&self, id: ProposalId) -> Option<(&Group, bool)> {
        if self.many == 0 || !self.placed.contains(&id) {
            return None;
        }
        let key = self.key(id)?;
        let group = self.all.get(&key).filter(|group| !group.rest.is_empty())?;
        Some((group, self.open.contains(&key)))
    }

    /// The group that begins with this proposal, and whether it is open.
    pub fn under(&self, id: ProposalId) -> Option<(&Group, bool)> {
        self.of(id).filter(|(group, _)| group.first == id)
    }

    /// How the codes of this proposal's group differ.
    pub fn differs(&self, id: ProposalId) -> Option<Differs> {
        let (group, _) = self.of(id)?;
        group.spread.differs(self.bases.get(&self.key(id)?)?)
    }

    /// Whether it has no row because its group is folded.
    pub fn is_folded(&self, id: ProposalId) -> bool {
        self.of(id)
            .is_some_and(|(group, open)| !open && group.first != id)
    }

    /// Opens the group of this proposal.
    pub(super) fn open(&mut self, id: ProposalId) {
        if let Some(key) = self.key(id) {
            self.open.insert(key);
        }
    }
}

/// What differs in a code from the one that was read last in its group.
#[derive(Debug)]
pub(in crate::tui) struct Unlike {
    pub id: ProposalId,
    /// The numbers, where they stand in the code.
    pub numbers: Vec<Range<usize>>,
    /// The lines that differ from the other code's in the same place, counted from 1.
    pub lines: BTreeSet<usize>,
}

impl Unlike {
    /// `None` for codes that are not alike, or the same.
    fn of(id: ProposalId, code: &str, read: &str) -> Option<Self> {
        let (here, there) = (Shape::numbers_in(code)?, Shape::numbers_in(read)?);
        if here.len() != there.len() {
            return None;
        }
        let pairs = here.into_iter().zip(there);
        let other = |(a, b): &(Range<usize>, Range<usize>)| code[a.clone()] != read[b.clone()];
        let unlike = Self {
            id,
            numbers: pairs.filter(other).map(|(a, _)| a).collect(),
            lines: other_lines(code, read),
        };
        (!unlike.lines.is_empty()).then_some(unlike)
    }
}

/// The lines that differ from those in the same place: a number that moved to another line counts. Alike codes have
/// the same lines besides empty ones; where that does not hold, all count.
fn other_lines(code: &str, read: &str) -> BTreeSet<usize> {
    let said = |text| lines(text).filter(|(line, _): &(&str, usize)| !line.trim().is_empty());
    let paired = said(code).count() == said(read).count();
    said(code)
        .zip(said(read).map(Some).chain(std::iter::repeat(None)))
        .filter(|((line, _), other)| !paired || other.is_none_or(|(other, _)| other != *line))
        .map(|((_, number), _)| number)
        .collect()
}

/// The lines of code with their numbers.
fn lines(code: &str) -> impl Iterator<Item = (&str, usize)> {
    let all = document::lines(code).into_iter().zip(1..);
    all.map(|((start, end, _), number)| (&code[start..end], number))
}

impl UiState {
    /// Notes that the selected code was read, so that the next one of its group is compared with it.
    pub(super) fn note_read(&mut self) {
        let Some(doc) = self.queue.doc.as_ref() else {
            return;
        };
        let seen = self.queue.looked.get(&doc.id).map(|looked| &looked.seen);
        if !seen.is_some_and(|seen| doc.is_seen(seen)) {
            return;
        }
        let groups = &mut self.queue.lists.groups;
        let (Some(key), Some(code)) = (groups.key(doc.id), doc.text().cloned()) else {
            return;
        };
        groups.read.retain(|(of, _)| *of != key);
        groups.read.push_front((key, code));
        groups.read.truncate(READ);
    }

    /// Compares the selected code with the one that was read last in its group.
    pub(super) fn compare_with_read(&mut self, entry: &Entry) {
        let groups = &self.queue.lists.groups;
        let key = groups.key(entry.proposal.id);
        let read = key.and_then(|key| groups.read.iter().find(|(of, _)| *of == key));
        self.queue.unlike = read.and_then(|(_, read)| {
            Unlike::of(entry.proposal.id, entry.code().text(), read).map(Arc::new)
        });
    }

    /// `=`, and the arrows to both sides: opens or closes the group of the selected proposal.
    pub(super) fn turn_group(&mut self, state: &BrokerState, command: Command, now: Now) {
        let Some(id) = self.queue.selected else {
            return;
        };
        let groups = &mut self.queue.lists.groups;
        let first = groups.of(id).map(|(group, _)| group.first);
        let (Some(first), Some(key)) = (first, groups.key(id)) else {
            if command == Command::Alike {
                self.remarks.notice = Some(words::NONE_ALIKE.into());
            }
            return;
        };
        let opens = match command {
            Command::Left => false,
            Command::Right => true,
            _ => !groups.open.contains(&key),
        };
        let turned = match opens {
            true => groups.open.insert(key),
            false => groups.open.remove(&key),
        };
        if turned {
            self.remarks.notice = Some(words::turned_group(opens).into());
        }
        // A closed group shows its first proposal only.
        if !opens {
            self.select(first, now);
        }
        self.list_anew(state);
        self.redocument(state, now);
    }
}
