//! `[widen.imports]`: what it can add, what it never adds, and which unknown modules are flagged.

use countersign::analysis::analyse;
use countersign::model::{Capability, VerdictKind};

use super::command::command;
use super::{load, load_error, write};

fn widened(base: &str, module: &str, members: &[&str]) -> String {
    format!("name = \"team\"\nextends = \"{base}\"\n[widen.imports]\n\"{module}\" = {members:?}\n")
}

/// Each module is refused with `*`, with a member and without one.
const CLOSED: &[&str] = &[
    // the runner, private and C modules
    "_countersign _countersign.gates _countersign.spec _testcapi _testinternalcapi _xxsubinterpreters \
     _interpreters _posixsubprocess _io _thread _socket _ctypes _pickle _winapi _imp scipy._lib \
     numpy._core pandas._libs lifelines._private",
    // the system
    "posix nt os os.path posixpath ntpath genericpath sys subprocess multiprocessing multiprocessing.pool \
     concurrent.futures concurrent.futures.thread threading asyncio signal pathlib shutil tempfile glob \
     mmap fcntl sqlite3 sqlite3.dbapi2 resource pty atexit logging logging.config logging.handlers platform \
     getpass fileinput linecache tarfile configparser sched psutil sh plumbum plumbum.cmd \
     plumbum.machines.local execnet execnet.gateway pexpect invoke fabric docker git loky pathos dask \
     dask.distributed dask.dataframe distributed numpy.f2py numpy.distutils matplotlib.testing \
     matplotlib.texmanager statsmodels.tsa.x13 pandas.io.clipboard",
    // the network
    "socket ssl select http http.client http.server urllib urllib.request urllib.parse ftplib xmlrpc \
     wsgiref socketserver requests requests.sessions httpx aiohttp aiohttp.web urllib3 tornado tornado.web \
     redis redis.client sqlalchemy sqlalchemy.orm psycopg2 pymongo paramiko paramiko.client boto3 botocore \
     fsspec fsspec.implementations.http s3fs pooch twisted trio anyio flask fastapi pyarrow.fs pyarrow.flight \
     pandas.io.sql seaborn.utils statsmodels.datasets.utils huggingface_hub transformers wandb mlflow duckdb \
     xarray bokeh torch.distributed tqdm.contrib.slack six.moves.urllib",
    // code, the interpreter
    "gc builtins importlib importlib.util importlib.metadata runpy inspect types code codeop codecs site pdb \
     doctest unittest unittest.mock test test.support test.support.script_helper ast dis timeit IPython \
     IPython.core IPython.utils.process ipykernel pytest _pytest pluggy hypothesis sympy \
     sympy.parsing.sympy_parser numexpr patsy formulaic jinja2 setuptools pip pip._vendor.requests \
     pkg_resources six.moves pydantic greenlet mock wrapt faulthandler weakref traceback annotationlib",
    // native code
    "ctypes ctypes.util cffi cython Cython Cython.Build pyximport numba numba.core llvmlite cppyy \
     numpy.ctypeslib torch.utils.cpp_extension pyarrow.cffi triton",
    // pickles
    "pickle cPickle marshal shelve dbm dill cloudpickle copyreg yaml ruamel.yaml jsonpickle joblib.load \
     joblib.numpy_pickle joblib.externals joblib.externals.cloudpickle joblib.memory pandas.io.pickle \
     pandas.compat.pickle_compat pandas.read_pickle torch.load torch.serialization torch.hub \
     numpy.lib.npyio numpy.lib.format numpy.load statsmodels.iolib.smpickle zarr",
    // standard library modules that are on no list
    "email mailbox webbrowser curses tkinter turtle cmd optparse ensurepip venv this antigravity cgi \
     imp distutils lib2to3 compression.zstd encodings string.templatelib string.Formatter",
];

