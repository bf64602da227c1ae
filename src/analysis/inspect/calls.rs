//! Calls: what is called is resolved first, so that an alias hides nothing.

use super::Inspector;
use crate::analysis::fold::fold;
use crate::analysis::library::module_capability;
use crate::analysis::methods::{self, Effect, Entry};
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Constant, Expr, ExprContext, Ranged};
use crate::analysis::resolve::{Set, Val};
use crate::analysis::rules;
use crate::analysis::walk::Bound;
use crate::model::Capability;

/// The arguments of a call, as many as were skipped by a `partial` around it.
#[derive(Clone, Copy)]
pub(super) struct Arguments<'a> {
    pub call: &'a ast::ExprCall,
    pub skip: usize,
}

impl<'a> Arguments<'a> {
    /// A positional argument; `None` also where a `*` before it hides which it is.
    pub fn positional(&self, index: usize) -> Option<&'a Expr> {
        let index = index.checked_add(self.skip)?;
        let before = self.call.args.get(..=index)?;
        if before.iter().any(Expr::is_starred_expr) {
            return None;
        }
        before.last()
    }

    pub fn keyword(&self, names: &[&str]) -> Option<&'a Expr> {
        self.call.keywords.iter().find_map(|k| {
            let name = k.arg.as_ref()?;
            names.contains(&&*fold(name.as_str())).then_some(&k.value)
        })
    }

    /// The argument that decides.
    pub fn deciding(&self, entry: Entry) -> Option<&'a Expr> {
        self.keyword(entry.names)
            .or_else(|| self.positional(entry.index))
    }

    /// Whether `*` or `**` may carry more.
    pub fn open_ended(&self) -> bool {
        self.call.args.iter().any(Expr::is_starred_expr)
            || self.call.keywords.iter().any(|k| k.arg.is_none())
    }

    pub fn count(&self) -> usize {
        self.call.args.len().saturating_sub(self.skip)
    }
}

impl<'a> Inspector<'a> {
    pub(super) fn call(&mut self, call: &'a ast::ExprCall) {
        let arguments = Arguments { call, skip: 0 };
        if let Expr::Attribute(x) = &*call.func {
            self.format_call(x, arguments);
            self.padded(&fold(x.attr.as_str()), arguments, call.range());
            self.column_call(x, arguments);
        }
        self.telling_keywords(arguments);
        let vals = self.r.eval(&call.func, self.here());
        for val in vals.iter() {
            self.called(val, arguments, call.range());
        }
    }

    /// Keywords that mean the same wherever they stand: LaTeX is a program, file systems and
    /// storage options lead out.
    fn telling_keywords(&mut self, arguments: Arguments<'a>) {
        let given = |e: &&'a Expr| !matches!(e, Expr::Constant(c) if matches!(c.value, Constant::None | Constant::Bool(false)));
        if let Some(e) = arguments.keyword(&["usetex"]).filter(given) {
            self.add(&rules::EXEC_CALL, e.range(), "usetex");
        }
        if let Some(e) = arguments.keyword(&["memory"]).filter(given) {
            self.cache(e, e.range());
        }
        if let Some(e) = arguments.keyword(&["storage_options"]).filter(given) {
            self.add(&rules::NET_URL, e.range(), "storage_options");
        }
        if let Some(e) = arguments.keyword(&["filesystem"]).filter(given) {
            self.add_with(
                &rules::FS_OUTSIDE,
                e.range(),
                Some(Capability::FsRead),
                "filesystem",
            );
        }
    }

    pub(super) fn is_partial(&self, call: &'a ast::ExprCall) -> bool {
        self.r
            .eval(&call.func, self.here())
            .iter()
            .any(|v| matches!(v, Val::Member(p) if matches!(&**p, "functools.partial" | "functools.partialmethod" | "operator.call")))
    }

