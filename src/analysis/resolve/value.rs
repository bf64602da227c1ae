//! What an expression may stand for: the values, and sets of them.

use std::cell::Cell;
use std::rc::Rc;

use super::scopes::ScopeId;
use crate::analysis::parse::ast::Expr;

/// One thing that an expression may stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Val<'a> {
    /// A module, by its canonical path.
    Module(Rc<str>),
    /// Something that was read from a module: `pandas.read_csv`, `pandas.DataFrame.to_csv`.
    Member(Rc<str>),
    /// What calling such a thing gave.
    Result(Rc<str>),
    Builtin(Rc<str>),
    Text(Rc<str>),
    /// Text that cannot be told.
    ComputedText,
    /// A method of a text.
    TextMethod(Rc<str>),
    Function(ScopeId),
    Class(ScopeId),
    /// An instance of a class of the snippet.
    Instance(ScopeId),
    /// What `except … as name` binds.
    Exception,
    /// `io.StringIO`, `io.BytesIO`.
    Memory,
    /// What `open` returned.
    File,
    /// `df.style` and what its methods return.
    Styler,
    /// `type(x)`; whether x is a function, method, generator or module.
    TypeOf(bool),
    /// A list, tuple, set, dict or comprehension.
    Items(ByAddress<'a>, ScopeId),
    /// Something that holds this.
    Holds(ByAddress<'a>, ScopeId),
    /// A method of an unknown object that is worth following (`f = df.to_csv`).
    Method(Rc<str>),
    Unknown,
}

/// An expression, compared by identity.
#[derive(Clone, Copy, Debug)]
pub struct ByAddress<'a>(pub &'a Expr);

impl PartialEq for ByAddress<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for ByAddress<'_> {}

pub type Vals<'a> = Rc<Vec<Val<'a>>>;

/// How a member of a module stands under the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Allowed,
    /// A module on the way to an allowed one: may be walked through, not kept.
    OnTheWay,
    /// A module that the policy does not list.
    Module,
    /// Begins with an underscore.
    Private,
    /// The policy's explicit list leaves it out.
    Withheld,
    /// Not in the lists: another version, or a misspelling.
    Unresolved,
    /// The module itself is not allowed.
    Foreign,
}

/// A set larger than this says only that anything is possible.
const SET: usize = 256;

/// Collects values without repeats, up to a bound.
#[derive(Default)]
pub struct Set<'a> {
    vals: Vec<Val<'a>>,
    overflow: bool,
}

impl<'a> Set<'a> {
    pub fn add(&mut self, val: Val<'a>) {
        if self.vals.contains(&val) {
            return;
        }
        if self.vals.len() < SET {
            self.vals.push(val);
        } else if matches!(val, Val::Text(_)) {
            // So many texts are as good as computed.
            self.vals[SET - 1] = Val::ComputedText;
        } else {
            self.overflow = true;
        }
    }

    pub fn all(&mut self, vals: &Vals<'a>) {
        vals.iter().for_each(|v| self.add(v.clone()));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.vals.is_empty()
    }

    pub fn into_vec(self) -> Vec<Val<'a>> {
        self.vals
    }

    pub(super) fn finish(self, exhausted: &Cell<bool>) -> Vals<'a> {
        if self.overflow {
            exhausted.set(true);
        }
        Rc::new(self.vals)
    }
}
