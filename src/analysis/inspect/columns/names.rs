//! What a snippet binds, and what it could name a column.
//!
//! All scopes count as one and the order of statements does not matter: a name that is bound twice
//! has both values, and a column that is stored anywhere may exist everywhere. So nothing here
//! depends on which code runs.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::analysis::fold::fold;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Constant, Expr, ExprContext, Ranged, Stmt};
use crate::analysis::walk::{Bound, ExprPlace, TargetOf, Visitor, body};

/// Names through which columns or names can be bound unseen.
pub(in crate::analysis) const UNSEEN: &[&str] = &[
    "__delitem__",
    "__dict__",
    "__setitem__",
    "eval",
    "exec",
    "globals",
    "isetitem",
    "locals",
    "set_axis",
    "set_names",
    "setattr",
    "setitem",
    "vars",
];
/// Attributes whose assignment renames columns or the index.
const RENAMING: &[&str] = &["columns", "index", "name", "names", "values"];
/// Calls that only show their arguments.
const SHOWING: &[&str] = &[
    "print",
    "set_title",
    "set_xlabel",
    "set_ylabel",
    "suptitle",
    "title",
    "xlabel",
    "ylabel",
];
/// Keyword arguments that never make a column.
const READING: &[&str] = &[
    "by", "color", "hue", "label", "on", "size", "style", "subset", "title", "x", "xlabel", "y",
    "ylabel",
];
/// Calls whose result is no table and holds none that is stored into.
const PLAIN: &[&str] = &[
    "Counter",
    "OrderedDict",
    "arange",
    "array",
    "bytearray",
    "defaultdict",
    "dict",
    "empty",
    "full",
    "linspace",
    "list",
    "ones",
    "zeros",
    "zeros_like",
];

#[derive(Default)]
pub(super) struct Names<'a> {
    bound: HashMap<Cow<'a, str>, Vec<Bound<'a>>>,
    /// Every text of the snippet, by its offset.
    texts: Vec<(usize, &'a str)>,
    /// Offsets of texts that are only read or shown.
    reading: HashSet<usize>,
    /// Keywords and assigned attributes.
    words: HashSet<&'a str>,
    /// Assigned attributes.
    assigned: HashSet<&'a str>,
    /// Attributes and names that are read.
    read: HashSet<&'a str>,
    stores: Vec<&'a ast::ExprSubscript>,
    /// Whether columns with unknown names may be added, or names bound unseen.
    open: bool,
    /// Whether cells may be changed in place.
    changes: bool,
}

impl<'a> Names<'a> {
    pub fn of(statements: &'a [Stmt]) -> Self {
        let mut names = Self::default();
        body(&mut names, statements);
        let stores = std::mem::take(&mut names.stores);
        for store in stores {
            let (opens, changes) = names.stored(store);
            names.open |= opens;
            names.changes |= changes;
        }
        names.open |= UNSEEN.iter().any(|word| names.read.contains(word));
        names
    }

    /// Whether columns of unknown names may be added.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Whether cells may be changed in place.
    pub fn changes(&self) -> bool {
        self.changes
    }

    pub fn is_assigned(&self, attribute: &str) -> bool {
        self.assigned.contains(attribute)
    }

    pub fn is_read(&self, word: &str) -> bool {
        self.read.contains(word)
    }

    pub fn bindings(&self, name: &str) -> &[Bound<'a>] {
        self.bound.get(name).map_or(&[], Vec::as_slice)
    }

    pub fn all(&self) -> impl Iterator<Item = (&Cow<'a, str>, &Vec<Bound<'a>>)> {
        self.bound.iter()
    }

