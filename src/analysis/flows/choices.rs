//! What a branch makes or writes that values of a row choose.
//!
//! A test of rows holds their columns: per row, if each value only falls into a few classes that the text sets. A test
//! of a sum or a number of rows chooses nothing.

use std::collections::HashSet;

use super::Pass;
use super::coarse::{is_fixed, is_written};
use super::counts::jumps;
use super::held::Held;
use super::value::{
    COLUMN, FIXED, FRAME, LIST, MASK, NUMERIC, ORIGIN, PLAIN, SINGLE, TABLE, Value, WHOLE,
};
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, CmpOp, Constant, Expr, Pattern, Ranged, Stmt};

/// Tests of one column in one body that count as one function: at most 16 classes.
const TESTS: usize = 4;
/// Cases of a `match` that count as one function.
const CASES: usize = 16;
/// The bit of the places of bodies.
const BODY: u32 = 1 << 31;

/// What tests of rows chose where the pass is.
#[derive(Default)]
pub(super) struct Choices<'a> {
    /// Around it, outermost first.
    around: Vec<Held>,
    /// Before it in the round or the function: `continue`, `return`.
    before: Held,
    /// What returned out of the loops of the function.
    returned: Held,
    /// What ended the loop at hand.
    ended: Held,
    /// Loops at hand that values of rows end.
    ending: usize,
    /// The body around it: of a loop, a function, a comprehension.
    body: u32,
    /// Places of tests, by body and column.
    tests: HashSet<(u32, usize, u32)>,
    /// Bodies with more tests of a column than a few.
    many: HashSet<(u32, usize)>,
    /// Names that loops only count.
    counters: Vec<Counters<'a>>,
    /// Tests around it that may hold for a single row: of a position.
    partial: usize,
    /// Choices around the count at hand.
    whole: Option<usize>,
}

/// Names that a loop only counts.
struct Counters<'a> {
    names: HashSet<&'a str>,
    /// Choices around the loop, and tests that may hold for a single row.
    around: usize,
    partial: usize,
}

/// What a function or a loop hides of the choices around it.
pub(super) struct Around {
    before: Held,
    returned: Held,
    body: u32,
}

/// How a part may end the round, the loop or the function.
#[derive(Clone, Copy, Default)]
struct Ends {
    round: bool,
    further: bool,
    function: bool,
}

impl<'a> Pass<'a> {
    pub(super) fn branches(&mut self, x: &'a ast::StmtIf) {
        let test = self.condition(&x.test);
        if jumps(&x.body) || jumps(&x.orelse) {
            self.jumps_by(&test);
        }
        if self.sweeps > 0 {
            return self.counting(&test, |pass| pass.either(x));
        }
        let by = self.chosen_by(&x.test, &test);
        let partial = usize::from(!self.is_of_each(&x.test));
        self.choices.partial += partial;
        self.choosing(by.clone(), |pass| pass.either(x));
        self.choices.partial -= partial;
        self.ends_chosen(&by, &[&x.body, &x.orelse]);
    }

    fn either(&mut self, x: &'a ast::StmtIf) {
        self.branch(&x.body);
        self.branch(&x.orelse);
    }

    pub(super) fn cases(&mut self, x: &'a ast::StmtMatch) {
        let subject = self.eval(&x.subject).without(PLAIN).opened();
        let by = match self.sweeps {
            0 => self.matched(x, &subject),
            _ => Held::default(),
        };
        for case in &x.cases {
            self.weak += 1;
            self.pattern(&case.pattern, &subject);
            let guard = case.guard.as_ref().map(|guard| self.eval(guard));
            let test = subject.held().and(&guard.clone().unwrap_or_default());
            if jumps(&case.body) {
                self.jumps_by(&test);
            }
            if self.sweeps > 0 {
                self.counting(&test, |pass| pass.body(&case.body));
            } else {
                let mut by = by.clone();
                if let Some(e) = &case.guard {
                    by.add(&self.chosen_by(e, &guard.unwrap_or_default()));
                }
                self.choosing(by.clone(), |pass| pass.body(&case.body));
                self.ends_chosen(&by, &[&case.body]);
            }
            self.weak -= 1;
        }
    }

