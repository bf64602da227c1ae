//! The objects that a function makes itself: it may change them.

use std::collections::{HashMap, HashSet};

use super::given::last_name;
use super::words::{ADDS, CHANGES, EMPTY, FRESH};
use super::{Name, Names};
use crate::analysis::fold::fold;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Expr, Operator};
use crate::analysis::walk::{Bound, ExprPlace, TargetOf, Visitor};

/// The names a function binds, either to new objects or to anything else.
pub(super) struct Own<'n, 'a> {
    names: &'n Names<'a>,
    pub(super) fresh: HashSet<Name<'a>>,
    pub(super) other: HashSet<Name<'a>>,
    /// The fewest steps, `[…]` or `.…`, from the object of a name to one that may be another's.
    pub(super) steps: HashMap<Name<'a>, usize>,
    /// Names of new objects that may be of a class of the snippet.
    pub(super) made: HashSet<Name<'a>>,
    /// Names declared `global` or `nonlocal`, which are not local.
    pub(super) declared: HashSet<Name<'a>>,
}

impl<'n, 'a> Own<'n, 'a> {
    pub(super) fn new(names: &'n Names<'a>) -> Self {
        Self {
            names,
            fresh: HashSet::new(),
            other: HashSet::new(),
            steps: HashMap::new(),
            made: HashSet::new(),
            declared: HashSet::new(),
        }
    }
}

impl<'a> Own<'_, 'a> {
    fn at_most(&mut self, name: Name<'a>, steps: usize) {
        let known = self.steps.entry(name).or_insert(usize::MAX);
        *known = steps.min(*known);
    }

    /// A part of the object gets `to`.
    fn gets_part(&mut self, object: &'a Expr, to: Bound<'a>) {
        let (Expr::Name(name), taken) = root(object) else {
            return;
        };
        let more = match to {
            Bound::Value(value) => steps(self.names, value),
            Bound::Gains(value) => steps(self.names, value).max(1),
            _ => 0,
        };
        self.at_most(
            fold(name.id.as_str()),
            taken.saturating_add(1).saturating_add(more),
        );
    }
}

impl<'a> Visitor<'a> for Own<'_, 'a> {
    fn expression(&mut self, e: &'a Expr, _place: ExprPlace<'a>) {
        let Expr::Call(call) = e else { return };
        let Expr::Attribute(f) = &*call.func else {
            return;
        };
        let (Expr::Name(name), taken) = root(&f.value) else {
            return;
        };
        let attr = fold(f.attr.as_str());
        if !CHANGES.contains(&&*attr) {
            return;
        }
        let adds = ADDS.contains(&&*attr);
        let given = call
            .args
            .iter()
            .chain(call.keywords.iter().map(|k| &k.value));
        for one in given {
            let more = match steps(self.names, one) {
                usize::MAX => continue,
                // The elements of the argument become elements.
                more if !adds => more.min(1),
                more => more.saturating_add(1),
            };
            self.at_most(fold(name.id.as_str()), taken.saturating_add(more.max(1)));
        }
    }

    fn store_item(&mut self, target: &'a ast::ExprSubscript, _of: TargetOf, to: Bound<'a>) {
        match to {
            // The elements of the value become elements.
            Bound::Value(value) if target.slice.is_slice_expr() => {
                if let (Expr::Name(name), taken) = root(&target.value) {
                    let steps = steps(self.names, value).max(1);
                    self.at_most(fold(name.id.as_str()), taken.saturating_add(steps));
                }
            }
            _ => self.gets_part(&target.value, to),
        }
    }

    fn store_attribute(&mut self, target: &'a ast::ExprAttribute, _of: TargetOf, to: Bound<'a>) {
        self.gets_part(&target.value, to);
    }

    fn bind(&mut self, name: &'a str, _at: TextRange, to: Bound<'a>) {
        let name = fold(name);
        let (Bound::Value(value) | Bound::Gains(value)) = to else {
            self.other.insert(name);
            return;
        };
        self.at_most(name.clone(), steps(self.names, value).max(1));
        if matches!(to, Bound::Gains(_)) {
            return;
        }
        if let Expr::Call(call) = value
            && last_name(&call.func).is_none_or(|f| is_own(self.names, &f))
        {
            self.made.insert(name.clone());
        }
        if is_new(self.names, value) {
            self.fresh.insert(name);
        } else {
            self.other.insert(name);
        }
    }