    /// The names that a column could have been given. `looked_up`: offsets of texts that only look
    /// one up.
    pub fn made(&self, looked_up: &HashSet<usize>) -> HashSet<&'a str> {
        let texts = self.texts.iter();
        let made = texts.filter(|(at, _)| !self.reading.contains(at) && !looked_up.contains(at));
        made.map(|(_, text)| *text)
            .chain(self.words.iter().copied())
            .collect()
    }

    /// The dotted path of a module's member, if the name of the module is bound to nothing else.
    pub fn path(&self, e: &Expr) -> Option<String> {
        match e {
            Expr::Name(name) => {
                let name = fold(name.id.as_str());
                match self.bindings(&name) {
                    [] => match &*name {
                        "pd" => Some("pandas".to_owned()),
                        _ => None,
                    },
                    [first, rest @ ..] => {
                        let path = imported(first)?;
                        let same = |b: &Bound<'a>| imported(b).as_ref() == Some(&path);
                        rest.iter().all(same).then_some(path)
                    }
                }
            }
            Expr::Attribute(x) => Some(format!("{}.{}", self.path(&x.value)?, x.attr.as_str())),
            _ => None,
        }
    }

    /// Whether the name is surely no table.
    fn is_plain(&self, name: &str) -> bool {
        let plain = |b: &Bound<'a>| match b {
            Bound::Value(e) => is_plain(e),
            Bound::Gains(_) | Bound::Deleted => true,
            _ => false,
        };
        let bindings = self.bindings(name);
        !bindings.is_empty() && bindings.iter().all(plain)
    }

    /// Whether a store may add columns with unknown names, and whether it may change cells.
    fn stored(&self, store: &'a ast::ExprSubscript) -> (bool, bool) {
        match &*store.value {
            Expr::Name(name) if self.is_plain(&fold(name.id.as_str())) => (false, false),
            Expr::Attribute(x) => match (x.attr.as_str(), &*store.slice) {
                ("iloc" | "iat", _) => (false, true),
                ("loc" | "at", Expr::Tuple(x)) => match x.elts.as_slice() {
                    [_, column] => (!is_literal(column) && !column.is_slice_expr(), true),
                    _ => (true, true),
                },
                ("loc" | "at", _) => (false, true),
                ("values" | "columns", _) => (true, true),
                (_, slice) => (!is_literal(slice), true),
            },
            _ => {
                let slice = &*store.slice;
                let known = is_literal(slice);
                // `sales["region"][0] = 1` changes a cell.
                let cell = known && !is_named(slice);
                (!known && !self.is_rows(slice), !known || cell)
            }
        }
    }

    /// Whether an index surely selects rows and no column.
    pub fn is_rows(&self, e: &Expr) -> bool {
        self.rows(e, 0)
    }

    fn rows(&self, e: &Expr, depth: usize) -> bool {
        const OF_MASKS: &[&str] = &[
            "between",
            "contains",
            "duplicated",
            "endswith",
            "eq",
            "ge",
            "gt",
            "isin",
            "isna",
            "isnull",
            "le",
            "lt",
            "ne",
            "notna",
            "notnull",
            "startswith",
        ];
        if depth > 20 {
            return false;
        }
        match e {
            Expr::Slice(_) => true,
            Expr::Compare(x) => !x.ops.iter().any(|op| {
                use ast::CmpOp::{In, Is, IsNot, NotIn};
                matches!(op, In | NotIn | Is | IsNot)
            }),
            Expr::UnaryOp(x) => x.op == ast::UnaryOp::Invert && self.rows(&x.operand, depth + 1),
            Expr::BinOp(x) => {
                matches!(x.op, ast::Operator::BitAnd | ast::Operator::BitOr)
                    && self.rows(&x.left, depth + 1)
                    && self.rows(&x.right, depth + 1)
            }
            Expr::Call(x) => {
                matches!(&*x.func, Expr::Attribute(f) if OF_MASKS.contains(&f.attr.as_str()))
            }
            Expr::Name(name) => {
                let bindings = self.bindings(&fold(name.id.as_str()));
                let rows = |b: &Bound<'a>| matches!(b, Bound::Value(e) if self.rows(e, depth + 5));
                !bindings.is_empty() && bindings.iter().all(rows)
            }
            _ => false,
        }
    }

    fn called(&mut self, call: &'a ast::ExprCall) {
        let name = match &*call.func {
            Expr::Name(f) => f.id.as_str(),
            Expr::Attribute(f) => f.attr.as_str(),
            _ => return,
        };
        if SHOWING.contains(&name) {
            self.reading.extend(call.args.iter().map(offset));
        }
        for keyword in &call.keywords {
            match keyword.arg.as_ref().map(ast::Identifier::as_str) {
                Some(word) if READING.contains(&word) => {
                    self.reads(&keyword.value);
                }
                Some("inplace") => {
                    self.changes = true;
                    let named =
                        |k: &ast::Keyword| k.arg.as_ref().is_some_and(|a| a.as_str() == "columns");
                    let renames = matches!(name, "rename" | "rename_axis");
                    let known = |k: &ast::Keyword| named(k) && is_renaming(&k.value);
                    self.open |= renames && !call.keywords.iter().any(known);
                }
                _ => {}
            }
        }
        // `DataFrame.insert(loc, column, value)`.
        if name == "insert" && call.args.len() + call.keywords.len() >= 3 {
            let column = call.args.get(1);
            self.open |= !column.is_some_and(is_literal);
        }
        // A table's `pop` takes the column out of it.
        let takes = name == "pop" && call.args.first().and_then(text).is_some();
        self.changes |= takes || matches!(name, "insert" | "update");
    }

    /// The texts of an expression do not make columns.
    fn reads(&mut self, e: &'a Expr) {
        match e {
            Expr::List(x) => x.elts.iter().for_each(|e| self.reads(e)),
            Expr::Tuple(x) => x.elts.iter().for_each(|e| self.reads(e)),
            Expr::Constant(_) => drop(self.reading.insert(offset(e))),
            _ => {}
        }
    }
}