const CLOSED_MEMBERS: &[(&str, &str)] = &[
    ("joblib", "load dump Memory parallel_backend *"),
    ("argparse", "FileType thing *"),
    ("torch", "load hub compile *"),
    ("pandas.io.api", "read_pickle"),
    ("pandas.io", "pickle"),
    ("pandas", "compat"),
    ("pandas.compat", "os"),
    ("lifelines", "sys"),
    ("lifelines.utils", "dill formulaic"),
    ("acme", "requests subprocess urllib3 _private *"),
    ("acme.deep.below", "ctypes"),
    ("statsmodels.iolib", "smpickle"),
    ("statsmodels.iolib.api", "load_pickle"),
    ("matplotlib.animation", "FFMpegWriter"),
    ("matplotlib.pyplot", "backend_registry"),
    ("matplotlib.backend_bases", "FigureCanvasBase"),
    ("numpy.lib.stride_tricks", "as_strided"),
    ("numpy.testing", "rundocs"),
    ("sklearn.utils", "all_estimators"),
    ("networkx", "nx_agraph"),
    ("attr", "make_class"),
    ("io", "open FileIO *"),
    ("string", "Formatter *"),
    ("operator", "attrgetter methodcaller *"),
    ("functools", "update_wrapper *"),
    ("uuid", "getnode uuid1 *"),
    ("contextlib", "chdir"),
    ("base64", "main"),
    ("calendar", "main"),
    ("time", "clock_settime"),
    ("warnings", "showwarning"),
    ("zoneinfo", "reset_tzpath"),
    ("copy", "copyreg"),
    ("dataclasses", "make_dataclass"),
    ("typing", "get_type_hints"),
    ("json", "codecs"),
    ("re", "enum"),
    ("queue", "threading *"),
    ("bz2", "open BZ2File"),
    ("lzma", "LZMAFile"),
    ("shlex", "shlex"),
    ("xml.etree.ElementTree", "parse ElementTree"),
    ("html.parser", "re"),
    ("os", "path cpu_count"),
    ("sys", "modules"),
    ("logging", "config getLogger"),
];

/// Tries the module, a member, `*`, a submodule and another name, in every extended profile.
#[test]
fn modules_that_undo_a_policy_cannot_be_added() {
    let mut closed = Vec::new();
    for module in CLOSED.iter().flat_map(|m| m.split_whitespace()) {
        closed.extend([&["*"][..], &["thing"], &[]].map(|members| (module, members.to_vec())));
    }
    for (module, members) in CLOSED_MEMBERS {
        closed.extend(members.split_whitespace().map(|m| (*module, vec![m])));
    }
    for base in ["analysis", "feature", "chart", "scoped", "walled"] {
        let mut accepted = Vec::new();
        for (module, members) in &closed {
            let dir = tempfile::tempdir().unwrap();
            write(dir.path(), "team", &widened(base, module, members));
            let Err(error) = load(dir.path()) else {
                accepted.push(format!("{module} {members:?}"));
                continue;
            };
            let error = error.to_string();
            let place = format!("team.toml:4: `widen.imports.{module}`: ");
            assert!(error.contains(&place), "{module} {members:?}: {error}");
            let reasons = [
                "cannot be added: ",
                "name the members",
                "name those that are wanted",
                "no file can allow it",
                "never adds private names",
            ];
            assert!(
                reasons.iter().any(|words| error.contains(words)),
                "{module} {members:?}: {error}"
            );
        }
        assert!(accepted.is_empty(), "{base}: {}", accepted.join("; "));
    }
}