    fn called(&mut self, val: &Val<'a>, arguments: Arguments<'a>, at: TextRange) {
        match val {
            Val::Builtin(name) => self.builtin_call(name, arguments, at),
            // A class of classes makes a class with any method, as `type` with three arguments.
            Val::Member(path)
                if matches!(&**path, "abc.ABCMeta" | "enum.EnumMeta" | "enum.EnumType") =>
            {
                self.add(&rules::DYN_TYPE, at, &**path);
            }
            Val::Member(path) => self.member_call(path, arguments, at),
            Val::Method(name) => {
                if let Some(entry) = methods::method(name) {
                    self.effect(entry, name, arguments, at);
                }
            }
            Val::TypeOf(true) => {
                self.add(&rules::DYN_TYPE_VALUE, at, "type(…)(…)");
            }
            Val::TypeOf(false) => {
                self.add(&rules::DYN_TYPE_CALL, at, "type(…)(…)");
            }
            Val::Module(_)
            | Val::Result(_)
            | Val::Text(_)
            | Val::ComputedText
            | Val::TextMethod(_)
            | Val::Function(_)
            | Val::Class(_)
            | Val::Instance(_)
            | Val::Exception
            | Val::Memory
            | Val::File
            | Val::Styler
            | Val::Items(..)
            | Val::Holds(..)
            | Val::Unknown => {}
        }
    }

    fn builtin_call(&mut self, name: &str, arguments: Arguments<'a>, at: TextRange) {
        match name {
            "getattr" | "hasattr" => self.getattr_call(name, arguments, at),
            "type" => {
                let one = arguments.count() == 1
                    && arguments.call.keywords.is_empty()
                    && !arguments.open_ended();
                if !one {
                    self.add(&rules::DYN_TYPE, at, "type");
                }
            }
            "open" => self.open_call(arguments, at),
            _ => self.sized_builtin(name, arguments, at),
        }
    }

    fn getattr_call(&mut self, name: &str, arguments: Arguments<'a>, at: TextRange) {
        let scope = self.here();
        let Some(attribute) = arguments.positional(1).filter(|_| !arguments.open_ended()) else {
            self.add(&rules::REFL_GETATTR, at, name);
            return;
        };
        let names = self.r.eval(attribute, scope);
        let mut texts = Vec::new();
        for val in names.iter() {
            match val {
                Val::Text(text) => texts.push(fold(text).into_owned()),
                _ => {
                    self.add(&rules::REFL_GETATTR, at, name);
                    return;
                }
            }
        }
        if texts.is_empty() {
            self.add(&rules::REFL_GETATTR, at, name);
        }
        let receiver = arguments.positional(0);
        let base = match receiver {
            Some(e) => self.r.eval(e, scope),
            None => return,
        };
        for text in texts {
            if self.attribute_name(&text, at, ExprContext::Load, &base, receiver) {
                continue;
            }
            for val in base.iter() {
                if let Val::Module(module) = val {
                    let (child, standing) = self.r.child(module, &text);
                    self.standing(&format!("{module}.{text}"), &child, standing, at);
                }
            }
            if matches!(text.as_str(), "format" | "format_map") && !base.contains(&Val::Styler) {
                self.add(&rules::FMT_BOUND, at, text);
            }
        }
    }

    fn member_call(&mut self, path: &str, arguments: Arguments<'a>, at: TextRange) {
        match path {
            "functools.partial" | "functools.partialmethod" | "operator.call" => {
                if let Some(function) = arguments.positional(0) {
                    let inner = Arguments {
                        call: arguments.call,
                        skip: arguments.skip + 1,
                    };
                    let vals = self.r.eval(function, self.here());
                    for val in vals.iter().filter(|v| !matches!(v, Val::TypeOf(_))) {
                        self.called(val, inner, at);
                    }
                }
                return;
            }
            "functools.wraps" if arguments.count() > 1 || !arguments.call.keywords.is_empty() => {
                self.add(&rules::REFL_WRAPS, at, path);
            }
            _ => {}
        }
        if let Some(entry) = methods::member(path) {
            self.effect(entry, path, arguments, at);
        }
        if path.starts_with("matplotlib.") || path.starts_with("seaborn.") {
            self.settings(arguments);
        }
        self.sized_member(path, arguments, at);
        self.pattern_call(path, arguments, at);
    }

