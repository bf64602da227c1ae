//! What an expression may hold of the inputs.

use super::held::Held;

/// A set of columns, by their numbers over all inputs. The first ones take no memory of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bits {
    low: u128,
    high: Vec<u128>,
}

const WORD: usize = u128::BITS as usize;

impl Bits {
    pub fn set(&mut self, at: usize) {
        match at / WORD {
            0 => self.low |= 1 << at,
            word => {
                if self.high.len() < word {
                    self.high.resize(word, 0);
                }
                self.high[word - 1] |= 1 << (at % WORD);
            }
        }
    }

    pub fn clear(&mut self, at: usize) {
        match at / WORD {
            0 => self.low &= !(1 << at),
            word => {
                if let Some(word) = self.high.get_mut(word - 1) {
                    *word &= !(1 << (at % WORD));
                }
            }
        }
    }

    pub fn has(&self, at: usize) -> bool {
        let word = match at / WORD {
            0 => self.low,
            word => self.high.get(word - 1).copied().unwrap_or_default(),
        };
        word & (1 << (at % WORD)) != 0
    }

    pub fn is_empty(&self) -> bool {
        self.low == 0 && self.high.iter().all(|w| *w == 0)
    }

    /// Adds the others; whether any was new.
    pub fn add(&mut self, other: &Self) -> bool {
        let mut grew = other.low & !self.low != 0;
        self.low |= other.low;
        if self.high.len() < other.high.len() {
            self.high.resize(other.high.len(), 0);
        }
        for (a, b) in self.high.iter_mut().zip(&other.high) {
            grew |= *b & !*a != 0;
            *a |= b;
        }
        grew
    }

    /// Whether both have one.
    pub fn meets(&self, other: &Self) -> bool {
        let mut words = self.high.iter().zip(&other.high);
        self.low & other.low != 0 || words.any(|(a, b)| a & b != 0)
    }

    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let words = std::iter::once(&self.low).chain(&self.high).enumerate();
        words.flat_map(|(i, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let at = rest.trailing_zeros() as usize;
                (at < WORD).then(|| {
                    rest &= rest - 1;
                    WORD * i + at
                })
            })
        })
    }
}

/// A table whose columns are called as those of the inputs, or as [`super::Flow`] noted.
pub(super) const PLAIN: u32 = 1;
/// A `groupby`.
pub(super) const GROUPED: u32 = 2;
/// A window that moves over rows: its mean may be a row.
pub(super) const WINDOW: u32 = 4;
/// A part of a figure.
pub(super) const FIGURE: u32 = 8;
/// `print`, `sys.stdout`.
pub(super) const PRINTS: u32 = 16;
/// Numbers and truth values, which a sum does not join to a text.
pub(super) const NUMERIC: u32 = 32;
/// Its texts are those of its elements.
pub(super) const LIST: u32 = 64;

/// A fitted model.
pub(super) const MODEL: u32 = 128;
/// A table or column of pandas: what is picked from it is a copy.
pub(super) const TABLE: u32 = 256;

/// It may be one value, or as long as one says: its length is data.
pub(super) const SINGLE: u32 = 512;
/// Truth values, which only pick rows.
pub(super) const MASK: u32 = 1024;
/// It may be a method of what it holds, which a call changes.
pub(super) const BOUND: u32 = 2048;

/// Whole columns of the inputs, or the rows of them that a condition leaves: what a count or a mean may sum up.
pub(super) const WHOLE: u32 = 1 << 12;
/// It may be a function of Python or a library that changes what it is given: `list.append`, `operator.setitem`.
pub(super) const CHANGER: u32 = 1 << 13;
/// A table for certain, no column: functions get its columns one by one.
pub(super) const FRAME: u32 = 1 << 14;
/// Values of the kinds that the columns of the inputs have: a column of numbers holds no texts.
pub(super) const KIND: u32 = 1 << 15;
/// Groups by columns: one row of each is still many rows.
pub(super) const BY_COLUMN: u32 = 1 << 16;

/// Names of columns: a loop over them does not go through numbers until one fits.
pub(super) const NAMES: u32 = 1 << 17;
/// A constant of the text: it is the same whenever the code comes by.
pub(super) const FIXED: u32 = 1 << 18;
/// It may be an iterator, or hold one: what is left of it says how far it was drawn.
pub(super) const DRAWN: u32 = 1 << 19;
/// A column for certain, or what groups of it came to: what is stored under a key is a row.
pub(super) const COLUMN: u32 = 1 << 20;
/// Numbers that a power, a remainder or the like made of those of a column: their sum is none of the column.
pub(super) const BENT: u32 = 1 << 21;
/// A square, or a product of a column with itself.
pub(super) const SQUARE: u32 = 1 << 22;
/// A condition that a sum of the same column sets, or that leaves one row of each kind: it may leave a single row.
pub(super) const TAIL: u32 = 1 << 23;

