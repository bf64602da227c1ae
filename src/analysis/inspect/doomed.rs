//! Code that cannot succeed: an unbound name, a package that is not installed, a file that nothing
//! wrote. If the failure surely ends the run, the run is refused at once; otherwise it is only
//! noted.

use std::collections::{HashMap, HashSet};

use super::Inspector;
use super::calls::Arguments;
use super::course::Course;
use super::early::{Early, Later, Outer, early};
use super::files::PathKind;
use crate::analysis::fold::fold;
use crate::analysis::hints;
use crate::analysis::library::{is_builtin, is_telling};
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Constant, Expr, Ranged, Stmt};
use crate::analysis::resolve::{Standing, Val};
use crate::analysis::rules::{self, Rule};
use crate::model::nearest;
use crate::model::{Action, Capability};
use crate::policy::{Contract, DRAWS, NodeKind, is_given};

/// Findings collected until the whole snippet has been inspected.
#[derive(Default)]
pub(super) struct Doomed<'a> {
    failing: Vec<Failing>,
    read: Vec<(Vec<String>, TextRange)>,
    written: HashSet<String>,
    /// Folders that the snippet writes files into.
    pub(super) folders: Vec<(String, TextRange)>,
    /// Whether the snippet writes files whose names cannot be determined.
    any_written: bool,
    /// How often each text that could be a file name occurs in the snippet.
    texts: HashMap<&'a str, usize>,
}

/// Code that fails if it is reached.
struct Failing {
    rule: &'static Rule,
    at: TextRange,
    subject: String,
    hint: Option<String>,
    /// The exception classes that catch the error, narrowest first.
    errors: &'static [&'static str],
}

const UNBOUND: &[&str] = &["NameError"];
const UNBOUND_LOCAL: &[&str] = &["UnboundLocalError", "NameError"];
/// Modules usually used under their own name. Data libraries are missing here because excerpts of
/// code often leave out their imports.
const USUAL: &[&str] = &["itertools", "json", "math", "re"];
/// Members that these modules share with data objects.
const OF_DATA: &[&str] = &["all", "any", "pow", "prod", "split", "sub"];
const ABSENT: &[&str] = &["ModuleNotFoundError", "ImportError"];
const NO_FILE: &[&str] = &[
    "FileNotFoundError",
    "OSError",
    "IOError",
    "EnvironmentError",
];

pub(super) const REFUSED: &[&str] = &["PermissionError", "OSError", "IOError", "EnvironmentError"];

/// File endings that libraries append to the names they are given.
const ENDINGS: &[(&str, &[&str])] = &[
    ("numpy.save", &["npy"]),
    ("numpy.savez", &["npz"]),
    ("numpy.savez_compressed", &["npz"]),
    ("savefig", &["png", "svg", "pdf"]),
    ("scipy.io.loadmat", &["mat"]),
    ("scipy.io.mmread", &["mtx", "mtx.gz", "mtx.bz2"]),
    ("scipy.io.mmwrite", &["mtx"]),
    ("scipy.io.savemat", &["mat"]),
    ("scipy.sparse.load_npz", &["npz"]),
    ("scipy.sparse.save_npz", &["npz"]),
];

