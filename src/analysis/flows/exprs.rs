//! Expressions.

use super::functions::{Body, Frame};
use super::held::Held;
use super::unseen::{describes, hides, reaches};
use super::value::{
    BENT, BOUND, CHANGER, DRAWN, FIXED, FRAME, GROUPED, KIND, LIST, MASK, MODEL, NAMES, NUMERIC,
    ORIGIN, PLAIN, PRINTS, ROWED, SHAPED, SINGLE, SQUARE, TABLE, TAIL, Value, WHOLE,
};
use super::{DEPTH, Pass, fold};
use crate::analysis::parse::ast::{self, Constant, Expr, Operator, Ranged};

impl<'a> Pass<'a> {
    pub(super) fn eval(&mut self, e: &'a Expr) -> Value<'a> {
        let value = self.base(e);
        let read = matches!(
            e,
            Expr::Name(_) | Expr::Attribute(_) | Expr::Subscript(_) | Expr::Call(_)
        );
        if read {
            self.touches(&value);
        }
        value
    }

    /// Notes what was read of the inputs.
    pub(super) fn touches(&mut self, value: &Value<'a>) {
        let all = &mut self.touched;
        all.as_is.add(&value.as_is);
        all.as_is.add(&value.order);
        all.as_is.add(&value.labels);
        all.summed.add(&value.summed);
        all.summed.add(&value.order_summed);
    }

    /// The value of what a column or a method is picked from: only what is picked counts as read.
    pub(super) fn base(&mut self, e: &'a Expr) -> Value<'a> {
        if !self.step() {
            return Value::default();
        }
        if self.depth > DEPTH {
            self.tangled = true;
            return Value::default();
        }
        self.depth += 1;
        let value = self.value(e);
        self.depth -= 1;
        value
    }

    fn value(&mut self, e: &'a Expr) -> Value<'a> {
        let at = e.range().start().to_usize();
        match e {
            Expr::Constant(x) => match &x.value {
                Constant::Str(text) => Self::literal(text).with(FIXED),
                _ => Value::default().with(FIXED),
            },
            Expr::Name(x) => self.name(x.id.as_str(), at),
            Expr::Attribute(x) => self.attribute(x),
            Expr::Subscript(x) => self.subscript(x),
            Expr::Call(x) => self.call(x),
            Expr::BinOp(x) => self.arithmetic(x),
            Expr::Compare(x) => {
                let mut out = self.eval(&x.left);
                let mut fixed = self.is_fixed_beside(&out, &x.left, false);
                let mut of_rows = self.is_of_rows(&out);
                let mut set = self.is_set(&out);
                let mut whole = out.has(WHOLE) && !out.is_bare();
                for (op, e) in x.ops.iter().zip(&x.comparators) {
                    let value = self.eval(e);
                    if matches!(op, ast::CmpOp::In | ast::CmpOp::NotIn) {
                        self.draws_until(&value, &out);
                    }
                    set &= self.is_set(&value);
                    whole |= value.has(WHOLE) && !value.is_bare();
                    let within = matches!(op, ast::CmpOp::In | ast::CmpOp::NotIn);
                    fixed &= self.is_fixed_beside(&value, e, within);
                    of_rows &= self.is_of_rows(&value);
                    let tail = Self::is_tail(&out, &value);
                    out = out.and(&value).without(BENT | SQUARE);
                    if tail {
                        out = out.with(TAIL);
                    }
                }
                out = match set && whole {
                    true => out.with(WHOLE),
                    false => out.without(WHOLE),
                };
                out.sites = vec![super::number(e.range().end().to_usize())];
                out.inner = Vec::new();
                let out = out
                    .without(PLAIN | LIST | MODEL | BOUND | CHANGER | ORIGIN)
                    .with(NUMERIC);
                let out = match fixed && of_rows {
                    true => Self::coarse(out, e.range().end().to_usize()),
                    false => out,
                };
                match out.is_bare() {
                    true => out,
                    false => out.with(MASK),
                }
            }
            Expr::BoolOp(x) => {
                let mut out = Value::default();
                let mut by = Held::default();
                for e in &x.values {
                    let value = match self.sweeps {
                        0 => self.choosing(by.clone(), |pass| pass.eval(e)),
                        _ => self.counting(&out.clone(), |pass| pass.eval(e)),
                    };
                    by.add(&value.told().as_is);
                    out = out.and(&value);
                }
                out
            }
            Expr::UnaryOp(x) => {
                let value = self.eval(&x.operand).without(ORIGIN);
                match x.op {
                    ast::UnaryOp::Invert | ast::UnaryOp::Not => value,
                    ast::UnaryOp::UAdd | ast::UnaryOp::USub => value.without(MASK),
                }
            }
            Expr::IfExp(x) => {
                let test = self.condition(&x.test);
                let by = match self.sweeps {
                    0 => self.chosen_by(&x.test, &test),
                    _ => Held::default(),
                };
                let either = |pass: &mut Self| {
                    let mut out = pass.eval(&x.body);
                    let other = pass.eval(&x.orelse);
                    out.join(&other);
                    out
                };
                let mut out = match self.sweeps {
                    0 => self.choosing(by.clone(), either),
                    _ => self.counting(&test, either),
                };
                out.choose(&by);
                if self.sweeps > 0 && !test.is_bare() {
                    out = out.and(&test.held().without(MASK)).single();
                }
                // A test of positions may leave one row.
                match test.is_bare() {
                    true => out.without(WHOLE),
                    false => out,
                }
            }
            Expr::NamedExpr(x) => {
                let mut value = self.eval(&x.value);
                if self.repeated() {
                    value = value.without(FIXED);
                }
                // It binds outside of the comprehension.
                let frame = self.frames.iter().rposition(|f| !f.comprehension);
                if let Expr::Name(name) = &*x.target {
                    self.bind_in(frame.unwrap_or(0), fold(name.id.as_str()), value.clone());
                }
                value
            }
            Expr::Lambda(x) => {
                let id = self.function(at, &x.args, Body::Expression(&x.body));
                Value {
                    funcs: vec![id],
                    ..Value::default()
                }
            }
            Expr::List(x) => self.display(&x.elts, at),
            Expr::Tuple(x) => self.display(&x.elts, at),
            Expr::Set(x) => self.display(&x.elts, at),
            Expr::Dict(x) => {
                self.spreads(x);
                self.dict(x, at)
            }
            Expr::ListComp(x) => self.comprehension(&x.generators, None, &x.elt, at, false),
            Expr::SetComp(x) => self.comprehension(&x.generators, None, &x.elt, at, false),
            Expr::GeneratorExp(x) => self.comprehension(&x.generators, None, &x.elt, at, true),
            Expr::DictComp(x) => {
                self.comprehension(&x.generators, Some(&x.key), &x.value, at, false)
            }
            Expr::JoinedStr(x) => {
                let all = self.union(x.values.iter());
                Value {
                    sites: Vec::new(),
                    inner: Vec::new(),
                    ..all
                }
                .without(
                    PLAIN
                        | NUMERIC
                        | LIST
                        | MODEL
                        | MASK
                        | TABLE
                        | BOUND
                        | CHANGER
                        | WHOLE
                        | FRAME
                        | KIND
                        | ORIGIN,
                )
                .single()
            }
            Expr::FormattedValue(x) => {
                let value = self.eval(&x.value);
                match &x.format_spec {
                    Some(e) => {
                        let spec = self.eval(e);
                        value.and(&spec)
                    }
                    None => value,
                }
            }
            Expr::Await(x) => self.eval(&x.value),
            Expr::Yield(x) => {
                let value = x.value.as_ref().map(|e| self.eval(e));
                let value = value.unwrap_or_default().and(&Self::made(at));
                self.give(&value.with(DRAWN));
                Value::default()
            }
            Expr::YieldFrom(x) => {
                let value = self.eval(&x.value);
                self.give(&value.clone().and(&Self::made(at)).with(DRAWN));
                value
            }
            Expr::Starred(x) => self.eval(&x.value).without(ORIGIN),
            Expr::Slice(x) => self.union(
                [&x.lower, &x.upper, &x.step]
                    .into_iter()
                    .flatten()
                    .map(|e| &**e),
            ),
        }
    }

    pub(super) fn union(&mut self, all: impl Iterator<Item = &'a Expr>) -> Value<'a> {
        let mut out = Value::default();
        for e in all {
            let value = self.eval(e);
            out = out.and(&value);
        }
        out
    }

    fn name(&mut self, id: &'a str, at: usize) -> Value<'a> {
        let name = fold(id);
        if let Some(value) = self.look_up(&name) {
            return value;
        }
        if matches!(&*name, "print" | "display") {
            return Value::default().with(PRINTS);
        }
        if super::words::is_unseen(&name) {
            self.opens();
        }
        if reaches(&name) {
            self.loses_all(at);
        } else if hides(&name) || describes(&name) {
            self.loses_sight(at);
        }
        match self.imports.get(&name) {
            Some(path) if prints(path) => Value::default().with(PRINTS),
            Some(path) => Self::member(Value::default(), path),
            None => Value::default(),
        }
    }

    fn arithmetic(&mut self, x: &'a ast::ExprBinOp) -> Value<'a> {
        let left = self.eval(&x.left);
        let right = self.eval(&x.right);
        self.scales_all(x, &left, &right);
        let texts = match (x.op, &left.texts, &right.texts) {
            (Operator::Add, Some(a), Some(b)) if left.has(LIST) && right.has(LIST) => {
                Some([a.clone(), b.clone()].concat())
            }
            _ => None,
        };
        let numbers = matches!(
            x.op,
            Operator::Sub | Operator::Div | Operator::FloorDiv | Operator::Pow | Operator::MatMult
        );
        // An operator of a class of the snippet.
        let logic = matches!(x.op, Operator::BitAnd | Operator::BitOr | Operator::BitXor);
        let table = left.has(TABLE) || right.has(TABLE);
        // `"x" * n` and `"%s" % n` are as long as `n` says.
        let repeats = x.op == Operator::Mult && !(left.has(NUMERIC) && right.has(NUMERIC));
        let formats = x.op == Operator::Mod && left.texts.is_some();
        let whole = (left.has(WHOLE) && !left.is_bare() || right.has(WHOLE) && !right.is_bare())
            && self.is_set(&left)
            && self.is_set(&right);
        let bent = Self::bends(x.op, &left, &right, &x.right);
        let one = |v: &Value<'a>| v.is_void() && !v.has(LIST);
        let rowed = left.has(ROWED) && one(&right) || right.has(ROWED) && one(&left);
        let mut out = left
            .and(&right)
            .without(MODEL | BOUND | CHANGER | WHOLE | ORIGIN);
        if !out.is_bare() {
            out = out.with(bent | if rowed { ROWED } else { 0 });
        }
        if whole {
            out = out.with(WHOLE);
        }
        if numbers {
            out = out.with(NUMERIC);
        }
        if !logic {
            out = out.without(MASK);
        }
        if x.op != Operator::Sub {
            out = out.without(NAMES);
        }
        if (repeats || formats) && !table {
            out = out.single();
        }
        if formats {
            out = out.without(WHOLE | KIND | NUMERIC);
        }
        out.texts = texts;
        out
    }

    fn display(&mut self, elts: &'a [Expr], at: usize) -> Value<'a> {
        self.written_out(elts, at);
        let mut out = Self::made(at).with(PLAIN);
        let mut texts = Some(Vec::new());
        let mut fixed = FIXED;
        for e in elts {
            let value = self.eval(e);
            fixed &= value.flags;
            match (&mut texts, &value.texts) {
                (Some(all), Some(more)) if value.has(LIST) == e.is_starred_expr() => {
                    all.extend(more);
                }
                _ => texts = None,
            }
            out = out.and(&value.without(SINGLE).enclosed());
        }
        if texts.as_ref().is_some_and(|all| !all.is_empty()) {
            self.of_texts.insert(super::number(at));
        }
        out.texts = texts;
        out.without(GROUPED | MASK | WHOLE | FRAME | ORIGIN)
            .with(LIST | fixed)
    }

    fn dict(&mut self, x: &'a ast::ExprDict, at: usize) -> Value<'a> {
        let mut out = Self::made(at).with(PLAIN);
        let mut keys = Some(Vec::new());
        let mut whole = true;
        for (key, e) in x.keys.iter().zip(&x.values) {
            let value = self.eval(e);
            whole &= value.is_even();
            out = out.and(&value.clone().without(SINGLE | SHAPED).enclosed());
            let Some(key) = key else {
                keys = None;
                continue;
            };
            match super::stmts::literal(key) {
                Some(names) if names.len() == 1 => {
                    self.derive(names[0], &value);
                    if let Some(all) = &mut keys {
                        all.extend(names);
                    }
                }
                _ => {
                    let key = self.eval(key);
                    self.derive_any(&value);
                    keys = None;
                    out = out.and(&key.clone().without(SINGLE));
                    if !key.is_bare() {
                        // Its columns' names are data.
                        out = out.without(PLAIN | TABLE);
                    }
                }
            }
        }
        out.texts = keys;
        if !whole {
            out = out.without(WHOLE);
        }
        out.without(GROUPED | MASK | FRAME | ORIGIN).with(LIST)
    }

    fn comprehension(
        &mut self,
        generators: &'a [ast::Comprehension],
        key: Option<&'a Expr>,
        value: &'a Expr,
        at: usize,
        later: bool,
    ) -> Value<'a> {
        self.frames.push(Frame {
            inner: true,
            later,
            comprehension: true,
            ..Frame::default()
        });
        let weak = std::mem::take(&mut self.weak);
        let mut length = Value::default();
        let mut until = Value::default();
        let mut drawn = Vec::new();
        let mut sweeps = 0;
        let mut kept = Held::default();
        let around = self.enters(at);
        for part in generators {
            let over = self.eval(&part.iter);
            if over.has(SINGLE) {
                length = length.and(&over.held());
            }
            if over.sweeps() {
                self.sweeps += 1;
                sweeps += 1;
            }
            if over.is_drawn() {
                drawn.extend(over.reached());
            }
            self.assign_element(&part.target, &part.iter, &over);
            for e in &part.ifs {
                let by = kept.clone();
                let test = match self.sweeps {
                    0 => self.choosing(by, |pass| pass.condition(e)),
                    _ => self.counting(&length, |pass| pass.condition(e)),
                };
                until = until.and(&test.held());
                if self.sweeps == 0 {
                    kept.add(&self.chosen_by(e, &test));
                } else if !test.is_bare() {
                    length = length.and(&test.held().without(MASK)).single();
                }
            }
        }
        let one = self.counting(&length, |pass| {
            pass.choosing(kept.clone(), |pass| pass.eval(value))
        });
        if later {
            // Whoever goes through it may stop at any value.
            let until = until.and(&one.held());
            self.ends_by(&until, generators, value);
            self.put(&drawn, &until.drawing());
        }
        self.sweeps -= sweeps;
        let texts = one.texts.clone().filter(|_| !one.has(LIST));
        let mut out = Self::made(at).and(&one.clone().without(SINGLE).enclosed());
        if let Some(key) = key {
            let key = self.eval(key);
            self.derive_any(&one);
            out = out.and(&key.clone().without(SINGLE));
            if !key.is_bare() {
                out = out.without(PLAIN | TABLE);
            }
        }
        if !length.is_bare() {
            out = out.and(&length).without(PLAIN | TABLE);
        }
        if !kept.is_empty() {
            let single = out.flags & SINGLE;
            out.choose(&kept);
            out = out.without(SINGLE).with(single);
        }
        self.goes_out(around);
        self.weak = weak;
        self.frames.pop();
        out.texts = texts.filter(|_| key.is_none());
        let out = out.without(GROUPED | WHOLE | FRAME | ORIGIN).with(LIST);
        match later {
            true => self.looks_at(out, &drawn, at),
            false => out,
        }
    }

    /// The dotted path of a module's member.
    pub(super) fn path(&self, e: &Expr) -> Option<String> {
        match e {
            Expr::Name(x) => {
                let name = fold(x.id.as_str());
                let path = self.imports.get(&name)?;
                match self.frames.iter().any(|f| f.names.contains_key(&name)) {
                    true => None,
                    false => Some(path.clone()),
                }
            }
            Expr::Attribute(x) => self.path_of(x),
            _ => None,
        }
    }

    pub(super) fn path_of(&self, x: &ast::ExprAttribute) -> Option<String> {
        let mut path = self.path(&x.value)?;
        path.push('.');
        path.push_str(x.attr.as_str());
        Some(path)
    }
}

/// Whether what is given to this module's member is printed.
pub(super) fn prints(path: &str) -> bool {
    let (top, rest) = path.split_once('.').unwrap_or((path, ""));
    match top {
        "sys" => matches!(
            rest.trim_matches('_').split('.').next(),
            Some("stdout" | "stderr" | "exit")
        ),
        "os" => rest == "_exit",
        "traceback" => rest.starts_with("print"),
        "tqdm" => rest.ends_with(".write"),
        "logging" | "warnings" | "pprint" | "IPython" => {
            !rest.is_empty() && !rest.ends_with("pformat")
        }
        _ => false,
    }
}
