//! The first pass: records which scope binds which name to which value.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::counts::Counts;
use crate::analysis::fold::fold;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Expr, Ranged};
use crate::analysis::walk::{Bound, ExprPlace, Scope, TargetOf, Visitor};

/// The index of a scope, in the order in which the walk enters them; 0 is the module.
pub type ScopeId = usize;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScopeKind {
    Module,
    Function,
    Class,
    Comprehension,
    TypeParameters,
}

/// A binding, with the scope in which its expression is evaluated and the offset where it ends.
#[derive(Clone, Copy)]
pub struct Binding<'a> {
    pub to: Bound<'a>,
    pub scope: ScopeId,
    pub end: usize,
    /// Directly in the module's body, outside every block, so that it always precedes the following
    /// code.
    pub certain: bool,
    /// Directly in the body of its scope, so that it happens once, in the order of the text: the end
    /// of its statement.
    pub straight: Option<usize>,
}

pub struct ScopeData<'a> {
    pub kind: ScopeKind,
    pub parent: ScopeId,
    pub names: HashMap<Cow<'a, str>, Vec<Binding<'a>>>,
    pub returns: Vec<&'a Expr>,
    /// Names bound in another scope through `global` (true) or `nonlocal` (false).
    declared: HashMap<Cow<'a, str>, bool>,
}

