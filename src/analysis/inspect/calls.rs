//! Calls. The callee is resolved first, so that an alias hides nothing.

use super::Inspector;
use crate::analysis::fold::fold;
use crate::analysis::library::{member_capability, module_capability};
use crate::analysis::methods::{self, Effect, Entry};
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Constant, Expr, ExprContext, Ranged};
use crate::analysis::resolve::Val;
use crate::analysis::rules::{self, Rule};
use crate::analysis::walk::ExprPlace;
use crate::model::{Action, Capability};

/// The arguments of a call. `skip` leaves out leading ones: in `partial(f, x)`, only `x` is an
/// argument of `f`.
#[derive(Clone, Copy)]
pub(super) struct Arguments<'a> {
    pub call: &'a ast::ExprCall,
    pub skip: usize,
}

impl<'a> Arguments<'a> {
    /// A positional argument; `None` also if a preceding `*` makes its position unknown.
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

    /// An argument by one of its keywords or by its position.
    pub fn given(&self, index: usize, names: &[&str]) -> Option<&'a Expr> {
        self.keyword(names).or_else(|| self.positional(index))
    }

    /// The argument that decides how the call is judged.
    pub fn deciding(&self, entry: Entry) -> Option<&'a Expr> {
        self.given(entry.index, entry.names)
    }

    /// Whether `*` or `**` may pass further arguments.
    pub fn open_ended(&self) -> bool {
        self.call.args.iter().any(Expr::is_starred_expr)
            || self.call.keywords.iter().any(|k| k.arg.is_none())
    }

    pub fn count(&self) -> usize {
        self.call.args.len().saturating_sub(self.skip)
    }
}

/// `open`, by its first argument.
pub(super) const OPEN: Entry = Entry {
    effect: Effect::Read,
    index: 0,
    names: &["file"],
};

impl<'a> Inspector<'a> {
    pub(super) fn call(&mut self, call: &'a ast::ExprCall) {
        let arguments = Arguments { call, skip: 0 };
        self.formats_within(call);
        self.table_method(call);
        self.array_method(call);
        self.axes_method(call);
        self.partitioned(call);
        self.keywords(call);
        if let Expr::Attribute(x) = &*call.func {
            self.format_call(x, arguments);
            self.padded(&fold(x.attr.as_str()), arguments, call.range());
            self.sized_method(x, arguments);
            self.column_call(x, arguments);
            self.result_call(x, arguments);
            self.path_method(x, call.range());
            self.opens_unknown(x, arguments, call.range());
            self.makes_files(x, arguments);
        }
        self.told_call(call);
        self.telling_keywords(arguments);
        let vals = self.r.eval(&call.func, self.here());
        for val in vals.iter() {
            self.called(val, arguments, call.range());
        }
        self.blind_call(call, &vals);
        // `type` may be called through a value that cannot be followed; its three arguments are
        // recognizable.
        if let [name, Expr::Tuple(_), Expr::Dict(_)] = call.args.as_slice()
            && vals
                .iter()
                .all(|v| matches!(v, Val::Unknown | Val::Holds(..) | Val::TypeOf(_)))
            && matches!(name, Expr::Constant(c) if c.value.is_str())
        {
            self.add(
                &rules::DYN_TYPE_CALL,
                call.range(),
                "(name, bases, members)",
            );
        }
    }

