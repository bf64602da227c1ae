//! Functions that open files or evaluate text and are kept: under a name, in a container, in a
//! class. Where no call of one is found it is called out of sight, and where one may be, a path of
//! the machine that goes to who knows what counts as its argument.

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

/// What is kept of such functions until the whole snippet was seen.
#[derive(Default)]
pub(super) struct Lost {
    kept: Vec<(Entry, String, TextRange)>,
    called: HashSet<String>,
    /// Whether one was handed to something else.
    pub handed: bool,
    /// Paths of the machine and addresses that an unknown function is called with.
    paths: Vec<(PathKind, TextRange)>,
}

impl<'a> Inspector<'a> {
    /// A load of a function that is not called there.
    pub(super) fn keep(&mut self, e: &'a Expr, at: TextRange) {
        if self.policy.imports.contains_key("*") {
            return;
        }
        let vals = self.r.eval(e, self.here());
        for val in vals.iter() {
            let (entry, subject) = match val {
                Val::Member(path) => (methods::member(path), path),
                // A column, or a field of the snippet's own, may have that name.
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
                Effect::Query | Effect::Formula | Effect::Backend if member => {
                    self.lost.kept.push((entry, subject, at));
                }
                Effect::Unpickle | Effect::Pickle
                    if matches!(&*subject, "load" | "dump" | "dumps") => {}
                // What these do does not hang on their arguments.
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

    /// A call of such a function that was found.
    pub(super) fn found(&mut self, subject: &str) {
        if !self.lost.called.contains(subject) {
            self.lost.called.insert(subject.to_owned());
        }
    }

    /// A call of who knows what.
    pub(super) fn blind_call(&mut self, call: &'a ast::ExprCall, callee: &[Val<'a>]) {
        // A library's own functions, and methods of texts, are what they are called.
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
            // A method of who knows what may well show an address.
            if kind == PathKind::Outside
                || (kind == PathKind::Url && !call.func.is_attribute_expr())
            {
                self.lost.paths.push((kind, e.range()));
            }
        }
    }

    /// When the whole snippet was seen.
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
        // A table of readers is followed, whether or not each of them is used.
        let followed = lost.kept.iter().any(|(_, s, _)| lost.called.contains(s));
        for (entry, subject, at) in lost.kept {
            if followed {
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

    /// `__call__ = open`: Python calls it by itself.
    pub(super) fn called_by_python(&mut self, value: &'a Expr) {
        let opens = |v: &Val<'_>| matches!(v, Val::Builtin(name) if &**name == "open");
        if self.r.eval(value, self.here()).iter().any(opens) {
            let read = Some(Capability::FsRead);
            self.add_with(&rules::FS_VALUE, value.range(), read, "open");
        }
    }
}
