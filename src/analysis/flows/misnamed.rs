//! Names that say something else than their values: a column under another column's name, groups by another group's name,
//! rows and totals of the snippet's own.

use super::hows::{is_unit, method_sign, sign};
use super::tables::word;
use super::value::{Bits, FRAME, LIST, SINGLE, TABLE, Value};
use super::{Pass, stmts};
use crate::analysis::parse::ast::{self, Constant, Expr, Operator, Ranged};
use crate::analysis::text;
use crate::model::{Altered, Change, How};

/// Methods and functions that put two tables together.
const JOINING: &[&str] = &["combine", "combine_first", "concat", "join", "merge"];
/// Methods of tables that change each number by another one.
const ARITHMETIC: &[&str] = &[
    "add", "div", "divide", "mul", "multiply", "pow", "round", "sub", "subtract", "truediv",
];

impl<'a> Pass<'a> {
    /// The column of this name in the inputs that the value is made of, if the value has none of its values.
    fn strange(&self, name: &str, value: &Value<'a>) -> Option<usize> {
        let told = value.told();
        let mut all = told.as_is.bits().clone();
        all.add(&told.summed);
        all.add(value.index.bits());
        let ids = self.by_name.get(name)?;
        match ids.iter().any(|id| all.has(*id)) {
            true => None,
            false => self.of_same(name, &all),
        }
    }

    /// The column of this name in an input of which these are columns; in any, if these are none.
    fn of_same(&self, name: &str, of: &Bits) -> Option<usize> {
        let ids = self.by_name.get(name)?;
        let input = |id: usize| self.columns[id].input;
        let mut ids = ids.iter().copied();
        ids.find(|id| of.is_empty() || of.iter().any(|other| input(other) == input(*id)))
    }

    /// Whether a table has values of an input that has a column of this name.
    pub(super) fn knows_beside(&self, name: &str, on: &Value<'a>) -> bool {
        let mut all = on.as_is.bits().clone();
        all.add(&on.summed);
        self.of_same(name, &all).is_some()
    }

    /// A column of an input's name is made of something else. `from`: what it is made of, if one expression says it.
    pub(super) fn named_for(
        &mut self,
        name: &str,
        value: &Value<'a>,
        from: Option<&'a Expr>,
        at: usize,
    ) {
        let Some(ids) = self.by_name.get(name) else {
            return;
        };
        let first = ids.first().copied();
        let strange = self.strange(name, value);
        let of = move |e: &Expr| is_named(e, name);
        let changed = match from {
            // The same column by a factor.
            Some(e) if strange.is_none() => {
                let hows = self.how_changed(e, &of);
                let factor = matches!(
                    hows.as_slice(),
                    [How {
                        by: Change::Times | Change::Over | Change::Plus | Change::Minus,
                        ..
                    }]
                );
                factor && self.is_scaled(e)
            }
            _ => false,
        };
        let Some(id) = strange.or(first.filter(|_| changed)) else {
            return;
        };
        if let Some(e) = from {
            let hows = self.how_changed(e, &of);
            self.explains(at, hows);
        } else if let Some(how) = self.how_from(value) {
            self.explains(at, vec![how]);
        }
        self.alters(self.column_altered(id), at);
    }

    fn column_altered(&self, id: usize) -> Altered {
        Altered::Column {
            name: text::shown(self.columns[id].name.unwrap_or_default()),
            of: self.inputs[self.columns[id].input].to_owned(),
            own: false,
        }
    }

    /// `from bonus`: what a value is made of, if that is one column.
    fn how_from(&self, value: &Value<'a>) -> Option<How> {
        let mut ids = value.as_is.bits().clone();
        ids.add(&value.summed);
        let ids: Vec<usize> = ids.iter().filter(|id| !value.index.has(*id)).collect();
        let [id] = ids[..] else { return None };
        Some(How {
            by: Change::From,
            text: text::shown(self.columns[id].name?),
        })
    }

    /// Whether an expression changes its values by a number that only the snippet knows.
    fn is_scaled(&mut self, e: &'a Expr) -> bool {
        match e {
            Expr::BinOp(x) => {
                let change = sign(x.op, false);
                self.is_factor_of(change, &x.left) || self.is_factor_of(change, &x.right)
            }
            Expr::Call(x) => {
                let first = x.args.first();
                first.is_some_and(|e| self.is_factor(e))
                    || matches!(&*x.func, Expr::Attribute(f) if self.is_scaled(&f.value))
            }
            _ => false,
        }
    }

