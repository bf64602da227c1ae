//! Attributes, whether read, written or deleted.

use super::{Inspector, is_dunder};
use crate::analysis::fold::fold;
use crate::analysis::hints;
use crate::analysis::library::{member_capability, module_capability};
use crate::analysis::methods::{self, Effect};
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Expr, ExprContext, Ranged};
use crate::analysis::resolve::{ScopeId, ScopeKind, Standing, Val, Vals};
use crate::analysis::rules;
use crate::analysis::walk::{Bound, ExprPlace, TargetOf};
use crate::model::Capability;

/// The public interface of named tuples and notebooks, despite the leading underscore.
const PUBLIC: &[&str] = &[
    "_asdict",
    "_field_defaults",
    "_fields",
    "_make",
    "_replace",
    "_repr_html_",
];

impl<'a> Inspector<'a> {
    pub(super) fn attribute(
        &mut self,
        x: &'a ast::ExprAttribute,
        e: &'a Expr,
        place: ExprPlace<'a>,
    ) {
        let attr = fold(x.attr.as_str());
        let at = x.range();
        self.spelling(x.attr.as_str(), at);
        let scope = self.here();
        let base = self.r.eval(&x.value, scope);
        for val in base.iter() {
            if let Val::Result(path) = val
                && path.starts_with("socket.")
                && matches!(&*attr, "bind" | "listen" | "accept")
            {
                self.uses(Capability::NetworkListen, at, &format!("socket.{attr}"));
            }
        }
        if self.is_class_read(x, &attr, &base, place) {
            return;
        }
        if self.attribute_name(&attr, at, x.ctx, &base, Some(&x.value)) {
            return;
        }
        // Calling `__init__` again can attach a file object to any descriptor.
        let made = |v: &Val<'_>| matches!(v, Val::File | Val::Memory | Val::Result(_));
        if &*attr == "__init__" && base.iter().any(made) {
            self.add(&rules::ATTR_DUNDER, at, "__init__ of an object")
                .hint = Some("make another object".to_owned());
        }
        // No snippet needs the attributes of a metaclass.
        let meta = |v: &Val<'_>| matches!(v, Val::TypeOf(true));
        if base.iter().any(meta) && !attr.starts_with('_') {
            self.add(&rules::DYN_TYPE_VALUE, at, format!("type(…).{attr}"));
        }
        // Layouts of plotly expose the module `re`, and through it further modules.
        if matches!(&*attr, "enum" | "copyreg" | "functools")
            && matches!(&*x.value, Expr::Attribute(inner) if inner.attr.as_str() == "re")
            && !base.iter().any(|v| matches!(v, Val::Module(_)))
        {
            self.add(&rules::IMPORT_THROUGH, at, format!("re.{attr}"));
        }
        if base.contains(&Val::Styler)
            && (matches!(&*attr, "env" | "loader") || attr.starts_with("template_"))
        {
            self.add(&rules::DYN_TEMPLATE, at, &*attr);
        }
        if !base.iter().any(|v| matches!(v, Val::Module(_))) {
            self.reads.push((attr.to_string(), self.place(at)));
        }
        for val in base.iter() {
            match val {
                Val::Module(module) => self.module_attribute(module, &attr, at, place),
                // Modules exposed by a library, under a policy that allows everything.
                Val::Member(path) if self.policy.imports.contains_key("*") => {
                    self.module_attribute(path, &attr, at, place);
                }
                _ => {}
            }
        }
        if x.ctx == ExprContext::Load && !matches!(place, ExprPlace::Called) {
            self.attribute_column(&x.value, &attr, at);
        }
        if x.ctx == ExprContext::Load {
            self.format_load(&attr, &x.value, &base, at, place);
            self.file_value(e, at, place);
        }
    }

    /// Operands of a comparison: `x.__class__ is y.__class__`.
    pub(super) fn compared(&mut self, x: &'a ast::ExprCompare) {
        if self.text.is_none() {
            let operands = std::iter::once(&*x.left).chain(&x.comparators);
            let ends = operands.filter(|e| e.is_attribute_expr());
            self.plain.extend(ends.map(|e| e.range().end().to_usize()));
        }
    }

