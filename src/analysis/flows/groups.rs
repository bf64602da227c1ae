//! Groups: by which keys rows are put together, and whether these leave many rows in each.

use super::applies::Gets;
use super::tables::word;
use super::value::{BY_COLUMN, FRAME, GROUPED, KIND, MODEL, PLAIN, Value, WHOLE};
use super::{Pass, stmts};
use crate::analysis::parse::ast::{self, Constant, Expr};

/// Classes that a column may be cut into, and still have many rows in each.
const CLASSES: usize = 20;

impl<'a> Pass<'a> {
    pub(super) fn grouped(&mut self, on: &Value<'a>, x: &'a ast::ExprCall) -> Value<'a> {
        let by = x.args.first().or_else(|| word(x, "by"));
        let keys = match (by, word(x, "level")) {
            (Some(by), _) => self.keys(on, by),
            // Levels of the index.
            (None, Some(_)) if !on.index.is_empty() => Value {
                as_is: on.index.clone(),
                ..Value::default()
            },
            (None, _) => on.clone(),
        };
        let many = match by {
            Some(by) => self.is_category(on, by),
            None => !on.index.is_empty() && !self.indexed,
        };
        let mut out = on.clone();
        out.texts = None;
        out.as_is.add(&keys.as_is);
        out.index.add(&keys.as_is);
        if !many {
            // Groups by the number of the row are rows.
            out = out.without(WHOLE);
        }
        out = match by.and_then(stmts::literal) {
            Some(names) if names.iter().all(|name| self.is_raw(on, name)) => out.with(BY_COLUMN),
            _ => out.without(BY_COLUMN),
        };
        out.with(GROUPED)
    }

    pub(super) fn resampled(&mut self, on: &Value<'a>, x: &'a ast::ExprCall) -> Value<'a> {
        let rule = x.args.first().or_else(|| word(x, "rule"));
        let mut out = on.clone().with(GROUPED);
        let many = match word(x, "on") {
            Some(by) => {
                let keys = self.keys(on, by);
                out.as_is.add(&keys.as_is);
                out.index.add(&keys.as_is);
                self.is_category(on, by)
            }
            None => !on.index.is_empty() && !self.indexed,
        };
        match many && rule.is_some_and(is_coarse) {
            true => out,
            false => out.without(WHOLE),
        }
    }

    /// The columns of a table by the last level of its index.
    pub(super) fn unstacked(on: &Value<'a>) -> Value<'a> {
        let mut out = on.clone();
        out.texts = None;
        out.sites = Vec::new();
        out.labels.add(&on.index);
        let raw = on.as_is.iter().any(|id| !on.index.has(id));
        let out = out.without(PLAIN | GROUPED).with(FRAME);
        match raw {
            true => out.without(WHOLE),
            false => out,
        }
    }

    pub(super) fn pivoted(
        &mut self,
        on: &Value<'a>,
        x: &'a ast::ExprCall,
        from: usize,
    ) -> Value<'a> {
        let argument = |at: usize, name: &str| x.args.get(at + from).or_else(|| word(x, name));
        let (values, index, columns) = (
            argument(0, "values"),
            argument(1, "index"),
            argument(2, "columns"),
        );
        let mut key = |by: Option<&'a Expr>| match by {
            Some(by) => (self.keys(on, by).as_is, self.is_category(on, by)),
            None => Default::default(),
        };
        let ((rows, many_rows), (labels, many_columns)) = (key(index), key(columns));
        let many = (many_rows || index.is_none()) && (many_columns || columns.is_none());
        let part = match values {
            Some(e) => self.named(on, e),
            None => on.clone(),
        };
        let part = match many {
            true => part,
            false => part.without(WHOLE),
        };
        let mut out = match argument(3, "aggfunc") {
            Some(how) => self.aggregate(&part, how, Gets::WHOLE),
            None => self.sum_named(&part, "mean"),
        };
        out.as_is.add(&rows);
        out.as_is.add(&labels);
        out.index.add(&rows);
        out.labels.add(&labels);
        out.without(PLAIN | GROUPED).with(FRAME)
    }

    /// What rows are grouped by.
    fn keys(&mut self, on: &Value<'a>, by: &'a Expr) -> Value<'a> {
        match by {
            Expr::List(list) if stmts::literal(by).is_none() => {
                let mut out = Value::default();
                for e in &list.elts {
                    let one = self.keys(on, e);
                    out = out.and(&one);
                }
                out
            }
            Expr::List(_) | Expr::Constant(_) => self.named(on, by),
            by => {
                if let Some((key, _)) = self.grouper(by) {
                    return self.named(on, key);
                }
                let value = self.eval(by);
                self.hand_over(&value, on);
                match value.texts.is_none() && !value.is_bare() {
                    true => value,
                    false => self.named(on, by),
                }
            }
        }
    }

    /// The key and the frequency of a `pd.Grouper`.
    fn grouper(&self, e: &'a Expr) -> Option<(&'a Expr, Option<&'a Expr>)> {
        let Expr::Call(x) = e else { return None };
        let of = self
            .path(&x.func)
            .is_some_and(|path| path == "pandas.Grouper");
        let key = word(x, "key").or_else(|| x.args.first());
        key.filter(|key| of && stmts::literal(key).is_some())
            .map(|key| (key, word(x, "freq")))
    }

    /// Whether a key puts rows together by what whole columns say, not by their places.
    fn is_category(&mut self, on: &Value<'a>, by: &'a Expr) -> bool {
        if let Some(names) = stmts::literal(by) {
            return names.iter().all(|name| self.is_category_of(on, name));
        }
        match by {
            Expr::List(x) => x.elts.iter().all(|e| self.is_category(on, e)),
            by => {
                if let Some((key, rule)) = self.grouper(by) {
                    return rule.is_none_or(is_coarse) && self.is_category(on, key);
                }
                let value = self.eval(by);
                match &value.texts {
                    Some(names) => names.iter().all(|name| self.is_category_of(on, name)),
                    None => {
                        let known = value.funcs.is_empty() && !value.has(MODEL);
                        known && !value.is_bare() && value.is_even()
                    }
                }
            }
        }
    }

    /// Whether a column is one of an input as it came.
    pub(super) fn is_raw(&self, on: &Value<'a>, name: &str) -> bool {
        let groups = self.results.contains_key(name) && !on.has(KIND);
        let mut ids = self.by_name.get(name).into_iter().flatten();
        !groups && !self.stored.contains(name) && ids.any(|id| on.as_is.has(*id))
    }

    fn is_category_of(&self, on: &Value<'a>, name: &str) -> bool {
        if self.is_raw(on, name) {
            return true;
        }
        let groups = self.results.get(name).filter(|_| !on.has(KIND));
        let mut made = self.derived.get(name).into_iter().chain(groups);
        made.all(|made| match made.is_bare() {
            true => !self.mixed,
            // Another table may have a column of this name.
            false => made.is_even() || made.within(on).is_bare(),
        })
    }

    /// Notes an index whose values say where a row stands.
    pub(super) fn indexes(&mut self, on: &Value<'a>, by: &'a Expr) {
        let places = !self.is_category(on, by);
        self.changed |= places && !self.indexed;
        self.indexed |= places;
    }

    /// Whether columns are cut into few classes.
    pub(super) fn has_few_classes(&mut self, x: &'a ast::ExprCall) -> bool {
        let bins = x
            .args
            .get(1)
            .or_else(|| word(x, "bins"))
            .or_else(|| word(x, "q"));
        match bins {
            Some(Expr::Constant(ast::ExprConstant {
                value: Constant::Int(n),
                ..
            })) => n.to_string().parse().is_ok_and(|n: usize| n <= CLASSES),
            Some(Expr::List(x)) => x.elts.len() <= CLASSES + 1,
            Some(Expr::Tuple(x)) => x.elts.len() <= CLASSES + 1,
            Some(e @ Expr::Name(_)) => {
                let value = self.eval(e);
                !value.sites.is_empty() && value.sites.iter().all(|site| self.short.contains(site))
            }
            _ => false,
        }
    }

    /// Notes a list that the text writes out.
    pub(super) fn written_out(&mut self, elts: &[Expr], at: usize) {
        let each = |e: &Expr| match e {
            Expr::UnaryOp(x) => x.operand.is_constant_expr() || x.operand.is_attribute_expr(),
            e => e.is_constant_expr() || e.is_attribute_expr(),
        };
        if elts.len() <= CLASSES + 1 && elts.iter().all(each) {
            self.short.insert(super::number(at));
        }
    }
}

/// Whether a frequency is a literal of days or more.
fn is_coarse(rule: &Expr) -> bool {
    let coarse = |rule: &&str| {
        let rule = rule.trim_start_matches(|c: char| c.is_ascii_digit());
        let (base, _) = rule.split_once('-').unwrap_or((rule, ""));
        let known = [
            "A", "AS", "B", "BM", "BME", "BMS", "BQ", "BQE", "BQS", "BY", "BYE", "BYS", "D", "M",
            "ME", "MS", "Q", "QE", "QS", "SM", "SME", "SMS", "W", "Y", "YE", "YS",
        ];
        known.contains(&base)
    };
    stmts::literal(rule).is_some_and(|rules| rules.iter().all(coarse))
}
