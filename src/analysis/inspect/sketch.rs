//! Texts as far as they can be read: what stands there, and gaps that only the run fills.
//!
//! A person who is asked reads the parts that stand there; the child judges the whole text when it
//! is used. So a text with such parts is flagged, and one of which nothing is known is refused. The
//! parts that stand there are judged like literals.

use std::cell::Cell;

use super::Inspector;
use super::slots::{Form, Slot, of_format, of_percent};
use super::sources::{Item, Source, Spot};
use crate::analysis::fold::fold;
use crate::analysis::parse::ast::{self, Expr, Operator, Ranged};
use crate::analysis::resolve::Val;

/// What is known of a text.
#[derive(Default)]
pub(super) struct Sketch {
    /// The text, with a digit in each gap.
    pub whole: String,
    /// Texts that it may be instead, or may hold.
    pub parts: Vec<String>,
    /// Whether something fills a gap of which the snippet says nothing: a name that it does not
    /// bind.
    blind: bool,
}

/// The digit that stands in a gap.
const GAP: &str = "0";

/// The nesting limit, and the limit on steps; no ordinary text needs more.
const DEPTH: usize = 10;
const STEPS: usize = 2_000;

/// Methods of texts whose result mostly keeps what the text says.
const KEEPS: &[&str] = &[
    "lower", "lstrip", "replace", "rstrip", "strip", "title", "upper",
];

impl Sketch {
    /// Whether there is something to read, and nothing that came from nowhere.
    pub fn is_readable(&self) -> bool {
        let says =
            |text: &String| text.contains(|c: char| !c.is_whitespace() && !"0'\"()".contains(c));
        !self.blind && (says(&self.whole) || self.parts.iter().any(says))
    }

    /// Whether the parts that stand there name something special to Python.
    pub fn has_dunder(&self) -> bool {
        self.texts().any(|text| text.contains("__"))
    }

    /// The text with its gaps filled, and the texts that it may be instead.
    pub fn texts(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.whole).chain(&self.parts)
    }

    fn gap(&mut self) {
        self.whole.push_str(GAP);
    }

    /// Takes what is known of one alternative.
    fn alternative(&mut self, other: Self) {
        self.blind |= other.blind;
        self.parts.push(other.whole);
        self.parts.extend(other.parts);
    }
}

/// Draws one sketch.
struct Drawing<'i, 'a> {
    i: &'i Inspector<'a>,
    steps: Cell<usize>,
}

impl<'a> Inspector<'a> {
    pub(super) fn sketch(&self, e: &'a Expr) -> Sketch {
        self.sketch_at((e, self.here()))
    }

    pub(super) fn sketch_at(&self, spot: Spot<'a>) -> Sketch {
        let mut sketch = Sketch::default();
        let drawing = Drawing {
            i: self,
            steps: Cell::new(0),
        };
        drawing.draw(spot, 0, &mut sketch);
        sketch
    }

    /// The letters and digits with which a text surely begins; empty if unknown.
    pub(super) fn beginning(&self, e: &'a Expr) -> String {
        self.beginning_in((e, self.here()), 0)
    }