    /// Whether `x.__class__` gives no more access than `type(x)`: only its name is read, it is
    /// compared, or an object of the snippet creates another of its class. The runner allows the
    /// same (`check.class_reads`).
    fn is_class_read(
        &mut self,
        x: &'a ast::ExprAttribute,
        attr: &str,
        base: &Vals<'a>,
        place: ExprPlace<'a>,
    ) -> bool {
        if self.text.is_some() || x.ctx != ExprContext::Load {
            return false;
        }
        if let Expr::Attribute(inner) = &*x.value
            && attr == "__name__"
            && fold(inner.attr.as_str()) == "__class__"
        {
            self.plain.insert(inner.range().end().to_usize());
        }
        let like_type = attr == "__class__"
            && self.policy.builtins.contains("type")
            && self.policy.attributes.allow_dunder.contains("__name__")
            && !base.iter().any(|v| matches!(v, Val::Module(_)));
        like_type
            && match place {
                ExprPlace::AttributeOf | ExprPlace::Compared => {
                    self.plain.contains(&x.range().end().to_usize())
                }
                ExprPlace::Argument(call) => {
                    matches!(&*call.func, Expr::Name(f) if f.id.as_str() == "isinstance")
                }
                ExprPlace::Called => matches!(&*x.value, Expr::Name(name)
                    if self.r.scopes.is_receiver(&fold(name.id.as_str()), self.here())),
                _ => false,
            }
    }

    pub(super) fn module_attribute(
        &mut self,
        module: &str,
        attr: &str,
        at: TextRange,
        place: ExprPlace<'a>,
    ) {
        let written = format!("{module}.{attr}");
        let (child, standing) = self.r.child(module, attr);
        if standing == Standing::Foreign {
            if let Some(capability) = member_capability(&written) {
                self.uses(capability, at, &written);
            }
            // An imported module is reported at its import; a well-known module name without an
            // import is reported here.
            if !self.foreign.contains(module) {
                self.foreign(module, at);
            }
            return;
        }
        if self.policy.imports.contains_key("*") {
            if let Some(capability) = self.reached(module, attr, &written) {
                self.add_with(&rules::IMPORT_SENSITIVE, at, Some(capability), written);
            }
            return;
        }
        let kept = !matches!(place, ExprPlace::AttributeOf);
        if standing == Standing::OnTheWay && kept {
            self.add(&rules::IMPORT_THROUGH, at, written);
            return;
        }
        self.standing(&written, &child, standing, at);
        if let (Val::Module(path), Standing::Allowed) = (&child, standing)
            && !matches!(
                place,
                ExprPlace::AttributeOf
                    | ExprPlace::Assigned
                    | ExprPlace::Target
                    | ExprPlace::Compared
            )
            && !self.policy.imports.contains_key("*")
        {
            let path = path.to_string();
            self.handed.insert(path.clone());
            self.add(&rules::IMPORT_MODULE_VALUE, at, path);
        }
    }

    /// The capability a member of a module stands for, under a policy that allows every module.
    fn reached(&self, module: &str, attr: &str, written: &str) -> Option<Capability> {
        let carried = attr.trim_start_matches('_');
        member_capability(written).or_else(|| {
            let library = self.r.library();
            (library.is_stdlib(carried) && !library.is_listed(written))
                .then(|| module_capability(carried))
                .flatten()
                .filter(|_| module != carried)
        })
    }

