//! Capabilities of modules of Python and of well-known libraries, beyond computing.
//!
//! These are facts, not policy: the analyser judges by them, and they limit widening.

use super::packages::package_capability;
use crate::model::Capability;

/// The capability of a module that reaches outside the run; `None` for other and unknown modules.
pub fn module_capability(path: &str) -> Option<Capability> {
    let top = path.split('.').next().unwrap_or(path);
    if path.starts_with("http.server") || path.starts_with("xmlrpc.server") {
        return Some(Capability::NetworkListen);
    }
    Some(match top {
        "os" | "pathlib" | "shutil" | "glob" | "tempfile" | "fileinput" | "fnmatch"
        | "linecache" | "mmap" | "zipfile" | "tarfile" | "gzip" | "bz2" | "lzma" | "posix"
        | "nt" | "posixpath" | "ntpath" | "genericpath" | "filecmp" | "stat" | "fcntl"
        | "joblib" | "aifc" | "configparser" | "gettext" | "imghdr" | "mailbox" | "mailcap"
        | "mimetypes" | "netrc" | "pickletools" | "sndhdr" | "sunau" | "tokenize" | "uu"
        | "wave" | "xml" | "zipapp" => Capability::FsRead,
        "subprocess" | "multiprocessing" | "pty" | "concurrent" | "signal" | "threading"
        | "_thread" | "sched" | "asyncio" | "commands" | "pipes" | "antigravity" => {
            Capability::Exec
        }
        "socket" | "ssl" | "http" | "urllib" | "ftplib" | "smtplib" | "poplib" | "imaplib"
        | "telnetlib" | "xmlrpc" | "webbrowser" | "select" | "selectors" | "nntplib"
        | "asyncore" | "asynchat" | "nis" => Capability::NetworkOut,
        "socketserver" | "smtpd" | "wsgiref" => Capability::NetworkListen,
        "pickle" | "_pickle" | "cPickle" | "marshal" | "shelve" | "dbm" | "copyreg" => {
            Capability::Deserialize
        }
        "ctypes" | "_ctypes" => Capability::Native,
        "sys" | "inspect" | "gc" | "types" | "traceback" | "weakref" | "dis" | "symtable"
        | "builtins" | "__builtin__" | "__main__" | "ast" | "opcode" | "frame" | "tracemalloc"
        | "faulthandler" => Capability::Reflect,
        "importlib" | "imp" | "annotationlib" | "test" | "runpy" | "code" | "codeop"
        | "pkgutil" | "zipimport" | "site" | "py_compile" | "compileall" | "timeit" | "doctest"
        | "pdb" | "bdb" | "cProfile" | "profile" | "trace" | "ensurepip" | "venv" | "encodings"
        | "codecs" | "distutils" | "lib2to3" | "modulefinder" | "pydoc" | "pyclbr"
        | "rlcompleter" | "tabnanny" | "unittest" | "idlelib" => Capability::DynamicCode,
        "platform" | "pwd" | "grp" | "getpass" | "resource" | "locale" | "sysconfig" | "spwd"
        | "winreg" | "_winapi" | "logging" => Capability::ReadSystemState,
        "atexit" | "syslog" | "termios" | "tty" | "readline" | "curses" | "tkinter" | "turtle"
        | "turtledemo" | "msvcrt" | "winsound" | "ossaudiodev" | "cgitb" => {
            Capability::ModifySystemState
        }
        "sqlite3" => Capability::FsRead,
        _ => return package_capability(path),
    })
}

