//! Hints for what everyday code of the contract `analysis` uses and its policy leaves out: modules,
//! members, special names and special methods, each with its replacement.

use crate::policy::{Contract, Policy};

/// A module → the module that the hint needs (none if empty), and the hint.
type Row = (&'static str, &'static str, &'static str);

/// Top-level modules. The words of the first column are alternatives.
const MODULES: &[Row] = &[
    (
        "tabulate prettytable rich texttable",
        "",
        "pandas prints tables: `print(df.to_string())`, or `print(df.to_markdown())`",
    ),
    (
        "locale babel",
        "",
        "write the format yourself: `f\"{x:,.2f}\"`, `f\"{day:%d.%m.%Y}\"`",
    ),
    (
        "getpass pwd grp",
        "",
        "there is no account here and nobody to ask: leave it out",
    ),
    (
        "unittest pytest doctest nose hypothesis",
        "",
        "write `assert x == y, \"why\"`: one that fails ends the run with its line",
    ),
    (
        "xml lxml xmltodict",
        "pandas",
        "for XML in a text write `pd.read_xml(io.StringIO(text), parser=\"etree\")`",
    ),
    (
        "bs4 html5lib pyquery",
        "re",
        "no parser of HTML is here: `re.findall` takes simple markup apart, and `html.unescape` its entities",
    ),
    (
        "yaml toml tomllib tomli ruamel",
        "json",
        "write the values as a dict, or as JSON: `json.loads(text)`",
    ),
    (
        "click typer optparse getopt fire docopt",
        "",
        "a run has no command line: write the values down",
    ),
    (
        "dotenv environs decouple",
        "",
        "a run has no settings of its own: write the values down, or bring them as an input",
    ),
    (
        "colorama termcolor",
        "",
        "leave it out: what is printed has no colours",
    ),
    (
        "types",
        "dataclasses",
        "for a record write a dict, or a class with `from dataclasses import dataclass`",
    ),
    (
        "pydantic attr attrs marshmallow",
        "dataclasses",
        "write `from dataclasses import dataclass`, and `assert` for what must hold",
    ),
    (
        "pandera great_expectations",
        "",
        "write `assert` for what must hold: `assert df[\"x\"].notna().all()`",
    ),
    (
        "signal atexit faulthandler resource",
        "",
        "leave it out: the profile's limits end a run, and `finally` cleans up",
    ),
    (
        "queue sched",
        "collections",
        "write `from collections import deque`",
    ),
    (
        "struct",
        "numpy",
        "numpy reads binary data: `np.frombuffer(data, dtype=\"<i4\")`",
    ),
    (
        "zlib bz2 lzma",
        "gzip",
        "write `gzip.compress(data)` and `gzip.decompress(data)`",
    ),
    ("weakref", "", "leave it out: a plain dict does for a run"),
    (
        "cProfile profile pstats tracemalloc line_profiler memory_profiler",
        "time",
        "measure with `time.perf_counter()`",
    ),
    (
        "pdb ipdb",
        "",
        "there is no terminal in a run: print what you want to see",
    ),
    (
        "codecs",
        "",
        "write `text.encode(\"utf-8\")` and `data.decode(\"utf-8\")`",
    ),
    (
        "numba cython jax cupy",
        "numpy",
        "nothing is compiled here: let numpy do the work",
    ),
    (
        "geopandas shapely folium cartopy geopy",
        "plotly.express",
        "plotly draws maps: `px.scatter_geo(df, lat=\"lat\", lon=\"lon\")`, `px.choropleth(df)`",
    ),
    (
        "PIL cv2 imageio skimage",
        "matplotlib.pyplot",
        "a picture is an array: `plt.imshow(a)` draws it",
    ),
    (
        "nltk spacy gensim textblob transformers wordcloud",
        "sklearn.feature_extraction.text",
        "write `from sklearn.feature_extraction.text import CountVectorizer`",
    ),
    (
        "prophet pmdarima neuralprophet arch",
        "statsmodels.tsa.api",
        "write `from statsmodels.tsa.api import ARIMA, ExponentialSmoothing`",
    ),
    (
        "networkx igraph",
        "scipy.sparse.csgraph",
        "write `from scipy.sparse.csgraph import connected_components, shortest_path`",
    ),
    (
        "reportlab fpdf docx pptx jinja2 mako",
        "",
        "write the report as text or as a page: `df.to_html(\"report.html\")`",
    ),
];

/// Members of listed modules, by their dotted paths.
const MEMBERS: &[(&str, &str)] = &[
    (
        "os.walk os.fwalk os.scandir",
        "`Path(\".\").rglob(\"*\")` of pathlib goes through the output folder",
    ),
    (
        "os.rename os.renames os.replace",
        "`Path(\"a.csv\").rename(\"b.csv\")` of pathlib renames; better write the file under its last name",
    ),
    (
        "os.remove os.unlink os.rmdir os.removedirs",
        "leave it out: every file of the output folder is kept; for passing ones use `tempfile.TemporaryDirectory()`",
    ),
    (
        "os.chdir os.fchdir contextlib.chdir",
        "leave it out: the working directory is the output folder; use relative names",
    ),
    (
        "os.stat os.lstat os.path.getmtime os.path.getctime os.path.getatime",
        "the size is `os.path.getsize(\"name.csv\")`; times of files are not given",
    ),
    (
        "os.access os.path.lexists",
        "write `os.path.exists(\"name.csv\")`",
    ),
    (
        "os.path.expanduser os.path.expandvars os.path.realpath",
        "files live in the output folder: use relative names",
    ),
    (
        "os.getpid os.getppid os.getuid os.getgid os.getlogin os.uname os.times os.getloadavg",
        "leave it out: nothing of the machine is needed",
    ),
    ("os.urandom", "write `secrets.token_bytes(8)`"),
    (
        "os.putenv os.unsetenv os.umask os.chmod os.chown",
        "leave it out: it changes nothing that a run could use",
    ),
    (
        "sys.path sys.modules sys.meta_path",
        "leave it out: what the profile allows is found by itself",
    ),
    (
        "sys.stdin",
        "there is nobody to ask: write the value down, or bring it as an input",
    ),
    (
        "sys.setrecursionlimit sys.getrecursionlimit",
        "write a loop instead of the recursion",
    ),
    (
        "sys.exc_info sys.last_value",
        "write `except Exception as e`, or `traceback.format_exc()`",
    ),
    (
        "sys.executable sys.prefix",
        "no program can be started: leave it out",
    ),
    (
        "operator.attrgetter",
        "write a lambda: `lambda x: x.name`; for items there is `operator.itemgetter`",
    ),
    (
        "operator.methodcaller",
        "write a lambda: `lambda x: x.lower()`",
    ),
    ("string.Formatter", "use an f-string: `f\"{x:>8}\"`"),
    (
        "functools.update_wrapper",
        "write `@functools.wraps(f)` before the inner function",
    ),
    (
        "typing.get_type_hints typing.ForwardRef",
        "leave it out: types are for readers here",
    ),
    (
        "dataclasses.make_dataclass",
        "write the class out, with `@dataclass` before it",
    ),
    (
        "io.open io.FileIO io.TextIOWrapper",
        "write `open(\"name.txt\", \"w\")`, or `io.StringIO()`",
    ),
    (
        "pandas.datetime",
        "pandas 2.0 removed it: write `import datetime` and `datetime.datetime(2024, 1, 31)`, or `pd.Timestamp(\"2024-01-31\")`",
    ),
    ("uuid.uuid1 uuid.getnode", "write `uuid.uuid4()`"),
    (
        "concurrent.futures.ProcessPoolExecutor",
        "a run is one process: write `from concurrent.futures import ThreadPoolExecutor`",
    ),
    (
        "joblib.Memory",
        "leave it out: nothing is kept between runs; `functools.cache` keeps values within one",
    ),
    ("openpyxl.load_workbook openpyxl.reader", WORKBOOK),
];

/// Special names of modules and builtins.
const SPECIAL: &[(&str, &str)] = &[
    (
        "__file__",
        "there is no file: the snippet is text, and files have relative names",
    ),
    (
        "__builtins__ __loader__ __spec__ __package__ __build_class__",
        "leave it out: nothing of the interpreter is needed",
    ),
    ("__annotations__", "name the fields you need"),
    ("__debug__", "leave it out: an `assert` always runs"),
    (
        "__all__ __version__ __author__",
        "bind it before it is read, or leave it out",
    ),
];

/// Special methods that a snippet may not define.
const METHODS: &[(&str, &str)] = &[
    (
        "__init_subclass__ __set_name__ __class_getitem__ __prepare__ __subclasshook__ __mro_entries__",
        "write a decorator or a function that is called with the class, and call it after each class",
    ),
    (
        "__getattr__ __getattribute__",
        "write a method with an ordinary name, or `def __getitem__(self, name): ...` for `x[name]`",
    ),
    (
        "__setattr__ __delattr__",
        "write a method with an ordinary name, or a `@property` with its setter",
    ),
    (
        "__new__",
        "write `def __init__(self): ...`, or a function that makes the object",
    ),
    (
        "__del__",
        "write `def __enter__(self): ...` and `def __exit__(self, *why): ...`, and use the object in a `with`",
    ),
    ("__get__ __set__ __delete__", "write a `@property`"),
    (
        "__reduce__ __reduce_ex__ __getstate__ __setstate__ __getnewargs__",
        "leave it out: nothing is pickled",
    ),
];

fn find(table: &[(&'static str, &'static str)], name: &str) -> Option<&'static str> {
    let has = |names: &str| names.split_ascii_whitespace().any(|one| one == name);
    table
        .iter()
        .find(|(names, _)| has(names))
        .map(|(_, hint)| *hint)
}

