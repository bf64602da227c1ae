//! Columns that an input does not have, and what its values cannot do.
//!
//! A finding needs an input whose columns are known, an expression that is surely a table of them,
//! and a name that nothing in the whole snippet could give to a column. If any of that is open,
//! nothing is said.

mod lookups;
pub(in crate::analysis) mod named_in;
mod names;
mod numbers;
mod tables;

pub(in crate::analysis) use names::UNSEEN;

use std::collections::HashSet;

use self::lookups::{By, Lookup, Lookups, Misuse, NO_DATES, NO_MEMBER, Use};
use self::names::Names;
use self::tables::{Inputs, Tables};
use super::Inspector;
use crate::analysis::hints;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{Expr, Stmt};
use crate::analysis::rules;
use crate::analysis::text::shown;
use crate::analysis::walk;
use crate::model::{Form, nearest};
use crate::policy::Contract;

const TABLE: &str = "pandas.DataFrame";
const COLUMN: &str = "pandas.Series";
const NO_KEY: &[&str] = &["TypeError"];
/// Groups and pairs of columns raise the second one.
const NO_NUMBER: &[&str] = &["TypeError", "ValueError"];
/// Columns that pandas and plotly add under names of their own.
const ADDED: &[&str] = &["index", "level_0", "level_1", "value", "variable"];
/// Columns that a hint names.
const NAMED: usize = 12;
/// The methods of a list.
const OF_LISTS: &[&str] = &[
    "append", "clear", "copy", "count", "extend", "index", "insert", "pop", "remove", "reverse",
    "sort",
];

impl<'a> Inspector<'a> {
    pub(super) fn missing_columns(&mut self, body: &'a [Stmt]) {
        let setting = self.setting;
        if self.policy.contract != Contract::Analysis || setting.values.is_empty() {
            return;
        }
        let names = Names::of(body);
        if names.is_open() {
            return;
        }
        let values = setting.values.iter().map(|(name, v)| (name.as_str(), v));
        let Some(tables) = Tables::of(&names, values) else {
            return;
        };
        let mut lookups = Lookups::new(&tables);
        walk::body(&mut lookups, body);
        let Lookups { found, misused, .. } = lookups;
        let looked_up: HashSet<usize> = found
            .iter()
            .filter(|one| one.by != By::Attribute)
            .map(Lookup::offset)
            .collect();
        let made = names.made(&looked_up);
        let mut missing: Vec<Lookup<'a>> = Vec::new();
        for one in found {
            let known = made.contains(one.column) || ADDED.contains(&one.column);
            if known || tables.has(one.of, one.column) {
                continue;
            }
            let indexed = tables.among(one.of).any(|(_, v)| v.form != Form::Table);
            if indexed && (one.by == By::Argument || names.is_read("reset_index")) {
                continue;
            }
            // `merge(on=…)` looks in both tables.
            match missing.iter_mut().find(|other| other.at == one.at) {
                Some(other) => other.of |= one.of,
                None => missing.push(one),
            }
        }
        for one in missing {
            self.no_column(&one, &tables);
        }
        for one in misused {
            match one.what {
                Use::Numbers { .. } if names.changes() => {}
                Use::Numbers {
                    columns,
                    keys,
                    method,
                    single,
                } if !names.is_assigned(method) => {
                    let made = |name: &String| made.contains(name.as_str());
                    let columns: Vec<&str> = columns
                        .iter()
                        .filter(|c| !made(c))
                        .map(String::as_str)
                        .collect();
                    if !columns.is_empty() && !keys.iter().any(made) {
                        self.not_numbers(one.at, &columns, method, single);
                    }
                }
                Use::Numbers { .. } => {}
                Use::Method { call, column } => {
                    let column = column.map(|name| tables.is_column(one.of, name));
                    let kind = match column {
                        None => TABLE,
                        Some(true) => COLUMN,
                        Some(false) => continue,
                    };
                    if let Expr::Attribute(x) = &*call.func {
                        self.wrong_keywords(call, &format!("{kind}.{}", x.attr.as_str()));
                    }
                }
                Use::Resample if names.is_read("set_index") || names.changes() => {}
                Use::Resample => self.no_dates(&one, &tables),
                Use::OfColumn { column, method } => {
                    let accessor = names.is_read("register_series_accessor");
                    if tables.is_column(one.of, column) && !accessor && !names.is_assigned(method) {
                        self.no_method(one.at, method);
                    }
                }
                _ => self.misused(&one, &tables, names.changes(), &made),
            }
        }
    }