    /// A call that was found in the tables.
    pub(super) fn effect(
        &mut self,
        entry: Entry,
        subject: &str,
        arguments: Arguments<'a>,
        at: TextRange,
    ) {
        match entry.effect {
            Effect::Read => self.file(Capability::FsRead, entry, subject, arguments, at),
            Effect::Write => self.file(Capability::FsWrite, entry, subject, arguments, at),
            Effect::ReadPathOrText => self.path_or_text(entry, subject, arguments, at),
            Effect::NumpyLoad => {
                let allowed = arguments
                    .keyword(&["allow_pickle"])
                    .or_else(|| arguments.positional(2));
                if allowed.is_some_and(|e| !is_false(e)) || arguments.open_ended() {
                    self.add(&rules::DESER_LOAD, at, subject);
                } else {
                    self.file(Capability::FsRead, entry, subject, arguments, at);
                }
            }
            Effect::Query => self.query(entry, subject, arguments, at),
            Effect::Formula => self.formula(entry, subject, arguments, at),
            Effect::Backend => {
                if let Some(e) = arguments.deciding(entry) {
                    self.backend(e, at, subject);
                }
            }
            Effect::Style => {
                if let Some(e) = arguments.deciding(entry) {
                    self.style(e, at, subject);
                }
            }
            Effect::Option => self.option(entry, subject, arguments, at),
            Effect::ByName => self.by_name(entry, arguments, at),
            Effect::Plot => {
                if let Some(e) = arguments.keyword(&["backend"]) {
                    self.backend(e, at, subject);
                }
            }
            Effect::Copies => {}
            Effect::Pickle => {
                if arguments.count() > 0 || !arguments.call.keywords.is_empty() {
                    self.effect_alone(entry, subject, at);
                }
            }
            Effect::Unpickle
            | Effect::Network
            | Effect::Database
            | Effect::Clipboard
            | Effect::Exec
            | Effect::Native
            | Effect::ReadsSystem
            | Effect::ChangesSystem => self.effect_alone(entry, subject, at),
        }
    }

    /// What such a call does whatever its arguments are.
    pub(super) fn effect_alone(&mut self, entry: Entry, subject: &str, at: TextRange) {
        let rule = match entry.effect {
            Effect::NumpyLoad | Effect::Unpickle => &rules::DESER_LOAD,
            Effect::Pickle => &rules::DESER_DUMP,
            Effect::Network => &rules::NET_CALL,
            Effect::Database => &rules::FS_DATABASE,
            Effect::Clipboard | Effect::ReadsSystem => &rules::EXEC_SYSTEM,
            Effect::Query | Effect::Formula => &rules::DYN_QUERY_COMPUTED,
            Effect::Backend => &rules::DYN_BACKEND,
            Effect::Exec => &rules::EXEC_CALL,
            Effect::Native => &rules::NATIVE_CALL,
            Effect::ChangesSystem => &rules::EXEC_CHANGES,
            Effect::Read
            | Effect::Write
            | Effect::ReadPathOrText
            | Effect::Style
            | Effect::Option
            | Effect::ByName
            | Effect::Plot
            | Effect::Copies => return,
        };
        let known = subject
            .rsplit_once('.')
            .and_then(|(module, _)| module_capability(module));
        if let Some(capability) = known {
            self.uses(capability, at, subject);
        }
        self.add(rule, at, subject);
    }

