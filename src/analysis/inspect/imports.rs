//! Imports, judged by the real names of the module and member, never by the alias.

use super::Inspector;
use crate::analysis::fold::fold;
use crate::analysis::hints;
use crate::analysis::library::{
    is_builtin, is_telling, member_capability, module_capability, stays_inside,
};
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Expr, Ranged};
use crate::analysis::resolve::{Standing, Val};
use crate::analysis::rules;
use crate::model::Capability;
use crate::model::nearest;

impl<'a> Inspector<'a> {
    pub(super) fn import(&mut self, import: &'a ast::StmtImport) {
        for alias in &import.names {
            let path = fold(alias.name.as_str()).into_owned();
            let at = alias.range();
            self.spelling(alias.name.as_str(), at);
            if let Some(name) = &alias.asname {
                self.other_name(&path, &fold(name.as_str()), at);
            }
            match self.r.module_standing(&path) {
                Standing::Allowed => {
                    self.sensitive(&path, at);
                    self.unjudged(&path, at);
                    self.installed(&path, at);
                }
                standing => {
                    let unlisted = standing == Standing::Foreign;
                    if !(unlisted && self.optional(&path, &[], at)) {
                        self.foreign(&path, at);
                        self.not_here(&path, at);
                    }
                }
            }
        }
    }

    /// Whether an import may fail harmlessly: its error is caught (`try`, `suppress`), only a type
    /// checker reads it, or the snippet first asks whether the module exists (`find_spec`). In
    /// addition, the only thing known about the module or its imported members is that the policy
    /// does not list them. The runner raises the error and loads nothing (`check.optional`).
    fn optional(&mut self, path: &str, names: &[ast::Alias], at: TextRange) -> bool {
        let (start, _) = self.place(at);
        let guarded = self
            .attempted
            .iter()
            .any(|(from, to)| (*from..*to).contains(&start))
            || self.is_sought(path);
        let harmless = module_capability(path).is_none()
            && names.iter().all(|alias| {
                member_capability(&format!("{path}.{}", fold(alias.name.as_str()))).is_none()
            });
        let private = path.split('.').any(|part| part.starts_with('_'));
        if !guarded || !harmless || private {
            return false;
        }
        self.foreign.insert(path.to_owned());
        if let Some(top) = path.split('.').next() {
            self.foreign.insert(top.to_owned());
        }
        self.add(&rules::IMPORT_OPTIONAL, at, path);
        true
    }

    /// Marks the body of a `try` whose handlers may catch the error of a failing import.
    pub(super) fn attempt(&mut self, body: &'a [ast::Stmt], handlers: &'a [ast::ExceptHandler]) {
        let ast_takes = |handler: &ast::ExceptHandler| {
            let ast::ExceptHandler::ExceptHandler(handler) = handler;
            handler.type_.as_deref().is_none_or(takes_absence)
        };
        if handlers.iter().any(ast_takes) {
            self.may_fail(body);
        }
    }

    /// Marks the body of `with suppress(ImportError):`.
    pub(super) fn suppressed(&mut self, x: &'a ast::StmtWith) {
        let takes = |item: &ast::WithItem| {
            let Expr::Call(call) = &item.context_expr else {
                return false;
            };
            let name = match &*call.func {
                Expr::Name(name) => name.id.as_str(),
                Expr::Attribute(x) => x.attr.as_str(),
                _ => return false,
            };
            name == "suppress" && call.args.iter().any(takes_absence)
        };
        if x.items.iter().any(takes) {
            self.may_fail(&x.body);
        }
    }

    /// Marks the body of `if TYPE_CHECKING:`, which is false in a run.
    pub(super) fn type_checked(&mut self, x: &'a ast::StmtIf) {
        let name = match &*x.test {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(x) => x.attr.as_str(),
            _ => return,
        };
        if name == "TYPE_CHECKING" {
            self.may_fail(&x.body);
        }
    }

    fn may_fail(&mut self, body: &'a [ast::Stmt]) {
        if let (Some(first), Some(last)) = (body.first(), body.last()) {
            let from = self.place(first.range()).0;
            let to = self.place(last.range()).1;
            self.attempted.push((from, to));
        }
    }

    /// Whether the snippet calls `find_spec` with the package of this module.
    fn is_sought(&self, path: &str) -> bool {
        let top = path.split('.').next();
        let calls = self.r.scopes.calls.get("find_spec").into_iter().flatten();
        let mut asked = calls.filter_map(|(call, _)| match call.args.first() {
            Some(Expr::Constant(c)) => c.value.as_str(),
            _ => None,
        });
        asked.any(|asked| asked.split('.').next() == top)
    }