/// Members of such modules that reach only the run itself: its folder, its threads, its streams, and facts that
/// are the same for every run on a machine. The runner provides them, restricted where the real member reaches
/// further (`assets/runner/modules.py`); the kernel confines what they do.
const INSIDE: &[(&str, &str)] = &[
    (
        "os",
        "cpu_count curdir environ extsep fspath getcwd getenv linesep listdir makedirs mkdir pardir path sep",
    ),
    (
        "os.path",
        "abspath altsep basename commonpath commonprefix curdir dirname exists extsep getsize isabs isdir \
         isfile join normcase normpath pardir relpath sep split splitext",
    ),
    (
        "sys",
        "argv byteorder exit float_info getsizeof int_info maxsize maxunicode platform stderr stdout version version_info",
    ),
    (
        "pathlib",
        "Path PosixPath PurePath PurePosixPath PureWindowsPath",
    ),
    (
        "tempfile",
        "NamedTemporaryFile SpooledTemporaryFile TemporaryDirectory TemporaryFile gettempdir mkdtemp",
    ),
    (
        "logging",
        "CRITICAL DEBUG ERROR FATAL FileHandler Filter Formatter Handler INFO LogRecord Logger LoggerAdapter \
         NOTSET NullHandler StreamHandler WARN WARNING basicConfig captureWarnings critical debug disable \
         error exception getLevelName getLogger info log shutdown warning",
    ),
    (
        "traceback",
        "format_exc format_exception format_exception_only print_exc print_exception",
    ),
    (
        "platform",
        "machine python_implementation python_version python_version_tuple release system",
    ),
    ("gc", "collect"),
    ("importlib.util", "find_spec"),
    ("openpyxl", "Workbook"),
    (
        "openpyxl.styles",
        "Alignment Border Color Font GradientFill NamedStyle PatternFill Protection Side",
    ),
    ("openpyxl.utils", "get_column_letter"),
    ("openpyxl.utils.dataframe", "dataframe_to_rows"),
    (
        "configparser",
        "BasicInterpolation ConfigParser ConverterMapping DEFAULTSECT DuplicateOptionError DuplicateSectionError \
         Error ExtendedInterpolation Interpolation InterpolationDepthError InterpolationError \
         InterpolationMissingOptionError InterpolationSyntaxError MAX_INTERPOLATION_DEPTH \
         MissingSectionHeaderError NoOptionError NoSectionError ParsingError RawConfigParser SectionProxy",
    ),
    ("filecmp", "DEFAULT_IGNORES clear_cache cmp cmpfiles dircmp"),
    ("glob", "escape glob has_magic iglob"),
    ("gzip", "BadGzipFile GzipFile compress decompress open"),
    (
        "zipfile",
        "BadZipFile ZIP_DEFLATED ZIP_STORED ZipFile ZipInfo is_zipfile",
    ),
    ("timeit", "default_timer"),
    (
        "concurrent.futures",
        "ALL_COMPLETED CancelledError Executor FIRST_COMPLETED FIRST_EXCEPTION Future ThreadPoolExecutor \
         TimeoutError as_completed wait",
    ),
    ("joblib", "Parallel cpu_count delayed effective_n_jobs"),
    ("IPython.display", "HTML Markdown display"),
];

/// Whether a member of a module that reaches outside reaches only the run itself.
pub fn stays_inside(module: &str, member: &str) -> bool {
    let known = INSIDE.iter().find(|(name, _)| *name == module);
    known.is_some_and(|(_, members)| members.split_ascii_whitespace().any(|m| m == member))
}

/// The package that plotly's `write_image` draws with; no policy lists it.
pub const DRAWS: &str = "kaleido";

/// Whether a top-level module exists without being installed: it belongs to the standard library or is made by
/// the runner (`assets/runner/modules.py`).
pub fn is_given(top: &str) -> bool {
    top == "IPython" || super::library().is_stdlib(top)
}