impl<'a> Inspector<'a> {
    /// Reports a name that nothing in the snippet binds and that is no builtin. `gone`: the name
    /// was bound and then deleted.
    pub(super) fn unbound(&mut self, id: &str, at: TextRange, gone: bool) {
        let contract = self.policy.contract;
        let Some(inputs) = contract.inputs_bound(self.setting.inputs.as_ref()) else {
            // No input has such a name.
            if is_telling(id) && self.r.module_standing(id) == Standing::Allowed {
                let hint = self.import_first(id);
                self.fails(&rules::RUN_UNBOUND, at, id.to_owned(), hint, UNBOUND);
            }
            return;
        };
        if contract.names().contains(&id) || inputs.clone().any(|name| name == id) {
            return;
        }
        if gone {
            let hint =
                "it is gone here, by `del` or behind its `except`: keep it under another name";
            let hint = Some(hint.to_owned());
            return self.fails(&rules::RUN_UNBOUND, at, id.to_owned(), hint, UNBOUND);
        }
        if self.setting.datasets.contains(id) {
            let hint = format!(
                "`{id}` is a data set: name it in `inputs`, as {{\"{id}\": {{\"dataset\": \"{id}\"}}}}"
            );
            return self.fails(&rules::RUN_UNBOUND, at, id.to_owned(), Some(hint), UNBOUND);
        }
        let known = self.r.scopes.names_at(self.here());
        let known = known
            .chain(contract.names().iter().copied())
            .chain(inputs.clone())
            .chain(self.policy.builtins.iter().map(String::as_str));
        let hint = nearest(id, known).map(|near| format!("did you mean `{near}`?"));
        let hint = hint.or_else(|| self.import_first(id));
        let hint = hint.or_else(|| (id == "get_ipython").then(|| hints::no_notebook(self.policy)));
        let mut inputs = inputs.peekable();
        let hint = hint.or_else(|| {
            inputs.peek()?;
            Some(format!(
                "the inputs are {}",
                inputs.collect::<Vec<_>>().join(", ")
            ))
        });
        self.fails(&rules::RUN_UNBOUND, at, id.to_owned(), hint, UNBOUND);
    }

    /// Reports `json.loads` without an import even if the inputs are unknown: no data object has a
    /// member of that name.
    pub(super) fn missing_import(&mut self, x: &'a ast::ExprAttribute) {
        let Expr::Name(name) = &*x.value else { return };
        let id = fold(name.id.as_str());
        let contract = self.policy.contract;
        let told = contract
            .inputs_bound(self.setting.inputs.as_ref())
            .is_some();
        if told || self.text.is_some() || !USUAL.contains(&&*id) || OF_DATA.contains(&&*x.attr) {
            return;
        }
        let found = self.r.scopes.lookup(&id, self.here());
        let bound = found.is_bound() || !self.r.scopes.stars.is_empty();
        if bound || self.r.scopes.is_global(&id) {
            return;
        }
        let module = usual_import(&id).and_then(|import| import.split(' ').nth(1));
        let has = module.is_some_and(|module| {
            self.r
                .library()
                .members(module)
                .any(|member| member == x.attr.as_str())
        });
        if let Some(hint) = self.import_first(&id).filter(|_| has) {
            let at = name.range();
            self.fails(
                &rules::RUN_UNBOUND,
                at,
                id.into_owned(),
                Some(hint),
                UNBOUND,
            );
        }
    }

    /// Reports names that are bound only further down.
    fn unbound_yet(&mut self, body: &'a [Stmt]) {
        let contract = self.policy.contract;
        let inputs = contract.inputs_bound(self.setting.inputs.as_ref());
        let may_be_input = |name: &str| match inputs.clone() {
            Some(mut inputs) => contract.names().contains(&name) || inputs.any(|n| n == name),
            // No input has such a name.
            None => !is_telling(name) || self.r.module_standing(name) != Standing::Allowed,
        };
        // Names bound through these cannot be determined.
        let open = [
            "exec",
            "eval",
            "globals",
            "locals",
            "vars",
            "dir",
            "__builtins__",
        ];
        let open =
            open.iter().any(|name| self.r.scopes.is_read(name)) || !self.r.scopes.stars.is_empty();
        let mut early = early(body);
        early.retain(|one| match one.local {
            Some(_) => true,
            None => !open && !is_builtin(&one.name) && !may_be_input(&one.name),
        });
        for one in early {
            let known = self
                .doomed
                .failing
                .iter()
                .any(|f| f.at == one.at && f.rule.code == rules::RUN_UNBOUND.code);
            if known {
                continue;
            }
            let errors = match one.local {
                Some(_) => UNBOUND_LOCAL,
                None => UNBOUND,
            };
            let hint = self.bind_first(&one);
            let name = one.name.into_owned();
            self.fails(&rules::RUN_UNBOUND, one.at, name, Some(hint), errors);
        }
    }

