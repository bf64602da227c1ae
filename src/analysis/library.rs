//! What is known about Python's own names and the members of libraries.
//!
//! The member lists are generated from the real libraries (assets/policies/members) and stand
//! for `"*"` in a policy; the tables below are knowledge, not policy.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::model::Capability;
pub use crate::policy::{member_capability, module_capability};

/// Members and submodules of the modules that the built-in policies list.
pub struct Library {
    stdlib: HashSet<&'static str>,
    members: HashMap<&'static str, HashSet<&'static str>>,
    modules: HashMap<&'static str, HashSet<&'static str>>,
    others: HashMap<(&'static str, &'static str), &'static str>,
}

static LIBRARY: LazyLock<Library> =
    LazyLock::new(|| Library::read(include_str!("../../assets/policies/members/members.txt")));

/// The embedded lists.
pub fn library() -> &'static Library {
    &LIBRARY
}

impl Library {
    fn read(text: &'static str) -> Self {
        let mut library = Self {
            stdlib: HashSet::new(),
            members: HashMap::new(),
            modules: HashMap::new(),
            others: HashMap::new(),
        };
        for line in text.lines().filter(|l| !l.starts_with('#')) {
            let mut words = line.split(' ');
            let Some(head) = words.next() else { continue };
            if head == "stdlib" {
                library.stdlib = words.collect();
            } else if let Some(module) = head.strip_suffix(':') {
                library.members.insert(module, words.collect());
            } else if let Some(module) = head.strip_suffix('/') {
                library.modules.insert(module, words.collect());
            } else if let Some(module) = head.strip_suffix('>')
                && let (Some(name), Some(target)) = (words.next(), words.next())
            {
                library.others.insert((module, name), target);
            }
        }
        library
    }

    /// A top-level module of the standard library.
    pub fn is_stdlib(&self, name: &str) -> bool {
        self.stdlib.contains(name)
    }

    /// Whether a path is a module of the lists in its own right, not one that another carries.
    pub fn is_listed(&self, path: &str) -> bool {
        self.members.contains_key(path) || self.modules.contains_key(path)
    }

    /// Whether anything is known of a top-level module.
    pub fn knows(&self, top: &str) -> bool {
        self.is_stdlib(top) || self.members.contains_key(top) || self.modules.contains_key(top)
    }

    pub fn has_member(&self, module: &str, name: &str) -> bool {
        self.members.get(module).is_some_and(|m| m.contains(name))
    }

    pub fn has_module(&self, module: &str, name: &str) -> bool {
        self.modules.get(module).is_some_and(|m| m.contains(name))
    }

    /// `statsmodels.api.tsa` is the module `statsmodels.tsa.api`.
    pub fn other(&self, module: &str, name: &str) -> Option<&'static str> {
        // The key's lifetime is the table's, so look it up by what it borrows from.
        let (module, _) = self.modules.get_key_value(module)?;
        let name = self.modules.get(module)?.get(name)?;
        self.others.get(&(*module, *name)).copied()
    }

    pub fn members(&self, module: &str) -> impl Iterator<Item = &'static str> + '_ {
        self.members.get(module).into_iter().flatten().copied()
    }
}

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

/// What a builtin that no built-in policy allows can do.
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

/// Modules whose bare name, bound by nobody, is still a giveaway when an attribute is read.
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
    fn the_lists_know_members_from_modules() {
        let l = library();
        assert!(l.has_member("numpy", "mean") && !l.has_member("numpy", "f2py"));
        assert!(l.has_module("json", "decoder") && l.has_module("re", "enum"));
        assert!(!l.has_member("datetime", "sys") && l.is_stdlib("sys"));
        assert_eq!(
            l.other("statsmodels.api", "tsa"),
            Some("statsmodels.tsa.api")
        );
        assert!(is_builtin("eval") && !is_builtin("display"));
    }
}
