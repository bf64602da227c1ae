//! The modules and members that `[widen.imports]` can never add: the runner's own, private ones, those that
//! reach the operating system, the network or the interpreter, and those that load pickles.
//!
//! Such a module would undo the policy instead of widening it. Modules that are known to only compute may be
//! added. No other module of the standard library may be. Unknown modules of other packages may be added by
//! name, and [`Policy::unjudged`] lists them. What the base policy already allows is not judged here.

use std::collections::BTreeSet;

use super::computes::{self, Known};
use super::reach::{member_capability, module_capability};
use super::resolved::Policy;
use crate::model::{Action, Capability};

pub(super) const RUNNER: &str =
    "it belongs to the runner, which a policy is enforced by; no file can allow it";

const SYSTEM: &str = "it reaches the operating system behind the confined `open`; data sets are \
     inputs, and files go to the output folder";

const PICKLES: &str =
    "it loads pickles, and a pickle runs whatever it says; use csv, json or parquet";

/// The alternative to a widening that is refused.
const OWN_RULES: &str = "a file that extends nothing may list it, and is shown as `own rules`";

const UNLISTED: &str = "it is of the standard library, and not known to do nothing but compute; a file \
     that extends nothing may list it, and is shown as `own rules`";

/// Modules that open files or query the system themselves; refused whatever the action for FS_READ.
const REACHING: [&str; 25] = [
    "os",
    "posix",
    "nt",
    "posixpath",
    "ntpath",
    "genericpath",
    "nturl2path",
    "pathlib",
    "shutil",
    "glob",
    "tempfile",
    "fileinput",
    "linecache",
    "mmap",
    "fcntl",
    "configparser",
    "filecmp",
    "mailbox",
    "mailcap",
    "mimetypes",
    "netrc",
    "tokenize",
    "sqlite3",
    "zipapp",
    "pyexpat",
];

/// Names that denote the same module wherever another module exposes it: `statsmodels.api.os`.
const CARRIED: &str = "os sys posix nt subprocess multiprocessing threading asyncio pty shutil pathlib tempfile glob \
     ctypes cffi ctypeslib numba llvmlite cython importlib imp runpy pkgutil inspect builtins gc marshal shelve \
     dill cloudpickle npyio sqlite3 socket socketserver ssl urllib urllib2 urllib3 httplib http requests \
     httpx aiohttp ftplib smtplib telnetlib paramiko fsspec websocket websockets sqlalchemy redis \
     patsy formulaic numexpr sympy IPython pytest unittest loky pexpect psutil";

/// Members that open files, of modules that also have harmless members.
const OPENING: [(&str, &str); 3] = [("io", "open"), ("io", "open_code"), ("io", "FileIO")];

/// Members that load or write pickles, of modules that also have harmless members; `*` for all.
const UNPICKLING: [(&str, &str); 30] = [
    ("joblib", "load"),
    ("joblib", "dump"),
    ("joblib", "Memory"),
    ("joblib", "MemorizedResult"),
    ("joblib.memory", "*"),
    ("joblib.externals", "*"),
    ("numpy", "load"),
    ("numpy.lib.format", "*"),
    ("numpy.lib.npyio", "*"),
    ("pandas", "HDFStore"),
    ("pandas", "read_hdf"),
    ("pandas.io.pytables", "*"),
    ("pandas.io.common", "*"),
    ("torch", "load"),
    ("torch", "save"),
    ("torch", "hub"),
    ("torch", "jit"),
    ("torch", "serialization"),
    ("torch.serialization", "*"),
    ("torch.hub", "*"),
    ("torch.jit", "*"),
    ("keras.models", "load_model"),
    ("tensorflow.keras.models", "load_model"),
    ("tensorflow.saved_model", "*"),
    ("statsmodels.api", "load"),
    ("statsmodels.iolib.api", "load"),
    ("nltk.data", "load"),
    ("gensim.utils", "SaveLoad"),
    ("sklearn", "externals"),
    ("sklearn.externals", "*"),
];

/// Whether a module is the runner's package or inside it.
pub(super) fn is_runner(module: &str) -> bool {
    module == "_countersign" || module.starts_with("_countersign.")
}

/// Judges whether `members` of `module` may be added to `policy`, which already has the members `had`. Returns
/// the paths of which nothing is known, or the reason for a refusal.
pub(super) fn judge(
    module: &str,
    members: &BTreeSet<String>,
    had: &BTreeSet<String>,
    policy: &Policy,
) -> Result<Vec<String>, String> {
    let refuse = |what: &str, why: &str| Err(format!("`{what}` cannot be added: {why}"));
    if let Some(why) = whole(module, policy) {
        return refuse(module, &why);
    }
    let named: Vec<&String> = members
        .difference(had)
        .filter(|m| *m != "*" && !m.starts_with('-'))
        .collect();
    for member in &named {
        if let Some(why) = one(module, member, policy) {
            return refuse(&format!("{module}.{member}"), &why);
        }
    }
    if computes::module(module) == Known::LeftOut {
        return refuse(module, UNLISTED);
    }
    if members.contains("*") && !had.contains("*") {
        everything(module, members)?;
    }
    let mut unjudged = Vec::new();
    if computes::module(module) == Known::Unknown {
        unjudged.push(module.to_owned());
    }
    for member in named {
        let path = format!("{module}.{member}");
        match computes::member(module, member) {
            Known::Computes => {}
            Known::LeftOut => return refuse(&path, &left_out(module)),
            Known::Unknown => unjudged.push(path),
        }
    }
    match unjudged.first() {
        Some(path) if policy.action(Capability::Unanalyzed) == Action::Block => refuse(
            path,
            &format!(
                "nothing is known of it, and `{}` blocks {}",
                policy.name,
                Capability::Unanalyzed
            ),
        ),
        _ => Ok(unjudged),
    }
}