    /// Reports `import os as numpy`: every following line seems to use another module.
    fn other_name(&mut self, path: &str, name: &str, at: TextRange) {
        let top = path.split('.').next().unwrap_or(path);
        let last = path.rsplit('.').next().unwrap_or(path);
        let short = [
            ("pd", "pandas"),
            ("np", "numpy"),
            ("plt", "matplotlib"),
            ("sns", "seaborn"),
        ];
        let usual = short.iter().find(|(short, _)| *short == name);
        let library = self.r.library();
        let another = match usual {
            Some((_, module)) => *module != top,
            None => {
                let known = library.knows(name) || is_telling(name) || is_builtin(name);
                name != last && name != top && known
            }
        };
        // The alias makes a harmless module look more capable than it is.
        let harmless = module_capability(name).is_some() && module_capability(path).is_none();
        let another = another && !harmless;
        if another {
            self.add(&rules::IMPORT_ALIAS, at, format!("{path} as {name}"));
        }
    }

    pub(super) fn import_from(&mut self, import: &'a ast::StmtImportFrom) {
        let at = import.range();
        if import.level.is_some_and(|level| level.to_u32() > 0) {
            self.add_with(
                &rules::IMPORT_RELATIVE,
                at,
                Some(Capability::Unanalyzed),
                "relative",
            );
            return;
        }
        let Some(module) = &import.module else { return };
        self.spelling(module.as_str(), at);
        let path = fold(module.as_str()).into_owned();
        match self.r.module_standing(&path) {
            Standing::Allowed => {
                self.sensitive(&path, at);
                self.unjudged(&path, at);
                self.installed(&path, at);
            }
            // `from scipy import stats` is allowed if `scipy.stats` is.
            Standing::OnTheWay => self.installed(&path, at),
            _ => {
                if self.optional(&path, &import.names, at) {
                    return;
                }
                self.foreign(&path, at);
                self.not_here(&path, at);
                for alias in &import.names {
                    let written = format!("{path}.{}", fold(alias.name.as_str()));
                    if let Some(capability) = member_capability(&written) {
                        self.uses(capability, alias.range(), &written);
                    }
                }
                return;
            }
        }
        for alias in &import.names {
            let name = fold(alias.name.as_str());
            self.spelling(alias.name.as_str(), alias.range());
            if name == "*" {
                self.star(&path, alias.range());
                continue;
            }
            let (val, standing) = self.r.child(&path, &name);
            let written = format!("{path}.{name}");
            if let Some(other) = &alias.asname {
                let other = fold(other.as_str());
                let module = matches!(val, Val::Module(_));
                // `from numpy import round_ as round` is the same function.
                if module || (is_builtin(&other) && name.trim_end_matches('_') != other) {
                    self.other_name(&written, &other, alias.range());
                }
            }
            if let Some(capability) = member_capability(&written) {
                self.uses(capability, alias.range(), &written);
            }
            self.standing(&written, &val, standing, alias.range());
            if standing == Standing::OnTheWay {
                self.add(&rules::IMPORT_MODULE, alias.range(), written);
            }
        }
    }

    /// Listing a member in the policy does not allow what it can do: `os.system` can do more than
    /// the import of `os` reports.
    fn sensitive_member(&mut self, path: &str, at: TextRange) {
        if let Some((module, member)) = path.rsplit_once('.')
            && self.lists_inside(module)
            && stays_inside(module, member)
        {
            return;
        }
        let capability = member_capability(path);
        if capability.is_some() && capability != module_capability(path) {
            self.add_with(&rules::IMPORT_SENSITIVE, at, capability, path);
        }
    }

    fn star(&mut self, path: &str, at: TextRange) {
        // The imported names cannot be told apart afterwards, so the most dangerous one counts.
        if matches!(path, "os" | "posix" | "nt") {
            self.sensitive_member(&format!("{path}.system"), at);
        }
        let members = self.policy.imports.get(path);
        if members.is_some_and(|m| m.contains("*")) || self.policy.imports.contains_key("*") {
            self.add(&rules::IMPORT_STAR, at, format!("{path}.*"));
        } else {
            self.add(&rules::IMPORT_MEMBER, at, format!("{path}.*"))
                .hint = Some(format!("name what you import from `{path}`"));
        }
    }

    /// Reports a member that the policy does not simply allow.
    pub(super) fn standing(
        &mut self,
        written: &str,
        val: &Val<'a>,
        standing: Standing,
        at: TextRange,
    ) {
        let real = match val {
            Val::Module(path) | Val::Member(path) => path.to_string(),
            _ => written.to_owned(),
        };
        if matches!(standing, Standing::Allowed | Standing::Unresolved) {
            self.sensitive_member(&real, at);
        }
        if standing == Standing::Allowed
            && !written
                .rsplit_once('.')
                .is_some_and(|(module, _)| self.policy.unjudged.contains(module))
        {
            self.unjudged(written, at);
            if real != written {
                self.unjudged(&real, at);
            }
        }
        match standing {
            Standing::Allowed if self.is_missing(written) => {
                let near = hints::member(written).map(str::to_owned);
                self.no_member(written.to_owned(), near, at);
            }
            Standing::Allowed | Standing::OnTheWay => {}
            Standing::Module => {
                let instead = hints::member_of(written, self.policy);
                let instead = instead
                    .or_else(|| hints::member(written))
                    .map(str::to_owned);
                let last = written.rsplit('.').next().unwrap_or(written);
                let capability = module_capability(last).or_else(|| module_capability(&real));
                if let Some(capability) = capability {
                    self.uses(capability, at, written);
                }
                self.foreign.insert(real);
                let fact = self.add(&rules::IMPORT_THROUGH, at, written);
                if instead.is_some() {
                    fact.hint = instead;
                }
            }
            Standing::Private => {
                self.add(&rules::IMPORT_PRIVATE, at, written);
            }
            Standing::Withheld => {
                let near = self.near_member(written);
                let fact = self.add_with(
                    &rules::IMPORT_MEMBER,
                    at,
                    Some(member_capability(written).unwrap_or(Capability::Unanalyzed)),
                    written,
                );
                if let Some(hint) = near {
                    fact.hint = Some(hint);
                }
            }
            Standing::Unresolved => {
                let near = self.near_member(written);
                if self.is_missing(written) {
                    return self.no_member(written.to_owned(), near, at);
                }
                let fact = self.add(&rules::IMPORT_UNRESOLVED, at, written);
                if let Some(hint) = near {
                    fact.hint = Some(hint);
                }
            }
            // The import, or the first name of the chain, is reported itself.
            Standing::Foreign => {}
        }
    }

