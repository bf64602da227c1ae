"""Says whether an example touches a file, the network, a private name, the machine, or what is not installed.

Knows nothing of Countersign's rules: it looks for names, with CPython's own `ast`. It errs towards
saying yes for files and the network, so that what is left is plain computing and plotting.
"""

import ast
import importlib.util
import re

# Functions, methods and classes that open, read or write files, by their last name.
FILE = {
    "open", "fdopen", "mkdir", "makedirs", "remove", "unlink", "rmdir", "rename", "listdir", "walk", "glob", "stat",
    "read_text", "write_text", "read_bytes", "write_bytes", "NamedTemporaryFile", "TemporaryFile", "TemporaryDirectory", "mkdtemp", "mkstemp", "gettempdir",
    # pandas
    "ExcelFile", "ExcelWriter", "HDFStore", "StataReader", "StataWriter", "StataWriter117", "StataWriterUTF8", "to_csv", "to_excel", "to_feather", "to_hdf", "to_html", "to_json",
    "to_latex", "to_markdown", "to_orc", "to_parquet", "to_pickle", "to_sql", "to_stata", "to_string", "to_xml", "to_clipboard", "to_gbq",
    # NumPy
    "load", "loadtxt", "genfromtxt", "fromfile", "fromregex", "save", "savez", "savez_compressed", "savetxt", "tofile", "memmap", "open_memmap", "DataSource", "dump", "dumps",
    # matplotlib
    "savefig", "imread", "imsave", "print_figure", "to_html5_video", "to_jshtml", "findfont", "addfont", "FontProperties", "get_sample_data", "PdfPages", "rc_file", "rc_context", "rc_params_from_file",
    "saving",
    # folders of the installation; LaTeX, which is a program that works on files
    "get_include", "get_data_path", "get_cachedir", "get_configdir", "matplotlib_fname", "usetex",
    # scikit-learn, and what its examples keep models with
    "load_files", "load_svmlight_file", "load_svmlight_files", "dump_svmlight_file", "load_sample_image", "load_sample_images", "get_data_home", "clear_data_home",
    "export_graphviz", "Memory", "check_memory",
}
FILE_PREFIXES = ("read_",)
FILE_MODULES = {"os", "io", "pathlib", "tempfile", "shutil", "glob", "fileinput", "pickle", "joblib", "sqlite3", "zipfile", "tarfile", "gzip", "bz2", "lzma", "shelve", "mmap", "sqlalchemy", "h5py", "tables", "netCDF4"}

NETWORK = {"urlopen", "urlretrieve", "getaddrinfo", "create_connection", "fetch_openml"}
NETWORK_PREFIXES = ("fetch_",)
NETWORK_MODULES = {"urllib", "http", "socket", "ssl", "requests", "httpx", "aiohttp", "ftplib", "smtplib", "fsspec", "s3fs", "boto3", "webbrowser", "asyncio"}

# What reaches for the interpreter, memory or the machine itself: counted apart.
MACHINE = {"eval", "exec", "compile", "globals", "locals", "vars", "dir", "help", "ctypes", "ctypeslib", "as_strided", "show_versions", "show_config", "show_runtime"}
MACHINE_MODULES = {"sys", "inspect", "timeit", "ctypes", "gc", "types", "platform", "resource", "signal", "subprocess", "threading", "multiprocessing", "importlib"}

ADDRESS = re.compile(r"^(?:https?|ftp|s3|gs|file|sqlite|hdfs)://", re.I)


def is_private(name):
    """One leading underscore, or a name that the language reserves; `_` alone is a throw-away."""
    return name.startswith("_") and name.strip("_") != ""


# pandas says of these that they are not public (API reference, first page), underscore or not.
PRIVATE_MODULES = ("pandas.core", "pandas.compat", "pandas.util")


def name_is_private(path):
    """Whether a dotted name is, or lies in, something private."""
    under = any((path + ".").startswith(module + ".") for module in PRIVATE_MODULES)
    return under or any(is_private(part) and not part.endswith("__") for part in path.split("."))


def is_absent(module):
    """Whether a module cannot be imported here: optional libraries, and helpers that lie beside a script."""
    try:
        return importlib.util.find_spec(module) is None
    except (ImportError, ValueError):
        return True


def touches(name, code):
    """What the example `code` touches, which stands in the documentation of `name`."""
    found = set()
    if name_is_private(name):
        found.add("private")
    compile(code, name, "exec", dont_inherit=True)
    for node in ast.walk(ast.parse(code)):
        names, modules, paths = [], [], []
        if isinstance(node, ast.Name):
            names = [node.id]
        elif isinstance(node, ast.Attribute):
            names = [node.attr]
            if name_is_private(ast.unparse(node).replace("pd.", "pandas.", 1)):
                found.add("private")
        elif isinstance(node, ast.keyword):
            names = [node.arg or ""]
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if is_private(node.name):
                found.add("private")
        elif isinstance(node, ast.Import):
            paths = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            paths = [node.module or ""]
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if ADDRESS.match(node.value):
                found.add("network")
            if node.value == "text.usetex":
                found.add("file")
        for path in paths:
            modules.append(path.split(".")[0])
            names += path.split(".")[1:]
        for name in names:
            if name in FILE or name.startswith(FILE_PREFIXES):
                found.add("file")
            if name in NETWORK or name.startswith(NETWORK_PREFIXES):
                found.add("network")
            if name in MACHINE:
                found.add("machine")
            if is_private(name):
                found.add("private")
        for module in modules:
            if module in MACHINE_MODULES:
                found.add("machine")
            if module in FILE_MODULES:
                found.add("file")
            if module in NETWORK_MODULES:
                found.add("network")
        for path in paths:
            if name_is_private(path):
                found.add("private")
            if is_absent(path):
                found.add("absent")
        # A module may be used without being imported: examples start in the middle.
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id in FILE_MODULES:
                found.add("file")
            if node.value.id in NETWORK_MODULES:
                found.add("network")
            if node.value.id in MACHINE_MODULES:
                found.add("machine")
    return sorted(found)