    /// Reports `sales["region"].value_count()`: even a label of that name could not be called.
    fn no_method(&mut self, at: TextRange, method: &str) {
        let Some(python) = &self.setting.python else {
            return;
        };
        let python = (python.version, &python.releases);
        let Some(has) = self.r.library().class(COLUMN, &python) else {
            return;
        };
        if method.starts_with('_') || has.contains(method) || self.shows_progress(method) {
            return;
        }
        let written = format!("{COLUMN}.{method}");
        let near = nearest(method, has.iter().copied());
        let near = near.map(|near| format!("did you mean `{}`?", shown(near)));
        let hint = hints::member(&written).map(str::to_owned).or(near);
        self.fails(&rules::RUN_MEMBER, at, written, hint, NO_MEMBER);
    }

    fn no_column(&mut self, one: &Lookup<'a>, tables: &Tables<'_, 'a>) {
        let mut near = None;
        if one.by == By::Attribute {
            let Some(python) = &self.setting.python else {
                return;
            };
            let python = (python.version, &python.releases);
            let Some(has) = self.r.library().class(TABLE, &python) else {
                return;
            };
            let accessors = self.r.scopes.attributes_read.contains(ACCESSORS);
            let there = has.contains(one.column) || self.shows_progress(one.column);
            if one.column.starts_with('_') || there || accessors {
                return;
            }
            if let Some(instead) = hints::member(&format!("{TABLE}.{}", one.column)) {
                let column = one.column.to_owned();
                let hint = Some(instead.to_owned());
                return self.fails(&rules::RUN_COLUMN, one.at, column, hint, one.errors);
            }
            near = nearest(one.column, has.iter().copied());
        }
        let columns = tables.among(one.of).flat_map(|(_, value)| &value.columns);
        let near = nearest(one.column, columns.map(|c| c.name.as_str())).or(near);
        let near = near.map_or_else(String::new, |near| {
            format!("did you mean `{}`? ", shown(near))
        });
        let hint = format!("{near}{}", described(one.of, tables));
        let column = one.column.to_owned();
        self.fails(&rules::RUN_COLUMN, one.at, column, Some(hint), one.errors);
    }

    /// Reports `sales["region"].mean()`, and `sales.mean()` if columns are text. `single`: the
    /// method is called for that column only.
    fn not_numbers(&mut self, at: TextRange, columns: &[&str], method: &str, single: bool) {
        let Some(python) = &self.setting.python else {
            return;
        };
        let python = (python.version, &python.releases);
        // Other releases leave such columns out.
        let Some(has) = self.r.library().class(TABLE, &python) else {
            return;
        };
        let (subject, hint) = match columns {
            // `sales.size` is no column.
            [one] if single && has.contains(one) => return,
            [one] if single => (
                format!("{one}.{method}"),
                format!("`{}` is text: did you mean `value_counts()`?", shown(one)),
            ),
            [one] => (
                method.to_owned(),
                format!("use `numeric_only=True`; `{}` is text", shown(one)),
            ),
            all => {
                let some = all.iter().take(NAMED);
                let some: Vec<String> = some.map(|c| format!("`{}`", shown(c))).collect();
                let more = match all.len().saturating_sub(NAMED) {
                    0 => String::new(),
                    more => format!(", and {more} more"),
                };
                (
                    method.to_owned(),
                    format!(
                        "use `numeric_only=True`; {}{more} are text",
                        some.join(", ")
                    ),
                )
            }
        };
        self.fails(&rules::RUN_KIND, at, subject, Some(hint), NO_NUMBER);
    }