#[test]
fn a_refusal_to_widen_says_why_and_names_a_remedy() {
    for (module, member, expected) in [
        (
            "paramiko",
            "SSHClient",
            "`paramiko` cannot be added: it is for NETWORK_OUT, which `analysis` blocks",
        ),
        ("plumbum", "local", "it is for EXEC, which"),
        (
            "cloudpickle",
            "loads",
            "it loads pickles, and a pickle runs whatever it says; use csv, json or parquet",
        ),
        ("numba", "njit", "it is for NATIVE"),
        ("IPython", "get_ipython", "it is for DYNAMIC_CODE"),
        (
            "tornado",
            "web",
            "a file that extends nothing may list it, and is shown as `own rules`",
        ),
        (
            "email",
            "message_from_string",
            "it is of the standard library, and not known to do nothing but compute",
        ),
        (
            "string.Formatter",
            "format",
            "`string.Formatter` cannot be added: it is of the standard library",
        ),
        (
            "string",
            "Formatter",
            "`string.Formatter` cannot be added: it is left out on purpose",
        ),
        (
            "statsmodels",
            "thing",
            "it is left out on purpose; a file that extends nothing may list it",
        ),
        ("string", "*", "take it out with \"-Formatter\""),
        (
            "bz2",
            "open",
            "what may be added of it is BZ2Compressor, BZ2Decompressor, compress, decompress",
        ),
        (
            "queue",
            "*",
            "name the members that are wanted; what may be added of it is Empty, Full",
        ),
        (
            "acme",
            "*",
            "nothing is known of `acme`, so `*` cannot stand for its members: name those that are wanted",
        ),
        (
            "acme",
            "\u{ff4f}\u{ff53}",
            "is not in the form that Python gives names (NFKC)",
        ),
        (
            "\u{ff4f}\u{ff53}",
            "path",
            "is not in the form that Python gives names (NFKC)",
        ),
    ] {
        let error = load_error("team", &widened("analysis", module, &[member]));
        assert!(error.contains(expected), "{module}.{member}: {error}");
    }
}

#[test]
fn modules_that_only_compute_can_be_added() {
    for (module, members) in [
        ("lifelines", &["*"][..]),
        ("lifelines.utils", &["concordance_index"]),
        ("__future__", &["annotations"]),
        ("scipy.signal", &["*"]),
        ("scipy.signal", &["butter", "filtfilt"]),
        ("scipy.io.wavfile", &["WavFileWarning"]),
        ("sklearn.linear_model", &["Ridge"]),
        ("joblib", &["Parallel", "delayed"]),
        ("io", &["StringIO", "TextIOWrapper"]),
        ("hashlib", &["*"]),
        ("uuid", &["*", "-getnode", "-main", "-uuid1", "-uuid6"]),
        ("operator", &["*", "-attrgetter", "-methodcaller"]),
        ("string", &["*", "-Formatter"]),
        ("string", &["Template"]),
        ("struct", &["*"]),
        ("difflib", &["get_close_matches"]),
        ("gzip", &["decompress"]),
        ("html", &["escape"]),
        ("html.parser", &["HTMLParser"]),
        ("xml.etree.ElementTree", &["fromstring"]),
        ("dateutil.parser", &["parse"]),
        ("tqdm", &["tqdm"]),
        ("json.decoder", &["JSONDecodeError"]),
    ] {
        for base in ["analysis", "feature", "walled"] {
            let dir = tempfile::tempdir().unwrap();
            write(dir.path(), "team", &widened(base, module, members));
            let all = load(dir.path()).unwrap_or_else(|e| panic!("{module} {members:?}: {e}"));
            let team = all.iter().find(|p| p.name == "team").unwrap();
            let unknown = &team.unjudged;
            assert!(unknown.is_empty(), "{module} {members:?}: {unknown:?}");
        }
    }
}