pub(super) fn offset(e: &Expr) -> usize {
    e.range().start().to_usize()
}

/// The module or member that a binding imports.
fn imported(bound: &Bound<'_>) -> Option<String> {
    match bound {
        Bound::Module(path) => Some((*path).to_owned()),
        Bound::Member { module, name } => Some(format!("{module}.{name}")),
        _ => None,
    }
}

pub(super) fn text(e: &Expr) -> Option<&str> {
    match e {
        Expr::Constant(ast::ExprConstant {
            value: Constant::Str(text),
            ..
        }) => Some(text),
        _ => None,
    }
}

/// Whether the names in an index all stand there.
fn is_literal(e: &Expr) -> bool {
    match e {
        Expr::Constant(_) => true,
        Expr::List(x) => x.elts.iter().all(is_literal),
        Expr::Tuple(x) => x.elts.iter().all(is_literal),
        Expr::UnaryOp(x) => is_literal(&x.operand),
        _ => false,
    }
}

/// Whether an index is a name, or a list of names.
fn is_named(e: &Expr) -> bool {
    match e {
        Expr::List(x) => x.elts.iter().all(is_named),
        e => text(e).is_some(),
    }
}

/// Whether an argument of `rename` has all new names in it.
pub(super) fn is_renaming(e: &Expr) -> bool {
    matches!(e, Expr::Dict(x) if x.keys.iter().all(Option::is_some) && x.values.iter().all(is_literal))
}

fn is_plain(e: &Expr) -> bool {
    match e {
        Expr::Dict(_)
        | Expr::List(_)
        | Expr::Set(_)
        | Expr::ListComp(_)
        | Expr::DictComp(_)
        | Expr::SetComp(_)
        | Expr::Constant(_) => true,
        Expr::Call(x) => {
            let name = match &*x.func {
                Expr::Name(f) => f.id.as_str(),
                Expr::Attribute(f) => f.attr.as_str(),
                _ => return false,
            };
            PLAIN.contains(&name)
        }
        Expr::BinOp(x) => is_plain(&x.left),
        _ => false,
    }
}

impl<'a> Visitor<'a> for Names<'a> {
    fn expression(&mut self, e: &'a Expr, _place: ExprPlace<'a>) {
        match e {
            Expr::Constant(_) => self.texts.extend(text(e).map(|text| (offset(e), text))),
            Expr::Subscript(x) if x.ctx != ExprContext::Store => self.reads(&x.slice),
            Expr::JoinedStr(x) => x.values.iter().for_each(|e| self.reads(e)),
            Expr::Call(x) => self.called(x),
            Expr::Name(x) if x.ctx == ExprContext::Load => {
                self.read.insert(x.id.as_str());
            }
            Expr::Attribute(x) => {
                self.read.insert(x.attr.as_str());
            }
            _ => {}
        }
    }

    fn bind(&mut self, name: &'a str, _at: TextRange, to: Bound<'a>) {
        if let Bound::Member { name: "*", .. } = to {
            self.open = true;
        }
        self.bound.entry(fold(name)).or_default().push(to);
    }

    fn keyword(&mut self, name: &'a str, _at: TextRange) {
        self.words.insert(name);
    }

    fn store_attribute(&mut self, target: &'a ast::ExprAttribute, _of: TargetOf, _to: Bound<'a>) {
        self.words.insert(target.attr.as_str());
        self.assigned.insert(target.attr.as_str());
        self.open |= RENAMING.contains(&target.attr.as_str());
    }

    fn store_item(&mut self, target: &'a ast::ExprSubscript, of: TargetOf, _to: Bound<'a>) {
        match of {
            TargetOf::Delete => self.changes = true,
            _ => self.stores.push(target),
        }
    }
}
