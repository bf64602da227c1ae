//! Hints: one sentence that says what to do instead, chosen by what the profile's contract offers
//! and expects.
//!
//! A hint suggests nothing that its profile refuses: code in a hint is in backquotes, and a test
//! judges each piece.

mod everyday;
mod removed;

use super::rules::{self, Rule};
use crate::policy::{Contract, NodeKind, Policy};

pub use everyday::member_of;
use removed::removed;

/// Up to this many allowed names are all named.
const ALL: usize = 12;

const PACKAGES: &str =
    "no program can be started, pip neither: the packages that are installed are fixed";
const PLAIN: &str = "plain Python is all there is: lists, dicts and functions";

/// The purposes of modules that not every profile lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Files,
    Network,
    Pickles,
    Programs,
    Threads,
    Databases,
    Workbooks,
    Logs,
    Figures,
    Tables,
    Models,
    Machine,
    Notebook,
}

fn purpose(module: &str) -> Option<Purpose> {
    Some(match module {
        "os" | "pathlib" | "shutil" | "glob" | "tempfile" | "fnmatch" | "zipfile" | "tarfile"
        | "gzip" => Purpose::Files,
        "requests" | "urllib" | "urllib3" | "httpx" | "aiohttp" | "socket" | "ssl" | "http"
        | "ftplib" | "smtplib" | "boto3" | "yfinance" => Purpose::Network,
        "pickle" | "joblib" | "dill" | "cloudpickle" | "shelve" | "marshal" => Purpose::Pickles,
        "subprocess" | "pip" | "pexpect" | "sh" => Purpose::Programs,
        "multiprocessing" | "threading" | "_thread" | "concurrent" | "asyncio" => Purpose::Threads,
        "openpyxl" | "xlsxwriter" | "xlrd" => Purpose::Workbooks,
        "sqlite3" | "sqlalchemy" | "psycopg2" | "pymysql" | "duckdb" => Purpose::Databases,
        "logging" | "loguru" => Purpose::Logs,
        "matplotlib" | "pylab" | "seaborn" | "plotly" | "bokeh" | "altair" => Purpose::Figures,
        "numpy" | "pandas" | "scipy" | "polars" | "dask" | "pyspark" | "pyarrow" => Purpose::Tables,
        "sklearn" | "statsmodels" | "xgboost" | "lightgbm" | "catboost" | "torch"
        | "tensorflow" | "keras" => Purpose::Models,
        "sys" | "platform" | "gc" | "ctypes" | "inspect" | "importlib" | "psutil" => {
            Purpose::Machine
        }
        "IPython" | "ipywidgets" => Purpose::Notebook,
        _ => return None,
    })
}

