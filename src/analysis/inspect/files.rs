//! Files. A relative literal name belongs to the output folder, and so does a name built from
//! literals and loop variables; any other computed name needs a review. A name is outside if it is
//! absolute, leads up, has a scheme or is a descriptor.

use super::Inspector;
use super::calls::{Arguments, OPEN};
use crate::analysis::facts::Fact;
use crate::analysis::methods::{Effect, Entry};
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Constant, Expr, Ranged};
use crate::analysis::resolve::{Set, Val};
use crate::analysis::rules;
use crate::model::{Artifact, Capability};
use crate::policy::Contract;

/// The kind of a path argument; a later variant outweighs an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PathKind {
    /// No file: no name is given, or the file is in memory.
    None,
    Plain,
    /// Computed from literals, loop variables and numbers: also a file in the output folder.
    Followed,
    Computed,
    Outside,
    Url,
}

/// Functions that read or create a file, with the position of their argument `mode`.
const MODES: &[(&str, usize)] = &[
    ("numpy.lib.format.open_memmap", 1),
    ("numpy.memmap", 2),
    ("pyarrow.OSFile", 1),
];

impl<'a> Inspector<'a> {
    pub(super) fn open_call(&mut self, arguments: Arguments<'a>, at: TextRange) {
        self.found("open");
        let mode = arguments
            .positional(1)
            .or_else(|| arguments.keyword(&["mode"]));
        let capability = match mode {
            None if arguments.open_ended() => Capability::FsWrite,
            None => Capability::FsRead,
            Some(Expr::Constant(c)) => match &c.value {
                Constant::Str(mode) if !mode.contains(['w', 'a', 'x', '+']) => Capability::FsRead,
                _ => Capability::FsWrite,
            },
            Some(_) => Capability::FsWrite,
        };
        if arguments.keyword(&["opener"]).is_some() || arguments.positional(7).is_some() {
            self.add_with(
                &rules::FS_OUTSIDE,
                at,
                Some(capability),
                "open with an opener",
            );
        }
        self.file(capability, OPEN, "open", arguments, at);
    }

    /// Judges a call whose deciding argument names a file.
    pub(super) fn file(
        &mut self,
        capability: Capability,
        entry: Entry,
        subject: &str,
        arguments: Arguments<'a>,
        at: TextRange,
    ) {
        let deciding = arguments
            .deciding(entry)
            .or_else(|| self.of_instance(entry, subject, arguments));
        let kind = match deciding {
            Some(e) => self.kind(e),
            // `*["/etc/passwd"]`: any unpacked element may be the name.
            None if arguments.open_ended() => {
                let starred = arguments.call.args.iter().filter(|e| e.is_starred_expr());
                let double = arguments.call.keywords.iter().filter(|k| k.arg.is_none());
                let kinds = starred
                    .map(|e| self.kind(e))
                    .chain(double.map(|k| self.kind(&k.value)));
                kinds
                    .max()
                    .unwrap_or(PathKind::Computed)
                    .max(PathKind::Computed)
            }
            None => PathKind::None,
        };
        let Some(e) = deciding else {
            self.touches_any(capability);
            self.file_fact(kind, capability, subject, at);
            return;
        };
        // `np.memmap(name, mode="w+")` creates the file that it reads.
        let position = MODES.iter().find(|(path, _)| *path == subject);
        let mode = position.and_then(|(_, at)| arguments.positional(*at));
        let mode = mode.or_else(|| arguments.keyword(&["mode"]));
        let made = mode.is_some_and(makes_file);
        let touched = if made {
            Capability::FsWrite
        } else {
            capability
        };
        self.touches(e, kind, touched, subject, at);
        self.named_so(e, kind, touched, Some(entry), subject, at);
        if self.too_deep(e, kind, at) {
            self.uses(touched, at, &format!("{subject}, literal argument"));
        } else {
            self.named_fact(e, kind, touched, subject, at);
        }
    }

    /// Reports a file by the argument that names it.
    pub(super) fn named_fact(
        &mut self,
        e: &'a Expr,
        kind: PathKind,
        capability: Capability,
        subject: &str,
        at: TextRange,
    ) {
        for val in self.r.eval(e, self.here()).iter() {
            if let Val::Text(name) = val {
                let at = self.place(at);
                self.facts.names_file(at.0, name);
            }
        }
        self.told_found(e, at);
        let instead = self.bound_instead(e, kind, capability);
        let fact = self.file_fact(kind, capability, subject, at);
        if let (Some(fact), Some(instead)) = (fact, instead) {
            fact.hint = Some(instead);
        }
    }

