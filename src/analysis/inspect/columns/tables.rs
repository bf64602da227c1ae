//! Which expressions are tables with the columns of inputs.

use std::borrow::Cow;
use std::collections::HashMap;

use super::names::{Names, is_renaming, text};
use crate::analysis::fold::fold;
use crate::analysis::parse::ast::{self, Expr};
use crate::analysis::walk::{Bound, Step};
use crate::model::{Form, Value};

/// A set of inputs, by their places in the list.
pub(super) type Inputs = u64;

/// What an expression may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Nothing is known yet.
    Never,
    /// A table. Its columns are among those of these inputs and those that the snippet names.
    Table {
        of: Inputs,
        /// Whether the columns of the inputs have the types they had there.
        kept: bool,
    },
    /// The table's `groupby`.
    Grouped(Inputs),
    /// A list of plain data.
    List(Inputs),
    Anything,
}

impl Kind {
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Never, one) | (one, Self::Never) => one,
            (Self::Table { of: a, kept: b }, Self::Table { of: c, kept: d }) => Self::Table {
                of: a | c,
                kept: b && d,
            },
            (Self::Grouped(a), Self::Grouped(b)) => Self::Grouped(a | b),
            (Self::List(a), Self::List(b)) => Self::List(a | b),
            _ => Self::Anything,
        }
    }

    const fn grouped(self) -> Self {
        match self {
            Self::Table { of, .. } => Self::Grouped(of),
            Self::Never => Self::Never,
            _ => Self::Anything,
        }
    }

    const fn changed(self) -> Self {
        match self {
            Self::Table { of, .. } => Self::Table { of, kept: false },
            Self::Never => Self::Never,
            _ => Self::Anything,
        }
    }

    /// The same rows or some of them.
    const fn rows(self) -> Self {
        match self {
            Self::Table { .. } | Self::Never => self,
            _ => Self::Anything,
        }
    }
}

/// Methods whose result has the table's columns, or fewer, with the same types.
const KEEPING: &[&str] = &[
    "copy",
    "drop",
    "drop_duplicates",
    "dropna",
    "head",
    "nlargest",
    "nsmallest",
    "query",
    "sample",
    "set_index",
    "sort_index",
    "sort_values",
    "tail",
];
/// The same with other types.
const CHANGING: &[&str] = &[
    "astype",
    "bfill",
    "clip",
    "convert_dtypes",
    "ffill",
    "fillna",
    "infer_objects",
    "replace",
    "round",
];

pub(super) struct Tables<'n, 'a> {
    pub names: &'n Names<'a>,
    pub inputs: Vec<(&'n str, &'n Value)>,
    kinds: HashMap<Cow<'a, str>, Kind>,
}

/// More inputs are not looked at.
const INPUTS: usize = 60;
/// Rounds until what the names are must be settled.
const ROUNDS: usize = 12;

impl<'n, 'a> Tables<'n, 'a> {
    /// `None` if nothing is certain.
    pub fn of(
        names: &'n Names<'a>,
        values: impl Iterator<Item = (&'n str, &'n Value)>,
    ) -> Option<Self> {
        let mut tables = Self {
            names,
            inputs: values.take(INPUTS).collect(),
            kinds: HashMap::new(),
        };
        for _ in 0..ROUNDS {
            let mut settled = true;
            for (name, bindings) in names.all() {
                let before = tables.kinds.get(name).copied();
                let mut kind = before.unwrap_or_else(|| tables.input(name));
                for bound in bindings {
                    if kind == Kind::Anything {
                        break;
                    }
                    kind = kind.or(tables.bound(bound));
                }
                if before != Some(kind) {
                    settled = false;
                    tables.kinds.insert(name.clone(), kind);
                }
            }
            if settled {
                return Some(tables);
            }
        }
        None
    }

    /// What an input of this name is before the snippet binds anything.
    fn input(&self, name: &str) -> Kind {
        let Some(at) = self.inputs.iter().position(|(input, _)| *input == name) else {
            return Kind::Never;
        };
        match self.inputs[at].1.form {
            Form::Table | Form::Indexed => Kind::Table {
                of: 1 << at,
                kept: true,
            },
            Form::List => Kind::List(1 << at),
        }
    }

    fn bound(&self, bound: &Bound<'a>) -> Kind {
        match bound {
            Bound::Value(e) => self.kind(e),
            Bound::Deleted => Kind::Never,
            // `for key, part in table.groupby(…)`.
            Bound::Part(e, way) => match (way.steps(), self.kind(e)) {
                ([Step::Element, Step::Index(1)], Kind::Grouped(of)) => {
                    Kind::Table { of, kept: true }
                }
                ([Step::Element, Step::Index(1)], Kind::Never) => Kind::Never,
                _ => Kind::Anything,
            },
            _ => Kind::Anything,
        }
    }