/// The hint for a module that the policy does not list; `None` if its purpose is unknown.
pub fn module(path: &str, policy: &Policy) -> Option<String> {
    let top = path.split('.').next().unwrap_or(path);
    let listed = policy
        .imports
        .keys()
        .any(|one| one.split('.').next() == Some(top));
    if policy.contract == Contract::Analysis
        && let Some(instead) = removed(path).or_else(|| instead(path, policy))
    {
        return Some(instead.to_owned());
    }
    if listed
        && imports(policy)
        && let Some(instead) = beside(path, policy)
    {
        return Some(instead.to_owned());
    }
    if !listed
        && policy.contract == Contract::Analysis
        && let Some(instead) = everyday::module(top, policy)
    {
        return Some(instead.to_owned());
    }
    let known = purpose(top).filter(|_| !listed || !imports(policy));
    let said = match (known, policy.contract) {
        (Some(Purpose::Files), _) => files(policy),
        (Some(Purpose::Network), _) => network(policy),
        (Some(Purpose::Pickles), _) => pickles(policy),
        (Some(Purpose::Programs), _) => PACKAGES.to_owned(),
        (Some(Purpose::Threads), Contract::Analysis) => {
            "for threads `from concurrent.futures import ThreadPoolExecutor`, or `n_jobs=2`"
                .to_owned()
        }
        (Some(Purpose::Threads), Contract::Feature | Contract::Chart) => {
            "one process and one thread: let numpy or pandas do the work".to_owned()
        }
        (Some(Purpose::Threads), _) => "one process and one thread: write a plain loop".to_owned(),
        (Some(Purpose::Databases), Contract::Analysis | Contract::Chart | Contract::Feature) => {
            "use DataFrames: merge, groupby, query with a literal".to_owned()
        }
        (Some(Purpose::Workbooks), Contract::Analysis) => {
            "pandas writes workbooks: `df.to_excel(\"name.xlsx\")`, and with formats and charts through \
             `pd.ExcelWriter(\"name.xlsx\", engine=\"xlsxwriter\")` and its `book`"
                .to_owned()
        }
        (Some(Purpose::Workbooks), _) => files(policy),
        (Some(Purpose::Logs), Contract::Feature) => {
            "leave it out: only `df` is handed back".to_owned()
        }
        (Some(Purpose::Logs), Contract::Scoped) => "use `log(\"message\")`".to_owned(),
        (Some(Purpose::Logs), _) => "use `print`".to_owned(),
        (Some(Purpose::Figures), _) => figures(policy).to_owned(),
        (Some(Purpose::Tables), Contract::Feature) => {
            "import nothing: `pd` and `np` are there".to_owned()
        }
        (Some(Purpose::Tables), Contract::Analysis | Contract::Chart) => {
            "use pandas and numpy".to_owned()
        }
        (Some(Purpose::Models), Contract::Analysis) => "use sklearn or statsmodels".to_owned(),
        (Some(Purpose::Models), Contract::Chart) => "use numpy and scipy".to_owned(),
        (Some(Purpose::Models), Contract::Feature) => {
            format!("models are no part of this: {}", result(policy))
        }
        (Some(Purpose::Databases | Purpose::Tables | Purpose::Models), _) => PLAIN.to_owned(),
        (Some(Purpose::Machine), _) => {
            format!(
                "nothing of the machine or the interpreter is needed: {}",
                result(policy)
            )
        }
        (Some(Purpose::Notebook), _) => format!("this is no notebook: {}", result(policy)),
        (None, _) if !imports(policy) => nothing_imported(policy).to_owned(),
        (None, _) => return None,
    };
    Some(said)
}

/// The hint for a common module that is not listed, with its replacement.
fn instead(path: &str, policy: &Policy) -> Option<&'static str> {
    let lists = |module: &str| policy.imports.contains_key(module);
    Some(match path {
        "ast" if lists("json") => {
            "for text that holds data use `json.loads(text)`, for single quotes `json.loads(text.replace(\"'\", '\"'))`"
        }
        "urllib.parse" | "urllib" if lists("re") => {
            "there is no network, and addresses are text: `str.partition`, `str.split` and f-strings take them \
             apart and build them"
        }
        "logging.handlers" | "logging.config" if lists("logging") => {
            "write `logging.basicConfig(level=logging.INFO)`, or `logging.FileHandler(\"run.log\")`"
        }
        "importlib" if lists("importlib.util") => {
            "write an `import` statement for each module: none is loaded by a computed name"
        }
        "openpyxl" if lists("openpyxl.styles") => {
            "pandas writes workbooks: `df.to_excel(\"name.xlsx\")`"
        }
        _ => return None,
    })
}

/// The hint for an unlisted module of a listed package, with its replacement.
fn beside(path: &str, policy: &Policy) -> Option<&'static str> {
    let lists = |module: &str| policy.imports.contains_key(module);
    Some(match path {
        "IPython" | "IPython.core" | "IPython.core.display" if lists("IPython.display") => {
            "write `from IPython.display import display`"
        }
        "tqdm.notebook" | "tqdm.autonotebook" if lists("tqdm.auto") => {
            "write `from tqdm.auto import tqdm`"
        }
        "plotly.io" | "plotly.offline" => figures(policy),
        _ if path.starts_with("openpyxl.") && lists("openpyxl") => everyday::workbook(path),
        _ => return None,
    })
}

/// The hint for an unlisted member of a listed module.
pub fn member(written: &str) -> Option<&'static str> {
    if let Some(instead) = removed(written) {
        return Some(instead);
    }
    match written {
        "joblib.dump" => {
            return Some(
                "a pickle is code that nobody saw: write csv, json or parquet of what the model gave",
            );
        }
        "joblib.load" => {
            return Some("a pickle is code that nobody saw: fit the model in the run that uses it");
        }
        _ => {}
    }
    let name = written.strip_prefix("os.")?;
    let starts = ["system", "popen", "fork", "exec", "spawn", "posix_spawn"];
    starts
        .iter()
        .any(|one| name.starts_with(one))
        .then_some(PACKAGES)
}