    /// `df.agg("name")` calls the method of that name.
    fn by_name(&mut self, entry: Entry, arguments: Arguments<'a>, at: TextRange) {
        let mut named = Vec::new();
        if let Some(e) = arguments.deciding(entry) {
            self.names_in(e, &mut named);
        }
        // Named aggregation: `agg(total=("amount", "sum"))`.
        for keyword in &arguments.call.keywords {
            if let Expr::Tuple(pair) = &keyword.value
                && let Some(last) = pair.elts.last()
            {
                self.names_in(last, &mut named);
            }
        }
        for name in named {
            let harmless = methods::method(&name)
                .is_none_or(|e| matches!(e.effect, Effect::ByName | Effect::Plot));
            let attributes = &self.policy.attributes;
            if !harmless || name.starts_with('_') || attributes.deny.contains(&name) {
                self.add(&rules::DYN_BY_NAME, at, name);
            }
        }
    }

    fn names_in(&self, e: &'a Expr, out: &mut Vec<String>) {
        match e {
            Expr::List(x) => x.elts.iter().for_each(|e| self.names_in(e, out)),
            Expr::Tuple(x) => x.elts.iter().for_each(|e| self.names_in(e, out)),
            Expr::Dict(x) => x.values.iter().for_each(|e| self.names_in(e, out)),
            other => {
                for val in self.r.eval(other, self.here()).iter() {
                    match val {
                        Val::Text(text) => out.push(fold(text).into_owned()),
                        Val::Items(..) | Val::Holds(..) => {
                            let mut set = Set::default();
                            self.r.element(val, &mut set);
                            out.extend(set.into_vec().into_iter().filter_map(|v| match v {
                                Val::Text(text) => Some(fold(&text).into_owned()),
                                _ => None,
                            }));
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    /// A plotting backend is a module that gets imported.
    pub(super) fn backend(&mut self, e: &'a Expr, at: TextRange, subject: &str) {
        let fine = self.r.eval(e, self.here()).iter().all(|v| match v {
            Val::Text(name) => matches!(
                name.to_ascii_lowercase().as_str(),
                "agg"
                    | "svg"
                    | "pdf"
                    | "ps"
                    | "cairo"
                    | "template"
                    | "matplotlib"
                    | "plotly"
                    | "inline"
                    | "module://matplotlib_inline.backend_inline"
            ),
            Val::Unknown => matches!(e, Expr::Constant(c) if c.value == Constant::None),
            _ => false,
        });
        if !fine {
            self.add(&rules::DYN_BACKEND, at, subject).hint =
                Some("leave the backend alone; figures are collected as they are".to_owned());
        }
    }

    /// `rcParams.update({…})`, `rc_context({…})`, `set_theme(rc={…})`.
    fn settings(&mut self, arguments: Arguments<'a>) {
        let given = arguments
            .call
            .args
            .iter()
            .chain(arguments.call.keywords.iter().map(|k| &k.value));
        for e in given {
            if let Expr::Dict(dict) = e {
                for (key, value) in dict.keys.iter().zip(&dict.values) {
                    if let Some(key) = key {
                        self.setting(key, Bound::Value(value), key.range());
                    }
                }
            }
        }
        // `rc("backend", …)` and keywords that are settings.
        if let Some(e) = arguments.keyword(&["backend"]) {
            self.backend(e, e.range(), "backend");
        }
    }

    fn option(&mut self, entry: Entry, subject: &str, arguments: Arguments<'a>, at: TextRange) {
        let Some(e) = arguments.deciding(entry) else {
            return;
        };
        let backend = self.r.eval(e, self.here()).iter().any(|v| match v {
            Val::Text(name) => name.contains("backend"),
            _ => true,
        });
        if backend {
            match arguments
                .positional(1)
                .or_else(|| arguments.keyword(&["val", "value"]))
            {
                Some(value) => self.backend(value, at, subject),
                None => {
                    self.add(&rules::DYN_BACKEND, at, subject);
                }
            }
        }
    }
}

fn is_false(e: &Expr) -> bool {
    matches!(e, Expr::Constant(c) if c.value == Constant::Bool(false))
}