/// A column of the data as it came, some rows of it, or one of its values.
pub(super) const CAME: u32 = 1 << 24;

/// A column of the data, or what arithmetic with single numbers made of it: one value for each row.
pub(super) const ROWED: u32 = 1 << 25;
pub(super) const ORIGIN: u32 = CAME | ROWED;

/// What a table or a column is, which what a call makes of it need not be. [`PLAIN`] is apart.
pub(super) const MADE_ANEW: u32 =
    GROUPED | WINDOW | NUMERIC | LIST | MODEL | TABLE | MASK | WHOLE | FRAME | KIND | ORIGIN;

/// What is true of one column of a table, and not of the others.
pub(super) const SHAPED: u32 = BENT | SQUARE | TAIL;

/// Flags that both sides of a join must have.
const BOTH: u32 =
    PLAIN | NUMERIC | MODEL | TABLE | MASK | WHOLE | FRAME | KIND | BY_COLUMN | COLUMN | ORIGIN;

/// The site of all figures.
pub(super) const FIGURES: u32 = u32::MAX;
/// The site of values with too many sites.
pub(super) const ANY: u32 = u32::MAX - 1;
/// The site of what modules and libraries keep for themselves.
pub(super) const OUTSIDE: u32 = 1 << 31;
/// The bit of the sites of inputs and of tables that were copied.
pub(super) const COPIED: u32 = 1 << 30;
/// Sites of one value before they count as [`ANY`].
const SITES: usize = 24;

/// What a value may hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Value<'a> {
    /// Columns whose values it may hold, as they are or as what a coarse function made of them.
    pub as_is: Held,
    /// Columns that it holds summed up.
    pub summed: Bits,
    /// Columns of the index and of `groupby`: they stay when a column is picked. Part of `as_is`.
    pub index: Held,
    /// Columns that its rows are sorted by: their values, and their sums.
    pub order: Held,
    pub order_summed: Bits,
    /// Columns whose values name its columns: they stay when values are summed up.
    pub labels: Held,
    /// Where it may have been made, for what is put into it later under another name.
    pub sites: Vec<u32>,
    /// The same for what it holds: elements, attributes.
    pub inner: Vec<u32>,
    /// Functions of the snippet that it may hold.
    pub funcs: Vec<u32>,
    /// Files that it may write to, by the offset of the call that opened them.
    pub files: Vec<u32>,
    /// The texts that it can only be, if they are literals.
    pub texts: Option<Vec<&'a str>>,
    pub flags: u32,
}