/// The hint for a module without a better one: the allowed names if they are few, or else where all are. Names that
/// are merely the least different ones would mislead.
pub fn allowed(policy: &Policy) -> String {
    let own = |m: &&String| m.contains('.') || (m.starts_with('_') && !m.starts_with("__"));
    let tops: Vec<&str> = policy
        .imports
        .keys()
        .filter(|m| !own(m))
        .map(String::as_str)
        .collect();
    if tops.len() <= ALL {
        return format!("allowed are {}", tops.join(", "));
    }
    format!(
        "{} modules are allowed, and none has such a name; {} them all",
        tops.len(),
        lists(policy)
    )
}

/// The hint for a member without a better one, likewise.
pub fn without(module: &str, policy: &Policy) -> Option<String> {
    let listed = policy.imports.get(module).filter(|m| !m.contains("*"))?;
    let names: Vec<&str> = listed.iter().map(String::as_str).collect();
    Some(if names.is_empty() {
        format!("`{module}` is imported for what its import does: none of its members is allowed")
    } else if names.len() <= ALL {
        format!("`{module}` is allowed without it: {}", names.join(", "))
    } else {
        format!(
            "`{module}` is allowed without it; {} its {} names",
            lists(policy),
            names.len(),
        )
    })
}

/// Where a person and an agent find what a policy allows.
fn lists(policy: &Policy) -> String {
    format!(
        "`countersign policy show {}` and the answer to hello list",
        policy.name
    )
}

/// The hint for a builtin that the policy does not list.
pub fn builtin(id: &str, policy: &Policy) -> Option<String> {
    let said = match id {
        "input" => "there is nobody to ask: write the value down, or bring it as an input",
        "globals" | "locals" | "vars" | "dir" => "name what you need",
        "setattr" => "write `x.name = value`",
        "delattr" => "write `del x.name`",
        "BaseException" | "BaseExceptionGroup" | "Exception" => catch(policy),
        "SystemExit"
            if policy
                .imports
                .get("sys")
                .is_some_and(|m| m.contains("exit")) =>
        {
            "write `import sys; sys.exit(\"why\")`"
        }
        "KeyboardInterrupt" | "SystemExit" | "GeneratorExit" => {
            "these stop a run and cannot be caught: leave them out"
        }
        "exit" | "quit"
            if policy
                .imports
                .get("sys")
                .is_some_and(|m| m.contains("exit")) =>
        {
            "write `import sys` and `sys.exit()`"
        }
        "exit" | "quit" => "let the snippet end by itself, or raise an exception",
        "breakpoint" | "help" | "license" | "credits" | "copyright" => {
            "there is no terminal in a run; for a variable of your own use another name"
        }
        "open" => return Some(files(policy)),
        "print" => return Some(result(policy).to_owned()),
        "type" if policy.builtins.contains("isinstance") => "use `isinstance(x, int)`",
        "type" | "isinstance" | "getattr" | "hasattr" if policy.contract == Contract::Feature => {
            "use `df.dtypes`, and name each column"
        }
        "repr" => "use `str(x)`",
        _ => return None,
    };
    Some(said.to_owned())
}

/// The hint for a special attribute that a builtin replaces.
pub fn dunder(attr: &str, policy: &Policy) -> Option<&'static str> {
    let listed = |name: &str| policy.builtins.contains(name) || policy.builtins.contains("*");
    Some(match attr {
        "__class__" if listed("type") => "use `type(x)`",
        "__class__" if listed("isinstance") => "use `isinstance(x, int)`",
        "__dict__" => "name the attributes you need",
        "__subclasses__" => "keep a list of your classes: `kinds = [A, B]`",
        "__bases__" | "__base__" | "__mro__" => "name the classes you need",
        "__globals__" | "__code__" | "__closure__" | "__builtins__" | "__self__" | "__func__" => {
            "leave it out: nothing of the interpreter is needed"
        }
        "__len__" if listed("len") => "use `len(x)`",
        "__getitem__" => "use x[…]",
        "__repr__" if listed("repr") => "use `repr(x)`",
        "__str__" | "__repr__" if listed("str") => "use `str(x)`",
        "__file__" => "there is no file: the snippet is text",
        "__mod__" | "__add__" | "__mul__" | "__eq__" => "use the operator",
        _ => return None,
    })
}