    /// What a test tells of values of rows.
    pub(super) fn chosen_by(&mut self, e: &'a Expr, test: &Value<'a>) -> Held {
        if test.as_is.is_empty() && test.order.is_empty() && test.labels.is_empty() {
            return Held::default();
        }
        match e {
            Expr::BoolOp(x) => {
                let mut out = Held::default();
                for e in &x.values {
                    let test = self.base(e);
                    out.add(&self.chosen_by(e, &test));
                }
                out
            }
            Expr::UnaryOp(x) if x.op == ast::UnaryOp::Not => {
                let test = self.base(&x.operand);
                self.chosen_by(&x.operand, &test)
            }
            Expr::Compare(x) if self.asks_for_none(x) => Held::default(),
            Expr::Call(x) if self.asks_for_type(x) => Held::default(),
            // A list or a table is empty or not.
            Expr::Name(_) if test.has(LIST | TABLE) && !test.has(SINGLE | COLUMN) => {
                Held::default()
            }
            _ => {
                let at = e.range().end().to_usize();
                let mut by = test.as_is.clone();
                if !self.repeated() || self.is_of_rows(test) || self.is_plain_test(e) {
                    by.coarsen(super::number(at), &Held::default());
                }
                let mut by = self.of_body(by, &e.range());
                by.add(&test.order);
                by.add(&test.labels);
                by
            }
        }
    }

    /// Whether a condition asks whether a table is there.
    fn asks_for_none(&mut self, x: &'a ast::ExprCompare) -> bool {
        let none = |e: &Expr| matches!(e, Expr::Constant(x) if x.value == Constant::None);
        matches!(x.ops.as_slice(), [CmpOp::Is | CmpOp::IsNot])
            && x.comparators.iter().all(none)
            && self.base(&x.left).has(TABLE | FRAME)
    }

    /// `pd.api.types.is_numeric_dtype(s)`.
    fn asks_for_type(&self, x: &ast::ExprCall) -> bool {
        let path = self.path(&x.func);
        path.is_some_and(|path| path.starts_with("pandas.api.types.is_"))
    }

    /// `pd.isna(x)`, `name.startswith("A")`.
    fn is_plain_test(&mut self, e: &'a Expr) -> bool {
        let Expr::Call(x) = e else { return false };
        let Expr::Attribute(f) = &*x.func else {
            return false;
        };
        match (self.path_of(f).as_deref(), x.args.as_slice()) {
            (Some("pandas.isna" | "pandas.isnull" | "pandas.notna" | "math.isnan"), [one]) => {
                let of = self.base(one);
                x.keywords.is_empty() && self.is_of_rows(&of)
            }
            (None, _) => {
                let known = matches!(f.attr.as_str(), "startswith" | "endswith" | "isdigit");
                let on = self.base(&f.value);
                known
                    && is_fixed(x)
                    && self.methods_of(f.attr.as_str()).is_empty()
                    && self.is_of_rows(&on)
            }
            _ => false,
        }
    }

    /// A few tests of a column in one body are one function of it.
    fn of_body(&mut self, mut by: Held, test: &TextRange) -> Held {
        let body = self.choices.body | BODY;
        let own = super::number(test.start().to_usize())..=super::number(test.end().to_usize());
        for id in by.iter().collect::<Vec<usize>>() {
            let Some(place) = by.place(id).filter(|place| own.contains(place)) else {
                continue;
            };
            let choices = &mut self.choices;
            choices.tests.insert((body, id, place));
            let of = |(a, b, _): &&(u32, usize, u32)| (*a, *b) == (body, id);
            let many = choices.tests.iter().filter(of).count() > TESTS;
            if many {
                self.changed |= choices.many.insert((body, id));
            }
            match choices.many.contains(&(body, id)) {
                true => by.set(id),
                false => by.move_to(id, body),
            }
        }
        by
    }