    /// The name given to a library's method that a class of the snippet took over (`save = pd.DataFrame.to_csv`): its
    /// objects are not among the arguments.
    fn of_instance(
        &self,
        entry: Entry,
        subject: &str,
        arguments: Arguments<'a>,
    ) -> Option<&'a Expr> {
        let (class, _) = subject.rsplit_once('.')?;
        let class = class.rsplit('.').next()?;
        let given = arguments.positional(entry.index.checked_sub(1)?)?;
        let text = |v: &Val<'a>| matches!(v, Val::Text(_) | Val::ComputedText);
        let taken = class.starts_with(char::is_uppercase)
            && self.r.eval(given, self.here()).iter().any(text);
        taken.then_some(given)
    }

    pub(super) fn file_fact(
        &mut self,
        kind: PathKind,
        capability: Capability,
        subject: &str,
        at: TextRange,
    ) -> Option<&mut Fact> {
        let (rule, detail) = match kind {
            PathKind::None => return None,
            PathKind::Plain => (&rules::FS_OUTPUT, "literal argument"),
            PathKind::Followed => (&rules::FS_OUTPUT, "computed from literals"),
            PathKind::Computed => (&rules::FS_COMPUTED, "computed argument"),
            PathKind::Outside => (&rules::FS_OUTSIDE, "literal argument"),
            PathKind::Url => {
                self.uses(capability, at, &format!("{subject}, URL"));
                return Some(self.add(&rules::NET_URL, at, subject));
            }
        };
        self.uses(capability, at, &format!("{subject}, {detail}"));
        let fact = self.add(rule, at, subject);
        fact.capability = Some(capability);
        Some(fact)
    }

    /// The name, if it is inside the output folder but has more segments than allowed.
    pub(super) fn deep_name(&self, e: &'a Expr) -> Option<String> {
        let deep = |v: &Val<'a>| {
            let Val::Text(text) = v else { return None };
            let name = text.trim_start_matches("./").trim_end_matches('/');
            let segments: Vec<&str> = name.split('/').collect();
            let top = segments.iter().take(Artifact::SEGMENTS).copied();
            let is = segments.len() > Artifact::SEGMENTS
                && !segments.iter().any(|s| matches!(*s, "" | "." | ".."))
                && text_kind(&top.collect::<Vec<_>>().join("/")) == PathKind::Plain;
            is.then(|| name.to_owned())
        };
        let vals = self.r.eval(e, self.here());
        let names: Option<Vec<String>> = vals.iter().map(deep).collect();
        names?.into_iter().next()
    }

    /// Reports a literal system path in a library call that is not known to open files.
    pub(super) fn machine_paths(&mut self, subject: &str, arguments: Arguments<'a>) {
        let top = subject.split('.').next().unwrap_or(subject);
        if self.r.library().is_stdlib(top) {
            return;
        }
        let given = arguments
            .call
            .args
            .iter()
            .chain(arguments.call.keywords.iter().map(|k| &k.value));
        for e in given {
            if let Expr::Constant(c) = e
                && let Constant::Str(text) = &c.value
                && is_machine_path(text)
            {
                self.add_with(
                    &rules::FS_MACHINE_PATH,
                    e.range(),
                    Some(Capability::FsRead),
                    subject,
                );
            }
        }
    }

    /// `read_json` and `read_html` accept text and paths: an argument that looks like data is data.
    pub(super) fn path_or_text(
        &mut self,
        entry: Entry,
        subject: &str,
        arguments: Arguments<'a>,
        at: TextRange,
    ) {
        if let Some(e) = arguments.deciding(entry)
            && let [Val::Text(text)] = self.r.eval(e, self.here()).as_slice()
            && text.trim_start().starts_with(['{', '[', '<'])
        {
            return;
        }
        self.file(Capability::FsRead, entry, subject, arguments, at);
    }

    /// Judges a folder in which a library keeps its cache (`Pipeline(memory="…")`).
    pub(super) fn cache(&mut self, e: &'a Expr, at: TextRange) {
        let text = self
            .r
            .eval(e, self.here())
            .iter()
            .any(|v| matches!(v, Val::Text(_) | Val::ComputedText));
        if text {
            let kind = self.kind(e);
            self.file_fact(kind, Capability::FsWrite, "memory", at);
        }
    }

    /// Judges a style: a name is harmless, but a path or URL is read.
    pub(super) fn style(&mut self, e: &'a Expr, at: TextRange, subject: &str) {
        match self.kind(e) {
            PathKind::None => {}
            PathKind::Plain => self.missing_style(e),
            kind => drop(self.file_fact(kind, Capability::FsRead, subject, at)),
        }
    }

    /// A function that opens files is passed to another function: the literals beside it may be
    /// file names.
    pub(super) fn handed_on(
        &mut self,
        entry: Entry,
        subject: &str,
        surrounding: Option<&'a ast::ExprCall>,
        at: TextRange,
    ) {
        self.lost.handed = true;
        self.touches_any(Capability::FsWrite);
        // A mode that is given later may make the file.
        let by_mode = subject == "open" || MODES.iter().any(|(path, _)| *path == subject);
        let capability = match entry.effect {
            Effect::Write => Capability::FsWrite,
            _ if by_mode => Capability::FsWrite,
            _ => Capability::FsRead,
        };
        let mut kind = PathKind::Computed;
        if let Some(call) = surrounding {
            let beside = call
                .args
                .iter()
                .chain(call.keywords.iter().map(|k| &k.value));
            for e in beside {
                kind = kind.max(self.kind(e));
            }
        }
        self.file_fact(kind, capability, subject, at);
    }

    /// The kind of a literal system path or address; `None` for anything else.
    pub(super) fn machine_kind(&self, e: &'a Expr) -> PathKind {
        let mut texts = Set::default();
        for val in self.r.eval(e, self.here()).iter() {
            match val {
                Val::Items(..) => self.r.element(val, &mut texts),
                other => texts.add(other.clone()),
            }
        }
        let kind = |val: Val<'a>| match val {
            Val::Text(text) if text_kind(&text) == PathKind::Url => PathKind::Url,
            Val::Text(text) if is_machine_path(&text) => PathKind::Outside,
            _ => PathKind::None,
        };
        texts
            .into_vec()
            .into_iter()
            .map(kind)
            .max()
            .unwrap_or(PathKind::None)
    }

    pub(super) fn kind(&self, e: &'a Expr) -> PathKind {
        if let Some(kind) = literal_kind(e) {
            return kind;
        }
        let vals = self.r.eval(e, self.here());
        let mut kind = if vals.is_empty() {
            PathKind::Computed
        } else {
            PathKind::None
        };
        for val in vals.iter() {
            kind = kind.max(self.val_kind(val, 0));
        }
        if kind == PathKind::Computed {
            kind = self.computed_kind(e);
        }
        kind
    }

    /// Files in memory have a single root, so `..` is allowed if the path stays below it.
    fn path_kind(&self, text: &str) -> PathKind {
        match self.files_in_memory().then(|| beneath(text)).flatten() {
            Some(path) if path.is_empty() => PathKind::Plain,
            Some(path) => text_kind(&path),
            None => text_kind(text),
        }
    }

    /// Whether `open` and similar calls reach only files in memory.
    pub(super) fn files_in_memory(&self) -> bool {
        self.policy.contract == Contract::Walled
    }

    fn val_kind(&self, val: &Val<'a>, depth: usize) -> PathKind {
        match val {
            Val::Text(text) => self.path_kind(text),
            Val::Memory | Val::File => PathKind::None,
            Val::Items(..) | Val::Holds(..) if depth < 4 => {
                let mut set = Set::default();
                self.r.element(val, &mut set);
                set.into_vec()
                    .iter()
                    .map(|v| match v {
                        // Numbers in a list are no file names.
                        Val::Unknown => PathKind::Computed,
                        other => self.val_kind(other, depth + 1),
                    })
                    .max()
                    .unwrap_or(PathKind::None)
            }
            Val::Items(..)
            | Val::Holds(..)
            | Val::Module(_)
            | Val::Member(_)
            | Val::Result(_)
            | Val::Builtin(_)
            | Val::ComputedText
            | Val::TextMethod(_)
            | Val::Function(_)
            | Val::Class(_)
            | Val::Instance(_)
            | Val::Exception
            | Val::Styler
            | Val::TypeOf(_)
            | Val::Method(_)
            | Val::Unknown => PathKind::Computed,
        }
    }
}

