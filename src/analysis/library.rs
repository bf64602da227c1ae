//! Knowledge of Python's own names; `policy` has that of libraries.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::model::Capability;
pub use crate::policy::{Library, library, member_capability, module_capability, stays_inside};

/// Names of CPython's `builtins` module (3.11 to 3.14) and those that `site` adds.
pub fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(name)
}

static BUILTINS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    "ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError \
     BrokenPipeError BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError \
     ConnectionRefusedError ConnectionResetError DeprecationWarning EOFError Ellipsis EncodingWarning \
     EnvironmentError Exception ExceptionGroup False FileExistsError FileNotFoundError \
     FloatingPointError FutureWarning GeneratorExit IOError ImportError ImportWarning IndentationError \
     IndexError InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError \
     ModuleNotFoundError NameError None NotADirectoryError NotImplemented NotImplementedError OSError \
     OverflowError PendingDeprecationWarning PermissionError ProcessLookupError PythonFinalizationError \
     RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning StopAsyncIteration \
     StopIteration SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError True TypeError \
     UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError \
     UnicodeWarning UserWarning ValueError Warning ZeroDivisionError \
     abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile \
     complex copyright credits delattr dict dir divmod enumerate eval exec exit filter float format \
     frozenset getattr globals hasattr hash help hex id input int isinstance issubclass iter len license \
     list locals map max memoryview min next object oct open ord pow print property quit range repr \
     reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip"
        .split_whitespace()
        .collect()
});

/// The capability of a builtin that no built-in policy allows.
pub fn builtin_capability(name: &str) -> Option<Capability> {
    Some(match name {
        "eval" | "exec" | "compile" | "__import__" | "execfile" => Capability::DynamicCode,
        "open" => Capability::FsRead,
        "globals" | "locals" | "vars" | "dir" | "getattr" | "hasattr" | "setattr" | "delattr"
        | "__builtins__" | "__loader__" | "__spec__" | "__build_class__" | "type" => {
            Capability::Reflect
        }
        "input" | "breakpoint" | "help" | "license" | "credits" | "copyright" => {
            Capability::ReadSystemState
        }
        "exit" | "quit" | "BaseException" | "BaseExceptionGroup" | "KeyboardInterrupt"
        | "SystemExit" | "GeneratorExit" => Capability::ModifySystemState,
        _ => return None,
    })
}

/// Whether this is a module whose unbound name already reveals the intent when an attribute is read
/// from it.
pub fn is_telling(name: &str) -> bool {
    matches!(
        name,
        "os" | "sys"
            | "subprocess"
            | "shutil"
            | "socket"
            | "pathlib"
            | "importlib"
            | "builtins"
            | "ctypes"
            | "pickle"
            | "marshal"
            | "inspect"
            | "gc"
            | "requests"
            | "urllib"
            | "pty"
            | "posix"
            | "platform"
            | "multiprocessing"
            | "threading"
            | "runpy"
            | "codeop"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builtins_are_pythons_own() {
        assert!(is_builtin("eval") && !is_builtin("display"));
    }
}
