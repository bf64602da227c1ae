//! Text where pandas needs numbers: `sales["region"].mean()`, `sales.groupby("units").std()`.
//!
//! pandas raises nothing for an empty column and converts `"1"` and `"2"` to 12. So only columns
//! that are text throughout count, and only in tables with all rows of their input.

use std::collections::BTreeSet;

use super::lookups::{Misuse, Use};
use super::names::text;
use super::tables::{Kind, Tables, keyword};
use crate::analysis::fold::fold;
use crate::analysis::parse::ast::{self, Expr, Ranged};
use crate::analysis::walk::Bound;
use crate::model::Form;

/// Methods that fail on text in tables, columns, groups and by name in `agg`.
const NUMERIC: &[&str] = &["mean", "median", "sem", "skew", "std", "var"];
/// Methods of tables and columns only.
const UNGROUPED: &[&str] = &["kurt", "kurtosis"];
/// Methods of tables and groups of them.
const PAIRWISE: &[&str] = &["corr", "cov"];
/// Keywords that leave the failure as it is.
const HARMLESS: &[&str] = &["ddof", "method", "min_periods", "skipna"];
const OF_GROUPS: &[&str] = &["as_index", "by", "group_keys", "observed", "sort"];
/// Methods whose result has all rows of the table and its columns.
const WHOLE: &[&str] = &["copy", "sort_index", "sort_values"];
/// Key columns with texts: with a further one, a group without any text is possible.
const TEXT_KEYS: usize = 3;
/// Expressions that are looked at for one method call.
const STEPS: u32 = 500;
/// Names that are followed one after another.
const DEPTH: usize = 8;

/// What a method is called on.
struct Receiver<'n> {
    /// Its columns of text.
    texts: BTreeSet<&'n str>,
    form: Shape,
    /// The columns that it is grouped by.
    keys: Vec<&'n str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Table,
    Column,
}

/// The columns of text that a table surely has. `None` if a name stands for itself, so that its
/// other values decide.
type Texts<'a> = Option<BTreeSet<&'a str>>;

fn nothing<'a>() -> Texts<'a> {
    Some(BTreeSet::new())
}

fn both<'a>(one: Texts<'a>, other: Texts<'a>) -> Texts<'a> {
    match (one, other) {
        (None, any) | (any, None) => any,
        (Some(one), Some(other)) => Some(&one & &other),
    }
}

/// The text of a constant, or the texts of a list of them.
fn listed(e: &Expr) -> Option<Vec<&str>> {
    match e {
        Expr::List(x) => x.elts.iter().map(text).collect(),
        e => Some(vec![text(e)?]),
    }
}

fn is_plain(call: &ast::ExprCall, keywords: &[&str]) -> bool {
    let known = |k: &ast::Keyword| {
        let word = k.arg.as_ref().map(ast::Identifier::as_str);
        word.is_some_and(|word| keywords.contains(&word))
    };
    call.keywords.iter().all(known) && !call.args.iter().any(Expr::is_starred_expr)
}

struct Search<'t, 'n, 'a> {
    tables: &'t Tables<'n, 'a>,
    names: Vec<String>,
    steps: u32,
}

/// The use that surely fails because its columns are text, if the call is one.
pub(super) fn misuse<'a>(tables: &Tables<'_, 'a>, call: &'a ast::ExprCall) -> Option<Misuse<'a>> {
    let Expr::Attribute(x) = &*call.func else {
        return None;
    };
    let method = x.attr.as_str();
    let combines = matches!(method, "agg" | "aggregate");
    let known = [NUMERIC, UNGROUPED, PAIRWISE].concat().contains(&method);
    if !known && !combines {
        return None;
    }
    let mut search = Search {
        tables,
        names: Vec::new(),
        steps: STEPS,
    };
    let of = search.receiver(&x.value)?;
    let (columns, method) = match combines {
        true => combined(call, &of)?,
        false => {
            let plain = call.args.is_empty() && is_plain(call, HARMLESS);
            let fails = plain && of.fails(method);
            (fails.then(|| of.texts.iter().copied().collect())?, method)
        }
    };
    let columns: Vec<String> = columns.into_iter().map(str::to_owned).collect();
    let single = of.form == Shape::Column || (combines && columns.len() == 1 && !of.all(call));
    (!columns.is_empty()).then(|| Misuse {
        at: x.range(),
        of: 0,
        what: Use::Numbers {
            columns,
            keys: of.keys.into_iter().map(str::to_owned).collect(),
            method,
            single,
        },
    })
}