/// Everything the first pass collects.
pub struct Scopes<'a> {
    pub all: Vec<ScopeData<'a>>,
    /// Function (its arguments' address) or class → its scope.
    pub of: HashMap<usize, ScopeId>,
    /// Attribute name → the values stored under it, on any object.
    pub fields: HashMap<Cow<'a, str>, Vec<(Bound<'a>, ScopeId)>>,
    /// Name → the classes that bind it.
    pub classes: HashMap<Cow<'a, str>, Vec<ScopeId>>,
    /// Calls of plain names, to find the values of parameters.
    pub calls: HashMap<Cow<'a, str>, Vec<(&'a ast::ExprCall, ScopeId)>>,
    /// Lambdas that are called on the spot.
    pub direct: HashMap<usize, (&'a ast::ExprCall, ScopeId)>,
    /// Modules of `from m import *`.
    pub stars: Vec<&'a str>,
    /// Names that are read without being called, and names of decorated functions: functions with
    /// such a name may be called unseen.
    pub handed_on: HashSet<Cow<'a, str>>,
    /// Names that scopes annotate without a value: `query: str`.
    pub annotated: HashSet<(ScopeId, Cow<'a, str>)>,
    pub counts: Counts<'a>,
    /// Attributes that are read without being called.
    pub attributes_read: HashSet<Cow<'a, str>>,
    /// Attributes with a stored value that is unknown.
    pub untold: HashSet<Cow<'a, str>>,
    /// Whether the result of a call is called itself (`type(x)()`).
    pub chained: bool,
    /// Scopes of classes with decorators.
    decorated: HashSet<ScopeId>,
    /// Function (its arguments' address) → its name.
    pub function_names: HashMap<usize, Cow<'a, str>>,
    /// Class scope → its name.
    pub class_names: HashMap<ScopeId, Cow<'a, str>>,
    /// Class scope → its bases.
    bases: HashMap<ScopeId, &'a [Expr]>,
    stack: Vec<ScopeId>,
    /// Values (by address) that `+=` adds.
    pub(super) added: HashSet<usize>,
    /// The end of the last branch, loop or other block that began.
    block_end: usize,
    /// The end of the last statement that began.
    statement_end: usize,
    /// Positions of `(name := …)`, which is never certain because it may be skipped.
    walrus: HashSet<usize>,
    /// Ranges of top-level statements that are not compound.
    simple: Vec<TextRange>,
    /// Names that a function declares `global`.
    global: HashSet<Cow<'a, str>>,
    /// Name → the offsets of top-level statements that delete it.
    deleted: HashMap<Cow<'a, str>, Vec<usize>>,
}

impl<'a> Scopes<'a> {
    pub fn new(top: &'a [ast::Stmt]) -> Self {
        let simple = top
            .iter()
            .filter(|s| {
                matches!(
                    s,
                    ast::Stmt::Assign(_)
                        | ast::Stmt::AnnAssign(_)
                        | ast::Stmt::FunctionDef(_)
                        | ast::Stmt::AsyncFunctionDef(_)
                        | ast::Stmt::ClassDef(_)
                        | ast::Stmt::Import(_)
                        | ast::Stmt::ImportFrom(_)
                )
            })
            .map(Ranged::range)
            .collect();
        let mut scopes = Self {
            all: vec![ScopeData {
                kind: ScopeKind::Module,
                parent: 0,
                names: HashMap::new(),
                returns: Vec::new(),
                declared: HashMap::new(),
            }],
            of: HashMap::new(),
            fields: HashMap::new(),
            classes: HashMap::new(),
            calls: HashMap::new(),
            direct: HashMap::new(),
            stars: Vec::new(),
            handed_on: HashSet::new(),
            annotated: HashSet::new(),
            counts: Counts::default(),
            attributes_read: HashSet::new(),
            untold: HashSet::new(),
            chained: false,
            decorated: HashSet::new(),
            function_names: HashMap::new(),
            class_names: HashMap::new(),
            bases: HashMap::new(),
            added: HashSet::new(),
            block_end: 0,
            statement_end: 0,
            walrus: HashSet::new(),
            stack: vec![0],
            simple,
            global: HashSet::new(),
            deleted: deleted(top),
        };
        crate::analysis::walk::body(&mut scopes, top);
        for (id, data) in scopes.all.iter().enumerate() {
            if data.kind == ScopeKind::Class {
                for name in data.names.keys() {
                    scopes.classes.entry(name.clone()).or_default().push(id);
                }
            }
        }
        scopes
    }

    fn here(&self) -> ScopeId {
        self.stack.last().copied().unwrap_or(0)
    }

    /// The scope that `name`, bound in `scope`, belongs to.
    fn home(&self, name: &str, scope: ScopeId) -> ScopeId {
        match self.all[scope].declared.get(name) {
            Some(true) => 0,
            Some(false) => {
                let mut at = self.all[scope].parent;
                while at != 0 {
                    let data = &self.all[at];
                    if data.kind == ScopeKind::Function && data.names.contains_key(name) {
                        return at;
                    }
                    at = data.parent;
                }
                self.all[scope].parent
            }
            None => scope,
        }
    }

    /// Every binding that a load of `name` in `scope` can see, and whether one of them certainly
    /// happened. (In function scopes, Python never falls back to a builtin.)
    pub fn lookup(&self, name: &str, scope: ScopeId) -> Found<'_, 'a> {
        let mut found = Found::default();
        let mut at = scope;
        let mut direct = true;
        loop {
            let data = &self.all[at];
            let visible = data.kind != ScopeKind::Class || direct;
            if visible && let Some(bindings) = data.names.get(name) {
                let deleted = bindings.iter().any(|b| matches!(b.to, Bound::Deleted));
                match data.kind {
                    ScopeKind::Module | ScopeKind::Class => found.bindings.push((bindings, at)),
                    ScopeKind::Function | ScopeKind::Comprehension | ScopeKind::TypeParameters => {
                        found.bindings.push((bindings, at));
                        found.local = true;
                        return found;
                    }
                }
                if data.kind == ScopeKind::Module && !deleted {
                    found.certain_end = bindings.iter().filter(|b| b.certain).map(|b| b.end).min();
                }
            }
            if at == 0 {
                return found;
            }
            direct = direct && data.kind == ScopeKind::TypeParameters;
            at = data.parent;
        }
    }

    /// Whether some function declares the name `global`, so that it may be bound anywhere.
    pub fn is_global(&self, name: &str) -> bool {
        self.global.contains(name)
    }

    /// Whether every binding of the name in this very scope ended before `offset`: by deletion, or
    /// because Python deletes the name of `except … as` after the handler.
    pub fn is_gone(&self, name: &str, scope: ScopeId, offset: usize) -> bool {
        let found = self.lookup(name, scope);
        let [(bindings, home)] = found.bindings.as_slice() else {
            return false;
        };
        let deleted = self.deleted.get(name).into_iter().flatten();
        let deleted = match scope {
            0 => deleted.filter(|end| **end <= offset).max(),
            _ => None,
        };
        let ended = |b: &Binding<'a>| {
            let end = match b.to {
                // The end of a handler also deletes the name, but no other binding.
                Bound::Deleted => return b.scope == scope,
                Bound::Exception => offset,
                _ => deleted.copied().unwrap_or(0),
            };
            b.scope == scope && b.end <= end
        };
        *home == scope && bindings.iter().all(ended)
    }

    /// Whether the snippet reads or calls the name anywhere.
    pub fn is_read(&self, name: &str) -> bool {
        self.calls.contains_key(name) || self.handed_on.contains(name)
    }

    /// The names bound in a scope or in its enclosing scopes.
    pub fn names_at(&self, scope: ScopeId) -> impl Iterator<Item = &str> {
        let around =
            std::iter::successors(Some(scope), |at| (*at != 0).then(|| self.all[*at].parent));
        around.flat_map(|at| self.all[at].names.keys().map(|name| &**name))
    }

    /// Whether the snippet stores or defines something under the attribute.
    pub fn binds_field(&self, attr: &str) -> bool {
        self.fields.contains_key(attr) || self.classes.contains_key(attr)
    }

    /// The bases of a class of the snippet.
    pub fn bases(&self, class: ScopeId) -> &'a [Expr] {
        self.bases.get(&class).copied().unwrap_or_default()
    }

    pub fn is_decorated(&self, class: ScopeId) -> bool {
        self.decorated.contains(&class)
    }

    /// Whether the name is the first parameter of a method, i.e. the object itself.
    pub fn is_receiver(&self, name: &str, scope: ScopeId) -> bool {
        let found = self.lookup(name, scope);
        !found.bindings.is_empty()
            && found.bindings.iter().all(|(bindings, at)| {
                let mut outer = self.all[*at].parent;
                while self.all[outer].kind == ScopeKind::TypeParameters {
                    outer = self.all[outer].parent;
                }
                self.all[*at].kind == ScopeKind::Function
                    && self.all[outer].kind == ScopeKind::Class
                    && bindings.iter().all(|b| match b.to {
                        Bound::Parameter { index, .. } => {
                            index == Some(0) || (name == "other" && index == Some(1))
                        }
                        _ => false,
                    })
            })
    }

    fn push(&mut self, name: Cow<'a, str>, scope: ScopeId, binding: Binding<'a>) {
        self.all[scope].names.entry(name).or_default().push(binding);
    }
}