    fn beginning_in(&self, (e, scope): Spot<'a>, depth: usize) -> String {
        let vals = self.r.eval(e, scope);
        if let [Val::Text(text)] = vals.as_slice() {
            return text.to_string();
        }
        if depth > DEPTH {
            return String::new();
        }
        let inner = |e: &'a Expr| self.beginning_in((e, scope), depth + 1);
        let first =
            |slots: Option<Vec<Slot<'a>>>| match slots.unwrap_or_default().into_iter().next() {
                Some(Slot::Text(text)) => text,
                _ => String::new(),
            };
        match e {
            Expr::JoinedStr(x) => x.values.first().map(inner).unwrap_or_default(),
            Expr::BinOp(x) if x.op == Operator::Add => inner(&x.left),
            Expr::BinOp(x) if x.op == Operator::Mod => match self.one_text(&x.left, scope) {
                Some(template) => first(of_percent(&template, &x.right)),
                None => String::new(),
            },
            Expr::Call(call) => match self.formatted(call, scope) {
                Some(template) => first(of_format(&template, call)),
                None => String::new(),
            },
            Expr::Name(name) => match self.held(name, scope).as_deref() {
                Some([held]) => inner(held),
                _ => String::new(),
            },
            _ => String::new(),
        }
    }

    /// The text, if there is only one.
    pub(super) fn one_text(&self, e: &'a Expr, scope: usize) -> Option<String> {
        match self.r.eval(e, scope).as_slice() {
            [Val::Text(text)] => Some(text.to_string()),
            _ => None,
        }
    }

    /// The template of `"…".format(…)`.
    pub(super) fn formatted(&self, call: &'a ast::ExprCall, scope: usize) -> Option<String> {
        match &*call.func {
            Expr::Attribute(x) if x.attr.as_str() == "format" => self.one_text(&x.value, scope),
            _ => None,
        }
    }

    /// The expressions whose sum a name has where it is read.
    pub(super) fn sum_of(&self, name: &ast::ExprName, scope: usize) -> Option<Vec<&'a Expr>> {
        let at = name.range().start().to_usize();
        self.r.scopes.sum_at(&fold(name.id.as_str()), scope, at)
    }

    /// Whether the snippet, or the person who is asked, knows where the name's value comes from.
    fn is_told(&self, name: &ast::ExprName, scope: usize) -> bool {
        let id = fold(name.id.as_str());
        let inputs = self.setting.inputs.as_ref();
        self.r.scopes.lookup(&id, scope).is_bound()
            || inputs.is_some_and(|inputs| inputs.contains(&*id))
    }
}

