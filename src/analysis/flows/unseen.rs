//! Where values pass unseen: what Python calls by itself, what a library keeps, texts that are evaluated.

use super::functions::Given;
use super::value::{BOUND, GROUPED, PLAIN, Value};
use super::{Pass, fold, stmts};
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
    "sys",
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
];
/// Calls in a formula that only name columns or change numbers.
const IN_FORMULAS: &[&str] = &["C", "I", "Q", "center", "isin", "log", "standardize"];

/// Whether values may pass unseen through this name.
pub(super) fn hides(name: &str) -> bool {
    HIDING.contains(&name)
}

/// Whether a function of this name makes methods that Python calls by itself.
pub(super) fn describes(name: &str) -> bool {
    DESCRIBING.contains(&name)
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
            let given = Given::all(what.clone().without(GROUPED));
            let gives = self.call_function(id, &given);
            out = out.and(&gives);
        }
        if to.has(BOUND) {
            self.put(&to.reached(), &what.held().without(PLAIN));
        }
        out
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

    /// What a text that is evaluated takes from the names around it.
    pub(super) fn evaluated(&mut self, text: &'a Expr, at: usize) -> Value<'a> {
        let known: Vec<String> = match stmts::literal(text) {
            Some(texts) => texts.into_iter().map(str::to_owned).collect(),
            None => {
                let value = self.eval(text);
                match (value.texts, self.evaluated.get(&at)) {
                    (Some(texts), _) => texts.into_iter().map(str::to_owned).collect(),
                    (None, Some((_, text))) if value.as_is.is_empty() => {
                        vec![text.replace("{…}", "")]
                    }
                    _ => {
                        self.loses_sight(at);
                        Vec::new()
                    }
                }
            }
        };
        let mut out = Value::default();
        for text in &known {
            if !text.contains('@') {
                continue;
            }
            if calls(text).any(|name| !IN_FORMULAS.contains(&name)) {
                self.loses_sight(at);
            }
            for part in text.split('@').skip(1) {
                let end = part.find(|c: char| !c.is_alphanumeric() && c != '_');
                let name = &part[..end.unwrap_or(part.len())];
                let value = self.look_up(&std::borrow::Cow::Owned(name.to_owned()));
                match value {
                    Some(value) if value.funcs.is_empty() => out = out.and(&value.held()),
                    _ => self.loses_sight(at),
                }
            }
        }
        out
    }

    /// Looks at a formula, which may call functions of the snippet.
    pub(super) fn formula(&mut self, formula: Option<&'a Expr>, at: usize) {
        let Some(formula) = formula else { return };
        let texts: Vec<String> = match stmts::literal(formula) {
            Some(texts) => texts.into_iter().map(str::to_owned).collect(),
            None => match (self.eval(formula).texts, self.evaluated.get(&at)) {
                (Some(texts), _) => texts.into_iter().map(str::to_owned).collect(),
                (None, Some((_, text))) if !text.contains('…') => vec![text.clone()],
                _ => return self.loses_sight(at),
            },
        };
        let own = |text: &String| {
            calls(text).any(|name| !IN_FORMULAS.contains(&name) && !name.starts_with("np."))
        };
        if texts.iter().any(own) {
            self.loses_sight(at);
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

/// The names that a text calls, with their modules.
fn calls(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('(').filter_map(|(at, _)| {
        let before = text[..at].trim_end();
        let start = before.rfind(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.'));
        let skip = start.map_or(0, |i| {
            i + before[i..].chars().next().map_or(1, char::len_utf8)
        });
        let name = &before[skip..];
        let word = name.chars().next().is_some_and(|c| !c.is_ascii_digit());
        (word && !matches!(name, "and" | "or" | "not" | "in")).then_some(name)
    })
}
