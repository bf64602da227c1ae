//! The possible values of an expression, and sets of them.

use std::cell::Cell;
use std::rc::Rc;

use super::scopes::ScopeId;
use crate::analysis::parse::ast::Expr;

/// One possible value of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Val<'a> {
    /// A module, by its canonical path.
    Module(Rc<str>),
    /// An object read from a module: `pandas.read_csv`, `pandas.DataFrame.to_csv`.
    Member(Rc<str>),
    /// The result of calling such an object.
    Result(Rc<str>),
    Builtin(Rc<str>),
    Text(Rc<str>),
    /// An unknown text.
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
    /// `type(x)`, and whether `x` is a function, method, generator or module.
    TypeOf(bool),
    /// A list, tuple, set, dict or comprehension.
    Items(ByAddress<'a>, ScopeId),
    /// An object that holds this value.
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

/// The standing of a module's member under the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Allowed,
    /// A parent of an allowed module: its attributes may be read, but it must not be stored.
    OnTheWay,
    /// A module that the policy does not list.
    Module,
    /// Begins with an underscore.
    Private,
    /// The policy's explicit list does not contain it.
    Withheld,
    /// Not in the lists: it belongs to another version or is misspelled.
    Unresolved,
    /// The module itself is not allowed.
    Foreign,
}

/// The limit on the size of a set; a larger one only says that anything is possible.
const SET: usize = 256;

/// Collects distinct values, up to a limit.
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
            // So many texts are as good as a computed one.
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