    /// Goes through a part that values of rows choose.
    pub(super) fn choosing<T>(&mut self, by: Held, part: impl FnOnce(&mut Self) -> T) -> T {
        if by.is_empty() {
            return part(self);
        }
        self.choices.around.push(by);
        let out = part(self);
        self.choices.around.pop();
        out
    }

    /// What a value of rows chose, with the columns that it was chosen by.
    pub(super) fn chosen(&self, value: &mut Value<'a>) {
        let choices = &self.choices;
        for (at, by) in choices.around.iter().chain([&choices.before]).enumerate() {
            match choices.whole.is_some_and(|whole| at >= whole) {
                true => {
                    value.summed.add(by.bits());
                }
                false => value.choose(by),
            }
        }
        if choices.whole.is_some() && !value.summed.is_empty() {
            value.flags |= NUMERIC;
        }
    }

    /// What subjects of a `match` tell of values of rows.
    pub(super) fn matched(&mut self, x: &'a ast::StmtMatch, subject: &Value<'a>) -> Held {
        let mut by = subject.told().as_is;
        let few = x.cases.len() <= CASES && x.cases.iter().all(|case| is_plain(&case.pattern));
        if few && (!self.repeated() || self.is_of_rows(subject)) {
            by.coarsen(super::number(x.range.end().to_usize()), &Held::default());
        }
        self.of_body(by, &x.range)
    }