    /// The hint for a read before the binding.
    fn bind_first(&self, one: &Early<'a>) -> String {
        let name = &*one.name;
        let allows = |kind: NodeKind| self.policy.nodes.contains(kind.name());
        if let Some((function, outer)) = one.local
            && outer != Outer::Nothing
            && one.later != Later::Deleted
        {
            let local =
                format!("`{function}` binds `{name}`, which makes it local in all of `{function}`");
            return match outer {
                Outer::Module if allows(NodeKind::Global) => {
                    format!("{local}: write `global {name}` first in it, or hand it over")
                }
                Outer::Function if allows(NodeKind::Nonlocal) => {
                    format!("{local}: write `nonlocal {name}` first in it, or hand it over")
                }
                _ => format!("{local}: hand it over as a parameter, and return it"),
            };
        }
        match one.later {
            Later::Deleted => {
                "it is gone here, by `del` or behind its `except`: keep it under another name"
                    .to_owned()
            }
            Later::Added => format!("`{name}` has no value to add to: begin with `{name} = 0`"),
            Later::Imported => format!("`{name}` is imported further down: import it first"),
            Later::Defined => format!("`{name}` is defined further down: define it first"),
            Later::Assigned => format!("`{name}` is bound further down: bind it first"),
        }
    }

    /// A hint with the missing import, if the policy allows the module.
    fn import_first(&self, id: &str) -> Option<String> {
        let import = usual_import(id)?;
        let module = import.split(' ').nth(1)?;
        let allowed = self.policy.nodes.contains(NodeKind::Import.name())
            && self.r.module_standing(module) == Standing::Allowed;
        allowed.then(|| format!("write `{import}` first"))
    }

    /// Reports a module that the policy allows but that is not installed.
    pub(super) fn installed(&mut self, path: &str, at: TextRange) {
        let Some(python) = &self.setting.python else {
            return;
        };
        if python.lacks(path) {
            self.absent(path, at);
        }
    }

    /// Reports a missing module that the policy does not list. Otherwise an agent might ask for it
    /// to be listed, in vain.
    pub(super) fn not_here(&mut self, path: &str, at: TextRange) {
        let top = path.split('.').next().unwrap_or(path);
        let python = self.setting.python.as_ref();
        if python.is_some_and(|python| python.surely_lacks(top)) && !is_given(top) {
            self.absent(path, at);
        }
    }

    fn absent(&mut self, path: &str, at: TextRange) {
        let Some(python) = &self.setting.python else {
            return;
        };
        let tops = self.policy.imports.keys().filter(|m| !m.contains('.'));
        let here: Vec<&str> = tops
            .map(String::as_str)
            .filter(|top| *top != "*" && !is_given(top) && !python.lacks(top))
            .collect();
        let top = path.split('.').next().unwrap_or(path).to_owned();
        let here = match here.is_empty() {
            true => "nothing is installed here but the standard library".to_owned(),
            false => format!("installed here are {}", here.join(", ")),
        };
        // The replacement is what an agent needs; the list alone would make it guess.
        let instead = match self.policy.imports.contains_key(&top) {
            true => None,
            false => hints::module(path, self.policy),
        };
        let hint = instead.map_or_else(|| here.clone(), |instead| format!("{instead}; {here}"));
        self.fails(&rules::RUN_ABSENT, at, top, Some(hint), ABSENT);
    }

    /// plotly needs a separate package to write images.
    pub(super) fn image(&mut self, subject: &str, at: TextRange) {
        let python = self.setting.python.as_ref();
        let lacks = python.is_some_and(|python| python.lacks(DRAWS));
        if subject.rsplit('.').next() == Some("write_image") && lacks {
            let hint = hints::no_image(self.policy);
            let subject = format!("{DRAWS}, which draws for `write_image`");
            self.fails(&rules::RUN_ABSENT, at, subject, Some(hint), &["ValueError"]);
        }
    }

    /// Type parameters and `type` statements (PEP 695) need Python 3.12: an older Python cannot
    /// compile the snippet at all.
    pub(super) fn newer_syntax(&mut self, what: &str, at: TextRange) {
        let Some(python) = &self.setting.python else {
            return;
        };
        let (major, minor) = python.version;
        if (major, minor) < (3, 12) {
            let what = format!("{what} (Python {major}.{minor})");
            self.add(&rules::RUN_SYNTAX, at, what);
        }
    }

    pub(super) fn generic(&mut self, parameters: &'a [ast::TypeParam]) {
        if let Some(first) = parameters.first() {
            self.newer_syntax("type parameters", first.range());
        }
    }