    /// Judges an attribute by its name and receiver. Returns whether the judgement is final.
    pub(super) fn attribute_name(
        &mut self,
        attr: &str,
        at: TextRange,
        context: ExprContext,
        base: &Vals<'a>,
        receiver: Option<&'a Expr>,
    ) -> bool {
        let attributes = &self.policy.attributes;
        let anything = attributes.allow_dunder.contains("*");
        if attributes.deny.contains(attr) {
            let rule = if is_frame(attr) {
                &rules::ATTR_FRAME
            } else {
                &rules::ATTR_DENIED
            };
            let written = base.iter().find_map(|v| match v {
                Val::Module(module) => Some(format!("{module}.{attr}")),
                _ => None,
            });
            let known = written
                .as_deref()
                .and_then(member_capability)
                .or_else(|| denied_capability(attr));
            if let Some(capability) = known {
                self.uses(capability, at, written.as_deref().unwrap_or(attr));
            }
            let instead = written.as_deref().and_then(hints::member);
            self.add(rule, at, attr).hint = instead.map(str::to_owned);
            return true;
        }
        if is_dunder(attr) {
            if context != ExprContext::Load && !attributes.define_dunder.contains(attr) && !anything
            {
                self.add(&rules::ATTR_STORE, at, attr);
                return true;
            }
            if context == ExprContext::Load && !attributes.allow_dunder.contains(attr) && !anything
            {
                let hint = hints::dunder(attr, self.policy);
                let fact = self.add(&rules::ATTR_DUNDER, at, attr);
                if let Some(hint) = hint {
                    fact.hint = Some(hint.to_owned());
                }
                return true;
            }
            if anything
                && !matches!(
                    attr,
                    "__name__"
                        | "__init__"
                        | "__doc__"
                        | "__version__"
                        | "__file__"
                        | "__len__"
                        | "__str__"
                )
            {
                self.add(&rules::ATTR_DUNDER, at, attr);
            }
            return false;
        }
        if anything && FRAMES.contains(&attr) {
            self.add(&rules::ATTR_FRAME, at, attr);
        }
        let modular = base.iter().any(|v| matches!(v, Val::Module(_)));
        if anything || modular {
            return false;
        }
        let own = receiver.is_some_and(|r| self.is_own(r, base));
        if attr.starts_with("__") {
            let class = self.classes.iter().rev().find(|c| !c.is_empty());
            let mangled = class.is_some_and(|c| !c.trim_matches('_').is_empty());
            if !(own && mangled) {
                self.add(&rules::ATTR_MANGLED, at, attr);
                return true;
            }
            return false;
        }
        let own = own
            || self.may_be_own(attr, receiver, base)
            || (attr == "_merge" && receiver.is_some_and(|r| self.is_merged(r)));
        if attr.starts_with('_') && attr != "_" && !own && !is_public(attr) {
            let of = match receiver {
                Some(Expr::Name(name)) => Some(name.id.as_str()),
                _ => None,
            };
            let hint = hints::private(attr, of);
            let fact = self.add(&rules::ATTR_PRIVATE, at, attr);
            if let Some(hint) = hint {
                fact.hint = Some(hint);
            }
            return true;
        }
        if attr == "obj" && base.contains(&Val::Exception) {
            self.add(&rules::ATTR_EXCEPTION, at, attr);
            return true;
        }
        false
    }

    /// Whether objects of the snippet have an attribute of this name and the type of the receiver
    /// is unknown. The runner checks whether the receiver is such an object
    /// (`gates.check_private`).
    fn may_be_own(&self, attr: &str, receiver: Option<&'a Expr>, base: &Vals<'a>) -> bool {
        let scopes = &self.r.scopes;
        let given = scopes.fields.contains_key(attr) || scopes.classes.contains_key(attr);
        let unknown = base
            .iter()
            .all(|v| matches!(v, Val::Class(_) | Val::Instance(_) | Val::Unknown));
        let input = receiver.is_some_and(|r| {
            let Expr::Name(name) = r else { return false };
            let id = fold(name.id.as_str());
            !scopes.lookup(&id, self.here()).is_bound()
        });
        given && unknown && !input
    }

    /// Whether the receiver is what `merge(indicator=True)` returned: pandas calls its column
    /// `_merge`. The runner checks that it is one (`gates.check_private`).
    fn is_merged(&self, receiver: &'a Expr) -> bool {
        let Expr::Name(name) = receiver else {
            return false;
        };
        let found = self.r.scopes.lookup(&fold(name.id.as_str()), self.here());
        let mut bindings = found.bindings.iter().flat_map(|(all, _)| all.iter());
        bindings.any(|b| {
            let Bound::Value(mut e) = b.to else {
                return false;
            };
            while let Expr::Call(call) = e {
                let mut words = call.keywords.iter().filter_map(|k| k.arg.as_ref());
                if words.any(|word| word.as_str() == "indicator") {
                    return true;
                }
                let Expr::Attribute(x) = &*call.func else {
                    break;
                };
                e = &*x.value;
            }
            false
        })
    }