/// The kind of a constant that is not text.
fn literal_kind(e: &Expr) -> Option<PathKind> {
    let Expr::Constant(c) = e else { return None };
    match &c.value {
        Constant::None => Some(PathKind::None),
        Constant::Bytes(bytes) => Some(text_kind(&String::from_utf8_lossy(bytes))),
        // A number is a file descriptor.
        Constant::Int(_) | Constant::Bool(_) => Some(PathKind::Outside),
        Constant::Str(_)
        | Constant::Tuple(_)
        | Constant::Float(_)
        | Constant::Complex { .. }
        | Constant::Ellipsis => None,
    }
}

/// Whether the mode creates a missing file, or may do so.
fn makes_file(mode: &Expr) -> bool {
    match mode {
        Expr::Constant(ast::ExprConstant {
            value: Constant::Str(mode),
            ..
        }) => mode.contains(['w', 'a', 'x']),
        _ => true,
    }
}

pub(super) fn text_kind(text: &str) -> PathKind {
    let scheme = text.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty()
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+-.:".contains(c))
    });
    let drive = text.split_once(':').is_some_and(|(d, _)| {
        matches!(d, "file" | "http" | "https" | "ftp" | "s3" | "gs" | "data")
    });
    if scheme || drive {
        return PathKind::Url;
    }
    let odd = text.contains(['\\', '\0'])
        || text.starts_with('~')
        || text.as_bytes().get(1) == Some(&b':');
    let mut name = text;
    while let Some(rest) = name.strip_prefix("./") {
        name = rest;
    }
    let segments = name.split('/');
    let lead_out = segments.clone().count() > Artifact::SEGMENTS
        || segments.clone().any(|s| matches!(s, "" | "." | ".."));
    if odd || lead_out {
        PathKind::Outside
    } else {
        PathKind::Plain
    }
}

