//! Imports that are only allowed in some places: from `__future__`, and `import *`.

use super::Compiler;
use crate::analysis::parse::ast::{Constant, Expr, Ranged, Stmt, StmtImportFrom};

/// The features of `__future__`.
const FEATURES: &[&str] = &[
    "nested_scopes",
    "generators",
    "division",
    "absolute_import",
    "with_statement",
    "print_function",
    "unicode_literals",
    "barry_as_FLUFL",
    "generator_stop",
    "annotations",
];

/// The imports from `__future__` at the beginning of a snippet.
pub(super) struct Future {
    /// The offset where such imports must end.
    end: usize,
    /// Whether annotations are kept as text.
    pub annotations: bool,
}

impl Future {
    /// Such imports come first; only a docstring may precede them.
    pub fn of(body: &[Stmt]) -> Self {
        let mut future = Self {
            end: 0,
            annotations: false,
        };
        let rest = match body.split_first() {
            Some((first, rest)) if is_docstring(first) => rest,
            _ => body,
        };
        for statement in rest {
            let Stmt::ImportFrom(import) = statement else {
                break;
            };
            if !from_future(import) {
                break;
            }
            future.end = import.range().end().to_usize();
            future.annotations |= import.names.iter().any(|n| &n.name == "annotations");
        }
        future
    }
}

fn is_docstring(statement: &Stmt) -> bool {
    let Stmt::Expr(x) = statement else {
        return false;
    };
    matches!(&*x.value, Expr::Constant(c) if matches!(c.value, Constant::Str(_)))
}

fn from_future(import: &StmtImportFrom) -> bool {
    let relative = import.level.is_some_and(|level| level.to_u32() > 0);
    !relative && import.module.as_deref() == Some("__future__")
}

impl<'a> Compiler<'a, '_> {
    pub(super) fn imported(&mut self, import: &'a StmtImportFrom) {
        let at = import.range();
        if !self.in_module() && import.names.iter().any(|n| &n.name == "*") {
            self.refuse(at, "import * outside the module's level");
        }
        if !from_future(import) {
            return;
        }
        if at.start().to_usize() >= self.future.end {
            self.refuse(at, "an import from `__future__` that does not come first");
        }
        for alias in &import.names {
            if !FEATURES.contains(&alias.name.as_str()) {
                let what = format!("`__future__` has no `{}`", alias.name);
                self.refuse(alias.range(), what);
            }
        }
    }
}