/// The hint for a private attribute that is a column name: pandas adds `_merge` with
/// `merge(indicator=True)`. `of`: the name of the receiver, if it is a name.
pub fn private(attr: &str, of: Option<&str>) -> Option<String> {
    (attr == "_merge").then(|| format!("for the column use `{}[\"_merge\"]`", of.unwrap_or("df")))
}

/// Replaces the rule's own hint if the alternative depends on the contract. `subject`: the subject
/// of the finding.
pub fn rule(rule: &Rule, subject: &str, policy: &Policy) -> Option<String> {
    if !policy.guard {
        return None;
    }
    let is = |one: &Rule| rule.code == one.code;
    let analysis = policy.contract == Contract::Analysis;
    let drawn = subject.ends_with("write_image") || subject.ends_with("savefig");
    if is(&rules::FS_OUTPUT) && analysis {
        return subject.ends_with("write_image").then(|| no_image(policy));
    }
    if is(&rules::FS_OUTSIDE) && analysis {
        return drawn.then(|| {
            "use a relative name, `plt.savefig(\"figure.png\")`: files live in the output folder"
                .to_owned()
        });
    }
    if rule.code.starts_with("FS") && !analysis {
        let figure = drawn && policy.contract == Contract::Chart;
        return Some(if figure {
            figures(policy).to_owned()
        } else {
            files(policy)
        });
    }
    if rule.code.starts_with("NET") {
        return Some(network(policy));
    }
    if is(&rules::EXEC_CALL) && subject == "plotly renderer" {
        return Some(format!("delete the line: {}", figures(policy)));
    }
    if is(&rules::EXEC_SYSTEM) && subject.contains("clipboard") {
        let instead = match subject.contains("read_") {
            true => inputs(policy),
            false => result(policy),
        };
        return Some(format!("there is no clipboard: {instead}"));
    }
    if is(&rules::DESER_LOAD) && !analysis {
        return Some(format!("there are no pickles: {}", inputs(policy)));
    }
    if is(&rules::DESER_DUMP) && !analysis {
        return Some(pickles(policy));
    }
    if is(&rules::DYN_TYPE_VALUE) && !policy.builtins.contains("type") {
        return Some("name the class".to_owned());
    }
    if is(&rules::NODE_DENIED) {
        return node(subject, policy).map(str::to_owned);
    }
    if is(&rules::BUILTIN_DUNDER) {
        return Some(special(subject, policy));
    }
    if is(&rules::ATTR_DEFINE) {
        return everyday::method(subject, policy).map(str::to_owned);
    }
    if is(&rules::ATTR_DUNDER) {
        return dunder(subject, policy).map(str::to_owned);
    }
    if is(&rules::REFL_GETATTR) && policy.builtins.contains("getattr") {
        return Some(
            "write the attribute, for a column `df[name]`, or take the names from a list that stands in the code: \
             `for name in [\"mean\", \"max\"]: getattr(df, name)()`"
                .to_owned(),
        );
    }
    if is(&rules::BUILTIN_BASE_EXCEPTION) || is(&rules::BUILTIN_BARE_EXCEPT) {
        return Some(catch(policy).to_owned());
    }
    None
}

/// The hint for a special name.
fn special(name: &str, policy: &Policy) -> String {
    if name == "__import__" {
        return match imports(policy) {
            true => "write an `import` statement".to_owned(),
            false => nothing_imported(policy).to_owned(),
        };
    }
    if let Some(hint) = everyday::special(name) {
        return hint.to_owned();
    }
    let readable = ["__name__", "__doc__"];
    let readable = readable.map(|n| policy.attributes.allow_dunder.contains(n).then_some(n));
    match readable {
        [Some(_), Some(_)] => "leave it out: only `__name__` and `__doc__` may be read".to_owned(),
        [Some(one), None] | [None, Some(one)] => format!("leave it out: only `{one}` may be read"),
        [None, None] => "leave it out: no such name may be read".to_owned(),
    }
}

/// The hint for plotly's `write_image`.
pub fn no_image(policy: &Policy) -> String {
    match policy.contract {
        Contract::Analysis => {
            "no browser draws it here: `fig.show()` keeps it as JSON, `fig.write_html(\"fig.html\")` as a page"
                .to_owned()
        }
        _ => figures(policy).to_owned(),
    }
}

/// The hint for `get_ipython()`.
pub fn no_notebook(policy: &Policy) -> String {
    format!("delete the line: this is no notebook, {}", result(policy))
}

