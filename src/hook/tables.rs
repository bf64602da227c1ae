//! Names of programs: Pythons, programs that run Python, shells, and programs for which every argument is data.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::rows::{self, Program};
use super::shell::Found;
use super::words::HIDDEN;

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
const RUNNERS: &str = "py pyw pytest py.test tox nox nosetests nose2 coverage behave robot locust pre-commit invoke inv fab scons snakemake \
    django-admin flask gunicorn uvicorn hypercorn celery streamlit gradio airflow dagster prefect papermill marimo voila \
    sphinx-build pdb pyinstaller nuitka viztracer kernprof mprof memray scalene torchrun accelerate deepspeed bokeh panel \
    dask fastapi twistd trial spark-submit sage xonsh hython mayapy uvx manim jupyter easy_install waf bandersnatch cog \
    pyodide doit pyperf asv zope-testrunner modal nosetests3 ansible ansible-playbook ansible-pull ansible-console \
    ansible-test salt salt-call kedro mlflow scrapy mkdocs luigi metaflow sanic daphne waitress-serve granian chainlit \
    solara chalice zappa pserve buildout avocado pyoxidizer cx_freeze py2app briefcase buildozer idle idle3 2to3 pydoc \
    pydoc3 pyinstrument pdb3 ipdb pudb pudb3 bpdb huey dramatiq arq taskiq faust nbconvert nteract jupytext nbdev_test rasa \
    vllm horovodrun colossalai mpremote cookiecutter copier gdbgui cocotb siliconcompiler open-interpreter xontrib coconut \
    hy hyc cython cythonize numba pythran pvpython pvbatch vtkpython hbatch cmsrun ccp4-python phenix.python abaqus \
    pyscript pyrun pyston pants pex shiv zipapp pyscaffold tavern stestr subunit ptw pytest-watch pytest-watcher watchmedo \
    hupper uwsgi mod_wsgi-express pabot mutmut cosmic-ray conda-build conda-develop maturin nikola pelican lektor \
    jupyter-book sphinx-autobuild sphinx-apidoc sphinx-multiversion";

pub(super) fn is_runner(base: &str) -> bool {
    matches!(kind(base), Some(Kind::Runner)) || base.starts_with("jupyter-")
}

/// Managers of environments: of these subcommands none runs code of a package or of the project.
/// Managers of environments and packages: with these subcommands none runs code of a package or of the project.
const MANAGERS: &[(&str, &str)] = &[
    (
        "uv",
        "version|help|cache|pip list|pip show|pip freeze|pip check|pip tree|pip uninstall|python list|python find|python dir|python install|\
         python pin|python uninstall|tool list|tool dir|tool uninstall|self|venv|init|auth|publish|format|generate-shell-completion",
    ),
    (
        "pip",
        "list|show|freeze|check|config|cache|help|inspect|debug|index|uninstall|hash|search|completion",
    ),
    ("pipx", "list|environment|uninstall|help|completions"),
    (
        "poetry",
        "show|check|list|about|config|search|env info|env list|version|help|new|init",
    ),
    ("pdm", "list|info|show|config|search|help|init"),
    ("hatch", "status|version|env show|env find|help|config"),
    ("rye", "list|show|config|version|help|toolchain list"),
    ("pipenv", "graph|--venv|--where|--py|verify"),
    ("pixi", "list|info|tree|search|config|help|init"),
    (
        "conda mamba micromamba",
        "list|info|search|config|env list|env export|activate|deactivate|clean|remove|uninstall|init|help|doctor|compare|notices",
    ),
    (
        "dvc",
        "status|pull|push|add|diff|list|ls|remote|config|version|fetch|checkout|init|metrics|plots|params|gc|dag|doctor|help",
    ),
    (
        "pre-commit",
        "autoupdate|sample-config|help|uninstall|clean|gc",
    ),
    (
        "jupyter",
        "kernelspec list|notebook list|server list|lab list|troubleshoot|--paths",
    ),
    ("conan", "search|list|inspect|profile|remote|cache|config"),
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
const DATA: &str = "pkg-config pkgconf grep egrep fgrep zgrep rg ag ack cat bat tac nl ls ll exa eza lsd tree echo printf which whereis whatis apropos type \
    git gh glab hg svn head tail less more wc diff cmp comm colordiff cp mv rm rmdir mkdir touch ln test [ apt apt-get \
    apt-cache aptitude brew dnf yum apk pacman zypper snap cd pushd popd pwd stat file man tldr tee sort uniq cut tr sed \
    basename dirname realpath readlink du df chmod chown curl wget unset kill pkill pgrep killall ps pidof top jq yq xq \
    dpkg dpkg-query rpm cargo rustc true false sleep date md5sum sha256sum sha1sum b2sum xxd od hexdump strings nm objdump \
    ldd column paste join fold fmt rev shuf seq yes locate code cursor open xdg-open tokei cloc scc read return exit break \
    continue shift wait jobs umask ulimit uname hostname id whoami history rsync scp zip unzip gzip gunzip ruff black isort \
    mypy flake8 pyright help logger notify-send : vulture pyflakes pycodestyle pydocstyle autopep8 yapf radon bandit \
    pyupgrade codespell typos semgrep prettier eslint biome dprint editorconfig-checker shellcheck hadolint yamllint taplo \
    autoflake docformatter interrogate refurb pyre pyrefly ty basedpyright pytype deptry pip-audit safety twine \
    add-trailing-comma absolufy-imports vale cspell lizard jscpd difft delta patch dos2unix unix2dos iconv cksum sum \
    sha512sum sha224sum sha384sum expand unexpand pr tsort csplit truncate shred install-info mktemp mkfifo sync gedit kate \
    subl atom mate zed idea pycharm charm nano micro emacs-client kdiff3 meld bcompare vd glow mdcat pandoc ctags gtags \
    cscope tree-sitter ast-grep comby sd fastmod ncdu dust duf lsof fuser netstat ss ifconfig ping dig host nslookup \
    traceroute xclip xsel pbcopy pbpaste wl-copy clip.exe terraform tofu pulumi helm kustomize kind skaffold argocd flux \
    istioctl systemctl journalctl loginctl service launchctl hostnamectl timedatectl update-alternatives add-apt-repository \
    ppa-purge port nix-env scoop choco winget pkg emerge xbps-install mdfind gpg openssl base64 base32 uuencode xz bzip2 \
    zstd lz4 unxz bunzip2 zcat bzcat xzcat cmake ninja meson bazel gradle mvn ant javac java kotlinc rustup rustfmt gofmt \
    clippy-driver dotnet swift xcodebuild tsc vite webpack rollup esbuild jest vitest mocha playwright cypress mailq hexyl \
    fx gron dasel miller mlr csvkit xsv qsv csvlook csvcut http https xh httpie grpcurl websocat wscat getopts set \
    source-highlight tput stty reset clear tty logname groups users w who last uptime free vmstat iostat sar dmesg lscpu \
    lsblk lspci lsusb mount umount useradd usermod groupadd passwd chgrp setfacl getfacl lsattr chattr getent nproc arch \
    printenv let";

/// What is known of a program by its name.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Runner,
    /// The subcommands that run nothing.
    Manager(&'static str),
    Shell,
    Row(&'static Program),
}

static READER: Program = rows::of("");

/// One look for each name: a command line may hold a hundred thousand of them.
static KINDS: LazyLock<HashMap<&'static str, Kind>> = LazyLock::new(|| {
    let words = |list: &'static str| list.split_ascii_whitespace();
    let mut kinds = HashMap::new();
    kinds.extend(words(DATA).map(|name| (name, Kind::Row(&READER))));
    kinds.extend(words(RUNNERS).map(|name| (name, Kind::Runner)));
    for row in rows::all() {
        kinds.extend(words(row.names).map(|name| (name, Kind::Row(row))));
    }
    for (names, harmless) in MANAGERS {
        kinds.extend(words(names).map(|name| (name, Kind::Manager(harmless))));
    }
    kinds.extend(SHELLS.iter().map(|name| (*name, Kind::Shell)));
    kinds
});

