//! Names of programs: Pythons, programs that run Python, shells, and programs for which every argument is data.

use super::shell::Found;

const STEMS: [&str; 14] = [
    "python",
    "pypy",
    "ipython",
    "micropython",
    "circuitpython",
    "graalpython",
    "graalpy",
    "jython",
    "bpython",
    "ptpython",
    "rustpython",
    "pythonw",
    "pyspark",
    "cpython",
];

/// Whether a program's name is one of a Python: `python3.12`, `pypy3`, `Python.exe`.
pub(super) fn is_interpreter(base: &str) -> bool {
    let lower = base.to_lowercase();
    let name = lower.strip_suffix(".exe").unwrap_or(&lower);
    STEMS.iter().any(|stem| {
        name.strip_prefix(stem).is_some_and(|rest| {
            let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            matches!(
                rest,
                "" | "t" | "d" | "td" | "w" | "-dbg" | "-dev" | "-intel64"
            )
        })
    })
}

/// Programs that do nothing but run Python of the project or of the caller.
const RUNNERS: &[&str] = &[
    "py",
    "pyw",
    "pytest",
    "py.test",
    "tox",
    "nox",
    "nosetests",
    "nose2",
    "coverage",
    "behave",
    "robot",
    "locust",
    "pre-commit",
    "invoke",
    "inv",
    "fab",
    "scons",
    "snakemake",
    "django-admin",
    "flask",
    "gunicorn",
    "uvicorn",
    "hypercorn",
    "celery",
    "streamlit",
    "gradio",
    "airflow",
    "dagster",
    "prefect",
    "papermill",
    "marimo",
    "voila",
    "sphinx-build",
    "pdb",
    "pyinstaller",
    "nuitka",
    "viztracer",
    "kernprof",
    "mprof",
    "memray",
    "scalene",
    "torchrun",
    "accelerate",
    "deepspeed",
    "bokeh",
    "panel",
    "dask",
    "fastapi",
    "twistd",
    "trial",
    "spark-submit",
    "sage",
    "xonsh",
    "hython",
    "mayapy",
    "uvx",
    "manim",
    "jupyter",
    "easy_install",
    "waf",
    "bandersnatch",
    "cog",
    "pyodide",
    "doit",
    "pyperf",
    "asv",
    "zope-testrunner",
];

pub(super) fn is_runner(base: &str) -> bool {
    let numbered = base.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    RUNNERS.contains(&base) || RUNNERS.contains(&numbered) || base.starts_with("jupyter-")
}

/// Managers of environments: of these subcommands none runs code of a package or of the project.
pub(super) const MANAGERS: &[(&str, &[&str])] = &[
    (
        "uv",
        &[
            "--version",
            "version",
            "help",
            "--help",
            "cache",
            "pip list",
            "pip show",
            "pip freeze",
            "pip check",
            "pip tree",
            "python list",
            "python find",
            "python dir",
            "tool list",
            "tool dir",
            "self",
        ],
    ),
    (
        "pip",
        &[
            "--version",
            "list",
            "show",
            "freeze",
            "check",
            "config",
            "cache",
            "help",
            "--help",
            "inspect",
            "debug",
            "index",
        ],
    ),
    ("pipx", &["list", "--version", "--help", "environment"]),
    (
        "poetry",
        &[
            "show",
            "--version",
            "--help",
            "check",
            "list",
            "about",
            "config",
            "search",
            "env info",
            "env list",
            "version",
        ],
    ),
    (
        "pdm",
        &[
            "--version",
            "--help",
            "list",
            "info",
            "show",
            "config",
            "search",
        ],
    ),
    ("hatch", &["--version", "--help", "status"]),
    ("rye", &["--version", "--help", "list", "show", "config"]),
    (
        "pipenv",
        &["--version", "--help", "graph", "--venv", "--where"],
    ),
    (
        "pixi",
        &[
            "--version",
            "--help",
            "list",
            "info",
            "tree",
            "search",
            "config",
        ],
    ),
    ("conda", CONDA),
    ("mamba", CONDA),
    ("micromamba", CONDA),
];

const CONDA: &[&str] = &[
    "--version",
    "--help",
    "list",
    "info",
    "search",
    "config",
    "env list",
    "activate",
    "deactivate",
    "create",
    "install",
    "remove",
    "update",
    "clean",
];