/// Members of a widened module are judged like everything else.
#[test]
fn widening_adds_names_and_lifts_no_block() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        "wide",
        "name = \"wide\"\nextends = \"analysis\"\n[widen.imports]\nlifelines = [\"KaplanMeierFitter\"]\n\
         joblib = [\"Parallel\", \"delayed\"]\n\"scipy.stats.contingency\" = [\"crosstab\"]\n\
         operator = [\"*\", \"-attrgetter\", \"-methodcaller\"]\npandas = [\"io\"]\n",
    );
    let all = load(dir.path()).unwrap();
    let wide = all.iter().find(|p| p.name == "wide").unwrap();
    let verdict = |code: &str| analyse(code.as_bytes(), wide).verdict;
    for code in [
        "import os\nos.system('x')",
        "import subprocess",
        "from joblib import load",
        "import operator\noperator.attrgetter('x')",
        "import pandas as pd\npd.io.common.get_handle('/etc/passwd', 'r')",
        "from pandas import io\nio.common.os",
    ] {
        assert_eq!(verdict(code), VerdictKind::Blocked, "{code}");
    }
    assert_eq!(
        verdict("from lifelines import KaplanMeierFitter\nKaplanMeierFitter()"),
        VerdictKind::Clear
    );
}

/// A package that was never reviewed can be added by name, but its import never gets a clear
/// verdict.
#[test]
fn unknown_modules_are_flagged_wherever_they_are_imported() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        "team",
        "name = \"team\"\nextends = \"analysis\"\n[widen.imports]\nacme = [\"score\"]\n\
         \"acme.deep\" = [\"rank\"]\n\"sklearn.utils.extra\" = [\"f\"]\npandas = [\"io\", \"brand_new\"]\n\
         lifelines = [\"KaplanMeierFitter\"]\n",
    );
    write(
        dir.path(),
        "further",
        "name = \"further\"\nextends = \"team\"\n",
    );
    let all = load(dir.path()).unwrap();
    for name in ["team", "further"] {
        let team = all.iter().find(|p| p.name == name).unwrap();
        for code in [
            "from acme import score\nprint(score(1))",
            "import acme\nprint(acme.score(1))",
            "import acme as a\nprint(a.score(1))",
            "import acme.deep as d\nprint(d.rank(1))",
            "import acme.deep\nprint(acme.deep.rank(1))",
            "from acme import deep\nprint(deep.rank(1))",
            "from acme.deep import rank as r\nprint(r(1))",
            "from sklearn.utils.extra import f\nf()",
            "import pandas as pd\nprint(pd.brand_new(1))",
            "from pandas import brand_new as b\nb(1)",
        ] {
            let verdict = analyse(code.as_bytes(), team);
            assert_eq!(verdict.verdict, VerdictKind::Flagged, "{code}: {verdict:?}");
            let mut found = verdict.findings.iter();
            let found = found.find(|f| f.rule == "IMPORT011").expect(code);
            assert_eq!(found.capability, Some(Capability::Unanalyzed));
            let message = &found.message;
            assert!(
                message.contains("nothing is known of what it does"),
                "{message}"
            );
        }
        for code in [
            "import pandas as pd\npd.DataFrame()",
            "from lifelines import KaplanMeierFitter\nKaplanMeierFitter()",
        ] {
            let verdict = analyse(code.as_bytes(), team).verdict;
            assert_eq!(verdict, VerdictKind::Clear, "{code}");
        }
        let beside = analyse(b"from acme import other", team);
        assert_eq!(beside.verdict, VerdictKind::Blocked);
    }
    let (_, out, _) = command(dir.path(), &["show", "team"]);
    let expected = "# nothing is known of acme, acme.deep, ";
    assert!(
        out.contains(expected) && out.contains(": their import is flagged"),
        "{out}"
    );
}

/// If a policy blocks what cannot be judged, nothing unknown can be added.
#[test]
fn unknown_modules_cannot_be_added_where_they_are_blocked() {
    let error = load_error(
        "team",
        "name = \"team\"\nextends = \"analysis\"\n[capabilities]\nUNANALYZED = \"block\"\n\
         [widen.imports]\nacme = [\"score\"]\n",
    );
    let expected =
        "`acme` cannot be added: nothing is known of it, and `analysis` blocks UNANALYZED";
    assert!(error.contains(expected), "{error}");
}
