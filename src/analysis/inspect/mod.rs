//! The second pass: visits every node once and collects the facts.

mod absent;
mod arrays;
mod attributes;
mod built;
mod calls;
mod classes;
mod columns;
mod course;
mod data;
mod doomed;
mod early;
mod filenames;
mod files;
mod format;
mod growth;
mod imports;
mod instead;
mod keywords;
mod loops;
mod lost;
mod named;
mod names;
mod numbers;
mod own_data;
mod path_methods;
mod paths;
mod reentry;
mod regex;
mod settings;
mod shapes;
mod sizes;
mod sketch;
mod slots;
mod sources;
mod spread;
mod styles;
mod texts;
mod told;
mod uncalled;

pub(super) use self::columns::named_in::names_in;

pub(super) use columns::UNSEEN;

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashSet};

use super::facts::{Fact, Facts};
use super::fold::fold;
use super::methods;
use super::parse::TextRange;
use super::parse::ast::{self, Expr, Ranged, Stmt};
use super::resolve::{Resolver, ScopeId, Standing};
use super::rules::{self, Rule};
use super::walk::{Bound, ExprPlace, Scope, TargetOf, Visitor};
use crate::model::{Capability, Setting};
use crate::policy::{NodeKind, Policy};

/// Keeps expressions parsed from literal texts alive as long as the tree.
#[derive(Default)]
pub struct Arena {
    slot: OnceCell<Box<(Expr, Arena)>>,
}

impl Arena {
    /// The limit on evaluated texts; no ordinary snippet has more.
    const MOST: usize = 200;

    fn keep(&self, expression: Expr) -> Option<&Expr> {
        let mut at = self;
        for _ in 0..Self::MOST {
            match at.slot.get() {
                Some(next) => at = &next.1,
                None => {
                    return Some(
                        &at.slot
                            .get_or_init(|| Box::new((expression, Self::default())))
                            .0,
                    );
                }
            }
        }
        None
    }
}

/// Collects the facts of one snippet.
pub struct Inspector<'a> {
    r: Resolver<'a>,
    policy: &'a Policy,
    setting: &'a Setting,
    facts: Facts,
    arena: &'a Arena,
    stack: Vec<ScopeId>,
    next: ScopeId,
    /// Names of the enclosing classes, for name mangling.
    classes: Vec<&'a str>,
    /// Modules that are already reported.
    foreign: HashSet<String>,
    /// Bodies of `try` in which an import may fail.
    attempted: Vec<(usize, usize)>,
    /// Modules passed on as values, and attributes read from unknown objects.
    handed: BTreeSet<String>,
    reads: Vec<(String, (usize, usize))>,
    /// Functions that open files and were not called where they were read.
    lost: lost::Lost,
    /// The template that is being assigned to a pandas option.
    option_value: Option<usize>,
    /// Templates whose methods are passed on inside an argument.
    handed_formats: HashSet<usize>,
    doomed: doomed::Doomed<'a>,
    /// Start offsets of raised `SystemExit`s, and end offsets of attributes that are only compared
    /// or whose name alone is read (`x.__class__.__name__`).
    plain: HashSet<usize>,
    /// While visiting an evaluated text: its position and kind.
    text: Option<TextCode>,
}

/// An evaluated text.
#[derive(Clone)]
struct TextCode {
    at: (usize, usize),
    /// Names of the snippet that the text uses (`@name`).
    local: Vec<String>,
    /// Whether all other bare names are columns.
    columns: bool,
    /// Whether the text is a model formula, in which unbound names are columns.
    formula: bool,
}

impl TextCode {
    /// Whether it is an annotation, not a query or a formula.
    fn is_annotation(&self) -> bool {
        !self.columns && !self.formula
    }
}

impl<'a> Inspector<'a> {
    pub fn new(r: Resolver<'a>, arena: &'a Arena, setting: &'a Setting) -> Self {
        Self {
            policy: r.policy,
            setting,
            r,
            facts: Facts::default(),
            arena,
            stack: vec![0],
            next: 1,
            classes: Vec::new(),
            foreign: HashSet::new(),
            attempted: Vec::new(),
            handed: BTreeSet::new(),
            reads: Vec::new(),
            lost: lost::Lost::default(),
            option_value: None,
            handed_formats: HashSet::new(),
            doomed: doomed::Doomed::default(),
            plain: HashSet::new(),
            text: None,
        }
    }