impl Receiver<'_> {
    fn fails(&self, method: &str) -> bool {
        NUMERIC.contains(&method)
            || (UNGROUPED.contains(&method) && self.keys.is_empty())
            || (PAIRWISE.contains(&method) && self.form == Shape::Table)
    }

    /// Whether `agg` gets a method for all columns.
    fn all(&self, call: &ast::ExprCall) -> bool {
        self.form == Shape::Table && call.args.first().is_some_and(|e| listed(e).is_some())
    }
}

/// The columns and the method of an `agg` that fails.
fn combined<'n, 'a: 'n>(
    call: &'a ast::ExprCall,
    of: &Receiver<'n>,
) -> Option<(Vec<&'n str>, &'a str)> {
    let failing = |e: &'a Expr| {
        let fails = |name: &&str| !PAIRWISE.contains(name) && of.fails(name);
        listed(e)?.into_iter().find(fails)
    };
    match call.args.as_slice() {
        [Expr::Dict(x)] if call.keywords.is_empty() && of.form == Shape::Table => {
            let mut each = x.keys.iter().zip(&x.values);
            each.find_map(|(key, value)| {
                let column = key.as_ref().and_then(text)?;
                let method = failing(value)?;
                of.texts.contains(column).then(|| (vec![column], method))
            })
        }
        [one] if call.keywords.is_empty() => {
            let method = failing(one)?;
            Some((of.texts.iter().copied().collect(), method))
        }
        [] => call.keywords.iter().find_map(|keyword| {
            keyword.arg.as_ref()?;
            match (&keyword.value, of.form) {
                (Expr::Tuple(x), Shape::Table) => match x.elts.as_slice() {
                    [column, method] => {
                        let (column, method) = (text(column)?, failing(method)?);
                        of.texts.contains(column).then(|| (vec![column], method))
                    }
                    _ => None,
                },
                _ => None,
            }
        }),
        _ => None,
    }
}

