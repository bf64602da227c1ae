//! The places where a snippet looks a column up.

use super::named_in::names_in;
use super::names::text;
use super::numbers;
use super::tables::{Inputs, Kind, Tables, keyword};
use crate::analysis::library::is_builtin;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Constant, Expr, ExprContext, Ranged};
use crate::analysis::walk::{ExprPlace, Visitor};

/// A column that is looked up.
pub(super) struct Lookup<'a> {
    pub column: &'a str,
    pub at: TextRange,
    pub of: Inputs,
    pub by: By,
    /// The classes of the error, narrowest first.
    pub errors: &'static [&'static str],
}

/// How a column is named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum By {
    /// `t["x"]`.
    Item,
    /// An argument, which may be a name of the index too.
    Argument,
    /// `t.x`.
    Attribute,
}

/// An attribute that a value of this kind lacks.
pub(super) struct Misuse<'a> {
    pub at: TextRange,
    pub of: Inputs,
    pub what: Use<'a>,
}

pub(super) enum Use<'a> {
    /// `.dt` or `.str` of a column.
    Accessor { column: &'a str, name: &'a str },
    /// `reviews["text"]` of a list.
    Item,
    /// `reviews.groupby` of a list.
    Attribute(&'a str),
    /// A call of a method of a table or of its column.
    Method {
        call: &'a ast::ExprCall,
        /// The column that it is called on.
        column: Option<&'a str>,
    },
    /// `t.resample("ME")`, which needs dates in the index.
    Resample,
    /// A method that is called on a column.
    OfColumn { column: &'a str, method: &'a str },
    /// A method that needs numbers, on columns of text.
    Numbers {
        columns: Vec<String>,
        /// The columns that the table is grouped by.
        keys: Vec<String>,
        method: &'a str,
        /// Whether the method is called for one column only.
        single: bool,
    },
}

const MISSING: &[&str] = &["KeyError", "LookupError"];
pub(super) const NO_MEMBER: &[&str] = &["AttributeError"];
/// What pandas raises for a name that no column of the query's table has.
const UNDEFINED: &[&str] = &["NameError"];
/// What patsy raises for a name in a formula.
const NOT_EVALUATED: &[&str] = &["PatsyError", "NameError"];
pub(super) const NO_DATES: &[&str] = &["TypeError"];
const NO_NAME: &[&str] = &["ValueError"];
const NOT_DRAWN: &[&str] = &["ValueError", "KeyError", "LookupError"];

/// Methods of tables with the arguments that name columns: position and keyword.
const METHODS: &[(&str, &[(usize, &str)])] = &[
    ("boxplot", &[(0, "column"), (1, "by")]),
    ("drop", &[(9, "columns")]),
    ("drop_duplicates", &[(0, "subset")]),
    ("dropna", &[(9, "subset")]),
    ("duplicated", &[(0, "subset")]),
    ("explode", &[(0, "column")]),
    ("groupby", &[(0, "by")]),
    ("hist", &[(0, "column"), (1, "by")]),
    ("melt", &[(0, "id_vars"), (1, "value_vars")]),
    ("merge", &[(2, "on"), (3, "left_on")]),
    ("nlargest", &[(1, "columns")]),
    ("nsmallest", &[(1, "columns")]),
    ("pivot", &[(9, "columns"), (9, "index"), (9, "values")]),
    (
        "pivot_table",
        &[(0, "values"), (1, "index"), (2, "columns")],
    ),
    ("plot", &[(0, "x"), (1, "y")]),
    ("set_index", &[(0, "keys")]),
    ("sort_values", &[(0, "by")]),
    ("value_counts", &[(0, "subset")]),
];
/// Keywords under which these arguments name something else, or a missing one is no error.
const OTHERWISE: &[&str] = &["axis", "errors", "level"];
/// Methods of `t.plot` with columns `x` and `y`.
const PLOTS: &[&str] = &[
    "area", "bar", "barh", "box", "hexbin", "hist", "line", "pie", "scatter",
];
/// Functions of plotly.express that draw a table, and the arguments that name one column each.
const EXPRESS: &[&str] = &[
    "area",
    "bar",
    "box",
    "density_contour",
    "density_heatmap",
    "ecdf",
    "funnel",
    "histogram",
    "line",
    "pie",
    "scatter",
    "scatter_3d",
    "strip",
    "treemap",
    "violin",
];
const DRAWN: &[&str] = &[
    "color",
    "facet_col",
    "facet_row",
    "hover_name",
    "line_group",
    "names",
    "size",
    "symbol",
    "values",
    "x",
    "y",
    "z",
];
/// Models of statsmodels whose second argument is the table.
const MODELS: &[&str] = &[
    "glm",
    "gls",
    "glsar",
    "logit",
    "mixedlm",
    "mnlogit",
    "negativebinomial",
    "ols",
    "poisson",
    "probit",
    "quantreg",
    "rlm",
    "wls",
];
/// Names that formulas have.
const CONTRASTS: &[&str] = &["Diff", "Helmert", "Poly", "Sum", "Treatment"];
/// Functions of seaborn that draw columns of `data`.
const SEABORN: &[&str] = &[
    "barplot",
    "boxenplot",
    "boxplot",
    "catplot",
    "countplot",
    "displot",
    "ecdfplot",
    "histplot",
    "jointplot",
    "kdeplot",
    "lineplot",
    "lmplot",
    "pointplot",
    "regplot",
    "relplot",
    "scatterplot",
    "stripplot",
    "swarmplot",
    "violinplot",
];
const SHOWN: &[&str] = &["col", "hue", "row", "size", "style", "x", "y"];