    /// Inspects a whole snippet.
    pub fn run(mut self, body: &'a [Stmt]) -> Facts {
        super::walk::body(&mut self, body);
        self.handed_modules();
        self.lost_functions();
        self.doomed(body);
        self.reentry(body);
        if self.r.exhausted() {
            self.facts.add(&rules::TANGLED, (0, 0), "");
        }
        self.facts
    }

    /// A module passed on as a value may be the receiver of any attribute read: report the names
    /// that would be refused on that module.
    fn handed_modules(&mut self) {
        for module in std::mem::take(&mut self.handed) {
            for (attr, at) in &self.reads {
                let (_, standing) = self.r.child(&module, attr);
                let written = format!("{module}.{attr}");
                if matches!(standing, Standing::Module | Standing::OnTheWay) {
                    self.facts.add(&rules::IMPORT_THROUGH, *at, written);
                } else if let Some(rule) = methods::member(&written).and_then(calls::always) {
                    self.facts.add(rule, *at, written);
                }
            }
        }
    }

    fn here(&self) -> ScopeId {
        self.stack.last().copied().unwrap_or(0)
    }

    fn place(&self, at: TextRange) -> (usize, usize) {
        match &self.text {
            Some(text) => text.at,
            None => (at.start().to_usize(), at.end().to_usize()),
        }
    }

    fn add(&mut self, rule: &'static Rule, at: TextRange, subject: impl Into<String>) -> &mut Fact {
        let at = self.place(at);
        self.facts.add(rule, at, subject)
    }

    fn add_with(
        &mut self,
        rule: &'static Rule,
        at: TextRange,
        capability: Option<Capability>,
        subject: impl Into<String>,
    ) -> &mut Fact {
        let at = self.place(at);
        self.facts.add_with(rule, at, capability, subject)
    }

    fn uses(&mut self, capability: Capability, at: TextRange, detail: &str) {
        let at = self.place(at);
        self.facts.uses(capability, at.0, detail);
    }
}