/// The capability of a member, which may be more specific than that of its module.
pub fn member_capability(path: &str) -> Option<Capability> {
    let (module, name) = path.split_once('.')?;
    // These modules have the functions of `os` under platform-specific names.
    let module = if matches!(module, "posix" | "nt") {
        "os"
    } else {
        module
    };
    Some(match (module, name) {
        // Whether a package is there, a new workbook and how its cells look: nothing of the rest of
        // these packages. `save`, which writes the workbook, is judged where it is called.
        ("importlib", "util.find_spec")
        | (
            "openpyxl",
            "Workbook" | "utils.get_column_letter" | "utils.dataframe.dataframe_to_rows",
        ) => {
            return None;
        }
        ("openpyxl", name) if name.starts_with("styles.") => return None,
        ("builtins", "eval" | "exec" | "compile" | "__import__") => Capability::DynamicCode,
        ("os", "remove" | "unlink" | "rmdir" | "removedirs" | "truncate")
        | ("shutil", "rmtree") => Capability::FsDelete,
        (
            "os",
            "environ" | "environb" | "getenv" | "uname" | "getpid" | "getuid" | "getlogin"
            | "cpu_count",
        )
        | ("sys", "argv" | "path" | "platform" | "version" | "executable") => {
            Capability::ReadSystemState
        }
        ("os", "putenv" | "chmod" | "chown" | "chdir" | "setuid" | "umask" | "nice" | "_exit")
        | ("sys", "exit" | "setrecursionlimit" | "settrace" | "setprofile")
        | ("signal" | "resource" | "locale", _) => Capability::ModifySystemState,
        (
            "os",
            "mkdir" | "makedirs" | "rename" | "replace" | "symlink" | "link" | "write" | "mkfifo",
        )
        | ("shutil", "copy" | "copyfile" | "copytree" | "move" | "copy2" | "make_archive") => {
            Capability::FsWrite
        }
        (
            "os",
            "system" | "popen" | "fork" | "forkpty" | "kill" | "killpg" | "abort" | "startfile",
        ) => Capability::Exec,
        ("os", name)
            if name.starts_with("exec")
                || name.starts_with("spawn")
                || name.starts_with("posix_spawn") =>
        {
            Capability::Exec
        }
        // The runner makes its processes threads.
        ("joblib", "Parallel" | "delayed") => Capability::Exec,
        ("io", "open" | "open_code" | "FileIO") => Capability::FsRead,
        ("operator", "attrgetter" | "methodcaller") => Capability::Reflect,
        ("typing", "get_type_hints" | "ForwardRef") | ("dataclasses", "make_dataclass") => {
            Capability::DynamicCode
        }
        ("uuid", "getnode" | "uuid1") => Capability::ReadSystemState,
        ("socket", "create_server")
        | ("asyncio", "start_server" | "start_unix_server")
        | ("multiprocessing", "connection.Listener") => Capability::NetworkListen,
        _ => return module_capability(path),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use Capability::{
        Deserialize, DynamicCode, Exec, FsDelete, FsRead, FsWrite, ModifySystemState, Native,
        NetworkListen, NetworkOut, ReadSystemState, Reflect,
    };

    /// A capability that is not found would be that of the module, which may be weaker, or none.
    #[test]
    fn a_member_has_the_capability_of_what_it_does() {
        for (module, members, expected) in [
            (
                "os",
                "remove unlink rmdir removedirs truncate",
                Some(FsDelete),
            ),
            ("shutil", "rmtree", Some(FsDelete)),
            (
                "os",
                "environ environb getenv uname getpid getuid getlogin cpu_count",
                Some(ReadSystemState),
            ),
            (
                "sys",
                "argv path platform version executable",
                Some(ReadSystemState),
            ),
            (
                "os",
                "putenv chmod chown chdir setuid umask nice _exit",
                Some(ModifySystemState),
            ),
            (
                "sys",
                "exit setrecursionlimit settrace setprofile",
                Some(ModifySystemState),
            ),
            ("signal", "alarm signal", Some(ModifySystemState)),
            ("resource", "setrlimit", Some(ModifySystemState)),
            ("locale", "setlocale", Some(ModifySystemState)),
            (
                "os",
                "mkdir makedirs rename replace symlink link write mkfifo",
                Some(FsWrite),
            ),
            (
                "shutil",
                "copy copyfile copytree move copy2 make_archive",
                Some(FsWrite),
            ),
            (
                "os",
                "system popen fork forkpty kill killpg abort startfile",
                Some(Exec),
            ),
            (
                "os",
                "execv execvpe spawnl posix_spawn posix_spawnp",
                Some(Exec),
            ),
            ("posix", "remove", Some(FsDelete)),
            ("nt", "system", Some(Exec)),
            ("io", "open open_code FileIO", Some(FsRead)),
            ("operator", "attrgetter methodcaller", Some(Reflect)),
            ("typing", "get_type_hints ForwardRef", Some(DynamicCode)),
            ("dataclasses", "make_dataclass", Some(DynamicCode)),
            (
                "builtins",
                "eval exec compile __import__",
                Some(DynamicCode),
            ),
            ("uuid", "getnode uuid1", Some(ReadSystemState)),
            ("socket", "create_server", Some(NetworkListen)),
            (
                "asyncio",
                "start_server start_unix_server",
                Some(NetworkListen),
            ),
            (
                "multiprocessing",
                "connection.Listener",
                Some(NetworkListen),
            ),
            // Others have that of their module.
            ("os", "listdir", Some(FsRead)),
            ("sys", "modules", Some(Reflect)),
            ("socket", "socket", Some(NetworkOut)),
            ("openpyxl", "load_workbook", Some(FsRead)),
            ("importlib", "util.module_from_spec", Some(DynamicCode)),
            // Nothing of the rest of their packages.
            ("importlib", "util.find_spec", None),
            (
                "openpyxl",
                "Workbook utils.get_column_letter utils.dataframe.dataframe_to_rows",
                None,
            ),
            ("openpyxl", "styles.Font styles.PatternFill", None),
            ("math", "sqrt", None),
            ("io", "StringIO", None),
            ("uuid", "uuid4", None),
        ] {
            for member in members.split(' ') {
                let path = format!("{module}.{member}");
                assert_eq!(member_capability(&path), expected, "{path}");
            }
        }
        assert_eq!(member_capability("os"), None, "a module is no member");
    }

    #[test]
    fn a_module_has_the_capability_of_what_it_reaches() {
        for (expected, modules) in [
            (
                Some(FsRead),
                "os os.path pathlib shutil tempfile zipfile sqlite3 xml.etree.ElementTree",
            ),
            (
                Some(Exec),
                "subprocess multiprocessing.pool threading asyncio concurrent.futures",
            ),
            (
                Some(NetworkOut),
                "socket urllib.request http.client xmlrpc.client select requests",
            ),
            (
                Some(NetworkListen),
                "socketserver wsgiref http.server xmlrpc.server flask",
            ),
            (
                Some(Deserialize),
                "pickle marshal shelve dbm.gnu torch.hub yaml",
            ),
            (Some(Native), "ctypes ctypes.util numba"),
            (Some(Reflect), "sys inspect gc types builtins ast"),
            (
                Some(DynamicCode),
                "importlib importlib.util runpy code codecs unittest.mock",
            ),
            (
                Some(ReadSystemState),
                "platform getpass resource locale logging.config",
            ),
            (Some(ModifySystemState), "atexit termios curses tkinter"),
            (
                None,
                "math json datetime statistics pandas numpy torch acme systems pickled",
            ),
        ] {
            for module in modules.split(' ') {
                assert_eq!(module_capability(module), expected, "{module}");
            }
        }
    }
}
