//! What is put into what the snippet made of the inputs: items of groups, of dictionaries, of lists and of arrays.

use super::alters::root;
use super::hows::is_unit;
use super::stmts;
use super::tables::word;
use super::value::{COLUMN, FRAME, GROUPED, LIST, MASK, PLAIN, TABLE, Value};
use super::{Pass, fold};
use crate::analysis::parse::ast::{self, Constant, Expr, Operator, Ranged};
use crate::analysis::table::is_table_attribute;
use crate::model::Change;

/// Methods of arrays that write into them.
const WRITING: &[&str] = &["itemset", "partition", "put", "sort"];
/// Methods that give a table whose gaps are filled.
pub(super) const FILLING: &[&str] = &["bfill", "ffill", "fillna", "interpolate"];

impl<'a> Pass<'a> {
    /// What the name of an expression was bound to, without what was put into it later.
    fn bound_to(&self, e: &'a Expr) -> Option<&Value<'a>> {
        let name = fold(root(e)?);
        self.frames.iter().rev().find_map(|f| f.names.get(&name))
    }

    /// Whether a value is of the snippet's own, and all that it holds may be what this one statement puts there.
    pub(super) fn is_own(&self, e: &'a Expr, on: &Value<'a>, put: &[Value<'a>]) -> bool {
        let own = self
            .bound_to(e)
            .is_some_and(|v| v.is_bare() && !v.has(FRAME));
        let all = put.iter().fold(Value::default(), |all, one| all.and(one));
        own && all.covers(on)
    }

    /// Whether an item gets a number of the snippet's own, or another item of the same.
    pub(super) fn is_replacement(&mut self, table: &'a Expr, from: Option<&'a Expr>) -> bool {
        let of = root(table);
        from.is_some_and(|e| {
            let number = !e.is_name_expr() && self.is_factor(e);
            number || of.is_some_and(|of| is_item(e, of))
        })
    }

    /// `l[0] = 5` of a list or an array of a column's values, `d["x"] = d["y"]` of a dictionary of groups.
    pub(super) fn item_replaced(
        &mut self,
        on: &Value<'a>,
        x: &'a ast::ExprSubscript,
        from: Option<&'a Expr>,
        again: bool,
    ) {
        if on.is_bare() || on.texts.is_some() {
            return;
        }
        let key = stmts::one_literal(&x.slice).is_some();
        let place = match &*x.slice {
            Expr::Constant(e) => matches!(e.value, Constant::Int(_)),
            Expr::UnaryOp(e) => e.operand.is_constant_expr(),
            Expr::Slice(_) => true,
            _ => false,
        };
        let raw = !on.as_is.is_empty() && on.summed.is_empty();
        let made = self.bound_to(&x.value).is_none_or(|v| !v.is_bare());
        let list = on.has(LIST) && (!on.has(PLAIN) || raw && made);
        let array = !on.has(LIST) && !on.has(PLAIN) && made;
        if !(place && (list || array) || key && on.has(LIST) && !on.has(PLAIN)) {
            return;
        }
        let numbers = from.is_some_and(|e| e.is_list_expr() && place && self.eval(e).is_bare());
        if again || numbers || self.is_replacement(&x.value, from) {
            let at = x.range.start().to_usize();
            if let Some(e) = from {
                self.explains(at, vec![self.how(Change::Is, e)]);
            }
            // A key names a group, and is none of the values.
            let mut of = on.clone();
            if key && !of.summed.is_empty() {
                of.as_is = Default::default();
            }
            self.values(&of, &x.value, at);
        }
    }

    /// `l += [5] * 9` of a list of a column's values.
    pub(super) fn grows(&mut self, x: &'a ast::StmtAugAssign, before: &Value<'a>) {
        let made = self.bound_to(&x.target).is_some_and(|v| !v.is_bare());
        let values = before.has(LIST) && before.texts.is_none() && !before.is_bare() && made;
        if values && x.op == Operator::Add && self.lists_numbers(&x.value) {
            let at = x.range.start().to_usize();
            self.explains(at, vec![self.how(Change::Plus, &x.value)]);
            self.values(before, &x.target, at);
        }
    }

    fn lists_numbers(&mut self, e: &'a Expr) -> bool {
        match e {
            Expr::List(x) => !x.elts.is_empty() && x.elts.iter().all(|e| self.is_factor(e)),
            Expr::BinOp(x) => self.lists_numbers(&x.left) || self.lists_numbers(&x.right),
            _ => false,
        }
    }

    /// `{**r, "x": 5}` of what groups came to.
    pub(super) fn spreads(&mut self, x: &'a ast::ExprDict) {
        let mut on: Option<(Value<'a>, &'a Expr)> = None;
        for (key, e) in x.keys.iter().zip(&x.values) {
            match (key, &on) {
                (None, _) => {
                    let value = self.eval(e);
                    if value.has(COLUMN) && !value.is_bare() {
                        on = Some((value, e));
                    }
                }
                (Some(key), Some((value, table)))
                    if stmts::one_literal(key).is_some() && self.is_replacement(table, Some(e)) =>
                {
                    let (value, at) = (value.clone(), e.range().start().to_usize());
                    self.explains(at, vec![self.how(Change::Is, e)]);
                    self.values(&value, table, at);
                }
                _ => {}
            }
        }
    }

    /// `d.update(x=5)` of a dictionary of groups, `a.fill(5)` of an array.
    pub(super) fn writes_into(
        &mut self,
        x: &'a ast::ExprCall,
        on: &Value<'a>,
        method: &str,
        table: &'a Expr,
    ) {
        let at = x.range.start().to_usize();
        let first = x.args.first();
        let array = |e: &Expr| matches!(e, Expr::Attribute(a) if matches!(a.attr.as_str(), "array" | "values"));
        if method == "shuffle"
            && let Some(e) = first.filter(|e| array(e))
        {
            let on = self.eval(e);
            if !on.is_bare() {
                self.values(&on, e, at);
            }
        }
        if on.is_bare() {
            return;
        }
        let dict = on.has(COLUMN) || on.has(LIST) && !on.has(PLAIN);
        let given = |k: &'a ast::Keyword| k.arg.as_ref().map(|_| &k.value);
        let changed = match method {
            "fill" => first.filter(|_| !self.is_own(table, on, &[])),
            "isetitem" if on.has(TABLE | FRAME) => x.args.get(1),
            "update" if dict && x.args.is_empty() => {
                let mut given = x.keywords.iter().filter_map(given);
                given.find(|e| self.is_replacement(table, Some(e)))
            }
            _ if WRITING.contains(&method) && array(table) => {
                self.values(on, table, at);
                None
            }
            _ => None,
        };
        if let Some(e) = changed {
            self.explains(at, vec![self.how(Change::Is, e)]);
            self.values(on, table, at);
        }
    }

    /// Gaps of columns of the inputs that are filled: `t.fillna({"c": 0})`, `t["c"].fillna(0)`.
    pub(super) fn fills(
        &mut self,
        x: &'a ast::ExprCall,
        on: &Value<'a>,
        table: &'a Expr,
        at: usize,
    ) {
        let raw = on.has(PLAIN) && on.index.is_empty() && on.summed.is_empty();
        if !raw || on.has(MASK | GROUPED) {
            return;
        }
        let by = x.args.first().or_else(|| word(x, "value"));
        let explains = |pass: &mut Self| {
            if let Some(e) = by {
                pass.explains(at, vec![pass.how(Change::Is, e)]);
            }
        };
        let held = |pass: &Self, name: &str| {
            let ids = pass.by_name.get(name);
            ids.is_some_and(|ids| ids.iter().any(|id| on.as_is.has(*id)))
        };
        match (by, table) {
            (Some(Expr::Dict(dict)), _) if on.has(FRAME) => {
                for key in dict.keys.iter().flatten() {
                    if stmts::one_literal(key).is_some_and(|name| held(self, name)) {
                        explains(self);
                        self.keyed(on, table, (key, None), at, true);
                    }
                }
            }
            (_, Expr::Subscript(of))
                if stmts::one_literal(&of.slice).is_some_and(|name| held(self, name)) =>
            {
                explains(self);
                self.of_call(on, table, at);
            }
            (_, Expr::Attribute(of)) if held(self, of.attr.as_str()) => {
                explains(self);
                self.values(on, table, at);
            }
            _ if on.has(FRAME) => {
                explains(self);
                self.values(on, table, at);
            }
            _ => {}
        }
    }

    /// `t.transform(lambda s: s * 1.1)` of a whole table.
    pub(super) fn scales_each(
        &mut self,
        x: &'a ast::ExprCall,
        on: &Value<'a>,
        table: &'a Expr,
        at: usize,
    ) {
        let Some(Expr::Lambda(f)) = x.args.first() else {
            return;
        };
        let Some(name) = f.args.posonlyargs.iter().chain(&f.args.args).next() else {
            return;
        };
        let name = name.def.arg.as_str();
        let of = |e: &Expr| matches!(e, Expr::Name(n) if n.id.as_str() == name);
        let Expr::BinOp(change) = &*f.body else {
            return;
        };
        let number = match (of(&change.left), of(&change.right)) {
            (true, false) => &change.right,
            (false, true) => &change.left,
            _ => return,
        };
        if number.is_constant_expr() && !is_unit(number) {
            self.explains(at, self.how_changed(&f.body, &of));
            self.values(on, table, at);
        }
    }
}

/// Whether an expression is one item of what this name has, at most by a number: `r["M"]`, `r.loc["M"] * 1.1`.
fn is_item(e: &Expr, of: &str) -> bool {
    let is = |e: &Expr| matches!(e, Expr::Name(n) if n.id.as_str() == of);
    match e {
        Expr::Subscript(x) => {
            let one = x.slice.is_constant_expr() || x.slice.is_unary_op_expr();
            let by = match &*x.value {
                Expr::Attribute(by)
                    if matches!(by.attr.as_str(), "at" | "iat" | "iloc" | "loc") =>
                {
                    &by.value
                }
                table => return one && is(table),
            };
            one && is(by)
        }
        Expr::Attribute(x) => is(&x.value) && !is_table_attribute(x.attr.as_str()),
        Expr::BinOp(x) => {
            is_item(&x.left, of) && x.right.is_constant_expr()
                || is_item(&x.right, of) && x.left.is_constant_expr()
        }
        _ => false,
    }
}
