//! Names, judged wherever they are loaded, whether or not they are called.

use super::texts::COLUMN;
use super::{Inspector, is_dunder};
use crate::analysis::fold::{changes, fold};
use crate::analysis::hints;
use crate::analysis::library::{builtin_capability, is_builtin};
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, ExceptHandler, Expr, ExprContext, Ranged};
use crate::analysis::resolve::{Standing, Val};
use crate::analysis::rules;
use crate::analysis::walk::{Bound, ExprPlace};
use crate::model::nearest;
use crate::model::{Action, Capability};

/// Special names that exist without a binding in the snippet, in modules, classes, methods or
/// builtins. The child's `rules.py` has the same list.
const THERE: &[&str] = &[
    "__annotations__",
    "__build_class__",
    "__builtins__",
    "__class__",
    "__debug__",
    "__doc__",
    "__import__",
    "__loader__",
    "__module__",
    "__name__",
    "__package__",
    "__qualname__",
    "__spec__",
];

/// Functions whose `plot` may be the module `matplotlib.pyplot`.
const DRAWING: &[&str] = &[
    "scipy.stats.boxcox_normplot",
    "scipy.stats.ppcc_plot",
    "scipy.stats.probplot",
    "scipy.stats.yeojohnson_normplot",
];

/// Builtins of other systems and Python versions, which portable code mentions behind a check.
const ELSEWHERE: &[&str] = &["WindowsError", "_IncompleteInputError"];

impl<'a> Inspector<'a> {
    pub(super) fn name(&mut self, name: &'a ast::ExprName, e: &'a Expr, place: ExprPlace<'a>) {
        let id = fold(name.id.as_str());
        let at = name.range();
        if name.ctx != ExprContext::Load {
            return;
        }
        self.spelling(name.id.as_str(), at);
        if let Some(text) = &self.text
            && text.columns
            && !text.local.iter().any(|n| *n == id)
            && !matches!(place, ExprPlace::Called)
            && !is_dunder(&id)
        {
            // A column of the table.
            if &*id != COLUMN {
                self.column(&id, Capability::DataRead, at);
            }
            return;
        }
        let scope = self.here();
        let found = self.r.scopes.lookup(&id, scope);
        // Names such as `__` and `__rest` are not special to Python; they are allowed if the
        // snippet binds them.
        if id.starts_with("__") && (is_dunder(&id) || !found.is_bound()) {
            self.dunder_name(&id, at);
            return;
        }
        let found_nothing = found.bindings.is_empty() && self.r.scopes.stars.is_empty();
        let bound = found.is_bound();
        let unbound_yet = found.may_be_builtin(at.start().to_usize());
        let table = self.text.is_none() && unbound_yet && self.is_table(&id);
        if is_builtin(&id) && unbound_yet {
            self.builtin(e, &id, at, place);
        }
        if table {
            self.uses(Capability::DataRead, at, &id);
        }
        // An unbound name in a model formula is a column.
        if self.text.as_ref().is_some_and(|t| t.formula)
            && !bound
            && !is_builtin(&id)
            && !matches!(place, ExprPlace::Called)
        {
            self.column(&id, Capability::DataRead, at);
        }
        let gone = self.r.scopes.stars.is_empty()
            && self.r.scopes.is_gone(&id, scope, at.start().to_usize());
        if self.text.is_none()
            && (found_nothing || gone)
            && !is_builtin(&id)
            && !ELSEWHERE.contains(&&*id)
            && !THERE.contains(&&*id)
            && !self.r.scopes.is_global(&id)
        {
            self.unbound(&id, at, gone);
        }
        self.module_value(e, at, place);
        if self.text.is_none() && !found_nothing {
            self.file_value(e, at, place);
        }
    }

    fn dunder_name(&mut self, id: &str, at: TextRange) {
        // A module's own `__name__` and `__doc__` are harmless (a text or None). Other special
        // names are allowed only if the policy lets snippets define them and the snippet binds
        // them.
        let attributes = &self.policy.attributes;
        let own = attributes.define_dunder.contains(id)
            && !THERE.contains(&id)
            && self.r.scopes.lookup(id, self.here()).is_bound();
        let name = matches!(id, "__name__" | "__doc__") && attributes.allow_dunder.contains(id);
        let capability = builtin_capability(id);
        // A policy that allows everything still reports names that reach further.
        let harmless = attributes.allow_dunder.contains("*") && capability.is_none();
        if own || name || harmless {
            return;
        }
        self.add_with(&rules::BUILTIN_DUNDER, at, capability, id);
    }