/// The path without `.` and `..`; `None` if it leads above its start.
pub(super) fn beneath(text: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in text.strip_suffix('/').unwrap_or(text).split('/') {
        match part {
            ".." => drop(parts.pop()?),
            "." => {}
            _ => parts.push(part),
        }
    }
    Some(parts.join("/")).filter(|_| !text.is_empty())
}

/// Whether the whole text is a system path.
fn is_machine_path(text: &str) -> bool {
    const ROOTS: &[&str] = &[
        "/boot/", "/dev/", "/etc/", "/home/", "/mnt/", "/opt/", "/proc/", "/root/", "/run/",
        "/srv/", "/sys/", "/tmp/", "/usr/", "/var/", "../", "~/", "file:/",
    ];
    ROOTS.iter().any(|root| text.starts_with(root)) && !text.contains([' ', '\n'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_relative_name_is_in_the_output_folder() {
        for plain in [
            "summary.csv",
            "a b.txt",
            "x..y",
            ".hidden",
            "./a.csv",
            "a/b",
            "././a/b/c/d.csv",
        ] {
            assert_eq!(text_kind(plain), PathKind::Plain, "{plain}");
        }
        for outside in [
            "/etc/passwd",
            "../x",
            "a/../b",
            "a/b/c/d/e",
            "a//b",
            "a/",
            "a/./b",
            ".",
            "./",
            "~/x",
            "..",
            "C:x",
            "a\\b",
            "x\0",
        ] {
            assert_eq!(text_kind(outside), PathKind::Outside, "{outside}");
        }
        for (path, within) in [
            ("a/../b", Some("b")),
            ("./a/./b/", Some("a/b")),
            ("..", None),
            ("a/../../b", None),
            (".", Some("")),
            ("", None),
            ("/etc/../x", Some("/x")),
        ] {
            assert_eq!(beneath(path).as_deref(), within, "{path}");
        }
        for url in ["http://x", "s3://b/k", "file:x", "https://"] {
            assert_eq!(text_kind(url), PathKind::Url, "{url}");
        }
    }
}
