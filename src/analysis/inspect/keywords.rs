//! Keyword arguments that a function or class of an installed library surely does not take.

use super::Inspector;
use crate::analysis::fold::fold;
use crate::analysis::parse::ast::{self, Expr, Ranged};
use crate::analysis::resolve::Val;
use crate::analysis::rules;
use crate::analysis::text::shown;
use crate::model::{alike, nearest};

const ERRORS: &[&str] = &["TypeError"];
/// Keywords that a hint names.
const NAMED: usize = 12;

impl<'a> Inspector<'a> {
    /// Reports `RandomForestClassifier(n_estimator=10)`.
    pub(super) fn keywords(&mut self, call: &'a ast::ExprCall) {
        if call.keywords.is_empty() || self.text.is_some() || self.setting.python.is_none() {
            return;
        }
        let found = self.r.eval(&call.func, self.here());
        let path = |v: &Val<'a>| match v {
            Val::Member(path) => Some(path.to_string()),
            _ => None,
        };
        let mut paths = found.iter().map(path);
        let Some(Some(first)) = paths.next() else {
            return self.table_keywords(call);
        };
        // Two imports of one function under one name are one.
        if paths.all(|one| one.as_ref() == Some(&first)) {
            self.wrong_keywords(call, &first);
        }
    }

    fn table_keywords(&mut self, call: &'a ast::ExprCall) {
        if let Expr::Attribute(x) = &*call.func {
            let base = self.r.eval(&x.value, self.here());
            if !base.is_empty() && base.iter().all(super::absent::is_table) {
                let path = format!("pandas.DataFrame.{}", fold(x.attr.as_str()));
                self.wrong_keywords(call, &path);
            }
        }
    }

    /// The same for what is surely at this path of a library.
    pub(super) fn wrong_keywords(&mut self, call: &'a ast::ExprCall, path: &str) {
        let Some(python) = &self.setting.python else {
            return;
        };
        let python = (python.version, &python.releases);
        let name = path.rsplit('.').next().unwrap_or(path);
        // The snippet may have put something else there.
        if self.r.scopes.fields.contains_key(name) {
            return;
        }
        let Some(takes) = self.r.library().keywords(path, &python) else {
            return;
        };
        for keyword in &call.keywords {
            let Some(word) = keyword.arg.as_ref().map(|word| fold(word.as_str())) else {
                continue;
            };
            if takes.contains(&&*word) || self.is_failing(&rules::RUN_KEYWORD, keyword.range()) {
                continue;
            }
            let near = nearest(&word, takes.iter().copied());
            let near = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
            let some = match takes.len() > NAMED {
                true => alike(&word, &takes, NAMED),
                false => takes.clone(),
            };
            let more = match takes.len() - some.len() {
                0 => String::new(),
                more => format!(", and {more} more"),
            };
            let has = match some.is_empty() {
                true => "no keyword".to_owned(),
                false => format!("{}{more}", some.join(", ")),
            };
            let hint = format!("{near}`{name}` takes {has}");
            let subject = format!("{name}({}=)", shown(&word));
            self.fails(
                &rules::RUN_KEYWORD,
                keyword.range(),
                subject,
                Some(hint),
                ERRORS,
            );
        }
    }
}