    /// Reports a module that a policy file added without a known judgement.
    fn unjudged(&mut self, path: &str, at: TextRange) {
        if self.policy.unjudged.contains(path) {
            self.add(&rules::IMPORT_UNKNOWN, at, path);
        }
    }

    pub(super) fn near_member(&self, written: &str) -> Option<String> {
        let instead = hints::member_of(written, self.policy);
        if let Some(instead) = instead.or_else(|| hints::member(written)) {
            return Some(instead.to_owned());
        }
        let (module, name) = written.rsplit_once('.')?;
        let listed = self.policy.imports.get(module)?;
        // scipy repeated functions of numpy until 2.0.
        if module == "scipy" && self.r.library().has_member("numpy", name) {
            return Some(format!("it is numpy's: write `np.{name}`"));
        }
        let near = if listed.contains("*") {
            nearest(name, self.r.library().members(module))
        } else {
            nearest(name, listed.iter().map(String::as_str))
        };
        near.map_or_else(
            || hints::without(module, self.policy),
            |near| Some(format!("did you mean `{module}.{near}`?")),
        )
    }

    /// Reports a module that the policy does not list at all.
    pub(super) fn foreign(&mut self, path: &str, at: TextRange) {
        self.foreign.insert(path.to_owned());
        if let Some(top) = path.split('.').next() {
            self.foreign.insert(top.to_owned());
        }
        let capability = module_capability(path).unwrap_or(Capability::Unanalyzed);
        let hint = hints::module(path, self.policy).unwrap_or_else(|| {
            self.near_module(path).map_or_else(
                || hints::allowed(self.policy),
                |near| format!("did you mean `{near}`?"),
            )
        });
        self.add_with(&rules::IMPORT_MODULE, at, Some(capability), path)
            .hint = Some(hint);
    }

    /// The allowed module with a similar name. Of a dotted path only one part may differ: any long path is near to some
    /// other by its length alone.
    fn near_module(&self, path: &str) -> Option<String> {
        let listed = || self.policy.imports.keys().map(String::as_str);
        let Some((parent, last)) = path.rsplit_once('.') else {
            return nearest(path, listed().filter(|one| !one.contains('.'))).map(str::to_owned);
        };
        let beside = listed().filter_map(|one| one.strip_prefix(parent)?.strip_prefix('.'));
        if let Some(near) = nearest(last, beside) {
            return Some(format!("{parent}.{near}"));
        }
        let (top, rest) = path.split_once('.')?;
        let near = nearest(top, listed().filter(|one| !one.contains('.')))?;
        let corrected = format!("{near}.{rest}");
        (near != top && self.policy.imports.contains_key(&corrected)).then_some(corrected)
    }

    /// Whether the policy lists single members of this module, all of which stay inside the run.
    fn lists_inside(&self, module: &str) -> bool {
        let listed = self.policy.imports.get(module);
        listed.is_some_and(|members| {
            !members.is_empty() && members.iter().all(|member| stays_inside(module, member))
        })
    }

    /// Under a policy that allows everything, a module that reaches outside is still reported.
    fn sensitive(&mut self, path: &str, at: TextRange) {
        if self.lists_inside(path) {
            return;
        }
        if let Some(capability) = module_capability(path) {
            self.add_with(&rules::IMPORT_SENSITIVE, at, Some(capability), path);
        } else if self.policy.imports.contains_key("*") {
            // An unknown installed module cannot be judged.
            let top = path.split('.').next().unwrap_or(path);
            if !self.r.library().knows(top) {
                self.add(&rules::IMPORT_UNRESOLVED, at, path);
            }
        }
    }
}

/// Whether a handler of these classes catches the error of an import that finds no module.
fn takes_absence(e: &Expr) -> bool {
    match e {
        Expr::Name(name) => matches!(
            name.id.as_str(),
            "ImportError" | "ModuleNotFoundError" | "Exception"
        ),
        Expr::Tuple(x) => x.elts.iter().any(takes_absence),
        _ => false,
    }
}