/// Checks whether `*` may stand for the members of a module.
fn everything(module: &str, members: &BTreeSet<String>) -> Result<(), String> {
    let Some(listed) = computes::listed(module) else {
        return Err(format!(
            "nothing is known of `{module}`, so `*` cannot stand for its members: name those that are \
             wanted; a snippet that uses them is flagged"
        ));
    };
    if !listed.contains("*") {
        return Err(format!(
            "`*` would add more of `{module}` than computes: name the members that are wanted; {}",
            some(listed)
        ));
    }
    let out = |member: &str| !members.contains(&format!("-{member}"));
    let kept_out = listed.iter().filter_map(|member| member.strip_prefix('-'));
    let missing = kept_out.chain(known(module)).find(|member| out(member));
    missing.map_or(Ok(()), |member| {
        Err(format!(
            "`*` would add `{module}.{member}` too: name the members that are wanted, or take it out \
             with \"-{member}\""
        ))
    })
}

/// Why a member is not on a module's list, and which members may be added.
fn left_out(module: &str) -> String {
    match computes::listed(module) {
        Some(listed) => format!("it is left out on purpose; {}", some(listed)),
        None => UNLISTED.to_owned(),
    }
}

/// Names the first few members of a list.
fn some(listed: &BTreeSet<String>) -> String {
    let names = || listed.iter().filter(|m| *m != "*" && !m.starts_with('-'));
    if listed.contains("*") || names().next().is_none() {
        return OWN_RULES.to_owned();
    }
    let mut few: Vec<&str> = names().take(8).map(String::as_str).collect();
    if names().count() > few.len() {
        few.push("…");
    }
    format!("what may be added of it is {}", few.join(", "))
}

/// Why no member of a module can be added; `None` if some can.
fn whole(module: &str, policy: &Policy) -> Option<String> {
    let private = |segment: &str| segment.starts_with('_') && segment != "__future__";
    if is_runner(module) {
        return Some(RUNNER.to_owned());
    }
    if module.split('.').any(private) {
        return Some("widening never adds private modules; name the public one".to_owned());
    }
    let top = module.split('.').next().unwrap_or(module);
    if REACHING.contains(&top) {
        return Some(SYSTEM.to_owned());
    }
    // A path may end in a member: `"joblib.load" = ["*"]`.
    if let Some((above, last)) = module.rsplit_once('.')
        && let Some(why) = one(above, last, policy)
    {
        return Some(why);
    }
    if let Some(why) = module.split('.').skip(1).find_map(carried) {
        return Some(why.to_owned());
    }
    if top.to_lowercase().contains("pickle") {
        return Some(PICKLES.to_owned());
    }
    if UNPICKLING.contains(&(module, "*")) {
        return Some(PICKLES.to_owned());
    }
    // The listed members of a module that also opens files do not open any.
    let listed = computes::module(module) == Known::Computes;
    let reaches = module_capability(module).filter(|c| !(listed && *c == Capability::FsRead))?;
    too_much(reaches, policy)
}

/// Why a single member cannot be added.
fn one(module: &str, member: &str, policy: &Policy) -> Option<String> {
    if UNPICKLING.contains(&(module, member)) {
        return Some(PICKLES.to_owned());
    }
    if OPENING.contains(&(module, member)) {
        return Some(SYSTEM.to_owned());
    }
    if let Some(why) = carried(member) {
        return Some(why.to_owned());
    }
    let path = format!("{module}.{member}");
    let reaches = member_capability(&path).filter(|_| module_capability(module).is_none())?;
    too_much(reaches, policy)
}

/// Why a name is refused wherever it occurs.
fn carried(name: &str) -> Option<&'static str> {
    let small = name.to_lowercase();
    if small.contains("pickle") || ["marshal", "shelve", "dill", "npyio"].contains(&name) {
        return Some(PICKLES);
    }
    CARRIED
        .split_whitespace()
        .any(|carried| carried == name)
        .then_some("it stands for a module that reaches the system or the interpreter")
}

/// Refuses a capability that the base policy blocks. A capability that leads out of the interpreter is refused
/// even if the policy only flags it.
fn too_much(reaches: Capability, policy: &Policy) -> Option<String> {
    let action = policy.action(reaches);
    let leads_out = matches!(
        reaches,
        Capability::Exec
            | Capability::DynamicCode
            | Capability::Reflect
            | Capability::Deserialize
            | Capability::Native
            | Capability::NetworkOut
            | Capability::NetworkListen
    );
    if action == Action::Block {
        return Some(format!(
            "it is for {reaches}, which `{}` blocks; widening adds nothing that blocks; {OWN_RULES}",
            policy.name
        ));
    }
    leads_out.then(|| format!("it is for {reaches}, and widening never adds that; {OWN_RULES}"))
}

/// Members of a module that can never be added, although no list excludes them with `-name`.
fn known(module: &str) -> impl Iterator<Item = &'static str> {
    let listed = OPENING.iter().chain(&UNPICKLING);
    let more: &[&str] = match module {
        "pandas" => &["read_pickle", "to_pickle"],
        _ => &[],
    };
    listed
        .filter(move |(owner, member)| *owner == module && *member != "*")
        .map(|(_, member)| *member)
        .chain(more.iter().copied())
}