/// The hint for an unlisted top-level module, if the policy lists what it needs.
pub(super) fn module(top: &str, policy: &Policy) -> Option<&'static str> {
    let has = |names: &str| names.split_ascii_whitespace().any(|one| one == top);
    let (_, needs, hint) = MODULES.iter().find(|(names, ..)| has(names))?;
    (needs.is_empty() || policy.imports.contains_key(*needs)).then_some(*hint)
}

/// The hint for an unlisted member of a listed module.
pub fn member_of(written: &str, policy: &Policy) -> Option<&'static str> {
    find(MEMBERS, written).filter(|_| policy.contract == Contract::Analysis)
}

/// `pd.ExcelWriter` with the engine `xlsxwriter`, by what of openpyxl is sought.
const WORKBOOK: &str = "`pd.read_excel` reads a workbook, `pd.ExcelWriter(\"name.xlsx\", engine=\"xlsxwriter\")` writes one; \
     formats and charts through its `book` and `sheets`";

/// The hint for an unlisted module of openpyxl: what pandas' other engine has instead.
pub(super) fn workbook(path: &str) -> &'static str {
    match path.split('.').nth(1) {
        Some("chart" | "drawing") => {
            "the other engine draws charts: in `with pd.ExcelWriter(\"name.xlsx\", engine=\"xlsxwriter\") as writer:` \
             write `df.to_excel(writer)`, `chart = writer.book.add_chart({\"type\": \"column\"})`, `chart.add_series({\"values\": \
             \"=Sheet1!$B$2:$B$5\"})` and `writer.sheets[\"Sheet1\"].insert_chart(\"E2\", chart)`"
        }
        Some("formatting") => {
            "the other engine sets rules for cells: in `with pd.ExcelWriter(\"name.xlsx\", engine=\"xlsxwriter\") as \
             writer:` write `df.to_excel(writer)` and `writer.sheets[\"Sheet1\"].conditional_format(\"B2:B9\", {\"type\": \
             \"3_color_scale\"})`; formats of your own are `writer.book.add_format({\"bold\": True})`"
        }
        _ => WORKBOOK,
    }
}

/// The hint for a special name.
pub(super) fn special(name: &str) -> Option<&'static str> {
    find(SPECIAL, name)
}

/// The hint for the definition of a special method, if the policy lets snippets define what it
/// names.
pub(super) fn method(name: &str, policy: &Policy) -> Option<&'static str> {
    let may =
        |word: &str| policy.attributes.define_dunder.contains(word) || !word.starts_with("__");
    let hint = find(METHODS, name)?;
    let words = hint.split(|c: char| !c.is_alphanumeric() && c != '_');
    (words.into_iter().all(may) && policy.builtins.contains("property")).then_some(hint)
}