/// Shells whose command lines are no POSIX shell's.
pub(super) fn is_another_language(base: &str) -> bool {
    ["fish", "csh", "tcsh", "nu", "elvish", "pwsh", "rc", "es"].contains(&base)
}

pub(super) const SHELLS: &[&str] = &[
    "sh", "bash", "zsh", "dash", "ksh", "ksh93", "mksh", "ash", "rbash", "fish", "csh", "tcsh",
    "yash", "posh", "nu", "elvish", "pwsh", "oksh", "hush", "rc", "es",
];

/// Programs that run none of their arguments, whatever stands there.
const DATA: &[&str] = &[
    "grep",
    "egrep",
    "fgrep",
    "zgrep",
    "rg",
    "ag",
    "ack",
    "cat",
    "bat",
    "tac",
    "nl",
    "ls",
    "ll",
    "exa",
    "eza",
    "lsd",
    "tree",
    "echo",
    "printf",
    "which",
    "whereis",
    "whatis",
    "apropos",
    "type",
    "git",
    "gh",
    "glab",
    "hg",
    "svn",
    "head",
    "tail",
    "less",
    "more",
    "wc",
    "diff",
    "cmp",
    "comm",
    "colordiff",
    "cp",
    "mv",
    "rm",
    "rmdir",
    "mkdir",
    "touch",
    "ln",
    "test",
    "[",
    "apt",
    "apt-get",
    "apt-cache",
    "aptitude",
    "brew",
    "dnf",
    "yum",
    "apk",
    "pacman",
    "zypper",
    "snap",
    "cd",
    "pushd",
    "popd",
    "pwd",
    "stat",
    "file",
    "man",
    "tldr",
    "tee",
    "sort",
    "uniq",
    "cut",
    "tr",
    "sed",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "du",
    "df",
    "chmod",
    "chown",
    "curl",
    "wget",
    "unset",
    "kill",
    "pkill",
    "pgrep",
    "killall",
    "ps",
    "pidof",
    "top",
    "jq",
    "yq",
    "xq",
    "dpkg",
    "dpkg-query",
    "rpm",
    "cargo",
    "rustc",
    "true",
    "false",
    "sleep",
    "date",
    "md5sum",
    "sha256sum",
    "sha1sum",
    "b2sum",
    "xxd",
    "od",
    "hexdump",
    "strings",
    "nm",
    "objdump",
    "ldd",
    "column",
    "paste",
    "join",
    "fold",
    "fmt",
    "rev",
    "shuf",
    "seq",
    "yes",
    "locate",
    "psql",
    "mysql",
    "sqlite3",
    "code",
    "cursor",
    "open",
    "xdg-open",
    "tokei",
    "cloc",
    "scc",
    "read",
    "return",
    "exit",
    "break",
    "continue",
    "shift",
    "wait",
    "jobs",
    "umask",
    "ulimit",
    "uname",
    "hostname",
    "id",
    "whoami",
    "history",
    "rsync",
    "scp",
    "zip",
    "unzip",
    "gzip",
    "gunzip",
    "ruff",
    "black",
    "isort",
    "mypy",
    "flake8",
    "pyright",
    "asdf",
    "pyenv",
    "nvim-qt",
    "help",
    "logger",
    "notify-send",
    ":",
];

pub(super) fn takes_data(base: &str) -> bool {
    DATA.contains(&base)
}

/// The last part of a path.
pub(super) fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether a Python is named somewhere in the text, as a word of its own or as the last part of a path.
pub(super) fn names_python(text: &str, found: &mut Found) -> bool {
    found.step(text.len());
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '/');
    text.split(|c| !part(c)).any(|token| {
        let token = token.trim_end_matches('.').trim_start_matches('-');
        let name = base(token);
        // Whatever runs one of its own: `pytest`, `uvx`.
        is_interpreter(name)
            || name.len() > 3 && is_runner(name) && ["pytest", "jupyter", "ipython"].contains(&name)
    })
}

pub(super) fn is_file_of_python(base: &str) -> bool {
    let lower = base.to_lowercase();
    [".py", ".pyw", ".pyz", ".pyc", ".pex", ".ipynb"]
        .iter()
        .any(|end| lower.ends_with(end))
}
