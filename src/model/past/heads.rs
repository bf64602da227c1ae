//! What is kept for each key. Most keys are those of one proposal alone, and what is to be said of it stands with the
//! proposal: for these a number is enough. It takes a quarter of the memory.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::OnceLock;

use sha2::{Digest as _, Sha256};

use super::{Earlier, NONE, Past};
use crate::model::VerdictKind;

/// Eight bytes of a SHA-256 digest over a question and a secret of this process. Nobody who does not know that can make
/// two questions alike, and by chance no two are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key([u8; 8]);

impl Key {
    pub fn of(tag: u8, uid: u32, texts: &[&[u8]]) -> Self {
        static SECRET: OnceLock<[u64; 4]> = OnceLock::new();
        // Each state has keys of its own, which the system's random numbers make.
        let secret = SECRET.get_or_init(|| [1_u64; 4].map(|n| RandomState::new().hash_one(n)));
        let mut hash = Sha256::new();
        secret
            .iter()
            .for_each(|part| hash.update(part.to_le_bytes()));
        hash.update([tag]);
        hash.update(uid.to_le_bytes());
        for text in texts {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        let digest: [u8; 32] = hash.finalize().into();
        let mut key = [0; 8];
        key.copy_from_slice(&digest[..8]);
        Self(key)
    }
}

/// What is said of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub count: u32,
    /// The newest proposal with links; see [`super::Link::older`].
    pub newest: u32,
    pub granted: u32,
    pub denied: u32,
    pub blocked: u32,
    pub last_granted: u32,
    pub last_denied: u32,
}

impl Default for Head {
    fn default() -> Self {
        Self {
            count: 0,
            newest: NONE,
            granted: 0,
            denied: 0,
            blocked: 0,
            last_granted: NONE,
            last_denied: NONE,
        }
    }
}

/// A key belongs to a proposal's links, or to its shape, which has no chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum As {
    Link,
    Shape,
}

/// One proposal, or the place of what is said of several: in four bytes, because there are many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot(u32);

#[derive(Clone, Copy, Debug)]
enum Kept {
    One(u32, As),
    Several(u32),
}

impl Slot {
    const SEVERAL: u32 = 1 << 31;
    const SHAPE: u32 = 1 << 30;
    /// Numbers of proposals from here on do not fit.
    const END: u32 = Self::SHAPE;