    /// Notes that a choice may end the round, the loop or the function.
    pub(super) fn ends_chosen(&mut self, by: &Held, bodies: &[&'a [Stmt]]) {
        if by.is_empty() {
            return;
        }
        let mut ends = Ends::default();
        bodies.iter().for_each(|body| ends.of(body, true));
        let rounds = self.frames.last().map_or(0, |f| f.rounds);
        let inside = rounds > 0 || self.frames.len() > 1;
        if inside && ends.any() {
            self.choices.before.add(by);
        }
        if rounds > 0 && (ends.further || ends.function) {
            self.grew |= self.choices.ended.add(by);
        }
        if rounds > 0 && ends.function {
            self.choices.returned.add(by);
        }
    }

    /// Goes through a loop until nothing changes any more. `ended`: what it leaves says how far it went.
    pub(super) fn ended_by_rows(&mut self, part: impl FnOnce(&mut Self)) -> Held {
        let around = std::mem::take(&mut self.choices.ended);
        part(self);
        std::mem::replace(&mut self.choices.ended, around)
    }

    /// Goes through a round of a loop that values of rows may end.
    pub(super) fn ending(&mut self, part: impl FnOnce(&mut Self)) {
        let by = self.choices.ended.clone();
        let ending = usize::from(!by.is_empty());
        self.choices.ending += ending;
        self.choosing(by, part);
        self.choices.ending -= ending;
    }

    /// Goes into a function or a comprehension.
    pub(super) fn enters(&mut self, at: usize) -> Around {
        let choices = &mut self.choices;
        let before = std::mem::take(&mut choices.before);
        choices.around.push(before.clone());
        Around {
            before,
            returned: std::mem::take(&mut choices.returned),
            body: std::mem::replace(&mut choices.body, super::number(at)),
        }
    }

    pub(super) fn goes_out(&mut self, around: Around) {
        let choices = &mut self.choices;
        choices.around.pop();
        choices.before = around.before;
        choices.returned = around.returned;
        choices.body = around.body;
    }

    /// Goes through a round of a loop.
    pub(super) fn round(&mut self, at: usize, part: impl FnOnce(&mut Self)) {
        let around = self.enters(at);
        if let Some(frame) = self.frames.last_mut() {
            frame.rounds += 1;
        }
        part(self);
        if let Some(frame) = self.frames.last_mut() {
            frame.rounds -= 1;
        }
        let returned = self.choices.returned.clone();
        self.goes_out(around);
        self.choices.before.add(&returned);
        self.choices.returned.add(&returned);
    }

    /// Goes through a loop over rows: names that it only counts hold sums.
    pub(super) fn counts(
        &mut self,
        x: &'a Expr,
        body: &'a [Stmt],
        part: impl FnOnce(&mut Self, &'a [Stmt]),
    ) {
        let names = match self.is_whole_loop(x) {
            true => self.counters(body),
            false => HashSet::new(),
        };
        self.choices.counters.push(Counters {
            names,
            around: self.choices.around.len(),
            partial: self.choices.partial,
        });
        part(self, body);
        self.choices.counters.pop();
    }

    /// Goes through `n += 1`.
    pub(super) fn adding<T>(
        &mut self,
        x: &'a ast::StmtAugAssign,
        part: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let whole = match &*x.target {
            Expr::Name(n) => {
                let mut known = self.choices.counters.iter();
                let known = known.find(|of| of.names.contains(n.id.as_str()));
                let known = known.filter(|of| of.partial == self.choices.partial);
                known.map(|of| of.around)
            }
            _ => None,
        };
        let before = std::mem::replace(&mut self.choices.whole, whole);
        let out = part(self);
        self.choices.whole = before;
        out
    }

    /// Whether a loop goes through all rows, or those that a condition leaves.
    fn is_whole_loop(&mut self, e: &'a Expr) -> bool {
        let on = match e {
            Expr::Call(x) => match &*x.func {
                Expr::Name(f) if matches!(f.id.as_str(), "enumerate" | "zip") => {
                    let whole = !x.args.is_empty() && x.keywords.is_empty();
                    return whole && x.args.iter().all(|e| self.is_whole_loop(e));
                }
                Expr::Attribute(f) => match f.attr.as_str() {
                    "items" | "iterrows" | "itertuples" => &*f.value,
                    _ => e,
                },
                _ => e,
            },
            e => e,
        };
        let on = self.base(on);
        on.has(WHOLE) && !on.is_bare()
    }

    /// What `enumerate` numbers stays a value of the data as it came.
    pub(super) fn as_numbered(&mut self, iter: &'a Expr, part: Value<'a>) -> Value<'a> {
        let of = match iter {
            Expr::Call(x) => match x.args.first() {
                Some(e) => Self::element(&self.base(e)),
                None => return part,
            },
            _ => return part,
        };
        match of.as_is == part.as_is {
            true => part.with(of.flags & ORIGIN),
            false => part,
        }
    }

    /// Whether a test only compares values of each row with what stays the same.
    fn is_of_each(&mut self, e: &'a Expr) -> bool {
        match e {
            Expr::BoolOp(x) => x.values.iter().all(|e| self.is_of_each(e)),
            Expr::UnaryOp(x) => self.is_of_each(&x.operand),
            e => {
                let test = self.base(e);
                let held = &test.as_is;
                !held.is_empty() && held.iter().all(|id| held.place(id).is_some())
            }
        }
    }

    /// Names that a body only counts: each of them stands in nothing but `n += 1`.
    fn counters(&self, body: &'a [Stmt]) -> HashSet<&'a str> {
        let mut found: Vec<&'a str> = Vec::new();
        let mut ends = Ends::default();
        ends.of(body, true);
        counted_in(body, &mut found);
        let (Some(first), Some(last)) = (body.first(), body.last()) else {
            return HashSet::new();
        };
        let range = first.range().start().to_usize()..last.range().end().to_usize();
        let text = self.text.get(range).unwrap_or_default();
        if found.is_empty() || ends.any() || !text.is_ascii() {
            return HashSet::new();
        }
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let words: Vec<&str> = words.collect();
        let times = |all: &[&str], name: &str| all.iter().filter(|one| **one == name).count();
        let only = |name: &&'a str| times(&words, name) == times(&found, name);
        found.iter().copied().filter(only).collect()
    }

    /// `sum(1 for s in t["a"] if s > 5)`: the number of rows that a condition leaves.
    pub(super) fn number_of_rows(
        &mut self,
        x: &'a ast::ExprCall,
        all: &Value<'a>,
    ) -> Option<Value<'a>> {
        let [
            Expr::GeneratorExp(ast::ExprGeneratorExp {
                elt, generators, ..
            }),
        ] = x.args.as_slice()
        else {
            return None;
        };
        let [part] = generators.as_slice() else {
            return None;
        };
        let each = part.ifs.iter().all(|e| compares(e, &part.target));
        let counts = elt.is_constant_expr() && each && self.sweeps == 0;
        if !counts || !self.is_whole_loop(&part.iter) {
            return None;
        }
        let mut out = Value::default().with(NUMERIC);
        out.summed.add(all.as_is.bits());
        out.summed.add(&all.summed);
        Some(out)
    }
}

impl Choices<'_> {
    /// Whether the place says how far a loop went.
    pub(super) const fn ends(&self) -> bool {
        self.ending > 0
    }
}

