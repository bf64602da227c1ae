//! The only walk over the tree: exhaustive, in the order in which Python evaluates scopes.
//!
//! There are no wildcard arms: a new node type of the parser breaks the build here until the table
//! of kinds ([`NodeKind`]) covers it. This module alone decides what a visitor sees, so that no
//! pass can miss a place where an expression hides (defaults, decorators, annotations,
//! type-parameter bounds, patterns, format specs).

mod expr;
mod pattern;
mod stmt;
mod target;

use super::parse::TextRange;
use super::parse::ast::{self, Expr, Stmt};
use crate::policy::NodeKind;

pub use expr::expression;
pub use stmt::body;

/// The place of an expression.
#[derive(Clone, Copy)]
pub enum ExprPlace<'a> {
    /// A statement of its own, or any place not listed.
    Plain,
    /// The value of `name = …`, `(name := …)` or a default.
    Assigned,
    /// The `x` of `x.attr`.
    AttributeOf,
    /// The `f` of `f(…)`.
    Called,
    /// A positional argument.
    Argument(&'a ast::ExprCall),
    /// A keyword argument.
    Keyword(&'a ast::ExprCall),
    /// An annotation or a type-parameter bound.
    Annotation,
    Decorator,
    /// A base class.
    Base,
    /// The target of an assignment or deletion.
    Target,
    /// An operand of a comparison, or the test of a branch.
    Compared,
}

/// The statement that a target belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TargetOf {
    Assign,
    Augmented,
    Annotated,
    Delete,
    Loop,
    With,
    Comprehension,
}

/// The source of a bound name's value.
#[derive(Clone, Copy)]
pub enum Bound<'a> {
    Value(&'a Expr),
    /// An element of the value: loops.
    ElementOf(&'a Expr),
    /// The part of the value at the end of the steps: unpacking.
    Part(&'a Expr, Way),
    /// The value or anything inside it.
    Within(&'a Expr),
    /// The name's value was changed in place with this (`+=`, `x[k] = v`, `x.append(v)`).
    Gains(&'a Expr),
    With(&'a Expr),
    /// `import a.b` binds `a` (module "a"), `import a.b as c` binds "a.b".
    Module(&'a str),
    /// `from module import name`.
    Member {
        module: &'a str,
        name: &'a str,
    },
    Function(&'a ast::Arguments),
    Class(&'a ast::StmtClassDef),
    Parameter {
        function: &'a ast::Arguments,
        index: Option<usize>,
        default: Option<&'a Expr>,
    },
    /// `*args` and `**kwargs`.
    Rest(&'a ast::Arguments),
    Exception,
    /// A capture of a match pattern, taken from this subject.
    Capture(&'a Expr),
    /// Bound to an unknown value.
    Something,
    Deleted,
}

/// One step from a value to a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Any element.
    Element,
    /// The element at this index.
    Index(usize),
}

/// The steps from a value to a part of it; no ordinary unpacking has more than the limit.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    steps: [Step; Self::MOST],
    length: usize,
}

impl Way {
    const MOST: usize = 4;

    fn new(first: Step) -> Self {
        Self {
            steps: [first; Self::MOST],
            length: 1,
        }
    }

    fn then(mut self, next: Step) -> Option<Self> {
        *self.steps.get_mut(self.length)? = next;
        self.length += 1;
        Some(self)
    }

    pub fn steps(&self) -> &[Step] {
        self.steps.get(..self.length).unwrap_or_default()
    }
}

/// A scope that a visitor enters.
#[derive(Clone, Copy)]
pub enum Scope<'a> {
    /// `def` or `lambda`; the arguments identify it.
    Function(&'a ast::Arguments),
    /// `async def`; the arguments identify it.
    Async(&'a ast::Arguments),
    Class(&'a ast::StmtClassDef),
    Comprehension {
        /// The first target, which identifies the comprehension.
        target: &'a Expr,
        /// Whether some iterable uses `async for`.
        waits: bool,
        /// Whether it is a generator expression.
        lazy: bool,
    },
    TypeParameters,
}

/// A part of a scope with its own restrictions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Block {
    /// The body of a loop.
    Loop,
    /// A handler of `except*`.
    Group,
    /// The iterable of a comprehension.
    Iterable,
    /// An annotation of a parameter or a return value.
    Signature,
    /// An annotation of a variable.
    Variable,
}

/// The events that a pass over the tree can handle.
pub trait Visitor<'a> {
    /// Every node.
    fn node(&mut self, _kind: NodeKind, _at: TextRange) {}
    fn statement(&mut self, _statement: &'a Stmt) {}
    /// Called before the parts of the expression.
    fn expression(&mut self, _expression: &'a Expr, _place: ExprPlace<'a>) {}
    fn bind(&mut self, _name: &'a str, _at: TextRange, _to: Bound<'a>) {}
    /// `x.attr = …` in any form.
    fn store_attribute(&mut self, _target: &'a ast::ExprAttribute, _of: TargetOf, _to: Bound<'a>) {}
    /// `x[…] = …` in any form.
    fn store_item(&mut self, _target: &'a ast::ExprSubscript, _of: TargetOf, _to: Bound<'a>) {}
    /// A keyword of a class pattern, which reads the attribute.
    fn pattern_attribute(&mut self, _name: &'a str, _at: TextRange, _class: &'a Expr) {}
    /// The name of a keyword argument, in a call or after the bases of a class.
    fn keyword(&mut self, _name: &'a str, _at: TextRange) {}
    /// An annotation without a value, which binds nothing.
    fn annotate(&mut self, _name: &'a str, _at: TextRange) {}
    /// `global` and `nonlocal`.
    fn declare(&mut self, _name: &'a str, _global: bool, _at: TextRange) {}
    fn returns(&mut self, _value: &'a Expr) {}
    fn enter(&mut self, _scope: Scope<'a>) {}
    fn leave(&mut self) {}
    fn begin(&mut self, _block: Block) {}
    fn end(&mut self) {}
}