    /// Judges a method of a library's result, or a method that takes a template.
    fn result_call(&mut self, x: &'a ast::ExprAttribute, arguments: Arguments<'a>) {
        let attr = fold(x.attr.as_str());
        let base = self.r.eval(&x.value, self.here());
        let results: Vec<String> = base
            .iter()
            .filter_map(|v| match v {
                Val::Result(path) => Some(format!("{path}(…).{attr}")),
                _ => None,
            })
            .collect();
        for written in results {
            self.machine_paths(&written, arguments);
            if written.starts_with("matplotlib.animation.") && &*attr == "setup" {
                let entry = methods::method("saving").unwrap_or(OPEN);
                self.file(Capability::FsWrite, entry, "setup", arguments, x.range());
            }
            if written.starts_with("numpy.random.") {
                self.sized_member(&format!("numpy.random.{attr}"), arguments, x.range());
            }
        }
        if &*attr == "join" && arguments.call.args.iter().any(|e| self.endless(e, 0)) {
            self.add(&rules::DOS_LOOP, x.range(), "join");
        }
        if matches!(&*x.value, Expr::Attribute(inner) if inner.attr.as_str() == "str") {
            self.text_pattern(arguments, x.range());
        }
        let styler = base.contains(&Val::Styler);
        if matches!(&*attr, "hist" | "boxplot") {
            self.also(&attr, arguments, x.range());
        }
        match &*attr {
            "format" | "format_index" if styler => self.templates_in(arguments),
            "set_titles" | "label" => self.templates_in(arguments),
            "set_major_formatter" | "set_minor_formatter" | "bar_label" | "clabel" | "colorbar" => {
                self.templates_in(arguments);
            }
            "show" => {
                if let Some(e) = arguments.positional(0) {
                    self.renderer(e, e.range());
                }
            }
            "set_font" | "set_fontproperties" | "set_font_properties" => {
                if let Some(e) = arguments.positional(0) {
                    self.font(e, e.range());
                }
            }
            "update" | "theme" => {
                for keyword in arguments.call.keywords.iter().filter(|k| k.arg.is_none()) {
                    if let Expr::Dict(dict) = &keyword.value {
                        self.settings_in(&dict.keys, &dict.values);
                    }
                }
            }
            _ => {}
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
            // Calling a metaclass creates a class with any methods, like `type` with three
            // arguments.
            Val::Member(path)
                if matches!(&**path, "abc.ABCMeta" | "enum.EnumMeta" | "enum.EnumType") =>
            {
                self.add(&rules::DYN_TYPE, at, &**path);
            }
            Val::Member(path) => {
                self.direct(path, arguments, at);
                self.folder_call(path, arguments.call, at);
                self.member_call(path, arguments, at);
            }
            Val::Method(name) => {
                if let Some(entry) = methods::method(name) {
                    self.effect(entry, name, arguments, at);
                }
                self.also(name, arguments, at);
            }
            // A class derived from a library class opens the same files as that class.
            Val::Class(scope) => {
                for base in self.r.scopes.bases(*scope) {
                    let vals = self.r.eval(base, self.r.scopes.all[*scope].parent);
                    for val in vals.iter().filter(|v| matches!(v, Val::Member(_))) {
                        self.called(val, arguments, at);
                    }
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

    /// Judges a call of a module that reaches outside by itself, with what is known of its
    /// argument.
    fn direct(&mut self, path: &str, arguments: Arguments<'a>, at: TextRange) {
        let Some(capability) = member_capability(path) else {
            return;
        };
        let known = match arguments.positional(0) {
            Some(e) => {
                self.r
                    .eval(e, self.here())
                    .iter()
                    .all(|v| matches!(v, Val::Text(_) | Val::Items(..)))
                    || e.is_constant_expr()
            }
            None => return,
        };
        let kind = if known { "literal" } else { "computed" };
        let written = path.strip_prefix("builtins.").unwrap_or(path);
        self.uses(capability, at, &format!("{written}, {kind} argument"));
    }

    /// Judges further deciding arguments of the same call.
    fn also(&mut self, subject: &str, arguments: Arguments<'a>, at: TextRange) {
        for entry in methods::also(subject) {
            if arguments.deciding(*entry).is_some() {
                self.effect(*entry, subject, arguments, at);
            }
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
            "eval" | "exec" | "compile" | "__import__" => {
                self.direct(&format!("builtins.{name}"), arguments, at);
            }
            _ => self.sized_builtin(name, arguments, at),
        }
    }

    fn getattr_call(&mut self, name: &str, arguments: Arguments<'a>, at: TextRange) {
        let scope = self.here();
        let Some(attribute) = arguments.positional(1).filter(|_| !arguments.open_ended()) else {
            self.add(&rules::REFL_GETATTR, at, name);
            return;
        };
        let handed = self.r.handed_to(attribute, scope);
        let names = handed.unwrap_or_else(|| self.r.eval(attribute, scope));
        let mut texts = Vec::new();
        for val in names.iter() {
            match val {
                Val::Text(text) => texts.push(fold(text).into_owned()),
                _ => return self.computed_attribute(name, attribute, arguments, at),
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
            if self.attribute_name(&text, at, ExprContext::Load, &base, receiver)
                || receiver.is_some_and(|r| self.path_named(&text, r, at))
            {
                continue;
            }
            for val in base.iter() {
                if let Val::Module(module) = val {
                    let before = self.failing();
                    self.module_attribute(module, &text, at, ExprPlace::Called);
                    self.may_succeed(before);
                }
            }
            if matches!(text.as_str(), "format" | "format_map") && !base.contains(&Val::Styler) {
                self.add(&rules::FMT_BOUND, at, text);
            }
        }
    }

    /// Judges `getattr(x, f"set_{k}label")`: a name that begins with a letter is not private. If a
    /// denied name or a refused method begins like it, or the object may be a module, it could still
    /// be any.
    fn computed_attribute(
        &mut self,
        name: &str,
        attribute: &'a Expr,
        arguments: Arguments<'a>,
        at: TextRange,
    ) {
        let beginning = self.beginning(attribute);
        let receiver = arguments.positional(0);
        let base = receiver.map(|e| self.r.eval(e, self.here()));
        let module = |v: &Val<'a>| matches!(v, Val::Module(_) | Val::Member(_));
        let public = beginning.starts_with(|c: char| c.is_ascii_alphabetic());
        let denied = |d: &String| d.starts_with(&beginning);
        let reaching = self.policy.attributes.deny.iter().any(denied)
            || "format_map".starts_with(&beginning)
            || beginning.contains("__")
            || base.is_none_or(|base| base.iter().any(module));
        if public && !reaching && receiver.is_some_and(|e| self.is_own_alone(e)) {
            return;
        }
        // The child judges texts that become code, but not that a pickle is written.
        let refuses =
            |e: Entry| always(e).is_some() && !matches!(e.effect, Effect::Query | Effect::Formula);
        // `f"to_{kind}"` for kinds that are written out.
        let refused = match self.spelled(attribute) {
            Some(names) => names
                .iter()
                .any(|name| methods::method(name).is_some_and(refuses)),
            None => methods::beginning(&beginning).any(refuses),
        };
        let asked = public && !reaching && !refused;
        self.add(&rules::REFL_GETATTR, at, name).at_most = asked.then_some(Action::Flag);
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
                    self.keep(function, function.range());
                }
                return;
            }
            "matplotlib.ticker.StrMethodFormatter" => self.templates_in(arguments),
            "enum.Enum" | "enum.IntEnum" | "enum.StrEnum" | "enum.Flag" | "enum.IntFlag" => {
                self.members_of_enum(arguments, at);
            }
            "plotly.offline.plot" | "plotly.offline.plot_mpl"
                if arguments.keyword(&["auto_open", "output_type"]).is_none()
                    && !arguments.open_ended() =>
            {
                self.add(&rules::EXEC_CALL, at, "auto_open").hint =
                    Some("write auto_open=False; there is no browser".to_owned());
            }
            "argparse.ArgumentParser"
                if arguments.keyword(&["fromfile_prefix_chars"]).is_some()
                    || arguments.count() > 4 =>
            {
                let subject = "argparse with fromfile_prefix_chars";
                self.add_with(&rules::FS_OUTSIDE, at, Some(Capability::FsRead), subject);
            }
            "functools.wraps" if arguments.count() > 1 || !arguments.call.keywords.is_empty() => {
                self.add(&rules::REFL_WRAPS, at, path);
            }
            _ => {}
        }
        match methods::member(path) {
            Some(entry) => self.effect(entry, path, arguments, at),
            None => self.machine_paths(path, arguments),
        }
        self.also(path, arguments, at);
        if path.starts_with("plotly.express.") || path.starts_with("seaborn.") {
            self.plotted(arguments, at);
        }
        if path.starts_with("matplotlib.") || path.starts_with("seaborn.") {
            self.settings(path, arguments);
        }
        self.dataset_call(path, at);
        self.sized_member(path, arguments, at);
        self.pattern_call(path, arguments, at);
    }

    /// Judges a call found in the tables.
    pub(super) fn effect(
        &mut self,
        entry: Entry,
        subject: &str,
        arguments: Arguments<'a>,
        at: TextRange,
    ) {
        // A partial function that is given no file yet is called elsewhere.
        let later =
            arguments.skip > 0 && arguments.deciding(entry).is_none() && !arguments.open_ended();
        if !later {
            self.found(subject);
        }
        self.leaves_text(entry, subject, arguments, at);
        match entry.effect {
            Effect::Read => self.file(Capability::FsRead, entry, subject, arguments, at),
            Effect::Write => {
                self.typeset(arguments, entry, at);
                self.image(subject, at);
                self.file(Capability::FsWrite, entry, subject, arguments, at);
            }
            Effect::ReadPathOrText => self.path_or_text(entry, subject, arguments, at),
            Effect::NumpyLoad => {
                let allowed = arguments.given(2, &["allow_pickle"]);
                if allowed.is_some_and(|e| !is_false(e)) || arguments.open_ended() {
                    self.add(&rules::DESER_LOAD, at, subject);
                } else {
                    self.file(Capability::FsRead, entry, subject, arguments, at);
                }
            }
            Effect::Query => self.query(entry, subject, arguments, at),
            Effect::Formula => self.formula(entry, subject, arguments, at),
            Effect::Backend => match arguments.deciding(entry) {
                Some(e) => self.backend(e, at, subject),
                None if arguments.open_ended() => self.effect_alone(entry, subject, at),
                None => {}
            },
            Effect::Style => {
                if let Some(e) = arguments.deciding(entry) {
                    self.style(e, at, subject);
                }
            }
            Effect::Option => self.option(entry, subject, arguments, at),
            Effect::ByName => self.by_name(entry, arguments, at),
            Effect::Save => self.save(entry, subject, arguments, at),
            Effect::Copies => {}
            // `dataset.load()` loads data that comes with the library.
            Effect::Unpickle
                if subject == "load"
                    && (arguments.count() == 0 && arguments.call.keywords.is_empty()
                        || self.own_method(arguments.call, subject)) => {}
            // `a.dumps()` of numpy; the snippet's own methods of that name are harmless.
            Effect::Pickle if self.own_method(arguments.call, subject) => {}
            Effect::Pickle => {
                let given = arguments.count() > 0 || !arguments.call.keywords.is_empty();
                if given || subject.rsplit('.').next() == Some("dumps") {
                    self.effect_alone(entry, subject, at);
                }
            }
            Effect::Unpickle
            | Effect::Network
            | Effect::Database
            | Effect::Clipboard
            | Effect::Exec
            | Effect::Template
            | Effect::Native
            | Effect::ReadsSystem
            | Effect::ChangesSystem => self.effect_alone(entry, subject, at),
        }
    }

    /// Reports a call that has the same effect whatever its arguments are.
    pub(super) fn effect_alone(&mut self, entry: Entry, subject: &str, at: TextRange) {
        let Some(rule) = always(entry) else { return };
        let known = subject
            .rsplit_once('.')
            .and_then(|(module, _)| module_capability(module));
        if let Some(capability) = known {
            self.uses(capability, at, subject);
        }
        self.add(rule, at, subject);
    }
}

fn is_false(e: &Expr) -> bool {
    matches!(e, Expr::Constant(c) if c.value == Constant::Bool(false))
}

/// The rule for a call that has the same effect whatever its arguments are.
pub(super) fn always(entry: Entry) -> Option<&'static Rule> {
    Some(match entry.effect {
        Effect::NumpyLoad | Effect::Unpickle => &rules::DESER_LOAD,
        Effect::Pickle => &rules::DESER_DUMP,
        Effect::Network => &rules::NET_CALL,
        Effect::Database => &rules::FS_DATABASE,
        Effect::Clipboard | Effect::ReadsSystem => &rules::EXEC_SYSTEM,
        Effect::Query | Effect::Formula => &rules::DYN_QUERY_COMPUTED,
        Effect::Backend => &rules::DYN_BACKEND,
        Effect::Exec => &rules::EXEC_CALL,
        Effect::Template => &rules::DYN_TEMPLATE,
        Effect::Native => &rules::NATIVE_CALL,
        Effect::ChangesSystem => &rules::EXEC_CHANGES,
        Effect::Read
        | Effect::Write
        | Effect::ReadPathOrText
        | Effect::Style
        | Effect::Option
        | Effect::ByName
        | Effect::Save
        | Effect::Copies => return None,
    })
}
