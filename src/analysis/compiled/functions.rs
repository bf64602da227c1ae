//! What belongs in functions, in `async` ones, in loops.

use super::Compiler;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::Ranged;
use crate::analysis::walk::Scope;

#[derive(Clone, Copy, PartialEq, Eq)]
enum CodeKind {
    Module,
    Function,
    Async,
    Class,
    /// Of a list, set or dict: made where it stands.
    Comprehension,
    /// Of a generator: made when it is asked for, so it may wait wherever it stands.
    Generator,
    TypeParameters,
}

/// A scope, while it is walked.
pub(super) struct Frame {
    kind: CodeKind,
    /// Where a comprehension stands.
    at: TextRange,
    /// Whether a comprehension waits for something.
    waits: bool,
    yields: bool,
    /// The first `return` with a value.
    returned: Option<TextRange>,
}

impl Frame {
    pub fn module() -> Self {
        Self::new(CodeKind::Module)
    }

    pub fn of(scope: Scope<'_>) -> Self {
        match scope {
            Scope::Function(_) => Self::new(CodeKind::Function),
            Scope::Async(_) => Self::new(CodeKind::Async),
            Scope::Class(_) => Self::new(CodeKind::Class),
            Scope::TypeParameters => Self::new(CodeKind::TypeParameters),
            Scope::Comprehension {
                target,
                waits,
                lazy,
            } => Self {
                at: target.range(),
                waits,
                ..Self::new(if lazy {
                    CodeKind::Generator
                } else {
                    CodeKind::Comprehension
                })
            },
        }
    }

    fn new(kind: CodeKind) -> Self {
        Self {
            kind,
            at: TextRange::default(),
            waits: false,
            yields: false,
            returned: None,
        }
    }
}

impl Compiler<'_, '_> {
    fn kind(&self) -> CodeKind {
        self.frames.last().map_or(CodeKind::Module, |f| f.kind)
    }

    pub(super) fn in_function(&self) -> bool {
        matches!(self.kind(), CodeKind::Function | CodeKind::Async)
    }

    pub(super) fn in_module(&self) -> bool {
        self.kind() == CodeKind::Module
    }

    /// `return` belongs in functions, and ends no handler of `except*`.
    pub(super) fn returned(&mut self, value: bool, at: TextRange) {
        if !self.in_function() {
            self.refuse(at, "return outside a function");
        } else if self.inside().group {
            self.refuse(at, "return in a handler of `except*`");
        }
        if value && let Some(frame) = self.frames.last_mut() {
            frame.returned.get_or_insert(at);
        }
    }

    /// `break` and `continue` belong in loops, and end no handler of `except*`.
    pub(super) fn jump(&mut self, what: &str, at: TextRange) {
        let inside = self.inside();
        if inside.group && !inside.looped {
            self.refuse(at, format!("{what} in a handler of `except*`"));
        } else if !inside.looped {
            self.refuse(at, format!("{what} outside a loop"));
        }
    }

    /// `yield` belongs in functions.
    pub(super) fn yields(&mut self, what: &str, at: TextRange) {
        if self.inside().quoted {
            self.refuse(at, format!("{what} in an annotation"));
            return;
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.yields = true;
        }
        match self.kind() {
            CodeKind::Module | CodeKind::Class if !self.inside().skipped => {
                self.refuse(at, format!("{what} outside a function"));
            }
            CodeKind::Comprehension | CodeKind::Generator => {
                self.refuse(at, format!("{what} in a comprehension"));
            }
            CodeKind::Async if what == "yield from" && !self.inside().skipped => {
                self.refuse(at, "yield from in an async function");
            }
            CodeKind::Module
            | CodeKind::Class
            | CodeKind::Function
            | CodeKind::Async
            | CodeKind::TypeParameters => {}
        }
    }

    /// `await` belongs in async functions, and in comprehensions that may wait.
    pub(super) fn awaits(&mut self, at: TextRange) {
        if self.inside().quoted {
            self.refuse(at, "await in an annotation");
            return;
        }
        match self.kind() {
            CodeKind::Module | CodeKind::Function | CodeKind::Class => {
                if !self.inside().skipped {
                    self.refuse(at, "await outside an async function");
                }
            }
            CodeKind::Comprehension | CodeKind::Generator => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.waits = true;
                }
            }
            CodeKind::Async | CodeKind::TypeParameters => {}
        }
    }

    /// `async for` and `async with`.
    pub(super) fn in_async_function(&mut self, what: &str, at: TextRange) {
        if self.kind() != CodeKind::Async {
            self.refuse(at, format!("{what} outside an async function"));
        }
    }

    /// What is known of a scope at its end only.
    pub(super) fn left(&mut self, frame: &Frame) {
        if let (CodeKind::Async, true, Some(at)) = (frame.kind, frame.yields, frame.returned) {
            self.refuse(at, "return with a value in an async generator");
        }
        // A comprehension that waits makes the one around it wait.
        if frame.kind == CodeKind::Comprehension && frame.waits {
            match self.kind() {
                CodeKind::Comprehension | CodeKind::Generator => {
                    if let Some(around) = self.frames.last_mut() {
                        around.waits = true;
                    }
                }
                CodeKind::Module | CodeKind::Function | CodeKind::Class => {
                    if !self.inside().skipped {
                        self.refuse(
                            frame.at,
                            "a comprehension that waits outside an async function",
                        );
                    }
                }
                CodeKind::Async | CodeKind::TypeParameters => {}
            }
        }
    }
}