/// The names that top-level statements outside branches and loops delete.
fn deleted<'a>(top: &'a [ast::Stmt]) -> HashMap<Cow<'a, str>, Vec<usize>> {
    let mut found: HashMap<Cow<'a, str>, Vec<usize>> = HashMap::new();
    for statement in top {
        let ast::Stmt::Delete(delete) = statement else {
            continue;
        };
        for target in &delete.targets {
            if let Expr::Name(name) = target {
                let end = delete.range().end().to_usize();
                found.entry(fold(name.id.as_str())).or_default().push(end);
            }
        }
    }
    found
}

/// The result of a lookup.
#[derive(Default)]
pub struct Found<'s, 'a> {
    pub bindings: Vec<(&'s Vec<Binding<'a>>, ScopeId)>,
    /// Bound in a function or comprehension: never a builtin.
    pub local: bool,
    /// Loads after this offset see a module-level binding that has certainly happened.
    pub certain_end: Option<usize>,
}

impl Found<'_, '_> {
    /// Whether the snippet binds the name where the load can see it.
    pub fn is_bound(&self) -> bool {
        !self.bindings.is_empty()
    }

    /// Whether a load at `offset` can reach the builtin of that name.
    pub fn may_be_builtin(&self, offset: usize) -> bool {
        !self.local && self.certain_end.is_none_or(|end| end > offset)
    }
}