    /// Reports a name that no file in the output folder can have.
    pub(super) fn cannot_be_named(
        &mut self,
        name: String,
        hint: String,
        sure: bool,
        at: TextRange,
    ) {
        let errors = if sure { REFUSED } else { &[] };
        let name = name.chars().take(120).collect();
        self.fails(&rules::FS_NAME, at, name, Some(hint), errors);
    }

    pub(super) fn fails(
        &mut self,
        rule: &'static Rule,
        at: TextRange,
        subject: String,
        hint: Option<String>,
        errors: &'static [&'static str],
    ) {
        self.doomed.failing.push(Failing {
            rule,
            at,
            subject,
            hint,
            errors,
        });
    }

    /// The number of failures found so far.
    pub(super) fn failing(&self) -> usize {
        self.doomed.failing.len()
    }

    /// Marks the failures found since then as uncertain, e.g. because `getattr` has a default.
    pub(super) fn may_succeed(&mut self, since: usize) {
        let found = self.doomed.failing.iter_mut().skip(since);
        found.for_each(|one| one.errors = &[]);
    }

    /// Counts a text that could name a file.
    pub(super) fn file_text(&mut self, text: &'a str) {
        if text.len() <= 200 && text.contains('.') {
            *self.doomed.texts.entry(plain(text)).or_default() += 1;
        }
    }

    /// Records a file that is opened, by the argument that names it.
    pub(super) fn touches(
        &mut self,
        e: &'a Expr,
        kind: PathKind,
        capability: Capability,
        subject: &str,
        at: TextRange,
    ) {
        let reads = capability == Capability::FsRead;
        let names = match kind {
            PathKind::None => return,
            PathKind::Plain => self.texts_of(e),
            // A parameter that is called with literals.
            PathKind::Followed if reads => self.texts_of(e),
            PathKind::Followed | PathKind::Computed | PathKind::Outside | PathKind::Url => None,
        };
        let names = names.map(|names| with_endings(names, subject));
        match names {
            Some(names) if reads => self.doomed.read.push((names, at)),
            Some(names) => {
                if super::absent::makes_file_only(subject)
                    && let [name, ..] = names.as_slice()
                    && let Some((folder, _)) = name.rsplit_once('/')
                {
                    self.doomed.folders.push((folder.to_owned(), at));
                }
                self.doomed.written.extend(names);
            }
            None if reads => {}
            None => self.doomed.any_written = true,
        }
    }

    /// Methods that create files without naming them: extracting archives, renaming a path.
    pub(super) fn makes_files(&mut self, x: &'a ast::ExprAttribute, arguments: Arguments<'a>) {
        let makes = match x.attr.as_str() {
            "extract" | "extractall" | "unpack_archive" => true,
            "rename" | "replace" => arguments.count() == 1 && arguments.call.keywords.is_empty(),
            _ => false,
        };
        if makes {
            self.touches_any(Capability::FsWrite);
        }
    }

    /// Whether the snippet writes a file of this name.
    pub(super) fn writes(&self, name: &str) -> bool {
        self.doomed.written.contains(name)
    }

    /// Records that files with unknown names are opened.
    pub(super) fn touches_any(&mut self, capability: Capability) {
        self.doomed.any_written |= capability != Capability::FsRead;
    }

    /// The literal texts that the expression may evaluate to.
    pub(super) fn texts_of(&self, e: &'a Expr) -> Option<Vec<String>> {
        if let Expr::Constant(ast::ExprConstant {
            value: Constant::Str(text),
            ..
        }) = e
        {
            return Some(vec![plain(text).to_owned()]);
        }
        let vals = self.r.eval(e, self.here());
        let texts = vals.iter().filter_map(|v| match v {
            Val::Text(text) => Some(plain(text).to_owned()),
            _ => None,
        });
        let texts: Vec<String> = texts.collect();
        Some(texts).filter(|texts| !texts.is_empty())
    }

    /// Reports files that are read although neither this snippet nor an earlier one wrote them.
    fn unwritten(&mut self) {
        if self.policy.contract != Contract::Analysis {
            return;
        }
        let doomed = std::mem::take(&mut self.doomed);
        let mut reads: HashMap<&str, usize> = HashMap::new();
        for name in doomed.read.iter().flat_map(|(names, _)| names) {
            *reads.entry(name).or_default() += 1;
        }
        // A name that also occurs elsewhere may be written by code that is not recognized.
        let elsewhere = |name: &String| {
            let texts = doomed.texts.get(name.as_str()).copied().unwrap_or_default();
            texts > reads.get(name.as_str()).copied().unwrap_or_default()
        };
        let mut failing = doomed.failing;
        for (names, at) in &doomed.read {
            let Some(name) = names.first() else { continue };
            if names.iter().any(|name| doomed.written.contains(name)) {
                continue;
            }
            failing.push(Failing {
                rule: &rules::FS_MISSING,
                at: *at,
                subject: name.clone(),
                hint: Some(self.inputs_instead(name)),
                // An empty list makes the failure uncertain: unknown code may have written the
                // file.
                errors: match doomed.any_written || names.iter().any(elsewhere) {
                    true => &[],
                    false => NO_FILE,
                },
            });
        }
        self.doomed.failing = failing;
    }

    /// Whether a rule found this place already.
    pub(super) fn is_failing(&self, rule: &Rule, at: TextRange) -> bool {
        let same = |one: &Failing| one.rule.code == rule.code && one.at == at;
        self.doomed.failing.iter().any(same)
    }

    /// Runs after the whole snippet has been inspected.
    pub(super) fn doomed(&mut self, body: &'a [Stmt]) {
        self.without_folder();
        self.unwritten();
        self.unbound_yet(body);
        self.missing_columns(body);
        let failing = std::mem::take(&mut self.doomed.failing);
        if failing.is_empty() {
            return;
        }
        let course = Course::of(body);
        for one in failing {
            let (start, _) = self.place(one.at);
            // `try: unicode` with `except NameError`: the author expects the error.
            let expectable = [
                &rules::RUN_UNBOUND,
                &rules::RUN_COLUMN,
                &rules::RUN_KIND,
                &rules::RUN_KEYWORD,
            ];
            if expectable.iter().any(|rule| rule.code == one.rule.code)
                && course.expects(start, one.errors)
            {
                continue;
            }
            let sure = !one.errors.is_empty() && course.reaches(start, one.errors);
            let fact = self.add(one.rule, one.at, one.subject);
            fact.hint = one.hint;
            fact.at_most = (!sure).then_some(Action::Note);
        }
    }
}