/// The hint for a line of notebook or shell syntax.
pub fn line(line: &str, policy: &Policy) -> Option<String> {
    let line = line.trim();
    let magic = line.trim_start_matches(['%', '!']);
    let marked = magic.len() < line.len();
    let word = magic.split_whitespace().next().unwrap_or("");
    let shell = line.starts_with('!') || line.starts_with("%%bash") || line.starts_with("%%sh");
    let said = match word {
        "pip" | "pip3" | "conda" | "uv" | "mamba" if marked || magic.contains(" install ") => {
            "delete the line: the packages that are installed are fixed".to_owned()
        }
        _ if shell => "delete the line: no program can be started".to_owned(),
        "matplotlib" | "pylab" | "config" if marked && policy.guard => {
            format!("delete the line: {}", figures(policy))
        }
        "time" | "timeit" | "prun" if marked => {
            "delete the line: how long the run takes is reported with it".to_owned()
        }
        _ if marked => "delete the line: it is a notebook's, and this is plain Python".to_owned(),
        _ if line.starts_with('?') || line.ends_with('?') => {
            "delete the line: it asks a notebook for help, and nothing answers here".to_owned()
        }
        _ => return None,
    };
    Some(said)
}

fn node(class: &str, policy: &Policy) -> Option<&'static str> {
    Some(match class {
        "Import" | "ImportFrom" | "alias" => nothing_imported(policy),
        "ClassDef" => "write functions instead of a class",
        "AsyncFunctionDef" | "AsyncFor" | "AsyncWith" | "Await" => {
            "nothing runs at the same time: write a plain function"
        }
        _ => return None,
    })
}

/// Whether the policy allows import statements at all.
fn imports(policy: &Policy) -> bool {
    policy.nodes.contains(NodeKind::Import.name())
}

fn nothing_imported(policy: &Policy) -> &'static str {
    match policy.contract {
        Contract::Feature => "import nothing: `pd` and `np` are there",
        _ => "import nothing: plain Python is all there is",
    }
}

/// Where a result goes.
fn result(policy: &Policy) -> &'static str {
    match policy.contract {
        Contract::Feature => "add columns to `df`",
        Contract::Chart => "print it, or put it into `result`",
        Contract::Scoped => "print it, or keep it in `public`",
        Contract::Analysis if policy.builtins.contains("open") => {
            "print it, or `df.to_csv(\"name.csv\")`"
        }
        Contract::Analysis | Contract::Walled | Contract::Script => "print it",
    }
}

/// Where the inputs are.
fn inputs(policy: &Policy) -> &'static str {
    match policy.contract {
        Contract::Feature => "what there is stands in `df`",
        Contract::Chart => "the inputs are in `data`",
        Contract::Scoped => "the inputs are in `system.inputs`",
        Contract::Analysis | Contract::Walled | Contract::Script => {
            "use the inputs you were given, by their names"
        }
    }
}

fn files(policy: &Policy) -> String {
    match policy.contract {
        Contract::Analysis if policy.builtins.contains("open") => {
            "files live in the output folder: `open(\"name.txt\", \"w\")`, by a relative name"
                .to_owned()
        }
        Contract::Walled if policy.builtins.contains("open") => {
            "files are in memory: `open(\"name.txt\", \"w\")`, by a relative name".to_owned()
        }
        _ => format!("there are no files: {}", result(policy)),
    }
}

fn network(policy: &Policy) -> String {
    format!("there is no network: {}", inputs(policy))
}

fn pickles(policy: &Policy) -> String {
    match policy.contract {
        Contract::Analysis => "write csv, json or parquet".to_owned(),
        _ => format!("there are no pickles: {}", result(policy)),
    }
}

fn figures(policy: &Policy) -> &'static str {
    match policy.contract {
        Contract::Analysis => "figures of matplotlib, seaborn and plotly are kept by themselves",
        Contract::Chart => "draw with plotly, and put the figure into `result[\"chart\"]`",
        Contract::Feature => "there are no figures: add columns to `df`",
        Contract::Scoped | Contract::Walled | Contract::Script => {
            "there are no figures: print the numbers"
        }
    }
}

fn catch(policy: &Policy) -> &'static str {
    if policy.builtins.contains("Exception") || policy.builtins.contains("*") {
        "catch `Exception`"
    } else {
        "leave the handler out: an error ends the run with its line"
    }
}
