//! Statements that are only allowed in functions, async functions or loops.

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
    /// Of a list, set or dict, which is built at once.
    Comprehension,
    /// A generator expression. It runs only when iterated, so `await` is allowed anywhere in it.
    Generator,
    TypeParameters,
}

/// The state of a scope while it is walked.
pub(super) struct Frame {
    kind: CodeKind,
    /// The position of a comprehension.
    at: TextRange,
    /// Whether a comprehension contains an `await` or `async for`.
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

    /// `return` is only allowed in functions, but not in a handler of `except*`.
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

    /// `break` and `continue` are only allowed in loops, and must not leave a handler of `except*`.
    pub(super) fn jump(&mut self, what: &str, at: TextRange) {
        let inside = self.inside();
        if inside.group && !inside.looped {
            self.refuse(at, format!("{what} in a handler of `except*`"));
        } else if !inside.looped {
            self.refuse(at, format!("{what} outside a loop"));
        }
    }

    /// `yield` is only allowed in functions.
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

    /// `await` is only allowed in async functions, and in comprehensions that may be asynchronous.
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

    /// `async for` and `async with` are only allowed in async functions.
    pub(super) fn in_async_function(&mut self, what: &str, at: TextRange) {
        if self.kind() != CodeKind::Async {
            self.refuse(at, format!("{what} outside an async function"));
        }
    }

    /// Checks that are only possible at the end of a scope.
    pub(super) fn left(&mut self, frame: &Frame) {
        if let (CodeKind::Async, true, Some(at)) = (frame.kind, frame.yields, frame.returned) {
            self.refuse(at, "return with a value in an async generator");
        }
        // An asynchronous comprehension makes the enclosing one asynchronous.
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