impl<'a> Visitor<'a> for Inspector<'a> {
    fn node(&mut self, kind: NodeKind, at: TextRange) {
        if !self.policy.nodes.contains(kind.name()) {
            self.add(&rules::NODE_DENIED, at, kind.name());
        }
    }

    fn statement(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::ImportFrom(import) => self.import_from(import),
            Stmt::Import(import) => self.import(import),
            Stmt::ClassDef(class) => {
                self.class(class);
                self.generic(&class.type_params);
            }
            Stmt::FunctionDef(x) => self.generic(&x.type_params),
            Stmt::AsyncFunctionDef(x) => self.generic(&x.type_params),
            Stmt::TypeAlias(x) => self.newer_syntax("a `type` statement", x.range()),
            Stmt::While(x) => self.while_loop(x),
            Stmt::For(x) => {
                self.looped_over(&x.iter);
                self.for_loop(x);
            }
            Stmt::Try(x) => {
                self.handlers(&x.handlers);
                self.attempt(&x.body, &x.handlers);
            }
            Stmt::TryStar(x) => {
                self.handlers(&x.handlers);
                self.attempt(&x.body, &x.handlers);
            }
            Stmt::Expr(x) => self.bare_text(&x.value),
            Stmt::Assign(x) => self.option_assigned(x),
            Stmt::AugAssign(x) => self.augmented(x),
            Stmt::Raise(x) => self.raised(x),
            Stmt::With(x) => self.suppressed(x),
            Stmt::If(x) => self.type_checked(x),
            Stmt::Return(_)
            | Stmt::Delete(_)
            | Stmt::AnnAssign(_)
            | Stmt::AsyncFor(_)
            | Stmt::AsyncWith(_)
            | Stmt::Match(_)
            | Stmt::Assert(_)
            | Stmt::Global(_)
            | Stmt::Nonlocal(_)
            | Stmt::Pass(_)
            | Stmt::Break(_)
            | Stmt::Continue(_) => {}
        }
    }

    fn expression(&mut self, e: &'a Expr, place: ExprPlace<'a>) {
        match e {
            Expr::Name(name) => self.name(name, e, place),
            Expr::Attribute(attribute) => {
                self.missing_import(attribute);
                self.attribute(attribute, e, place);
            }
            Expr::Call(call) => self.call(call),
            Expr::BinOp(x) => {
                self.arithmetic(x);
                self.combined(e);
                self.address_in(e);
            }
            Expr::Compare(x) => {
                self.compared(x);
                self.combined(e);
            }
            Expr::Subscript(x) => {
                self.subscript(x);
                self.told_item(x);
                self.sized_index(x);
            }
            Expr::ListComp(x) => self.comprehension(&x.generators, e.range()),
            Expr::SetComp(x) => self.comprehension(&x.generators, e.range()),
            Expr::DictComp(x) => self.comprehension(&x.generators, e.range()),
            Expr::GeneratorExp(x) => self.generator(&x.generators),
            Expr::Set(x) => self.unpacks(&x.elts, e.range()),
            Expr::Dict(x) => self.settings_in(&x.keys, &x.values),
            Expr::BoolOp(_)
            | Expr::NamedExpr(_)
            | Expr::UnaryOp(_)
            | Expr::Lambda(_)
            | Expr::IfExp(_)
            | Expr::Await(_)
            | Expr::Yield(_)
            | Expr::YieldFrom(_)
            | Expr::Starred(_)
            | Expr::Slice(_) => {}
            Expr::JoinedStr(_) => self.address_in(e),
            Expr::FormattedValue(x) => {
                if let Some(spec) = &x.format_spec {
                    self.format_width(spec, e.range());
                }
            }
            Expr::List(x) => self.unpacks(&x.elts, e.range()),
            Expr::Tuple(x) => self.unpacks(&x.elts, e.range()),
            Expr::Constant(c) => {
                if let ast::Constant::Str(text) = &c.value {
                    self.setting_text(text, e.range());
                    self.address_text(text, e.range());
                    self.file_text(text);
                }
                if let (ast::Constant::Str(text), ExprPlace::Annotation) = (&c.value, place) {
                    self.annotation(text, e.range());
                }
            }
        }
    }

    fn bind(&mut self, name: &'a str, at: TextRange, to: Bound<'a>) {
        self.binding(name, at, to);
    }

    fn keyword(&mut self, name: &'a str, at: TextRange) {
        self.keyword_name(name, at);
    }

    fn annotate(&mut self, name: &'a str, at: TextRange) {
        self.binding(name, at, Bound::Something);
    }

    fn declare(&mut self, name: &'a str, _global: bool, at: TextRange) {
        self.binding(name, at, Bound::Something);
    }

    fn store_attribute(&mut self, target: &'a ast::ExprAttribute, of: TargetOf, to: Bound<'a>) {
        self.attribute_store(target, of, to);
    }

    fn store_item(&mut self, target: &'a ast::ExprSubscript, of: TargetOf, to: Bound<'a>) {
        self.item_store(target, of, to);
    }

    fn pattern_attribute(&mut self, name: &'a str, at: TextRange, _class: &'a Expr) {
        let name = fold(name);
        self.reads.push((name.to_string(), self.place(at)));
        self.pattern(&name, at);
    }

    fn enter(&mut self, scope: Scope<'a>) {
        if self.text.is_some() {
            // Lambdas inside an evaluated text got no scope in the first pass.
            self.stack.push(self.here());
            return;
        }
        if let Scope::Class(class) = scope {
            self.classes.push(class.name.as_str());
        } else {
            self.classes.push("");
        }
        self.stack.push(self.next);
        self.next += 1;
    }

    fn leave(&mut self) {
        self.stack.pop();
        if self.text.is_none() {
            self.classes.pop();
        }
    }
}

/// Whether a name has the shape `__name__`.
fn is_dunder(name: &str) -> bool {
    name.len() > 4 && name.starts_with("__") && name.ends_with("__")
}