    pub fn kind(&self, e: &Expr) -> Kind {
        match e {
            Expr::Name(name) => {
                let name = fold(name.id.as_str());
                match self.kinds.get(&*name) {
                    Some(kind) => *kind,
                    // Not bound yet in this round, or bound by nothing but the input.
                    None if !self.names.bindings(&name).is_empty() => Kind::Never,
                    None => match self.input(&name) {
                        Kind::Never => Kind::Anything,
                        input => input,
                    },
                }
            }
            Expr::IfExp(x) => self.kind(&x.body).or(self.kind(&x.orelse)),
            Expr::NamedExpr(x) => self.kind(&x.value),
            Expr::Subscript(x) => self.part(x),
            Expr::Call(x) => self.call(x),
            _ => Kind::Anything,
        }
    }

    fn part(&self, x: &ast::ExprSubscript) -> Kind {
        let names =
            |e: &Expr| matches!(e, Expr::List(x) if x.elts.iter().all(|e| text(e).is_some()));
        if let Expr::Attribute(by) = &*x.value {
            let rows = match (by.attr.as_str(), &*x.slice) {
                ("loc" | "iloc", Expr::Tuple(x)) => match x.elts.as_slice() {
                    [rows, columns] if columns.is_slice_expr() || names(columns) => rows,
                    _ => return Kind::Anything,
                },
                ("loc" | "iloc", rows) => rows,
                _ => return Kind::Anything,
            };
            return match self.names.is_rows(rows) {
                true => self.kind(&by.value).rows(),
                false => Kind::Anything,
            };
        }
        match self.kind(&x.value) {
            Kind::Grouped(of) if names(&x.slice) => Kind::Grouped(of),
            Kind::Grouped(_) => Kind::Anything,
            kind if names(&x.slice) || self.names.is_rows(&x.slice) => kind.rows(),
            _ => Kind::Anything,
        }
    }

    fn call(&self, call: &ast::ExprCall) -> Kind {
        if let Some(path) = self.names.path(&call.func) {
            return self.function(&path, call);
        }
        let Expr::Attribute(x) = &*call.func else {
            return Kind::Anything;
        };
        let word = |name: &str| keyword(call, name).is_some();
        let unpacked = call.keywords.iter().any(|k| k.arg.is_none());
        if word("inplace") || unpacked || call.args.iter().any(Expr::is_starred_expr) {
            return Kind::Anything;
        }
        let of = || self.kind(&x.value);
        match x.attr.as_str() {
            // Its result has the columns under other names otherwise.
            "groupby" if !word("axis") => of().grouped(),
            method if KEEPING.contains(&method) => of().rows(),
            method if CHANGING.contains(&method) => of().changed(),
            "reset_index" if call.args.is_empty() && !word("names") => of().rows(),
            // The keywords are names of the snippet.
            "assign" if call.args.is_empty() => of().changed(),
            "rename"
                if call.args.is_empty()
                    && call.keywords.len() == 1
                    && keyword(call, "columns").is_some_and(is_renaming) =>
            {
                of().changed()
            }
            "merge" if !word("suffixes") && !word("indicator") => {
                let other = call.args.first().or_else(|| keyword(call, "right"));
                other.map_or(Kind::Anything, |other| self.both(&x.value, other))
            }
            _ => Kind::Anything,
        }
    }

    fn function(&self, path: &str, call: &ast::ExprCall) -> Kind {
        let plain = keyword(call, "suffixes").is_none() && keyword(call, "indicator").is_none();
        match (path, call.args.as_slice()) {
            ("pandas.merge", [left, right, ..]) if plain => self.both(left, right),
            ("pandas.DataFrame", [one]) if call.keywords.is_empty() => self.kind(one).rows(),
            _ => Kind::Anything,
        }
    }

    /// The merged table of two.
    fn both(&self, left: &Expr, right: &Expr) -> Kind {
        match (self.kind(left).changed(), self.kind(right).changed()) {
            (Kind::Never, _) | (_, Kind::Never) => Kind::Never,
            (one, other) => one.or(other),
        }
    }

    /// The inputs of a set.
    pub fn among(&self, of: Inputs) -> impl Iterator<Item = (&'n str, &'n Value)> + '_ {
        let all = self.inputs.iter().enumerate();
        all.filter(move |(at, _)| of & (1 << at) != 0)
            .map(|(_, input)| *input)
    }

    /// Whether each of these inputs has the column.
    pub fn is_column(&self, of: Inputs, name: &str) -> bool {
        let has = |value: &Value| value.columns.iter().any(|c| c.name == name);
        self.among(of).all(|(_, value)| has(value))
    }

    /// Whether some column of these inputs has the name, or a merge gives it.
    pub fn has(&self, of: Inputs, name: &str) -> bool {
        let stems = [Some(name), name.strip_suffix("_x"), name.strip_suffix("_y")];
        let mut columns = self.among(of).flat_map(|(_, value)| &value.columns);
        columns.any(|c| stems.iter().flatten().any(|stem| *stem == c.name))
    }
}

pub(super) fn keyword<'e>(call: &'e ast::ExprCall, name: &str) -> Option<&'e Expr> {
    let named = |k: &&ast::Keyword| k.arg.as_ref().is_some_and(|a| a.as_str() == name);
    call.keywords.iter().find(named).map(|k| &k.value)
}