pub(super) struct Lookups<'t, 'n, 'a> {
    tables: &'t Tables<'n, 'a>,
    pub found: Vec<Lookup<'a>>,
    pub misused: Vec<Misuse<'a>>,
}

impl<'t, 'n, 'a> Lookups<'t, 'n, 'a> {
    pub fn new(tables: &'t Tables<'n, 'a>) -> Self {
        Self {
            tables,
            found: Vec::new(),
            misused: Vec::new(),
        }
    }

    fn table(&self, e: &Expr) -> Option<Inputs> {
        match self.tables.kind(e) {
            Kind::Table { of, .. } => Some(of),
            Kind::Never | Kind::Grouped(_) | Kind::List(_) | Kind::Anything => None,
        }
    }

    fn one(&mut self, e: &'a Expr, of: Inputs, by: By, errors: &'static [&'static str]) {
        if let Some(column) = text(e) {
            self.found.push(Lookup {
                column,
                at: e.range(),
                of,
                by,
                errors,
            });
        }
    }

    /// One name or a list of names.
    fn each(&mut self, e: &'a Expr, of: Inputs, by: By, errors: &'static [&'static str]) {
        match e {
            Expr::List(x) => x.elts.iter().for_each(|e| self.one(e, of, by, errors)),
            e => self.one(e, of, by, errors),
        }
    }

    fn item(&mut self, x: &'a ast::ExprSubscript) {
        if x.ctx != ExprContext::Load {
            return;
        }
        if let Expr::Attribute(by) = &*x.value
            && matches!(by.attr.as_str(), "loc" | "at")
            && let Expr::Tuple(pair) = &*x.slice
            && let [_, column] = pair.elts.as_slice()
            && let Some(of) = self.table(&by.value)
        {
            return self.each(column, of, By::Item, MISSING);
        }
        match self.tables.kind(&x.value) {
            Kind::Table { of, .. } | Kind::Grouped(of) => {
                self.each(&x.slice, of, By::Item, MISSING);
            }
            Kind::List(of) if text(&x.slice).is_some() || x.slice.is_list_expr() => {
                self.misused.push(Misuse {
                    at: x.range,
                    of,
                    what: Use::Item,
                });
            }
            Kind::List(_) | Kind::Never | Kind::Anything => {}
        }
    }

    fn attribute(&mut self, x: &'a ast::ExprAttribute) {
        if x.ctx != ExprContext::Load {
            return;
        }
        if let "dt" | "str" = x.attr.as_str() {
            self.accessor(x);
        }
        match self.tables.kind(&x.value) {
            Kind::Table { of, .. } => self.found.push(Lookup {
                column: x.attr.as_str(),
                at: x.range,
                of,
                by: By::Attribute,
                errors: NO_MEMBER,
            }),
            Kind::List(of) => self.misused.push(Misuse {
                at: x.range,
                of,
                what: Use::Attribute(x.attr.as_str()),
            }),
            Kind::Grouped(_) | Kind::Never | Kind::Anything => {}
        }
    }

    /// `t["x"].dt`.
    fn accessor(&mut self, x: &'a ast::ExprAttribute) {
        if let Some((table, column)) = numbers::member(&x.value)
            && let Kind::Table { of, kept: true } = self.tables.kind(table)
        {
            self.misused.push(Misuse {
                at: x.range,
                of,
                what: Use::Accessor {
                    column,
                    name: x.attr.as_str(),
                },
            });
        }
    }

    fn call(&mut self, call: &'a ast::ExprCall) {
        if let Some(path) = self.tables.names.path(&call.func) {
            return self.function(&path, call);
        }
        let Expr::Attribute(x) = &*call.func else {
            return;
        };
        self.misused.extend(numbers::misuse(self.tables, call));
        if !call.keywords.is_empty() {
            self.keywords(call, &x.value);
        }
        if let Some((table, column)) = numbers::member(&x.value)
            && let Some(of) = self.table(table)
        {
            let method = x.attr.as_str();
            self.misused.push(Misuse {
                at: x.range,
                of,
                what: Use::OfColumn { column, method },
            });
        }
        let method = x.attr.as_str();
        if let Expr::Attribute(plot) = &*x.value
            && plot.attr.as_str() == "plot"
            && PLOTS.contains(&method)
            && let Some(of) = self.table(&plot.value)
        {
            return self.arguments(call, &[(0, "x"), (1, "y")], of, MISSING);
        }
        match self.tables.kind(&x.value) {
            Kind::Table { of, .. } => self.method(method, call, of),
            Kind::Grouped(of) if matches!(method, "agg" | "aggregate") => self.combined(call, of),
            Kind::Grouped(_) | Kind::List(_) | Kind::Never | Kind::Anything => {}
        }
    }

    /// A call with keywords on a table or on `t["x"]`.
    fn keywords(&mut self, call: &'a ast::ExprCall, on: &'a Expr) {
        let (table, column) = match on {
            Expr::Subscript(x) if text(&x.slice).is_some() => (&*x.value, text(&x.slice)),
            on => (on, None),
        };
        if let Some(of) = self.table(table) {
            self.misused.push(Misuse {
                at: call.range,
                of,
                what: Use::Method { call, column },
            });
        }
    }

    fn method(&mut self, method: &str, call: &'a ast::ExprCall, of: Inputs) {
        if matches!(method, "agg" | "aggregate") {
            return self.combined(call, of);
        }
        if method == "drop" && keyword(call, "errors").is_none() {
            let across = keyword(call, "axis").is_some_and(is_columns);
            if across && let Some(names) = call.args.first() {
                return self.each(names, of, By::Item, MISSING);
            }
        }
        if OTHERWISE.iter().any(|word| keyword(call, word).is_some()) {
            return;
        }
        if method == "resample" && keyword(call, "on").is_none() {
            self.misused.push(Misuse {
                at: call.range,
                of,
                what: Use::Resample,
            });
        }
        if method == "query" {
            let query = call.args.first().or_else(|| keyword(call, "expr"));
            return self.named(query, of, UNDEFINED);
        }
        if let Some((_, arguments)) = METHODS.iter().find(|(name, _)| *name == method) {
            self.arguments(call, arguments, of, MISSING);
        }
        if method == "merge" {
            let other = call.args.first().or_else(|| keyword(call, "right"));
            if let Some(of) = other.and_then(|other| self.table(other)) {
                self.arguments(call, &[(2, "on"), (4, "right_on")], of, MISSING);
            }
        }
    }

    fn arguments(
        &mut self,
        call: &'a ast::ExprCall,
        places: &[(usize, &str)],
        of: Inputs,
        errors: &'static [&'static str],
    ) {
        let starred = call.args.iter().any(Expr::is_starred_expr);
        for (at, word) in places {
            let positional = call.args.get(*at).filter(|_| !starred);
            if let Some(e) = positional.or_else(|| keyword(call, word)) {
                self.each(e, of, By::Argument, errors);
            }
        }
    }

    /// `agg({"x": "sum"})` and `agg(total=("x", "sum"))`.
    fn combined(&mut self, call: &'a ast::ExprCall, of: Inputs) {
        let first = call.args.first().or_else(|| keyword(call, "func"));
        if let Some(Expr::Dict(x)) = first {
            for key in x.keys.iter().flatten() {
                self.one(key, of, By::Item, MISSING);
            }
        }
        for keyword in &call.keywords {
            if let Expr::Tuple(x) = &keyword.value
                && let [column, _] = x.elts.as_slice()
            {
                self.one(column, of, By::Item, MISSING);
            }
        }
    }

    fn function(&mut self, path: &str, call: &'a ast::ExprCall) {
        let (module, name) = path.rsplit_once('.').unwrap_or(("", path));
        let first = call.args.first();
        match module {
            "pandas" if name == "merge" => {
                let left = first.or_else(|| keyword(call, "left"));
                let right = call.args.get(1).or_else(|| keyword(call, "right"));
                if let Some(of) = left.and_then(|e| self.table(e)) {
                    self.arguments(call, &[(3, "on"), (4, "left_on")], of, MISSING);
                }
                if let Some(of) = right.and_then(|e| self.table(e)) {
                    self.arguments(call, &[(3, "on"), (5, "right_on")], of, MISSING);
                }
            }
            "pandas" if name == "pivot_table" => {
                let places = &[(1, "values"), (2, "index"), (3, "columns")];
                if let Some(of) = first.and_then(|e| self.table(e)) {
                    self.arguments(call, places, of, MISSING);
                }
            }
            "plotly.express" if EXPRESS.contains(&name) => {
                let data = first.or_else(|| keyword(call, "data_frame"));
                if let Some(of) = data.and_then(|e| self.table(e)) {
                    self.drawn(call, DRAWN, of, NO_NAME);
                }
            }
            "seaborn" if SEABORN.contains(&name) => {
                let data = first.or_else(|| keyword(call, "data"));
                if let Some(of) = data.and_then(|e| self.table(e)) {
                    self.drawn(call, SHOWN, of, NOT_DRAWN);
                }
            }
            "statsmodels.formula.api" if MODELS.contains(&name) => {
                let data = call.args.get(1).or_else(|| keyword(call, "data"));
                let formula = first.or_else(|| keyword(call, "formula"));
                if let Some(of) = data.and_then(|e| self.table(e)) {
                    self.modelled(formula, of);
                }
            }
            _ => {}
        }
    }

    /// The names in a literal query, each of which is a column.
    fn named(&mut self, e: Option<&'a Expr>, of: Inputs, errors: &'static [&'static str]) {
        let Some((e, code)) = e.and_then(|e| Some((e, text(e)?))) else {
            return;
        };
        for name in names_in(code) {
            self.found.push(Lookup {
                column: name.text,
                at: e.range(),
                of,
                by: By::Argument,
                errors,
            });
        }
    }

    /// The names in a literal formula that are columns, or else unbound.
    fn modelled(&mut self, e: Option<&'a Expr>, of: Inputs) {
        let Some((e, code)) = e.and_then(|e| Some((e, text(e)?))) else {
            return;
        };
        for name in names_in(code) {
            let names = self.tables.names;
            let other = is_builtin(name.text)
                || CONTRASTS.contains(&name.text)
                || !names.bindings(name.text).is_empty()
                || self
                    .tables
                    .inputs
                    .iter()
                    .any(|(input, _)| *input == name.text);
            if !name.owns && !other {
                self.found.push(Lookup {
                    column: name.text,
                    at: e.range(),
                    of,
                    by: By::Argument,
                    errors: NOT_EVALUATED,
                });
            }
        }
    }

    fn drawn(
        &mut self,
        call: &'a ast::ExprCall,
        words: &[&str],
        of: Inputs,
        errors: &'static [&'static str],
    ) {
        for word in words {
            if let Some(e) = keyword(call, word) {
                self.one(e, of, By::Argument, errors);
            }
        }
    }
}

/// Whether an axis is that of the columns.
fn is_columns(e: &Expr) -> bool {
    match e {
        Expr::Constant(c) => match &c.value {
            Constant::Int(n) => n.to_string() == "1",
            Constant::Str(name) => name == "columns",
            _ => false,
        },
        _ => false,
    }
}

impl<'a> Visitor<'a> for Lookups<'_, '_, 'a> {
    fn expression(&mut self, e: &'a Expr, place: ExprPlace<'a>) {
        if let ExprPlace::Annotation = place {
            return;
        }
        match e {
            Expr::Subscript(x) => self.item(x),
            Expr::Attribute(x) => self.attribute(x),
            Expr::Call(x) => self.call(x),
            _ => {}
        }
    }
}

impl Lookup<'_> {
    /// Where its text begins.
    pub fn offset(&self) -> usize {
        self.at.start().to_usize()
    }
}