impl<'a> Visitor<'a> for Scopes<'a> {
    fn bind(&mut self, name: &'a str, at: TextRange, to: Bound<'a>) {
        let here = self.here();
        if let Bound::Member { module, name: "*" } = to {
            self.stars.push(module);
            return;
        }
        let name = fold(name);
        // Walrus targets in a comprehension belong to the enclosing scope. Loop targets do not;
        // treating them alike only enlarges the set of possible values.
        let mut scope = self.home(&name, here);
        if let Bound::Value(_) = to {
            while self.all[scope].kind == ScopeKind::Comprehension {
                scope = self.all[scope].parent;
            }
        }
        let (start, end) = (at.start().to_usize(), at.end().to_usize());
        match to {
            Bound::Function(arguments) => {
                self.function_names.insert(address(arguments), name.clone());
            }
            Bound::Value(Expr::Lambda(lambda)) => {
                self.function_names
                    .insert(address(&*lambda.args), name.clone());
            }
            _ => {}
        }
        let certain = if here != 0 || self.walrus.contains(&start) {
            Err(0)
        } else {
            self.simple
                .binary_search_by(|r| {
                    if r.end().to_usize() < end {
                        std::cmp::Ordering::Less
                    } else if r.start().to_usize() > start {
                        std::cmp::Ordering::Greater
                    } else {
                        std::cmp::Ordering::Equal
                    }
                })
                .map(|i| self.simple[i].end().to_usize())
        };
        let binding = Binding {
            to,
            scope: here,
            end: certain.unwrap_or(end),
            certain: certain.is_ok(),
            straight: (start >= self.block_end && !self.walrus.contains(&start))
                .then_some(self.statement_end),
        };
        self.push(name, scope, binding);
    }

    fn declare(&mut self, name: &'a str, global: bool, _at: TextRange) {
        let here = self.here();
        let name = fold(name);
        if global {
            self.global.insert(name.clone());
        }
        self.all[here].declared.insert(name, global);
    }

    fn store_attribute(&mut self, target: &'a ast::ExprAttribute, _of: TargetOf, to: Bound<'a>) {
        if !matches!(to, Bound::Deleted | Bound::Something) {
            self.field(target.attr.as_str(), to);
        } else if matches!(to, Bound::Something) {
            self.untold.insert(fold(target.attr.as_str()));
        }
    }

    fn store_item(&mut self, target: &'a ast::ExprSubscript, _of: TargetOf, to: Bound<'a>) {
        if let Bound::Value(value)
        | Bound::ElementOf(value)
        | Bound::Part(value, _)
        | Bound::Within(value)
        | Bound::With(value)
        | Bound::Gains(value) = to
        {
            self.holder_gains(&target.value, value);
        }
    }

    fn statement(&mut self, statement: &'a ast::Stmt) {
        self.statement_end = statement.range().end().to_usize();
        let (name, decorators) = match statement {
            ast::Stmt::FunctionDef(x) => (&x.name, &x.decorator_list),
            ast::Stmt::AsyncFunctionDef(x) => (&x.name, &x.decorator_list),
            ast::Stmt::AugAssign(x) if x.op == ast::Operator::Add => {
                self.added.insert(address(&*x.value));
                return;
            }
            ast::Stmt::For(_)
            | ast::Stmt::AsyncFor(_)
            | ast::Stmt::While(_)
            | ast::Stmt::If(_)
            | ast::Stmt::With(_)
            | ast::Stmt::AsyncWith(_)
            | ast::Stmt::Match(_)
            | ast::Stmt::Try(_)
            | ast::Stmt::TryStar(_) => {
                self.block_end = self.block_end.max(statement.range().end().to_usize());
                return;
            }
            _ => return,
        };
        if !decorators.is_empty() {
            self.handed_on.insert(fold(name.as_str()));
        }
    }

    fn annotate(&mut self, name: &'a str, _at: TextRange) {
        self.annotated.insert((self.here(), fold(name)));
    }

    fn expression(&mut self, e: &'a Expr, place: ExprPlace<'a>) {
        if let Expr::Name(name) = e
            && name.ctx == ast::ExprContext::Load
        {
            self.counts.read(name.id.as_str());
            if !matches!(place, ExprPlace::Called) {
                self.handed_on.insert(fold(name.id.as_str()));
            }
        }
        if let Expr::Attribute(x) = e
            && x.ctx == ast::ExprContext::Load
            && !matches!(place, ExprPlace::Called)
        {
            self.attributes_read.insert(fold(x.attr.as_str()));
        }
        if let Expr::NamedExpr(named) = e {
            self.walrus.insert(named.target.range().start().to_usize());
        }
        let Expr::Call(call) = e else { return };
        self.counts.unpacked_by(call);
        let here = self.here();
        match &*call.func {
            Expr::Call(_) => self.chained = true,
            Expr::Lambda(lambda) => {
                self.direct.insert(address(&*lambda.args), (call, here));
            }
            Expr::Name(name) => self
                .calls
                .entry(fold(name.id.as_str()))
                .or_default()
                .push((call, here)),
            // `names.append(x)` and similar calls put `x` into the object.
            Expr::Attribute(method) => {
                self.calls
                    .entry(fold(method.attr.as_str()))
                    .or_default()
                    .push((call, here));
                if matches!(
                    method.attr.as_str(),
                    "append"
                        | "add"
                        | "insert"
                        | "extend"
                        | "extendleft"
                        | "update"
                        | "setdefault"
                        | "appendleft"
                ) {
                    for value in &call.args {
                        self.holder_gains(&method.value, value);
                    }
                    for keyword in &call.keywords {
                        self.holder_gains(&method.value, &keyword.value);
                    }
                }
            }
            _ => {}
        }
    }

    fn returns(&mut self, value: &'a Expr) {
        // The value of a lambda or of the innermost function.
        let mut at = self.here();
        while at != 0 && self.all[at].kind != ScopeKind::Function {
            at = self.all[at].parent;
        }
        self.all[at].returns.push(value);
    }

    fn enter(&mut self, scope: Scope<'a>) {
        let id = self.all.len();
        let (kind, key) = match scope {
            Scope::Function(arguments) | Scope::Async(arguments) => {
                (ScopeKind::Function, address(arguments))
            }
            Scope::Class(class) => (ScopeKind::Class, address(class)),
            Scope::Comprehension { target, .. } => (ScopeKind::Comprehension, address(target)),
            Scope::TypeParameters => (ScopeKind::TypeParameters, 0),
        };
        if key != 0 {
            self.of.insert(key, id);
        }
        if let Scope::Class(class) = scope {
            self.bases.insert(id, &class.bases);
            if !class.decorator_list.is_empty() {
                self.decorated.insert(id);
            }
            self.class_names.insert(id, fold(class.name.as_str()));
        }
        self.all.push(ScopeData {
            kind,
            parent: self.here(),
            names: HashMap::new(),
            returns: Vec::new(),
            declared: HashMap::new(),
        });
        self.stack.push(id);
    }

    fn leave(&mut self) {
        self.stack.pop();
    }
}

