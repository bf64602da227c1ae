//! Where values pass unseen: what Python calls by itself, what a library keeps, texts that are evaluated.

use super::functions::Given;
use super::value::{BOUND, CHANGER, GROUPED, LIST, OUTSIDE, PLAIN, Value};
use super::{Pass, fold};
use crate::analysis::parse::ast::{self, Expr};

/// Names whose use hides where a value goes: attributes and functions.
const HIDING: &[&str] = &[
    "__dict__",
    "__setattr__",
    "as_strided",
    "asend",
    "athrow",
    "compile",
    "delattr",
    "exec",
    "frombuffer",
    "globals",
    "locals",
    "memoryview",
    "redirect_stderr",
    "redirect_stdout",
    "send",
    "setattr",
    "setflags",
    "throw",
    "vars",
    "writeable",
];
/// Functions that make methods which Python calls by itself.
const DESCRIBING: &[&str] = &[
    "cached_property",
    "partialmethod",
    "property",
    "singledispatch",
    "singledispatchmethod",
    "total_ordering",
];
/// Decorators that leave a function or a class what it is.
const KEEPING: &[&str] = &[
    "abc.abstractmethod",
    "contextlib.contextmanager",
    "dataclasses.dataclass",
    "enum.unique",
    "functools.cache",
    "functools.lru_cache",
    "functools.wraps",
    "typing.final",
    "typing.no_type_check",
    "typing.overload",
    "typing.override",
];
/// Classes that call no method of a class that is made of them.
const QUIET_BASES: &[&str] = &[
    "abc.ABC",
    "enum.Enum",
    "enum.Flag",
    "enum.IntEnum",
    "enum.IntFlag",
    "enum.StrEnum",
    "typing.Generic",
    "typing.NamedTuple",
    "typing.Protocol",
    "typing.TypedDict",
];
/// Methods with two underscores that are followed, and names that are none.
const FOLLOWED: &[&str] = &[
    "__all__",
    "__author__",
    "__doc__",
    "__init__",
    "__match_args__",
    "__post_init__",
    "__slots__",
    "__version__",
];
/// Libraries whose functions keep nothing of what they are given.
const STATELESS: &[&str] = &[
    "IPython",
    "abc",
    "array",
    "base64",
    "bisect",
    "calendar",
    "cmath",
    "collections",
    "concurrent",
    "contextlib",
    "copy",
    "dataclasses",
    "dateutil",
    "datetime",
    "decimal",
    "difflib",
    "enum",
    "fractions",
    "functools",
    "gzip",
    "hashlib",
    "heapq",
    "html",
    "io",
    "itertools",
    "joblib",
    "json",
    "logging",
    "math",
    "numbers",
    "numpy",
    "openpyxl",
    "operator",
    "pandas",
    "pathlib",
    "pprint",
    "pyarrow",
    "pytz",
    "random",
    "re",
    "scipy",
    "secrets",
    "sklearn",
    "statistics",
    "statsmodels",
    "string",
    "textwrap",
    "time",
    "timeit",
    "tqdm",
    "traceback",
    "types",
    "typing",
    "unicodedata",
    "uuid",
    "warnings",
    "zipfile",
    "zoneinfo",
];
/// The functions of these that keep something.
const KEEPS: &[&str] = &[
    "current_thread",
    "filterwarnings",
    "getcontext",
    "localcontext",
    "option_context",
    "register_dataframe_accessor",
    "register_index_accessor",
    "register_series_accessor",
    "seed",
    "set_config",
    "set_eng_float_format",
    "set_lsprof",
    "set_option",
    "set_printoptions",
    "set_state",
    "set_string_function",
    "setcontext",
    "seterr",
    "seterrcall",
    "setprofile",
    "setrecursionlimit",
    "setstate",
    "settrace",
    "simplefilter",
];
/// The functions of other libraries that keep nothing.
const HARMLESS: &[&str] = &[
    "csv.DictReader",
    "csv.DictWriter",
    "csv.reader",
    "csv.writer",
    "os.environ.get",
    "os.fspath",
    "os.getenv",
    "os.listdir",
    "os.makedirs",
    "os.mkdir",
    "sys.getsizeof",
    "sys.intern",
];
/// Names by which code reaches any name of the snippet.
const REACHING: &[&str] = &[
    "__globals__",
    "_getframe",
    "currentframe",
    "eval",
    "exec",
    "f_globals",
    "f_locals",
    "get_objects",
    "get_referrers",
    "gi_frame",
    "globals",
    "locals",
    "vars",
];
/// Functions that hand what is printed to what they are given.
const CONFIGURING: &[&str] = &[
    "MemoryHandler",
    "PrettyPrinter",
    "QueueHandler",
    "StreamHandler",
    "addFilter",
    "addHandler",
    "basicConfig",
    "setFormatter",
    "setLogRecordFactory",
    "setLoggerClass",
    "setStream",
];
/// Functions that give files and folders names.
const FILING: &[&str] = &[
    "hardlink_to",
    "link",
    "makedirs",
    "mkdir",
    "rename",
    "renames",
    "symlink",
    "symlink_to",
    "touch",
];