    /// Whether the receiver is `self`, `cls`, or a class or object of the snippet.
    fn is_own(&self, receiver: &'a Expr, base: &Vals<'a>) -> bool {
        if base
            .iter()
            .any(|v| matches!(v, Val::Class(_) | Val::Instance(_)))
            && base
                .iter()
                .all(|v| matches!(v, Val::Class(_) | Val::Instance(_) | Val::Unknown))
        {
            return true;
        }
        match receiver {
            Expr::Name(name) => {
                let id = fold(name.id.as_str());
                self.r.scopes.is_receiver(&id, self.here())
            }
            Expr::Call(call) => {
                matches!(&*call.func, Expr::Name(f) if f.id.as_str() == "super")
                    && self.classes.iter().any(|c| !c.is_empty())
            }
            _ => false,
        }
    }

    /// Whether the receiver is an object of a class of the snippet with no base from elsewhere: all of
    /// its public methods stand in the snippet.
    pub(super) fn is_own_alone(&self, receiver: &'a Expr) -> bool {
        let here = self.here();
        if let Expr::Name(name) = receiver
            && let Some(class) = self.r.class_of_self(&fold(name.id.as_str()), here)
        {
            return self.is_class_alone(class, 0);
        }
        let base = self.r.eval(receiver, here);
        let alone =
            |v: &Val<'a>| matches!(v, Val::Instance(class) if self.is_class_alone(*class, 0));
        !base.is_empty() && base.iter().all(alone)
    }