    /// Whether an expression is a number of the snippet's own that changes more than the unit.
    fn is_factor_of(&mut self, change: Option<Change>, e: &'a Expr) -> bool {
        let by = matches!(change, Some(Change::Times | Change::Over));
        self.is_factor(e) && !(by && is_unit(e))
    }

    /// Whether an expression is a number of the snippet's own.
    pub(super) fn is_factor(&mut self, e: &'a Expr) -> bool {
        match e {
            Expr::Constant(x) => matches!(x.value, Constant::Int(_) | Constant::Float(_)),
            Expr::UnaryOp(x) => self.is_factor(&x.operand),
            Expr::List(_) | Expr::Tuple(_) | Expr::Compare(_) | Expr::JoinedStr(_) => false,
            e => {
                let value = self.eval(e);
                value.is_bare() && value.texts.is_none() && value.sites.is_empty()
            }
        }
    }

    /// Columns get new names: `{"bonus": "salary"}`.
    pub(super) fn renames(&mut self, on: &Value<'a>, dict: &'a ast::ExprDict) {
        for (key, value) in dict.keys.iter().zip(&dict.values) {
            let at = value.range().start().to_usize();
            let old = key.as_ref().and_then(stmts::one_literal);
            let (Some(new), Some(old)) = (stmts::one_literal(value), old) else {
                continue;
            };
            if new == old || !self.by_name.contains_key(new) {
                continue;
            }
            let known = self.by_name.contains_key(old) || self.knows(old);
            let held = match known {
                true => self.narrow(on, &[old], at),
                false => Value::default(),
            };
            if let Some(id) = self.strange(new, &held) {
                let how = How {
                    by: Change::From,
                    text: text::shown(old),
                };
                self.explains(at, vec![how]);
                self.alters(self.column_altered(id), at);
            }
        }
    }

    /// Labels get other names: `r.rename({"Sales": "Finance"})`, of an index or of categories.
    pub(super) fn relabels(&mut self, on: &Value<'a>, table: &'a Expr, dict: &'a ast::ExprDict) {
        let of_columns =
            |e: &Expr| stmts::literal(e).is_some_and(|names| names.iter().all(|n| self.knows(n)));
        if on.is_bare() || dict.keys.iter().flatten().any(of_columns) {
            return;
        }
        for (key, value) in dict.keys.iter().zip(&dict.values) {
            let Some(key) = key else { continue };
            let (Some(old), Some(new)) = (stmts::one_literal(key), stmts::one_literal(value))
            else {
                continue;
            };
            if !is_other(old, new) {
                continue;
            }
            let at = dict.range.start().to_usize();
            let hows = vec![self.how(Change::Value, key), self.how(Change::Is, value)];
            self.explains(at, hows);
            self.labels_of(on, table, at);
            return;
        }
    }

    /// The labels of a table have other names.
    fn labels_of(&mut self, on: &Value<'a>, table: &'a Expr, at: usize) {
        let labels: Vec<usize> = match on.index.is_empty() {
            true => on.as_is.iter().collect(),
            false => on.index.iter().collect(),
        };
        match labels[..] {
            [id] if self.columns[id].name.is_some() => self.alters(self.column_altered(id), at),
            _ => self.values(on, table, at),
        }
    }

    /// `t.columns = [...]`, `t.set_axis([...], axis=1)`: by their places.
    pub(super) fn columns_named(&mut self, on: &Value<'a>, table: &'a Expr, given: &'a Expr) {
        let at = given.range().start().to_usize();
        if on.is_bare() {
            return;
        }
        let ids: Vec<usize> = on.as_is.iter().collect();
        let Some(names) = stmts::literal(given) else {
            if said_in(given)
                .iter()
                .any(|name| self.by_name.contains_key(name))
            {
                self.explains(at, vec![self.how(Change::Is, given)]);
                self.values(on, table, at);
            }
            return;
        };
        let of = ids.first().map(|id| self.columns[*id].input);
        let all = self.columns.iter().filter(|c| Some(c.input) == of).count();
        let in_order = names.len() == all && ids.len() == all;
        for (place, name) in names.iter().enumerate() {
            let other = match in_order {
                true => self.columns[ids[place]].name.filter(|own| own != name),
                false => None,
            };
            let id = match other {
                Some(_) => self.by_name.get(name).and_then(|ids| ids.first().copied()),
                None => self.strange(name, on),
            };
            let Some(id) = id else { continue };
            if let Some(other) = other {
                let how = How {
                    by: Change::From,
                    text: text::shown(other),
                };
                self.explains(at + place, vec![how]);
            }
            self.alters(self.column_altered(id), at + place);
        }
    }