/// Whether any name of the snippet may be read through this one.
pub(super) fn reaches(name: &str) -> bool {
    REACHING.contains(&name)
}

/// Whether what is printed goes to what a function of this name is given.
pub(super) fn configures(name: &str) -> bool {
    CONFIGURING.contains(&name)
}

/// Whether a function of this name gives a file or a folder its name.
pub(super) fn files(name: &str) -> bool {
    FILING.contains(&name)
}

/// Whether values may pass unseen through this name.
pub(super) fn hides(name: &str) -> bool {
    HIDING.contains(&name)
}

/// Whether a function of this name makes methods that Python calls by itself.
pub(super) fn describes(name: &str) -> bool {
    DESCRIBING.contains(&name)
}

/// Whether a function gives back what its library keeps.
pub(super) fn keeps(name: &str) -> bool {
    KEEPS.contains(&name)
}

/// Whether the names of files may come back by a call of this name.
pub(super) fn lists_back(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "glob", "iglob", "iterdir", "listdir", "rglob", "scandir", "walk",
    ];
    NAMES.contains(&name)
}

/// Whether what a file holds may come back by a call of this name.
pub(super) fn reads_back(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "ExcelFile",
        "GzipFile",
        "HDFStore",
        "ParquetFile",
        "ZipFile",
        "dataset",
        "fromfile",
        "genfromtxt",
        "getsize",
        "load",
        "loadtxt",
        "memmap",
        "open",
        "stat",
    ];
    name.starts_with("read") || NAMES.contains(&name)
}