    fn builtin(&mut self, e: &'a Expr, id: &str, at: TextRange, place: ExprPlace<'a>) {
        let policy = self.policy;
        let listed = policy.builtins.contains(id) || policy.builtins.contains("*");
        match id {
            "eval" | "exec" | "compile" if !listed || policy.builtins.contains("*") => {
                self.add(&rules::DYN_EVAL, at, id);
            }
            // Allowed: equivalent to `sys.exit`.
            "SystemExit" if self.plain.contains(&at.start().to_usize()) => {}
            _ if !listed => {
                let rule = match id {
                    "BaseException" | "BaseExceptionGroup" | "KeyboardInterrupt" | "SystemExit"
                    | "GeneratorExit" => &rules::BUILTIN_BASE_EXCEPTION,
                    "exit" | "quit" => &rules::BUILTIN_EXIT,
                    _ => &rules::BUILTIN_DENIED,
                };
                let hint = hints::builtin(id, policy).or_else(|| {
                    nearest(id, policy.builtins.iter().map(String::as_str))
                        .map(|near| format!("did you mean `{near}`?"))
                });
                let fact = self.add_with(rule, at, builtin_capability(id), id);
                if let Some(hint) = hint {
                    fact.hint = Some(hint);
                }
            }
            // A policy that allows everything still reports names that reach further.
            _ if policy.builtins.contains("*")
                && !matches!(id, "getattr" | "hasattr" | "type" | "open") =>
            {
                if let Some(capability) = builtin_capability(id) {
                    self.add_with(&rules::BUILTIN_DENIED, at, Some(capability), id);
                }
            }
            "getattr" | "hasattr" if !matches!(place, ExprPlace::Called) => {
                self.add(&rules::REFL_VALUE, at, id);
            }
            "type" => self.type_load(at, place),
            "open" if matches!(place, ExprPlace::Assigned) => self.keep(e, at),
            "open" if !matches!(place, ExprPlace::Called | ExprPlace::Assigned) => {
                self.add_with(&rules::FS_VALUE, at, Some(Capability::FsRead), "open");
            }
            _ => {}
        }
    }

    /// `raise SystemExit(main())` equals `sys.exit(main())` and is allowed if the policy lists
    /// `sys.exit`.
    pub(super) fn raised(&mut self, x: &'a ast::StmtRaise) {
        let exits = self
            .policy
            .imports
            .get("sys")
            .is_some_and(|members| members.contains("exit"));
        let class = x.exc.as_deref().map(|e| match e {
            Expr::Call(call) => &*call.func,
            e => e,
        });
        if let Some(Expr::Name(name)) = class
            && exits
            && name.id.as_str() == "SystemExit"
        {
            self.plain.insert(name.range().start().to_usize());
        }
    }

    /// `type` may be called with one argument, compared, used in a type test or mapped over values.
    fn type_load(&mut self, at: TextRange, place: ExprPlace<'a>) {
        let fine = match place {
            ExprPlace::Called
            | ExprPlace::Compared
            | ExprPlace::Annotation
            | ExprPlace::Assigned => true,
            ExprPlace::Argument(call) => match &*call.func {
                Expr::Name(f) => match &*fold(f.id.as_str()) {
                    "isinstance" | "issubclass" => true,
                    "map" => call.args.len() == 2 && call.keywords.is_empty(),
                    _ => false,
                },
                Expr::Attribute(f) => {
                    matches!(
                        f.attr.as_str(),
                        "apply" | "map" | "applymap" | "transform" | "agg"
                    ) && call.args.len() == 1
                        && call.keywords.is_empty()
                }
                _ => false,
            },
            ExprPlace::Base => {
                self.add(&rules::DYN_METACLASS, at, "type");
                true
            }
            ExprPlace::Plain
            | ExprPlace::AttributeOf
            | ExprPlace::Keyword(_)
            | ExprPlace::Decorator
            | ExprPlace::Target => false,
        };
        if !fine {
            self.add(&rules::DYN_TYPE_VALUE, at, "type");
        }
    }

