//! Functions that open files or evaluate text and are stored in a variable, a container or a class.
//! Without a visible call, assume one elsewhere. If one may be called by an unknown name, a system
//! path passed to an unknown function counts as its argument.

use std::collections::HashSet;

use super::Inspector;
use super::calls;
use super::files::PathKind;
use crate::analysis::methods::{self, Effect, Entry};
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Expr, Ranged};
use crate::analysis::resolve::Val;
use crate::analysis::rules;
use crate::model::Capability;

/// What is known of such functions until the whole snippet has been inspected.
#[derive(Default)]
pub(super) struct Lost {
    kept: Vec<(Entry, String, TextRange)>,
    called: HashSet<String>,
    /// Whether one was passed to another function.
    pub handed: bool,
    /// System paths and addresses passed to an unknown function.
    paths: Vec<(PathKind, TextRange)>,
}

impl<'a> Inspector<'a> {
    /// Records a function that is loaded but not called there.
    pub(super) fn keep(&mut self, e: &'a Expr, at: TextRange) {
        if self.policy.imports.contains_key("*") {
            return;
        }
        let vals = self.r.eval(e, self.here());
        for val in vals.iter() {
            let (entry, subject) = match val {
                Val::Member(path) => (methods::member(path), path),
                // A column, or an attribute of the snippet's own objects, may have that name.
                Val::Method(name)
                    if !matches!(&**name, "download" | "saving")
                        && !self.r.scopes.binds_field(name) =>
                {
                    (methods::method(name), name)
                }
                Val::Builtin(name)
                    if &**name == "open" && self.policy.builtins.contains("open") =>
                {
                    (Some(calls::OPEN), name)
                }
                _ => continue,
            };
            let Some(entry) = entry else { continue };
            let member = matches!(val, Val::Member(_));
            let subject = subject.to_string();
            match entry.effect {
                Effect::Read | Effect::Write | Effect::ReadPathOrText | Effect::NumpyLoad => {
                    self.lost.kept.push((entry, subject, at));
                }
                Effect::Query | Effect::Formula | Effect::Backend | Effect::Save if member => {
                    self.lost.kept.push((entry, subject, at));
                }
                Effect::Unpickle | Effect::Pickle
                    if matches!(&*subject, "load" | "dump" | "dumps") => {}
                // The effect of these does not depend on their arguments.
                Effect::Unpickle
                | Effect::Pickle
                | Effect::Network
                | Effect::Database
                | Effect::Clipboard
                | Effect::Exec
                | Effect::Template
                | Effect::Native
                | Effect::ReadsSystem
                | Effect::ChangesSystem => self.effect_alone(entry, &subject, at),
                Effect::Query
                | Effect::Formula
                | Effect::Backend
                | Effect::Style
                | Effect::Option
                | Effect::ByName
                | Effect::Save
                | Effect::Copies => {}
            }
            return;
        }
    }

    /// Records a visible call of such a function.
    pub(super) fn found(&mut self, subject: &str) {
        if !self.lost.called.contains(subject) {
            self.lost.called.insert(subject.to_owned());
        }
    }

    /// Judges a call of an unknown function.
    pub(super) fn blind_call(&mut self, call: &'a ast::ExprCall, callee: &[Val<'a>]) {
        // A library's own functions and text methods are known by their names.
        let known = |v: &Val<'_>| {
            matches!(
                v,
                Val::Module(_)
                    | Val::Member(_)
                    | Val::Builtin(_)
                    | Val::TextMethod(_)
                    | Val::Method(_)
                    | Val::Styler
            )
        };
        if callee.iter().all(known) {
            return;
        }
        let given = call
            .args
            .iter()
            .chain(call.keywords.iter().map(|k| &k.value));
        for e in given {
            let kind = self.machine_kind(e);
            // An unknown object's method may merely display an address.
            if kind == PathKind::Outside
                || (kind == PathKind::Url && !call.func.is_attribute_expr())
            {
                self.lost.paths.push((kind, e.range()));
            }
        }
    }

    /// Runs after the whole snippet has been inspected.
    pub(super) fn lost_functions(&mut self) {
        let lost = std::mem::take(&mut self.lost);
        if lost.handed || !lost.kept.is_empty() {
            for (kind, at) in lost.paths {
                self.file_fact(
                    kind,
                    Capability::FsRead,
                    "a function that was handed on",
                    at,
                );
            }
        }
        // If one function of a table of readers is called, the table is followed; not every entry
        // has to be used. The call has shown what the others of its kind could do.
        let kind = |effect| match effect {
            Effect::ReadPathOrText => Effect::Read,
            other => other,
        };
        let shown: Vec<Effect> = lost
            .kept
            .iter()
            .filter(|(_, subject, _)| lost.called.contains(subject))
            .map(|(entry, ..)| kind(entry.effect))
            .collect();
        for (entry, subject, at) in lost.kept {
            if shown.contains(&kind(entry.effect)) {
                continue;
            }
            match calls::always(entry).filter(|_| entry.effect != Effect::NumpyLoad) {
                Some(rule) => {
                    self.add(rule, at, subject);
                }
                None => self.handed_on(entry, &subject, None, at),
            }
        }
    }

    /// Reports `__call__ = open`: Python calls it implicitly.
    pub(super) fn called_by_python(&mut self, value: &'a Expr) {
        let opens = |v: &Val<'_>| matches!(v, Val::Builtin(name) if &**name == "open");
        if self.r.eval(value, self.here()).iter().any(opens) {
            let read = Some(Capability::FsRead);
            self.add_with(&rules::FS_VALUE, value.range(), read, "open");
        }
    }
}