impl<'a> Pass<'a> {
    /// Hands something to the functions in a value. Methods may keep it in their objects.
    pub(super) fn hand_over(&mut self, to: &Value<'a>, what: &Value<'a>) -> Value<'a> {
        let mut out = Value::default();
        for id in to.funcs.clone() {
            // Functions get parts of it: what a tuple of arguments has.
            let given = Given::all(what.clone().without(GROUPED).opened());
            let gives = self.call_function(id, &given);
            out = out.and(&gives);
        }
        if to.has(BOUND) {
            self.put(&to.reached(), &what.held().without(PLAIN));
        }
        out
    }

    /// A member of a module as a value.
    pub(super) fn member(mut value: Value<'a>, path: &str) -> Value<'a> {
        if super::library::changes(path) {
            value = value.with(CHANGER);
        }
        let mut parts = path.split('.');
        let top = parts.next().unwrap_or(path);
        let state = |part: &str| part == "options" || part.starts_with('_');
        if !STATELESS.contains(&top) || parts.any(state) {
            value.sites.push(OUTSIDE);
        }
        value
    }

    /// Looks at what printing and logging are given: what is printed goes there, unseen.
    pub(super) fn configured(&mut self, given: &Given<'a>, at: usize) {
        let all = given.union();
        let sinks = |v: &Value<'a>| {
            let empty = v.has(LIST) && v.inner.is_empty();
            !v.funcs.is_empty() || !(v.sites.is_empty() || empty) || !v.inner.is_empty()
        };
        let each = given.positional.iter();
        let each = each.chain(given.keywords.iter().map(|(_, v)| v));
        if each.chain(&given.rest).any(sinks) {
            self.loses_sight(at);
            let shown = self.everything();
            self.hand_over(&all, &shown);
        }
    }

    /// Looks at a library's function that may keep what it is given.
    pub(super) fn kept(&mut self, path: &str, name: &str, all: &Value<'a>, at: usize) {
        let top = path.split('.').next().unwrap_or(path);
        let keeps = KEEPS.contains(&name);
        let known = STATELESS.contains(&top)
            || HARMLESS.contains(&path)
            || path.starts_with("os.path.")
            || super::exprs::prints(path);
        if describes(name) || hides(name) || !all.is_bare() && (keeps || !known) {
            self.loses_sight(at);
        }
        if files(name) {
            self.changed |= self.named.join(&all.held().without(PLAIN));
        }
        if keeps && !all.funcs.is_empty() {
            // Python calls it later, with anything that is shown.
            let gives = self.hand_over(all, &Value::default());
            if !gives.is_bare() {
                self.loses_sight(at);
            }
            let shown = self.everything();
            self.hand_over(all, &shown);
        }
    }

    /// A function or a class behind its decorators.
    pub(super) fn decorated(
        &mut self,
        mut value: Value<'a>,
        decorators: &'a [Expr],
        at: usize,
    ) -> Value<'a> {
        for e in decorators.iter().rev() {
            let by = self.eval(e);
            let func = match e {
                Expr::Call(x) => &*x.func,
                e => e,
            };
            let kept = match func {
                Expr::Name(x) if matches!(x.id.as_str(), "staticmethod" | "classmethod") => {
                    self.look_up(&fold(x.id.as_str())).is_none()
                }
                func => self
                    .path(func)
                    .is_some_and(|path| KEEPING.contains(&&*path)),
            };
            if kept {
                if self.path(func).is_some_and(|path| path.ends_with("cache")) {
                    value = value.and(&Self::made(at));
                    self.caches.insert(super::number(at));
                }
                continue;
            }
            if by.funcs.is_empty() || by.funcs.iter().any(|id| self.makers.contains(id)) {
                self.loses_sight(at);
            }
            for id in by.funcs.clone() {
                let gives = self.call_function(id, &Given::one(value.clone()));
                value = value.and(&gives);
            }
        }
        value
    }

    /// Looks at a class whose methods Python may call by itself. `names`: what it binds, and whether functions.
    pub(super) fn implicit(&mut self, x: &'a ast::StmtClassDef, names: &[(&str, bool)]) {
        let at = x.range.start().to_usize();
        let functions = names.iter().any(|(_, function)| *function);
        let loud = x.bases.iter().any(|base| !self.is_quiet(base)) && functions;
        let special = |name: &str| {
            let dunder = name.starts_with("__") && name.ends_with("__");
            dunder && !FOLLOWED.contains(&name)
        };
        let sunder = |name: &str| name.starts_with('_') && name.ends_with('_');
        let hidden = names.iter().any(|(name, function)| {
            special(name) || *function && sunder(name) && !FOLLOWED.contains(name)
        });
        if loud || hidden || !x.keywords.is_empty() {
            self.loses_sight(at);
        }
    }

    fn is_quiet(&mut self, base: &'a Expr) -> bool {
        let base = match base {
            Expr::Subscript(x) => &*x.value,
            base => base,
        };
        if let Some(path) = self.path(base) {
            return QUIET_BASES.contains(&&*path);
        }
        let Expr::Name(x) = base else { return false };
        let name = x.id.as_str();
        match self.look_up(&fold(name)) {
            Some(value) => value.sites.iter().any(|site| self.classes.contains(site)),
            None => {
                let error = ["Error", "Exception", "Warning"];
                name == "object" || error.iter().any(|end| name.ends_with(end))
            }
        }
    }
}