    fn declare(&mut self, name: &'a str, _global: bool, _at: TextRange) {
        self.declared.insert(fold(name));
    }
}

/// Whether the value of the expression is a new object that nothing else references.
pub(super) fn is_new(names: &Names<'_>, e: &Expr) -> bool {
    match e {
        Expr::List(_)
        | Expr::Dict(_)
        | Expr::Set(_)
        | Expr::ListComp(_)
        | Expr::DictComp(_)
        | Expr::SetComp(_)
        | Expr::JoinedStr(_)
        | Expr::Constant(_)
        | Expr::BinOp(_) => true,
        Expr::Call(call) => match &*call.func {
            Expr::Name(f) => {
                let name = fold(f.id.as_str());
                names.classes.contains(&name)
                    || (FRESH.contains(&&*name) && !names.functions.contains(&name))
            }
            Expr::Attribute(f) => {
                let name = fold(f.attr.as_str());
                FRESH.contains(&&*name) && !names.functions.contains(&name)
            }
            Expr::Call(inner) => {
                matches!(&*inner.func, Expr::Name(f) if f.id.as_str() == "type")
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether a call of this name may make an object of a class of the snippet.
pub(super) fn is_own(names: &Names<'_>, name: &str) -> bool {
    names.classes.contains(name) || matches!(name, "copy" | "deepcopy" | "type")
}

/// The `x` of `x[0].a[1]`, and the number of steps from there.
pub(super) fn root(e: &Expr) -> (&Expr, usize) {
    match e {
        Expr::Attribute(x) => {
            let (root, steps) = root(&x.value);
            (root, steps.saturating_add(1))
        }
        Expr::Subscript(x) => {
            let (root, steps) = root(&x.value);
            (root, steps.saturating_add(1))
        }
        other => (other, 0),
    }
}

/// The fewest steps from the expression's object to one that may be another's; 0: the object
/// itself.
pub(super) fn steps(names: &Names<'_>, e: &Expr) -> usize {
    let steps = |e: &Expr| steps(names, e);
    let fewest = |all: &[Expr]| all.iter().map(&steps).min().unwrap_or(usize::MAX);
    let inside = |steps: usize| steps.saturating_add(1);
    match e {
        Expr::Constant(_)
        | Expr::JoinedStr(_)
        | Expr::Lambda(_)
        | Expr::Compare(_)
        | Expr::UnaryOp(_) => usize::MAX,
        Expr::List(x) => inside(fewest(&x.elts)),
        Expr::Tuple(x) => inside(fewest(&x.elts)),
        Expr::Set(x) => inside(fewest(&x.elts)),
        Expr::Dict(x) if x.keys.iter().all(Option::is_some) => inside(fewest(&x.values)),
        Expr::ListComp(x) => inside(steps(&x.elt)),
        Expr::SetComp(x) => inside(steps(&x.elt)),
        Expr::DictComp(x) => inside(steps(&x.value)),
        // A list times a number has the list's elements.
        Expr::BinOp(x) if x.op == Operator::Mult => {
            let list = |e: &Expr| matches!(e, Expr::List(_) | Expr::Tuple(_));
            match (list(&x.left), list(&x.right)) {
                (true, _) => steps(&x.left),
                (_, true) => steps(&x.right),
                _ => 1,
            }
        }
        Expr::BinOp(_) => 1,
        Expr::Call(call) => match last_name(&call.func) {
            Some(name) if EMPTY.contains(&&*name) => usize::MAX,
            Some(name) if FRESH.contains(&&*name) || names.bare.contains_key(&name) => {
                let named = call.keywords.iter().map(|k| steps(&k.value)).min();
                let given = fewest(&call.args).min(named.unwrap_or(usize::MAX));
                given.saturating_add(names.bare.get(&name).copied().unwrap_or(1))
            }
            _ => 0,
        },
        _ => 0,
    }
}