impl Value<'_> {
    pub fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    pub fn with(mut self, flag: u32) -> Self {
        self.flags |= flag;
        self
    }

    pub fn without(mut self, flag: u32) -> Self {
        self.flags &= !flag;
        self
    }

    /// The same as one value, if it holds anything of the inputs.
    pub fn single(self) -> Self {
        match self.is_bare() {
            true => self,
            false => self.with(SINGLE),
        }
    }

    /// A part of it, which may be any that it holds.
    pub fn opened(mut self) -> Self {
        self.sites = self.reached();
        self
    }

    /// Whether nothing can be put into it: a text, a number.
    pub const fn is_immutable(&self) -> bool {
        self.sites.is_empty() && self.inner.is_empty() && self.funcs.is_empty()
    }

    /// The same, as a text or a number.
    pub fn immutable(mut self) -> Self {
        self.sites.clear();
        self.inner.clear();
        self
    }

    /// Its sites and those of what it holds.
    pub fn reached(&self) -> Vec<u32> {
        let mut all = Self::default();
        merge(&mut all.sites, &self.sites);
        merge(&mut all.sites, &self.inner);
        match all.sites.len() > SITES {
            true => vec![ANY],
            false => all.sites,
        }
    }

    /// Its sites and those of what it holds, but for tables: an object does not change those.
    pub fn changeable(&self) -> Vec<u32> {
        let mut all = self.clone();
        all.inner.retain(|site| *site == ANY || site & COPIED == 0);
        all.reached()
    }

    /// The same, as what is held by something else.
    pub fn enclosed(mut self) -> Self {
        self.inner = self.reached();
        self.sites = Vec::new();
        self
    }

    /// Whether it holds nothing of the inputs.
    pub fn is_bare(&self) -> bool {
        self.as_is.is_empty()
            && self.summed.is_empty()
            && self.order.is_empty()
            && self.order_summed.is_empty()
            && self.labels.is_empty()
    }

    /// Whether each row of a column may be combined with it, and the column stays whole: another whole column, a sum,
    /// one number.
    pub fn is_even(&self) -> bool {
        match self.is_bare() {
            true => self.sites.is_empty() && self.inner.is_empty() && self.funcs.is_empty(),
            false => self.has(WHOLE) || self.as_is.is_empty() && self.order.is_empty(),
        }
    }

    /// Whether it holds all that the other one holds of the inputs.
    pub fn covers(&self, other: &Self) -> bool {
        let mut as_is = self.as_is.clone();
        let mut summed = self.summed.clone();
        as_is.add(&self.order);
        as_is.add(&self.labels);
        summed.add(&self.order_summed);
        let other = other.told();
        !as_is.add(&other.as_is) && !summed.add(&other.summed)
    }

    /// The same with the order of the rows and the names of its columns among what it holds.
    pub fn told(&self) -> Self {
        let mut out = self.clone();
        out.as_is.add(&self.order);
        out.as_is.add(&self.labels);
        out.summed.add(&self.order_summed);
        out
    }

    /// Everything that it holds, as it is.
    pub fn bared(&self) -> Self {
        let mut as_is = self.told().as_is;
        as_is.bare();
        as_is.add(&self.summed.clone().into());
        as_is.add(&self.order_summed.clone().into());
        Self {
            as_is,
            ..Self::default()
        }
    }

    /// The part of it that the other one may hold.
    pub fn within(&self, other: &Self) -> Self {
        let mut out = Self {
            flags: self.flags & (PLAIN | NUMERIC | TABLE | MASK | WHOLE | KIND | SHAPED | ROWED),
            ..Self::default()
        };
        for id in self.as_is.iter().chain(self.summed.iter()) {
            if other.as_is.has(id) && self.as_is.has(id) {
                out.as_is.set_like(id, &self.as_is);
            } else if other.as_is.has(id) || other.summed.has(id) {
                out.summed.set(id);
            }
        }
        out
    }

    /// Whether it holds nothing to follow.
    pub fn is_nothing(&self) -> bool {
        self.is_bare() && self.funcs.is_empty() && self.files.is_empty() && !self.has(PRINTS)
    }

    /// Whether it holds nothing to follow, and nothing can be put into it.
    pub fn is_void(&self) -> bool {
        self.is_nothing() && self.sites.is_empty() && self.inner.is_empty()
    }

    /// Adds what another may hold; whether anything was new.
    pub fn join(&mut self, other: &Self) -> bool {
        // Numbers are of a kind.
        let of = |value: &Self| value.flags | if value.has(NUMERIC) { KIND } else { 0 };
        let both = match (self.is_bare(), other.is_bare()) {
            (_, true) => self.flags & BOTH,
            (true, false) => other.flags & BOTH,
            (false, false) => of(self) & of(other) & BOTH,
        };
        let fixed = self.flags & other.flags & FIXED;
        let flags = ((self.flags | other.flags) & !(BOTH | FIXED)) | both | fixed;
        let mut grew = flags != self.flags;
        self.flags = flags;
        grew |= self.as_is.add(&other.as_is);
        grew |= self.summed.add(&other.summed);
        grew |= self.index.add(&other.index);
        grew |= self.order.add(&other.order);
        grew |= self.order_summed.add(&other.order_summed);
        grew |= self.labels.add(&other.labels);
        grew |= merge(&mut self.sites, &other.sites);
        if self.sites.len() > SITES {
            self.sites = vec![ANY];
        }
        grew |= merge(&mut self.inner, &other.inner);
        if self.inner.len() > SITES {
            self.inner = vec![ANY];
        }
        grew |= merge(&mut self.funcs, &other.funcs);
        grew |= merge(&mut self.files, &other.files);
        match (&mut self.texts, &other.texts) {
            (Some(mine), Some(theirs)) => {
                for text in theirs {
                    if !mine.contains(text) {
                        mine.push(text);
                        grew = true;
                    }
                }
                if mine.len() > 64 {
                    self.texts = None;
                }
            }
            (mine @ Some(_), None) => {
                *mine = None;
                grew = true;
            }
            (None, _) => {}
        }
        grew
    }

    /// The same, without texts: of parts of a larger expression.
    pub fn and(mut self, other: &Self) -> Self {
        self.texts = None;
        self.join(other);
        self.texts = None;
        self
    }

    /// Only what it holds of the inputs.
    pub fn held(&self) -> Self {
        Self {
            as_is: self.as_is.clone(),
            summed: self.summed.clone(),
            index: self.index.clone(),
            order: self.order.clone(),
            order_summed: self.order_summed.clone(),
            labels: self.labels.clone(),
            flags: self.flags
                & (PLAIN | NUMERIC | TABLE | SINGLE | MASK | WHOLE | FRAME | KIND | SHAPED | ROWED),
            ..Self::default()
        }
    }
}

fn merge(into: &mut Vec<u32>, from: &[u32]) -> bool {
    if into.as_slice() == [ANY] {
        return false;
    }
    let before = into.len();
    for one in from {
        if !into.contains(one) {
            into.push(*one);
        }
    }
    into.len() != before
}