    /// `r.index = [...]`: groups get other names.
    pub(super) fn index_named(&mut self, on: &Value<'a>, table: &'a Expr, given: &'a Expr) {
        let listed = match given {
            Expr::List(_) | Expr::Tuple(_) => true,
            Expr::Subscript(x) => x.slice.is_slice_expr(),
            Expr::Call(x) => {
                matches!(&*x.func, Expr::Name(f) if matches!(f.id.as_str(), "list" | "reversed" | "sorted"))
            }
            _ => false,
        };
        if listed && !on.index.is_empty() {
            let at = given.range().start().to_usize();
            self.explains(at, vec![self.how(Change::Is, given)]);
            self.labels_of(on, table, at);
        }
    }

    /// `a *= 2` of a table, a column, an array or what groups came to.
    pub(super) fn scales(&mut self, x: &'a ast::StmtAugAssign, before: &Value<'a>) {
        self.grows(x, before);
        let array = before.has(TABLE) || before.has(LIST) && !before.has(SINGLE);
        if x.target.is_name_expr()
            && !before.is_bare()
            && array
            && self.is_factor_of(sign(x.op, false), &x.value)
        {
            let at = x.range.start().to_usize();
            self.explains(at, self.how_augmented(x.op, &x.value));
            self.values(before, &x.target, at);
        }
    }

    /// `t * 1.1` of a whole table.
    pub(super) fn scales_all(
        &mut self,
        x: &'a ast::ExprBinOp,
        left: &Value<'a>,
        right: &Value<'a>,
    ) {
        let (table, on, by) = match (left.is_bare(), right.is_bare()) {
            (false, true) => (&*x.left, left, &*x.right),
            (true, false) => (&*x.right, right, &*x.left),
            _ => return,
        };
        let op = matches!(
            x.op,
            Operator::Mult | Operator::Add | Operator::Div | Operator::Pow | Operator::Sub
        );
        if op && is_whole(on) && self.is_factor_of(sign(x.op, false), by) {
            let at = x.range.start().to_usize();
            self.explains(at, self.how_augmented(x.op, by));
            self.values(on, table, at);
        }
    }

    /// The same by a method.
    pub(super) fn scales_by(
        &mut self,
        x: &'a ast::ExprCall,
        on: &Value<'a>,
        method: &str,
        table: &'a Expr,
    ) {
        let Some(by) = x.args.first() else { return };
        let change = method_sign(method);
        // `t.round(-3)`
        let cuts = method == "round" && by.is_unary_op_expr();
        let changes = ARITHMETIC.contains(&method) && (method != "round" || cuts);
        if changes && is_whole(on) && self.is_factor_of(change, by) {
            let at = x.range.start().to_usize();
            self.explains(
                at,
                change
                    .map(|change| self.how(change, by))
                    .into_iter()
                    .collect(),
            );
            self.values(on, table, at);
        }
    }

    /// The same of an assignment in a text: `t.eval("a = a * 2")`.
    pub(super) fn tells_text(&mut self, text: &str, at: usize) {
        let how = How {
            by: Change::Is,
            text: text::shown(text.trim()),
        };
        self.explains(at, vec![how]);
    }

    /// The columns of a table that is made of a dictionary.
    pub(super) fn columns_of(&mut self, dict: &'a ast::ExprDict) {
        for (key, e) in dict.keys.iter().zip(&dict.values) {
            let key = key.as_ref().and_then(stmts::literal).unwrap_or_default();
            let [name] = key[..] else { continue };
            if self.by_name.contains_key(name) {
                let value = self.eval(e);
                match value.is_bare() {
                    true => self.makes_up(name, &value),
                    false => self.named_for(name, &value, Some(e), e.range().start().to_usize()),
                }
            }
        }
    }