    /// Reports `sales.resample("ME")` where the index counts the rows.
    fn no_dates(&mut self, one: &Misuse<'a>, tables: &Tables<'_, 'a>) {
        if tables
            .among(one.of)
            .any(|(_, value)| value.form != Form::Table)
        {
            return;
        }
        let mut columns = tables.among(one.of).flat_map(|(_, value)| &value.columns);
        let dates = columns.find(|c| c.dtype.starts_with("datetime64"));
        let hint = match dates {
            Some(dates) => format!(
                "the index has no dates: add `on=\"{}\"`",
                shown(&dates.name)
            ),
            None => "the index has no dates: `pd.to_datetime` makes some of a column, and \
                     `resample(…, on=\"column\")` takes them"
                .to_owned(),
        };
        let subject = "resample".to_owned();
        self.fails(&rules::RUN_KIND, one.at, subject, Some(hint), NO_DATES);
    }

    fn misused(
        &mut self,
        one: &Misuse<'a>,
        tables: &Tables<'_, 'a>,
        changes: bool,
        made: &HashSet<&'a str>,
    ) {
        let names: Vec<&str> = tables.among(one.of).map(|(name, _)| name).collect();
        let name = names.join(" and ");
        let list = || {
            Some(format!(
                "`{name}` is a list of records: `pd.DataFrame({name})` makes a table of it"
            ))
        };
        let (subject, hint, errors) = match one.what {
            Use::Item => (name.clone(), list(), NO_KEY),
            Use::Attribute(attr) if OF_LISTS.contains(&attr) || attr.starts_with('_') => return,
            Use::Attribute(attr) => (format!("{name}.{attr}"), list(), NO_MEMBER),
            Use::Numbers { .. } | Use::Method { .. } | Use::OfColumn { .. } | Use::Resample => {
                return;
            }
            Use::Accessor { column, name } => {
                if changes || made.contains(column) {
                    return;
                }
                let lacks = |dtype: &str| match name {
                    "dt" => {
                        is_number(dtype) || matches!(dtype, "bool" | "object" | "str" | "string")
                    }
                    _ => is_number(dtype) || dtype.starts_with("datetime64"),
                };
                let mut dtypes = tables.among(one.of).map(|(_, value)| {
                    let named = value.columns.iter().find(|c| c.name == column);
                    named.map_or("", |c| c.dtype.as_str())
                });
                let first = dtypes.next().unwrap_or_default();
                if !lacks(first) || !dtypes.all(lacks) {
                    return;
                }
                let hint = match (name, is_number(first)) {
                    ("dt", false) => format!("`{column}` is {first}: use `pd.to_datetime` first"),
                    ("dt", true) => {
                        format!("`{column}` is {first}: use `pd.to_datetime` with its unit first")
                    }
                    _ => format!("`{column}` is {first}: use `.astype(str)` first"),
                };
                (format!("{column}.{name}"), Some(hint), NO_MEMBER)
            }
        };
        self.fails(&rules::RUN_KIND, one.at, subject, hint, errors);
    }
}

const ACCESSORS: &str = "register_dataframe_accessor";

fn is_number(dtype: &str) -> bool {
    const NUMBERS: &[&str] = &[
        "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32",
        "float64",
    ];
    NUMBERS.contains(&dtype)
}

/// The columns of the inputs, as many as a line holds.
fn described(of: Inputs, tables: &Tables<'_, '_>) -> String {
    let each = tables.among(of).map(|(name, value)| {
        let all = &value.columns;
        let some: Vec<String> = all.iter().take(NAMED).map(|c| shown(&c.name)).collect();
        let more = match all.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        format!("`{name}` has {}{more}", some.join(", "))
    });
    each.collect::<Vec<_>>().join("; ")
}