/// The names, and each of them with the ending that a library appends.
fn with_endings(mut names: Vec<String>, subject: &str) -> Vec<String> {
    let adds = |(of, _): &&(&str, &[&str])| {
        let end = subject.rsplit('.').next();
        *of == subject || (!of.contains('.') && end == Some(*of))
    };
    let endings = ENDINGS
        .iter()
        .find(adds)
        .map_or(&[][..], |(_, endings)| *endings);
    let with = |ending: &&str| {
        names
            .iter()
            .map(|name| format!("{name}.{ending}"))
            .collect()
    };
    let more: Vec<Vec<String>> = endings.iter().map(with).collect();
    names.extend(more.into_iter().flatten());
    names
}

/// The file name without a leading `./`.
fn plain(text: &str) -> &str {
    let mut name = text;
    while let Some(rest) = name.strip_prefix("./") {
        name = rest;
    }
    name
}

/// The usual import for a well-known name.
fn usual_import(name: &str) -> Option<&'static str> {
    Some(match name {
        "plt" => "import matplotlib.pyplot as plt",
        "sns" => "import seaborn as sns",
        "px" => "import plotly.express as px",
        "go" => "import plotly.graph_objects as go",
        "sm" => "import statsmodels.api as sm",
        "smf" => "import statsmodels.formula.api as smf",
        "stats" => "from scipy import stats",
        "pd" => "import pandas as pd",
        "np" => "import numpy as np",
        "dt" => "import datetime as dt",
        "datetime" => "from datetime import datetime",
        "timedelta" => "from datetime import timedelta",
        "Path" => "from pathlib import Path",
        "defaultdict" => "from collections import defaultdict",
        "Counter" => "from collections import Counter",
        "math" => "import math",
        "json" => "import json",
        "re" => "import re",
        "os" => "import os",
        "sys" => "import sys",
        "random" => "import random",
        "time" => "import time",
        "itertools" => "import itertools",
        _ => return None,
    })
}