    /// How a column that is inserted differs from the one of its name.
    pub(super) fn tells_moved(&mut self, name: &str, e: &'a Expr, at: usize) {
        let of = move |e: &Expr| is_named(e, name);
        let hows = self.how_changed(e, &of);
        self.explains(at, hows);
    }

    /// Columns of an own table, which another table may get by a merge.
    pub(super) fn makes_up(&mut self, name: &'a str, value: &Value<'a>) {
        if value.is_bare() && self.by_name.contains_key(name) {
            self.altering.made_up.insert(name);
        }
    }

    /// Tables that are put together: columns and rows of the snippet's own under the names of the data.
    pub(super) fn joins(&mut self, x: &'a ast::ExprCall, on: &Value<'a>, name: &str) {
        if !JOINING.contains(&name) || self.altering.made_up.is_empty() {
            return;
        }
        let mut tables = vec![on.clone()];
        for e in &x.args {
            match e {
                Expr::List(list) => {
                    for e in &list.elts {
                        tables.push(self.eval(e));
                    }
                }
                e => tables.push(self.eval(e)),
            }
        }
        let own = |v: &Value<'a>| v.is_bare() && v.has(FRAME);
        if !(tables.iter().any(own) && tables.iter().any(|v| !v.is_bare())) {
            return;
        }
        let keys = ["on", "left_on", "right_on"];
        let keys: Vec<&str> = keys
            .into_iter()
            .filter_map(|key| word(x, key).and_then(stmts::literal))
            .flatten()
            .collect();
        // A merge goes by all names that both tables have.
        if name == "merge" && keys.is_empty() {
            return;
        }
        let at = x.range.start().to_usize();
        let names: Vec<&'a str> = self.altering.made_up.iter().copied().collect();
        for name in names.into_iter().filter(|name| !keys.contains(name)) {
            if let Some(id) = self.by_name.get(name).and_then(|ids| ids.first().copied()) {
                self.alters(self.column_altered(id), at);
            }
        }
    }

    /// The name of an input is given to a table of the snippet's own.
    pub(super) fn rebinds(
        &mut self,
        name: &str,
        from: Option<&'a Expr>,
        value: &Value<'a>,
        at: usize,
    ) {
        let Some(input) = self.inputs.iter().find(|input| **input == name) else {
            return;
        };
        let what = Altered::Values {
            of: (*input).to_owned(),
        };
        if let Some(e) = from
            && value.is_bare()
            && value.has(FRAME)
        {
            self.explains(at, vec![self.how(Change::Is, e)]);
            self.alters(what, at);
        }
    }
}

/// Whether a method changes each number of a table by another one.
pub(super) fn is_arithmetic(method: &str) -> bool {
    ARITHMETIC.contains(&method)
}

/// A whole table of several columns.
pub(super) fn is_whole(on: &Value<'_>) -> bool {
    let columns = on.as_is.iter().filter(|id| !on.index.has(*id)).count();
    on.has(TABLE) && on.has(FRAME) && columns > 1
}

/// Whether an expression picks a column of this name.
pub(super) fn is_named(e: &Expr, name: &str) -> bool {
    match e {
        Expr::Subscript(x) => stmts::place(x)
            .1
            .and_then(stmts::literal)
            .is_some_and(|names| names == [name]),
        Expr::Attribute(x) => x.attr.as_str() == name && x.value.is_name_expr(),
        _ => false,
    }
}

/// Whether a label says another thing, and not the same in another spelling.
fn is_other(old: &str, new: &str) -> bool {
    let (old, new) = (old.trim().to_lowercase(), new.trim().to_lowercase());
    !(new.starts_with(&old) || old.starts_with(&new))
}

/// The literal texts in a list that is put together.
fn said_in(e: &Expr) -> Vec<&str> {
    match e {
        Expr::BinOp(x) => [said_in(&x.left), said_in(&x.right)].concat(),
        e => stmts::literal(e)
            .filter(|_| e.is_list_expr())
            .unwrap_or_default(),
    }
}
