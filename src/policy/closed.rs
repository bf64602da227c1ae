//! What `[widen.imports]` cannot add, whoever writes it: the runner's own modules, private ones,
//! those that reach the operating system, the network or the interpreter, and what loads pickles.
//!
//! Such a module would undo the policy rather than widen it. Of the rest, what is known to compute
//! is added; of the standard library nothing else is; of other packages what is named, and
//! [`Policy::unjudged`] holds it. What the file extends has already is not judged here.

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

/// What is right where nothing that a file extends can be widened so.
const OWN_RULES: &str = "a file that extends nothing may list it, and is shown as `own rules`";

const UNLISTED: &str = "it is of the standard library, and not known to do nothing but compute; a file \
     that extends nothing may list it, and is shown as `own rules`";

/// Modules that open files or ask the system by themselves, whatever FS_READ says.
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

/// Names that stand for the same module wherever another one carries it: `statsmodels.api.os`.
const CARRIED: &str = "os sys posix nt subprocess multiprocessing threading asyncio pty shutil pathlib tempfile glob \
     ctypes cffi ctypeslib numba llvmlite cython importlib imp runpy pkgutil inspect builtins gc marshal shelve \
     dill cloudpickle npyio sqlite3 socket socketserver ssl urllib urllib2 urllib3 httplib http requests \
     httpx aiohttp ftplib smtplib telnetlib paramiko fsspec websocket websockets sqlalchemy redis \
     patsy formulaic numexpr sympy IPython pytest unittest loky pexpect psutil";

/// Members that open files where their module has harmless ones too.
const OPENING: [(&str, &str); 3] = [("io", "open"), ("io", "open_code"), ("io", "FileIO")];

/// Members that load pickles, or write them, where their module has harmless ones too; `*` for all.
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

/// Whether a name is the runner's package or in it.
pub(super) fn is_runner(module: &str) -> bool {
    module == "_countersign" || module.starts_with("_countersign.")
}

/// Why `members` of `module` cannot be added to what `policy` has, `had` being what it has of them;
/// or what of them nothing is known of, as paths.
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

/// Whether `*` may stand for members of a module.
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

/// What may be added of a module that is known, for an error.
fn left_out(module: &str) -> String {
    match computes::listed(module) {
        Some(listed) => format!("it is left out on purpose; {}", some(listed)),
        None => UNLISTED.to_owned(),
    }
}

/// The first few members that a list has.
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

/// Why nothing of a module can be added.
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
    // What is listed of a module that also opens files does not open any.
    let listed = computes::module(module) == Known::Computes;
    let reaches = module_capability(module).filter(|c| !(listed && *c == Capability::FsRead))?;
    too_much(reaches, policy)
}

/// Why a member of a module that can be added itself cannot.
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

/// A name that says by itself what it is.
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

/// What blocks in a policy that has been built on is not for a file to add; what leads out of
/// the interpreter is not even where it would only be flagged.
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

/// Members of a module that no list of members leaves out and that cannot be added all the same.
fn known(module: &str) -> impl Iterator<Item = &'static str> {
    let listed = OPENING.iter().chain(&UNPICKLING);
    let more: &[&str] = match module {
        "pandas" => &["read_pickle", "to_pickle"],
        _ => &[],
    };
    listed
        .filter(move |(of, member)| *of == module && *member != "*")
        .map(|(_, member)| *member)
        .chain(more.iter().copied())
}