    /// Reports a module passed on as a value, which cannot be followed.
    fn module_value(&mut self, e: &'a Expr, at: TextRange, place: ExprPlace<'a>) {
        if matches!(
            place,
            ExprPlace::AttributeOf | ExprPlace::Target | ExprPlace::Compared
        ) || self.policy.imports.contains_key("*")
        {
            return;
        }
        let vals = self.r.eval(e, self.here());
        if let ExprPlace::Assigned = place {
            // The assignment is followed; if the value gets lost, reads from unknown objects count
            // as reads from the module.
            for val in vals.iter() {
                if let Val::Module(path) = val
                    && self.r.module_standing(path) != Standing::Foreign
                {
                    self.handed.insert(path.to_string());
                }
            }
            return;
        }
        for val in vals.iter() {
            if let Val::Module(path) = val {
                // `getattr(np, "mean")` can be resolved.
                if let ExprPlace::Argument(call) = place
                    && let Expr::Name(f) = &*call.func
                    && matches!(f.id.as_str(), "getattr" | "hasattr")
                {
                    continue;
                }
                // `probplot(x, plot=plt)` only draws with the module.
                if let ExprPlace::Keyword(call) = place
                    && &**path == "matplotlib.pyplot"
                    && self.draws_with(call)
                {
                    continue;
                }
                // A disallowed module is reported elsewhere; a bare unbound name is not reported.
                if self.r.module_standing(path) == Standing::Foreign {
                    continue;
                }
                let path = path.to_string();
                self.handed.insert(path.clone());
                self.add(&rules::IMPORT_MODULE_VALUE, at, path);
                return;
            }
        }
    }

    /// Whether the callee is a library function that draws with the module passed to it.
    fn draws_with(&self, call: &'a ast::ExprCall) -> bool {
        let vals = self.r.eval(&call.func, self.here());
        let draws = |v: &Val<'a>| matches!(v, Val::Member(p) if DRAWING.contains(&&**p));
        !vals.is_empty() && vals.iter().all(draws)
    }

    /// Judges a bound name by its spelling and by whether Python itself uses it.
    pub(super) fn binding(&mut self, name: &'a str, at: TextRange, to: Bound<'a>) {
        let id = fold(name);
        if matches!(to, Bound::Member { name: "*", .. }) {
            return;
        }
        self.spelling(name, at);
        // `__getitem__ = pd.read_csv`: Python calls it implicitly.
        if is_dunder(&id)
            && let Bound::Value(value) = to
        {
            self.file_value(value, value.range(), ExprPlace::Plain);
            self.called_by_python(value);
        }
        if self.may_define(&id) {
            return;
        }
        let (start, end) = self.place(at);
        // Only the first line of a definition is marked, not the whole body.
        self.facts.add(
            &rules::ATTR_DEFINE,
            (start, end.min(start + id.len() + 4)),
            &*id,
        );
    }

    /// Judges the name of an argument, because the callee may define it (`dict(__x__=1)` and the
    /// like).
    pub(super) fn keyword_name(&mut self, name: &str, at: TextRange) {
        let id = fold(name);
        self.spelling(name, at);
        if !self.may_define(&id) {
            self.add(&rules::BUILTIN_DUNDER, at, &*id).hint =
                Some("choose a name without the double underscores".to_owned());
        }
    }

    /// Whether the name is not special to Python, or the policy lets snippets define it.
    fn may_define(&self, id: &str) -> bool {
        let attributes = &self.policy.attributes;
        !is_dunder(id)
            || attributes.allow_dunder.contains(id)
            || attributes.allow_dunder.contains("*")
            || attributes.define_dunder.contains(id)
    }

    /// Reports a name that Python reads differently from how it looks.
    pub(super) fn spelling(&mut self, name: &str, at: TextRange) {
        if changes(name) && !name.contains('\u{b5}') {
            let folded = fold(name).into_owned();
            self.add(&rules::TEXT_FOLDED, at, format!("`{name}` is `{folded}`"));
        }
    }

    pub(super) fn handlers(&mut self, handlers: &'a [ExceptHandler]) {
        for handler in handlers {
            let ExceptHandler::ExceptHandler(handler) = handler;
            if handler.type_.is_none() {
                let (start, _) = self.place(handler.range());
                self.facts
                    .add(&rules::BUILTIN_BARE_EXCEPT, (start, start + 6), "")
                    .at_least = Some(Action::Note);
            }
        }
    }
}
