//! Columns that a value holds, and whether as they are or as what a coarse function made of each value.

use super::value::Bits;

/// Columns whose values may be held. A column that two different functions are computed from counts as held as it is:
/// each of them may show the part that the other one leaves out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    all: Bits,
    /// Columns of which only a coarse function is held, with its place, in ascending order.
    coarse: Vec<(usize, u32)>,
}

impl Held {
    /// Holds a column as it is.
    pub fn set(&mut self, id: usize) {
        self.all.set(id);
        self.coarse.retain(|(one, _)| *one != id);
    }

    /// Holds a column as another value does.
    pub fn set_like(&mut self, id: usize, other: &Self) {
        let new = !self.all.has(id);
        match other.place(id) {
            Some(place) if new => {
                self.all.set(id);
                self.insert(id, place);
            }
            Some(place) if self.place(id) == Some(place) => {}
            _ => self.set(id),
        }
    }

    pub fn clear(&mut self, id: usize) {
        self.all.clear(id);
        self.coarse.retain(|(one, _)| *one != id);
    }

    pub fn has(&self, id: usize) -> bool {
        self.all.has(id)
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.all.iter()
    }

    /// Whether both have a column.
    pub fn meets(&self, other: &Bits) -> bool {
        self.all.meets(other)
    }

    pub const fn bits(&self) -> &Bits {
        &self.all
    }

    /// The place of the function that was computed from a column, if nothing else of the column is held.
    pub fn place(&self, id: usize) -> Option<u32> {
        let of = self.coarse.iter().find(|(one, _)| *one == id);
        of.map(|(_, place)| *place)
    }

    /// Adds the others; whether anything was new.
    pub fn add(&mut self, other: &Self) -> bool {
        if self.coarse.is_empty() && other.coarse.is_empty() {
            return self.all.add(&other.all);
        }
        let mut grew = false;
        let known = self.all.clone();
        self.coarse.retain(|(id, place)| {
            let kept = !other.all.has(*id) || other.place(*id) == Some(*place);
            grew |= !kept;
            kept
        });
        for (id, place) in &other.coarse {
            if !known.has(*id) {
                self.insert(*id, *place);
            }
        }
        grew | self.all.add(&other.all)
    }

    /// The same as what the function at this place made of each value. `beside`: what stands beside it, as it is.
    pub fn coarsen(&mut self, place: u32, beside: &Self) {
        self.coarse = self.all.iter().map(|id| (id, place)).collect();
        self.add(beside);
    }

    /// Holds what a function at another place made of a column.
    pub fn move_to(&mut self, id: usize, place: u32) {
        let of = self.coarse.iter_mut().find(|(one, _)| *one == id);
        if let Some((_, known)) = of {
            *known = place;
        }
    }

    /// Everything as it is.
    pub fn bare(&mut self) {
        self.coarse.clear();
    }

    fn insert(&mut self, id: usize, place: u32) {
        let at = self.coarse.partition_point(|(one, _)| *one < id);
        self.coarse.insert(at, (id, place));
    }
}

impl From<Bits> for Held {
    fn from(all: Bits) -> Self {
        Self {
            all,
            coarse: Vec::new(),
        }
    }
}
