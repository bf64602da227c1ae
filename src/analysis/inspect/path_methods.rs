//! Methods of paths: the object names the file (`Path("x").read_text()`).

use super::Inspector;
use super::calls::Arguments;
use super::files::PathKind;
use crate::analysis::fold::fold;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Expr};
use crate::analysis::resolve::Val;
use crate::model::Capability;

/// Methods that only `pathlib.Path` has, and what they do with the file it names.
const OF_PATHS: &[(&str, Capability)] = &[
    ("read_text", Capability::FsRead),
    ("read_bytes", Capability::FsRead),
    ("write_text", Capability::FsWrite),
    ("write_bytes", Capability::FsWrite),
    ("touch", Capability::FsWrite),
    ("unlink", Capability::FsDelete),
    ("symlink_to", Capability::FsWrite),
    ("hardlink_to", Capability::FsWrite),
];

/// Further methods of `Path` that change files; other classes have methods of these names too.
const OF_THEIR_CLASS: &[&str] = &["chmod", "mkdir", "open", "rename", "replace", "rmdir"];

impl<'a> Inspector<'a> {
    /// Judges `Path("x").read_text()`, where the object names the file.
    pub(super) fn path_method(&mut self, x: &'a ast::ExprAttribute, at: TextRange) {
        let attr = fold(x.attr.as_str());
        let known = OF_PATHS.iter().find(|(name, _)| *name == &*attr);
        let path = |v: &Val<'a>| matches!(v, Val::Text(_));
        if &*attr == "mkdir" && self.r.eval(&x.value, self.here()).iter().all(path) {
            return self.folder(&x.value, &attr, at);
        }
        let opens = || {
            let of_path = |v: &Val<'a>| matches!(v, Val::Text(_) | Val::ComputedText);
            let base = self.r.eval(&x.value, self.here());
            &*attr == "open" && !base.is_empty() && base.iter().all(of_path)
        };
        let capability = match known {
            Some((_, capability)) => *capability,
            None if opens() => Capability::FsWrite,
            None => return,
        };
        let kind = match self.is_path_class(&x.value) {
            // `Path.write_text(path, text)`.
            true => PathKind::Computed,
            false => self.kind(&x.value),
        };
        self.touches(&x.value, kind, capability, &attr, at);
        self.named_so(&x.value, kind, capability, None, &attr, at);
        if self.too_deep(&x.value, kind, at) {
            self.uses(capability, at, &format!("{attr}, literal argument"));
        } else {
            self.named_fact(&x.value, kind, capability, &attr, at);
        }
    }

    /// Judges `p.open("w")` on an object of which nothing is known: it may be a path.
    pub(super) fn opens_unknown(
        &mut self,
        x: &'a ast::ExprAttribute,
        arguments: Arguments<'a>,
        at: TextRange,
    ) {
        let mode = arguments
            .positional(0)
            .or_else(|| arguments.keyword(&["mode"]));
        let Some(Expr::Constant(mode)) = mode else {
            return;
        };
        let writes = mode.value.as_str().is_some_and(|mode| {
            mode.chars().all(|c| "rwaxbt+".contains(c)) && mode.contains(['w', 'a', 'x', '+'])
        });
        let text = |v: &Val<'a>| matches!(v, Val::Text(_) | Val::ComputedText);
        let path = |v: &Val<'a>| match v {
            // An element of `map(Path, names)`.
            Val::Member(path) => path.starts_with("pathlib."),
            Val::Unknown | Val::Items(..) | Val::Holds(..) | Val::Result(_) => true,
            other => text(other),
        };
        let base = self.r.eval(&x.value, self.here());
        // `path_method` judges what is surely a path.
        let judged = !base.is_empty() && base.iter().all(text);
        if writes && fold(x.attr.as_str()) == "open" && base.iter().all(path) && !judged {
            self.touches_any(Capability::FsWrite);
            self.file_fact(PathKind::Computed, Capability::FsWrite, "open", at);
        }
    }

    fn is_path_class(&self, e: &'a Expr) -> bool {
        let vals = self.r.eval(e, self.here());
        vals.iter()
            .any(|v| matches!(v, Val::Member(path) if path.starts_with("pathlib.")))
    }

    /// Judges `Path.write_text`, or the same method of an object, as a value: whoever gets it calls it on any file.
    /// Returns whether it is one.
    pub(super) fn path_value(&mut self, x: &'a ast::ExprAttribute, at: TextRange) -> bool {
        self.path_named(&fold(x.attr.as_str()), &x.value, at)
    }

    /// The same for `getattr(path, "unlink")`.
    pub(super) fn path_named(&mut self, attr: &str, of: &'a Expr, at: TextRange) -> bool {
        let of_class = || self.is_path_class(of);
        let known = OF_PATHS.iter().find(|(name, _)| *name == attr);
        let capability = match known {
            Some((_, capability)) => *capability,
            None if OF_THEIR_CLASS.contains(&attr) && of_class() => Capability::FsWrite,
            None => return false,
        };
        self.lost.handed = true;
        self.touches_any(Capability::FsWrite);
        self.file_fact(PathKind::Computed, capability, attr, at);
        true
    }
}