impl<'a> Drawing<'_, 'a> {
    fn draw(&self, (e, scope): Spot<'a>, depth: usize, out: &mut Sketch) {
        self.steps.set(self.steps.get() + 1);
        if depth > DEPTH || self.steps.get() > STEPS {
            out.blind = true;
            return;
        }
        let inner = |e: &'a Expr, out: &mut Sketch| self.draw((e, scope), depth + 1, out);
        let vals = self.i.r.eval(e, scope);
        if let [Val::Text(text)] = vals.as_slice() {
            out.whole.push_str(text);
            return;
        }
        for val in vals.iter() {
            if let Val::Text(text) = val {
                out.parts.push(text.to_string());
            }
        }
        match e {
            Expr::JoinedStr(x) => x.values.iter().for_each(|e| inner(e, out)),
            Expr::FormattedValue(x) if x.format_spec.is_none() && x.conversion.is_none() => {
                inner(&x.value, out);
            }
            Expr::FormattedValue(x) => self.hole((&x.value, scope), depth, out),
            Expr::BinOp(x) if x.op == Operator::Add => {
                inner(&x.left, out);
                inner(&x.right, out);
            }
            Expr::BinOp(x) if x.op == Operator::Mod => {
                let template = self.i.one_text(&x.left, scope);
                let slots = template.and_then(|template| of_percent(&template, &x.right));
                match slots {
                    Some(slots) => self.fill(slots, scope, depth, out),
                    None => {
                        inner(&x.left, out);
                        self.hole((&x.right, scope), depth, out);
                    }
                }
            }
            Expr::BinOp(x) => {
                self.aside((&x.left, scope), depth, out);
                self.aside((&x.right, scope), depth, out);
                out.gap();
            }
            Expr::IfExp(x) => {
                self.aside((&x.body, scope), depth, out);
                self.aside((&x.orelse, scope), depth, out);
                out.gap();
            }
            Expr::BoolOp(x) => {
                x.values
                    .iter()
                    .for_each(|e| self.aside((e, scope), depth, out));
                out.gap();
            }
            Expr::NamedExpr(x) => inner(&x.value, out),
            Expr::Starred(x) => inner(&x.value, out),
            Expr::Call(call) => self.call(call, scope, depth, out),
            Expr::Name(name) => self.name(name, scope, depth, out),
            Expr::Attribute(x) => {
                self.alternatives(self.i.stored(x, scope), depth, out);
                out.gap();
            }
            _ => out.gap(),
        }
    }

    /// What stands in a gap, without its text.
    fn hole(&self, at: Spot<'a>, depth: usize, out: &mut Sketch) {
        self.aside(at, depth, out);
        out.gap();
    }

    fn aside(&self, at: Spot<'a>, depth: usize, out: &mut Sketch) {
        let mut other = Sketch::default();
        self.draw(at, depth + 1, &mut other);
        out.alternative(other);
    }

    fn fill(&self, slots: Vec<Slot<'a>>, scope: usize, depth: usize, out: &mut Sketch) {
        for slot in slots {
            match slot {
                Slot::Text(text) => out.whole.push_str(&text),
                Slot::Filled(_, Form::Digits) | Slot::Filled(None, _) => out.gap(),
                Slot::Filled(Some(e), Form::Plain) => self.draw((e, scope), depth + 1, out),
                Slot::Filled(Some(e), _) => self.hole((e, scope), depth, out),
            }
        }
    }

    fn call(&self, call: &'a ast::ExprCall, scope: usize, depth: usize, out: &mut Sketch) {
        let template = self.i.formatted(call, scope);
        if let Some(slots) = template.and_then(|template| of_format(&template, call)) {
            return self.fill(slots, scope, depth, out);
        }
        let one = |out: &mut Sketch| match call.args.first() {
            Some(e) => self.draw((e, scope), depth + 1, out),
            None => out.gap(),
        };
        match &*call.func {
            Expr::Attribute(x) => match &*fold(x.attr.as_str()) {
                "join" => self.join(&x.value, &call.args, scope, depth, out),
                attr if attr == "format" || KEEPS.contains(&attr) => {
                    self.draw((&x.value, scope), depth + 1, out);
                    call.args
                        .iter()
                        .for_each(|e| self.aside((e, scope), depth, out));
                }
                _ if self.i.makes(&call.func, scope, &["textwrap.dedent"]) => one(out),
                _ => out.gap(),
            },
            func => {
                let vals = self.i.r.eval(func, scope);
                let text = |v: &Val<'a>| match v {
                    Val::Builtin(name) => matches!(&**name, "str" | "repr" | "round" | "int"),
                    Val::Member(path) => &**path == "textwrap.dedent",
                    _ => false,
                };
                match !vals.is_empty() && vals.iter().all(text) {
                    true => one(out),
                    false => out.gap(),
                }
            }
        }
    }

    fn join(
        &self,
        between: &'a Expr,
        arguments: &'a [Expr],
        scope: usize,
        depth: usize,
        out: &mut Sketch,
    ) {
        let [list] = arguments else {
            return out.gap();
        };
        let Some(items) = self.i.items((list, scope)) else {
            // A list of which the snippet says nothing, or one from data.
            return self.draw((list, scope), depth + 1, out);
        };
        for (at, item) in items.into_iter().enumerate() {
            if at > 0 {
                self.draw((between, scope), depth + 1, out);
            }
            match item {
                Item::Of(at) => self.draw(at, depth + 1, out),
                Item::Listed(..) => out.gap(),
            }
        }
    }

    fn name(&self, name: &'a ast::ExprName, scope: usize, depth: usize, out: &mut Sketch) {
        if let Some(sum) = self.i.sum_of(name, scope) {
            return sum
                .into_iter()
                .for_each(|e| self.draw((e, scope), depth + 1, out));
        }
        if !self.i.is_told(name, scope) {
            out.blind = true;
        }
        self.alternatives(self.i.sources(name, scope), depth, out);
        out.gap();
    }

    fn alternatives(&self, sources: Option<Vec<Source<'a>>>, depth: usize, out: &mut Sketch) {
        for source in sources.into_iter().flatten() {
            match source {
                Source::Whole(at) | Source::Added(at) => self.aside(at, depth, out),
                // What comes from data is a gap.
                Source::Element(at) => {
                    for item in self.i.items(at).into_iter().flatten() {
                        if let Item::Of(at) = item {
                            self.aside(at, depth, out);
                        }
                    }
                }
            }
        }
    }
}