impl Value<'_> {
    /// What values of rows chose: a text or a number as they say, anything else as one of several.
    pub(super) fn choose(&mut self, by: &Held) {
        if by.is_empty() {
            return;
        }
        match self.is_bare() {
            true => {
                self.as_is.add(by);
                self.flags = (self.flags | SINGLE) & !(FIXED | MASK | PLAIN | TABLE | WHOLE);
            }
            false => {
                self.labels.add(by);
                self.flags &= !FRAME;
            }
        }
    }
}

impl Ends {
    const fn any(self) -> bool {
        self.round || self.further || self.function
    }

    /// Adds the ways in which a body may end. `own`: whether the loop is the one that is asked for.
    fn of(&mut self, body: &[Stmt], own: bool) {
        for s in body {
            match s {
                Stmt::Continue(_) => self.round |= own,
                Stmt::Break(_) => self.further |= own,
                Stmt::Raise(_) => self.further = true,
                Stmt::Return(_) => self.function = true,
                Stmt::If(x) => {
                    self.of(&x.body, own);
                    self.of(&x.orelse, own);
                }
                Stmt::For(x) => {
                    self.of(&x.body, false);
                    self.of(&x.orelse, own);
                }
                Stmt::While(x) => {
                    self.of(&x.body, false);
                    self.of(&x.orelse, own);
                }
                Stmt::With(x) => self.of(&x.body, own),
                Stmt::Try(x) => {
                    self.of(&x.body, own);
                    for handler in &x.handlers {
                        let ast::ExceptHandler::ExceptHandler(handler) = handler;
                        self.of(&handler.body, own);
                    }
                    self.of(&x.orelse, own);
                    self.of(&x.finalbody, own);
                }
                Stmt::Match(x) => x.cases.iter().for_each(|case| self.of(&case.body, own)),
                _ => {}
            }
        }
    }
}

/// Names in `n += 1`.
fn counted_in<'a>(body: &'a [Stmt], into: &mut Vec<&'a str>) {
    for s in body {
        match s {
            Stmt::AugAssign(x) if x.op == ast::Operator::Add && is_written(&x.value) => {
                if let Expr::Name(n) = &*x.target {
                    into.push(n.id.as_str());
                }
            }
            Stmt::If(x) => {
                counted_in(&x.body, into);
                counted_in(&x.orelse, into);
            }
            _ => {}
        }
    }
}

/// Whether a condition only compares a name with what the text says.
fn compares(e: &Expr, name: &Expr) -> bool {
    match (e, name) {
        (Expr::BoolOp(x), _) => x.values.iter().all(|e| compares(e, name)),
        (Expr::Compare(x), Expr::Name(name)) => {
            let of = matches!(&*x.left, Expr::Name(n) if n.id == name.id);
            of && x.comparators.iter().all(is_written)
        }
        _ => false,
    }
}

/// Whether a pattern only compares.
fn is_plain(p: &Pattern) -> bool {
    match p {
        Pattern::MatchValue(x) => is_written(&x.value),
        Pattern::MatchSingleton(_) => true,
        Pattern::MatchAs(x) => x.pattern.as_ref().is_none_or(|p| is_plain(p)),
        Pattern::MatchOr(x) => x.patterns.iter().all(is_plain),
        _ => false,
    }
}