impl<'n, 'a> Search<'_, 'n, 'a> {
    fn receiver(&mut self, e: &'a Expr) -> Option<Receiver<'n>> {
        if let Some(grouped) = self.grouped(e) {
            return Some(grouped);
        }
        if let Some((table, column)) = member(e) {
            return self.column(table, column);
        }
        let texts = self.texts(e)?;
        (!texts.is_empty()).then(|| Receiver {
            texts,
            form: Shape::Table,
            keys: Vec::new(),
        })
    }

    fn column(&mut self, table: &'a Expr, column: &'a str) -> Option<Receiver<'n>> {
        let texts = self.texts(table)?;
        texts.contains(column).then(|| Receiver {
            texts: BTreeSet::from([column]),
            form: Shape::Column,
            keys: Vec::new(),
        })
    }

    /// `t.groupby(…)`, also with a selection of its columns.
    fn grouped(&mut self, e: &'a Expr) -> Option<Receiver<'n>> {
        self.steps = self.steps.checked_sub(1)?;
        match e {
            Expr::Name(name) => {
                let name = fold(name.id.as_str());
                match self.tables.names.bindings(&name) {
                    [Bound::Value(e)] if self.tables.kind(e) != Kind::Anything => self.grouped(e),
                    _ => None,
                }
            }
            Expr::Subscript(x) => {
                let mut of = self.grouped(&x.value)?;
                if of.form == Shape::Column {
                    return None;
                }
                let names = listed(&x.slice)?;
                of.texts.retain(|column| names.contains(column));
                if !x.slice.is_list_expr() {
                    of.form = Shape::Column;
                }
                Some(of)
            }
            Expr::Call(call) => {
                let Expr::Attribute(x) = &*call.func else {
                    return None;
                };
                let by = call.args.first().or_else(|| keyword(call, "by"));
                if x.attr.as_str() != "groupby" || call.args.len() > 1 || !is_plain(call, OF_GROUPS)
                {
                    return None;
                }
                let keys = listed(by?)?;
                let mut texts = self.texts(&x.value)?;
                let Kind::Table { of, .. } = self.tables.kind(&x.value) else {
                    return None;
                };
                if keys.is_empty() || !self.tables.among(of).all(|(_, v)| splits(v, &keys)) {
                    return None;
                }
                texts.retain(|column| !keys.contains(column));
                Some(Receiver {
                    texts,
                    form: Shape::Table,
                    keys,
                })
            }
            _ => None,
        }
    }

    fn texts(&mut self, e: &'a Expr) -> Texts<'n> {
        let Some(steps) = self.steps.checked_sub(1) else {
            return nothing();
        };
        self.steps = steps;
        match e {
            Expr::Name(name) => self.named(&fold(name.id.as_str())),
            Expr::IfExp(x) => both(self.texts(&x.body), self.texts(&x.orelse)),
            Expr::NamedExpr(x) => self.texts(&x.value),
            Expr::Subscript(x) => match &*x.slice {
                Expr::List(_) => {
                    let names = listed(&x.slice).unwrap_or_default();
                    let names = names.into_iter().collect();
                    both(self.texts(&x.value), Some(names))
                }
                _ => nothing(),
            },
            Expr::Call(call) => self.made(call),
            _ => nothing(),
        }
    }

    fn named(&mut self, name: &str) -> Texts<'n> {
        if self.names.iter().any(|one| one == name) {
            return None;
        }
        if self.names.len() == DEPTH {
            return nothing();
        }
        let mut input = self.tables.inputs.iter().filter(|(one, _)| *one == name);
        let mut texts = input.next().map(|(_, value)| match value.form {
            Form::Table | Form::Indexed => value.texts.iter().map(String::as_str).collect(),
            Form::List => BTreeSet::new(),
        });
        let bindings = self.tables.names.bindings(name);
        if texts.is_none() && bindings.is_empty() {
            return nothing();
        }
        self.names.push(name.to_owned());
        for bound in bindings {
            let value = match bound {
                Bound::Value(e) => self.texts(e),
                _ => nothing(),
            };
            texts = both(texts, value);
        }
        self.names.pop();
        texts
    }

    fn made(&mut self, call: &'a ast::ExprCall) -> Texts<'n> {
        if let Some(path) = self.tables.names.path(&call.func) {
            return match call.args.as_slice() {
                [one] if path == "pandas.DataFrame" && call.keywords.is_empty() => self.texts(one),
                _ => nothing(),
            };
        }
        let Expr::Attribute(x) = &*call.func else {
            return nothing();
        };
        let unpacked = call.keywords.iter().any(|k| k.arg.is_none());
        let inplace = keyword(call, "inplace").is_some();
        if inplace || unpacked || call.args.iter().any(Expr::is_starred_expr) {
            return nothing();
        }
        match x.attr.as_str() {
            method if WHOLE.contains(&method) => self.texts(&x.value),
            // The columns that it makes are names of the snippet.
            "assign" if call.args.is_empty() => self.texts(&x.value),
            "reset_index" if call.args.is_empty() && is_plain(call, &["drop"]) => {
                self.texts(&x.value)
            }
            "drop" if call.args.is_empty() && is_plain(call, &["columns"]) => {
                let names = keyword(call, "columns").and_then(listed);
                match (self.texts(&x.value), names) {
                    (Some(mut texts), Some(names)) => {
                        texts.retain(|column| !names.contains(column));
                        Some(texts)
                    }
                    _ => nothing(),
                }
            }
            _ => nothing(),
        }
    }
}

/// The table and the column of `t["x"]` or `t.x`.
pub(super) fn member(e: &Expr) -> Option<(&Expr, &str)> {
    match e {
        Expr::Subscript(of) => Some((&of.value, text(&of.slice)?)),
        Expr::Attribute(of) => Some((&of.value, of.attr.as_str())),
        _ => None,
    }
}

/// Whether some group by these keys surely has a text of any column of texts.
fn splits(value: &crate::model::Value, keys: &[&str]) -> bool {
    let is_text = |key: &&&str| value.texts.contains(**key);
    let whole = |key: &&str| {
        let column = value.columns.iter().find(|c| c.name == **key);
        // Columns of these types have no missing values.
        column.is_some_and(|c| {
            matches!(
                c.dtype.trim_start_matches('u'),
                "bool" | "int8" | "int16" | "int32" | "int64"
            )
        })
    };
    keys.iter().all(|key| is_text(&key) || whole(key))
        && keys.iter().filter(is_text).count() <= TEXT_KEYS
}