    fn kept(self) -> Kept {
        match self.0 {
            at if at & Self::SEVERAL > 0 => Kept::Several(at & !Self::SEVERAL),
            at if at & Self::SHAPE > 0 => Kept::One(at & !Self::SHAPE, As::Shape),
            number => Kept::One(number, As::Link),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Heads {
    slots: HashMap<Key, Slot>,
    several: Vec<Head>,
    /// Places in `several` that nobody has.
    free: Vec<u32>,
}

impl Heads {
    fn put(&mut self, key: Key, head: Head) -> u32 {
        let at = self.free.pop().unwrap_or(self.several.len() as u32);
        match self.several.get_mut(at as usize) {
            Some(place) => *place = head,
            None => self.several.push(head),
        }
        self.slots.insert(key, Slot(at | Slot::SEVERAL));
        at
    }

    fn put_one(&mut self, key: Key, number: u32, is: As) {
        let flag = if is == As::Shape { Slot::SHAPE } else { 0 };
        self.slots.insert(key, Slot(number | flag));
    }

    fn kept(&self, key: Key) -> Option<Kept> {
        self.slots.get(&key).map(|slot| slot.kept())
    }

    /// What is said of several proposals.
    fn of_several(&mut self, key: Key) -> Option<&mut Head> {
        match self.kept(key)? {
            Kept::Several(at) => self.several.get_mut(at as usize),
            Kept::One(..) => None,
        }
    }

    fn remove(&mut self, key: Key) {
        if let Some(Kept::Several(at)) = self.slots.remove(&key).map(Slot::kept) {
            self.free.push(at);
        }
    }

    #[cfg(test)]
    pub fn keys(&self) -> impl Iterator<Item = Key> + '_ {
        self.slots.keys().copied()
    }

    #[cfg(test)]
    pub fn retain(&mut self, mut keep: impl FnMut(Key) -> bool) {
        let gone: Vec<Key> = self.keys().filter(|key| !keep(*key)).collect();
        gone.into_iter().for_each(|key| self.remove(key));
    }

    /// Bytes for each key that belongs to one proposal.
    #[cfg(test)]
    pub const ONE: usize = size_of::<(Key, Slot)>();
}

impl Past {
    /// What is said of a key.
    pub(super) fn head(&self, key: Key) -> Option<Head> {
        match self.heads.kept(key)? {
            Kept::Several(at) => self.heads.several.get(at as usize).copied(),
            Kept::One(number, is) => Some(Head::of_one(number, is, self.get(number))),
        }
    }

    /// The same, to be changed; from now on it is kept as that of several proposals.
    fn head_mut(&mut self, key: Key) -> Option<&mut Head> {
        let at = match self.heads.kept(key)? {
            Kept::Several(at) => at,
            Kept::One(number, is) => {
                let head = Head::of_one(number, is, self.get(number));
                self.heads.put(key, head)
            }
        };
        self.heads.several.get_mut(at as usize)
    }

    /// One proposal more, the newest; returns the next older one.
    pub(super) fn add_link(&mut self, key: Key, number: u32, is_blocked: bool) -> u32 {
        if self.heads.kept(key).is_none() {
            if number < Slot::END {
                self.heads.put_one(key, number, As::Link);
                return NONE;
            }
            self.heads.put(key, Head::default());
        }
        let Some(head) = self.head_mut(key) else {
            return NONE;
        };
        head.count += 1;
        head.blocked += u32::from(is_blocked);
        std::mem::replace(&mut head.newest, number)
    }

    /// One proposal more in the middle of a chain.
    pub(super) fn add_within(&mut self, key: Key) {
        if let Some(head) = self.head_mut(key) {
            head.count += 1;
        }
    }

    /// One proposal with this shape more, decided or not.
    pub(super) fn add_shape(
        &mut self,
        key: Key,
        number: u32,
        decided: Option<(bool, jiff::Timestamp)>,
    ) {
        if self.heads.kept(key).is_none() {
            if number < Slot::END {
                return self.heads.put_one(key, number, As::Shape);
            }
            self.heads.put(key, Head::default());
        }
        let before = self.head(key).unwrap_or_default();
        let mut head = before;
        head.count += 1;
        if let Some((granted, at)) = decided {
            head.count_in(granted, number);
            // A later decision about other code may have come first.
            let later = |last: u32| {
                let last = self.get(last).and_then(|e| e.decided.as_ref());
                last.is_some_and(|last| last.at > at)
            };
            if later(before.last_granted) {
                head.last_granted = before.last_granted;
            }
            if later(before.last_denied) {
                head.last_denied = before.last_denied;
            }
        }
        if let Some(kept) = self.head_mut(key) {
            *kept = head;
        }
    }

    /// A decision on a proposal with this key.
    pub(super) fn count_in(&mut self, key: Key, granted: bool, number: u32) {
        if let Some(head) = self.heads.of_several(key) {
            head.count_in(granted, number);
        }
    }

    /// A proposal with this key is forgotten.
    pub(super) fn count_out(&mut self, key: Key, earlier: &Earlier, number: u32) {
        match self.heads.of_several(key) {
            Some(head) => {
                head.count_out(earlier, number);
                if head.count == 0 {
                    self.heads.remove(key);
                }
            }
            None => self.heads.remove(key),
        }
    }

    /// One proposal without a decision less for this key.
    pub(super) fn uncount(&mut self, key: Key) {
        match self.heads.of_several(key) {
            Some(head) if head.count > 1 => head.count -= 1,
            _ => self.heads.remove(key),
        }
    }

    pub(super) fn set_newest(&mut self, key: Key, newest: u32) {
        if let Some(head) = self.head_mut(key) {
            head.newest = newest;
        }
    }
}

impl Head {
    /// Of the only proposal.
    fn of_one(number: u32, is: As, earlier: Option<&Earlier>) -> Self {
        let mut head = Self {
            count: 1,
            ..Self::default()
        };
        if is == As::Link {
            head.newest = number;
            let blocked = earlier.is_some_and(|e| e.verdict == VerdictKind::Blocked);
            head.blocked = u32::from(blocked);
        }
        if let Some(decided) = earlier.and_then(|earlier| earlier.decided.as_ref()) {
            head.count_in(decided.granted, number);
        }
        head
    }

    fn count_in(&mut self, granted: bool, number: u32) {
        if granted {
            self.granted += 1;
            self.last_granted = number;
        } else {
            self.denied += 1;
            self.last_denied = number;
        }
    }

    fn count_out(&mut self, earlier: &Earlier, number: u32) {
        self.count = self.count.saturating_sub(1);
        let blocked = u32::from(earlier.verdict == VerdictKind::Blocked);
        self.blocked = self.blocked.saturating_sub(blocked);
        match earlier.decided.as_ref().map(|decided| decided.granted) {
            Some(true) => self.granted = self.granted.saturating_sub(1),
            Some(false) => self.denied = self.denied.saturating_sub(1),
            None => {}
        }
        for last in [&mut self.last_granted, &mut self.last_denied] {
            if *last == number {
                *last = NONE;
            }
        }
    }
}