    fn is_class_alone(&self, class: ScopeId, depth: usize) -> bool {
        let scopes = &self.r.scopes;
        let own = |v: &Val<'a>| match v {
            Val::Class(base) => depth < 4 && self.is_class_alone(*base, depth + 1),
            Val::Builtin(name) => &**name == "object",
            Val::Member(path) => &**path == "abc.ABC",
            _ => false,
        };
        scopes.all[class].kind == ScopeKind::Class
            && scopes.bases(class).iter().all(|base| {
                let vals = self.r.eval(base, scopes.all[class].parent);
                !vals.is_empty() && vals.iter().all(own)
            })
    }

    /// Judges a keyword of a class pattern.
    pub(super) fn pattern(&mut self, attr: &str, at: TextRange) {
        let attributes = &self.policy.attributes;
        let dunder = attr.starts_with("__") && !attributes.allow_dunder.contains(attr);
        let private = attr.starts_with('_') && !is_public(attr);
        let anything = attributes.allow_dunder.contains("*");
        // The calls of a captured method cannot be seen.
        let reaching = matches!(attr, "format" | "format_map")
            || methods::method(attr).is_some_and(|e| e.effect != Effect::ByName && attr != "load");
        let dunder = dunder || reaching;
        if attributes.deny.contains(attr) || ((dunder || private || attr == "obj") && !anything) {
            self.add(&rules::ATTR_PATTERN, at, attr);
        }
    }

    pub(super) fn attribute_store(
        &mut self,
        target: &'a ast::ExprAttribute,
        of: TargetOf,
        to: Bound<'a>,
    ) {
        let attr = fold(target.attr.as_str());
        let at = target.range();
        let base = self.r.eval(&target.value, self.here());
        // On the snippet's own objects this equals an assignment, which is judged below.
        if matches!(
            of,
            TargetOf::Loop | TargetOf::With | TargetOf::Comprehension
        ) && !self.is_own(&target.value, &base)
        {
            self.add(&rules::ATTR_TARGET, at, &*attr);
            return;
        }
        self.system_scope(&target.value, at);
        if let Bound::Value(value) = to {
            self.precision(&attr, value, at);
        }
        for val in base.iter() {
            let (Val::Module(path) | Val::Member(path)) = val else {
                continue;
            };
            let written = format!("{path}.{attr}");
            if written == "pandas.options.plotting.backend" {
                if let Bound::Value(value) = to {
                    self.backend(value, at, &written);
                }
                return;
            }
            if written == "plotly.io.renderers.default" {
                if let Bound::Value(value) = to {
                    self.renderer(value, at);
                }
                return;
            }
            let option = written.starts_with("pandas.options.")
                || written == "plotly.io.templates.default"
                || written.starts_with("matplotlib.rcParams.");
            if !option {
                self.add(&rules::IMPORT_PATCH, at, written);
                return;
            }
        }
    }

    /// A function that opens files and is passed on instead of called.
    pub(super) fn file_value(&mut self, e: &'a Expr, at: TextRange, place: ExprPlace<'a>) {
        let called = matches!(
            place,
            ExprPlace::AttributeOf
                | ExprPlace::Called
                | ExprPlace::Annotation
                | ExprPlace::Target
                | ExprPlace::Compared
        );
        if let Expr::Attribute(x) = e
            && !called
            && self.path_value(x, at)
        {
            return;
        }
        let surrounding = match place {
            ExprPlace::Argument(call) | ExprPlace::Keyword(call) => Some(call),
            ExprPlace::Plain | ExprPlace::Decorator | ExprPlace::Base => None,
            ExprPlace::Assigned => {
                self.keep(e, at);
                return;
            }
            ExprPlace::AttributeOf
            | ExprPlace::Called
            | ExprPlace::Annotation
            | ExprPlace::Target
            | ExprPlace::Compared => return,
        };
        let vals = self.r.eval(e, self.here());
        for val in vals.iter() {
            let (entry, subject) = match val {
                Val::Member(path) => (methods::member(path), path),
                // Columns may have these names.
                Val::Method(name) if matches!(&**name, "download" | "saving") => continue,
                Val::Method(name) => (methods::method(name), name),
                _ => continue,
            };
            let Some(entry) = entry else { continue };
            let subject = subject.to_string();
            if matches!(val, Val::Method(_)) && self.is_data_of_own(e) {
                continue;
            }
            // `partial(f, …)` and similar calls pass the arguments later.
            if let Some(call) = surrounding
                && self.is_partial(call)
                && call.args.first().is_some_and(|f| std::ptr::eq(f, e))
            {
                continue;
            }
            match entry.effect {
                Effect::ByName | Effect::Style | Effect::Option | Effect::Copies => {}
                // A column may have that name.
                Effect::Unpickle if subject == "load" => {}
                Effect::Read | Effect::Write | Effect::Save | Effect::ReadPathOrText => {
                    self.handed_on(entry, &subject, surrounding, at);
                }
                Effect::NumpyLoad
                | Effect::Unpickle
                | Effect::Pickle
                | Effect::Network
                | Effect::Database
                | Effect::Clipboard
                | Effect::Query
                | Effect::Formula
                | Effect::Backend
                | Effect::Exec
                | Effect::Template
                | Effect::Native
                | Effect::ReadsSystem
                | Effect::ChangesSystem => self.effect_alone(entry, &subject, at),
            }
            return;
        }
    }
}

/// The capability behind a name that policies deny on every object.
fn denied_capability(attr: &str) -> Option<Capability> {
    Some(match attr {
        "environ" | "environb" | "getenv" => Capability::ReadSystemState,
        "putenv" => Capability::ModifySystemState,
        "fork" | "popen" | "spawnl" | "spawnv" | "subprocess" => Capability::Exec,
        "urlopen" => Capability::NetworkOut,
        "ctypes" | "cffi" => Capability::Native,
        _ => return None,
    })
}

/// Whether the name is public despite its underscore: the interface of named tuples and notebooks,
/// and the positional name of a named tuple's field (`row._1`), which is used if the field's own
/// name is no identifier.
fn is_public(attr: &str) -> bool {
    let position = attr.strip_prefix('_').unwrap_or_default();
    let position = !position.is_empty() && position.bytes().all(|b| b.is_ascii_digit());
    position || PUBLIC.contains(&attr)
}

/// Attributes through which frames and functions expose their names.
const FRAMES: &[&str] = &[
    "f_back",
    "f_builtins",
    "f_globals",
    "f_locals",
    "tb_frame",
    "gi_frame",
    "cr_frame",
    "ag_frame",
    "func_globals",
];

fn is_frame(attr: &str) -> bool {
    ["f_", "tb_", "gi_", "cr_", "ag_", "co_", "func_", "im_"]
        .iter()
        .any(|p| attr.starts_with(p))
}