/// A program by its name, or by its name without a version: `pip3.12`, `pytest-3`.
pub(super) fn kind(base: &str) -> Option<Kind> {
    let numbered = base.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    let base = base.strip_suffix(".exe").unwrap_or(base);
    KINDS.get(base).or_else(|| KINDS.get(numbered)).copied()
}

pub(super) fn is_in(list: &str, name: &str) -> bool {
    rows::has(list, name)
}

/// Programs whose start loads code of the project, even to tell their version.
pub(super) const LOADING: [&str; 3] = ["pytest", "py.test", "scons"];

/// Whether a word that has this before it may be what a program starts.
pub(super) fn names_start(word: &str) -> bool {
    const WORDS: &str = "run exec start eval shell launch spawn invoke execute -- -c -e -x";
    const PARTS: [&str; 7] = [
        "script", "exec", "cmd", "command", "hook", "program", "shell",
    ];
    is_in(WORDS, word)
        || word.starts_with("--")
            && (word == "--run" || PARTS.iter().any(|part| word.contains(part)))
}

/// Whether a pattern, with its folder, may become a Python: `/usr/bin/pyth*n`.
pub(super) fn may_be_interpreter(pattern: &str, folder: &str) -> bool {
    let start = pattern.split(HIDDEN).next().unwrap_or("");
    let end = pattern.rsplit(HIDDEN).next().unwrap_or("");
    let programs = folder.ends_with("bin/");
    if start.is_empty() {
        return programs && folder.starts_with(['/', '~', HIDDEN]) && !end.contains('.');
    }
    let fits = |stem: &str| {
        let number = |text: &str| text.chars().all(|c| c.is_ascii_digit() || c == '.');
        let begins = stem.starts_with(start) || start.strip_prefix(stem).is_some_and(number);
        // Behind the bracket of a set.
        let end = end.rsplit(']').next().unwrap_or("");
        let end = end.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        begins && stem.ends_with(end)
    };
    (programs || folder.is_empty() && start.len() > 3) && STEMS.iter().any(|stem| fits(stem))
}

/// Whether the tool run_python can do what was denied: it runs code, but no installer, test runner or server.
pub(super) fn is_served(what: &str) -> bool {
    let mut words = what.split(' ');
    let first = words.next().unwrap_or("");
    let manages = |name| matches!(kind(name), Some(Kind::Runner | Kind::Manager(_)));
    match words.next() {
        Some("-m") => !words.next().is_some_and(manages),
        _ => !manages(first) && !first.starts_with("jupyter-"),
    }
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
        is_interpreter(name) || ["pytest", "jupyter"].contains(&name)
    })
}

pub(super) fn is_file_of_python(base: &str) -> bool {
    let lower = base.to_lowercase();
    [".py", ".pyw", ".pyz", ".pyc", ".pex", ".ipynb"]
        .iter()
        .any(|end| lower.ends_with(end))
}