impl<'a> Scopes<'a> {
    fn field(&mut self, attr: &'a str, to: Bound<'a>) {
        let here = self.here();
        self.fields.entry(fold(attr)).or_default().push((to, here));
    }

    /// Records that `holder` (a name, an attribute, or something inside one) now also holds
    /// `value`.
    fn holder_gains(&mut self, holder: &'a Expr, value: &'a Expr) {
        match holder {
            Expr::Name(name) => self.gains(name.id.as_str(), value),
            Expr::Attribute(x) => self.field(x.attr.as_str(), Bound::Gains(value)),
            Expr::Subscript(x) => self.holder_gains(&x.value, value),
            _ => {}
        }
    }

    fn gains(&mut self, name: &'a str, value: &'a Expr) {
        let here = self.here();
        let name = fold(name);
        // This changes the object wherever the name is bound, but is recorded where it is visible.
        let mut at = here;
        while at != 0 && !self.all[at].names.contains_key(&name) {
            at = self.all[at].parent;
        }
        let binding = Binding {
            to: Bound::Gains(value),
            scope: here,
            end: usize::MAX,
            certain: false,
            straight: None,
        };
        if at != 0 || self.all[0].names.contains_key(&name) {
            self.push(name, at, binding);
        }
    }
}

/// The identity of a node. The tree does not move during the analysis.
pub fn address<T>(node: &T) -> usize {
    std::ptr::from_ref(node) as usize
}
