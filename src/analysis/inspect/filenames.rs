//! Names that no file in the output folder can have: the run would refuse to open them.

use super::Inspector;
use super::files::{PathKind, beneath};
use crate::analysis::methods::Entry;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Expr};
use crate::analysis::resolve::Val;
use crate::analysis::rules;
use crate::analysis::text::shown;
use crate::model::file_name;
use crate::model::{Artifact, Capability};
use crate::policy::Contract;

/// An invalid name, and whether it is surely used as a name.
struct Misnamed {
    text: String,
    sure: bool,
    hint: String,
}

/// Methods that only tables and figures have, and that open the file named by their argument.
const SURE: &[&str] = &[
    "savefig",
    "to_csv",
    "to_excel",
    "to_feather",
    "to_html",
    "to_json",
    "to_latex",
    "to_markdown",
    "to_orc",
    "to_parquet",
    "to_stata",
    "to_string",
    "to_xml",
    "write_html",
    "write_json",
    "write_text",
    "write_bytes",
    "touch",
    "mkdir",
    "open",
];

impl<'a> Inspector<'a> {
    /// Checks the name of a file or folder that is created.
    pub(super) fn named_so(
        &mut self,
        e: &'a Expr,
        kind: PathKind,
        capability: Capability,
        entry: Option<Entry>,
        subject: &str,
        at: TextRange,
    ) {
        let kept = self.policy.guard
            && self.policy.builtins.contains("open")
            && matches!(self.policy.contract, Contract::Analysis | Contract::Walled);
        // pyarrow inserts a number into its template.
        let template = entry.is_some_and(|entry| entry.names.contains(&"basename_template"));
        if !kept || template || capability != Capability::FsWrite {
            return;
        }
        let found = match kind {
            PathKind::Plain | PathKind::Followed | PathKind::Computed => self.misnamed(e),
            PathKind::None | PathKind::Outside | PathKind::Url => None,
        };
        if let Some(found) = found {
            let method = !subject.contains('.');
            let own = self.r.scopes.all.iter().any(|scope| {
                let bound = scope.names.get(subject).into_iter().flatten();
                subject != "open" && bound.count() > 0
            });
            // A logger that is already set up opens no other file.
            let named = !subject.starts_with("logging.");
            let opens = (!method || SURE.contains(&subject)) && named;
            let sure = found.sure && !own && opens;
            self.cannot_be_named(found.text, found.hint, sure, at);
        }
    }

    /// Checks the folder that `os.makedirs` creates.
    pub(super) fn folder_call(&mut self, path: &str, call: &'a ast::ExprCall, at: TextRange) {
        if matches!(path, "os.makedirs" | "os.mkdir")
            && let Some(e) = call.args.first()
        {
            self.folder(e, path, at);
        }
    }

    /// Checks a folder that is created.
    pub(super) fn folder(&mut self, e: &'a Expr, subject: &str, at: TextRange) {
        let kind = self.kind(e);
        self.named_so(e, kind, Capability::FsWrite, None, subject, at);
        if self.too_deep(e, kind, at) {
            self.uses(
                Capability::FsWrite,
                at,
                &format!("{subject}, literal argument"),
            );
        }
    }

    fn misnamed(&self, e: &'a Expr) -> Option<Misnamed> {
        let vals = self.r.eval(e, self.here());
        let text = |v: &Val<'a>| match v {
            Val::Text(text) => Some(text.to_string()),
            _ => None,
        };
        let texts: Option<Vec<String>> = vals.iter().map(text).collect();
        let texts = texts.filter(|texts| !texts.is_empty())?;
        several(texts.iter().map(|text| self.name_of_file(text)))
    }

    fn name_of_file(&self, text: &str) -> Option<Misnamed> {
        let path = match self.files_in_memory() {
            true => beneath(text)?,
            false => text.trim_end_matches('/').to_owned(),
        };
        let path = without_dot(&path);
        let wrong = path.split('/').find(|name| !file_name::is_usable(name))?;
        let right: Vec<String> = path.split('/').map(nearest).collect();
        Some(Misnamed {
            text: path.to_owned(),
            sure: true,
            hint: hint(wrong, &right.join("/")),
        })
    }

    /// Reports a name with more folders than allowed.
    pub(super) fn too_deep(&mut self, e: &'a Expr, kind: PathKind, at: TextRange) -> bool {
        let kept = self.policy.guard
            && matches!(self.policy.contract, Contract::Analysis | Contract::Walled);
        let names = (kind == PathKind::Outside && kept).then(|| self.deep_name(e));
        let Some(name) = names.flatten() else {
            return false;
        };
        let folders = Artifact::SEGMENTS - 1;
        let have = name.split('/').count() - 1;
        let hint = format!(
            "use a name of at most four segments, as \"out/2024/may/summary.csv\": this one has {have} \
             folders, and {folders} are the most"
        );
        let subject = name.chars().take(120).collect::<String>();
        self.add(&rules::FS_NAME, at, subject).hint = Some(hint);
        true
    }
}

/// Combines alternatives: sure only if every one of them is invalid.
fn several(found: impl Iterator<Item = Option<Misnamed>>) -> Option<Misnamed> {
    let (mut first, mut sure) = (None, true);
    for one in found {
        sure &= one.as_ref().is_some_and(|one| one.sure);
        first = first.or(one);
    }
    first.map(|one| Misnamed { sure, ..one })
}

fn without_dot(path: &str) -> &str {
    let mut path = path;
    while let Some(rest) = path.strip_prefix("./") {
        path = rest;
    }
    path
}

fn hint(wrong: &str, right: &str) -> String {
    let count = wrong.chars().count();
    let what = match wrong.chars().find(|c| c.is_control() || *c == '\\') {
        Some('\\') => "a backslash; folders end with \"/\"".to_owned(),
        Some(c) => format!("'{}'", shown(&c.to_string())),
        None if wrong.is_empty() => "no characters".to_owned(),
        None => format!(
            "{count} characters, and {} are the most",
            file_name::NAME_MAX
        ),
    };
    let wrong: String = wrong.chars().take(120).collect();
    format!("write \"{right}\": \"{}\" has {what}", shown(&wrong))
}

/// The name itself if it is usable.
fn nearest(name: &str) -> String {
    match file_name::is_usable(name) {
        true => name.to_owned(),
        false => file_name::plain(name),
    }
}
