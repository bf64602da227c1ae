//! What `[widen.imports]` cannot add, whoever writes it: the runner's own modules, private ones,
//! those that reach the operating system or the interpreter, and what loads pickles.
//!
//! Such a module would undo the policy rather than widen it. What the file extends has already
//! is not added and not judged here.

use std::collections::BTreeSet;

use super::reach::{member_capability, module_capability};
use super::resolved::Policy;
use crate::model::{Action, Capability};

pub(super) const RUNNER: &str =
    "it belongs to the runner, which a policy is enforced by; no file can allow it";

const SYSTEM: &str = "it reaches the operating system behind the confined `open`; data sets are \
     inputs, and files go to the output folder";

const PICKLES: &str =
    "it loads pickles, and a pickle runs whatever it says; use csv, json or parquet";

/// Modules that open files or ask the system by themselves, whatever FS_READ says.
const REACHING: [&str; 24] = [
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
const CARRIED: [&str; 17] = [
    "os",
    "sys",
    "posix",
    "nt",
    "subprocess",
    "shutil",
    "ctypes",
    "cffi",
    "ctypeslib",
    "importlib",
    "builtins",
    "gc",
    "marshal",
    "shelve",
    "dill",
    "npyio",
    "socket",
];

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

/// Why `members` of `module` cannot be added to what `policy` has; `had` is what it has of them.
pub(super) fn why(
    module: &str,
    members: &BTreeSet<String>,
    had: &BTreeSet<String>,
    policy: &Policy,
) -> Option<String> {
    if let Some(why) = whole(module, policy) {
        return Some(format!("`{module}` cannot be added: {why}"));
    }
    for member in members.difference(had).filter(|m| *m != "*") {
        if member.starts_with('-') {
            continue;
        }
        if let Some(why) = one(module, member, policy) {
            return Some(format!("`{module}.{member}` cannot be added: {why}"));
        }
    }
    if members.contains("*") && !had.contains("*") {
        let out = |member: &&str| !members.contains(&format!("-{member}"));
        if let Some(member) = known(module).into_iter().find(out) {
            return Some(format!(
                "`*` would add `{module}.{member}` too: name the members that are wanted, or take \
                 it out with \"-{member}\""
            ));
        }
    }
    None
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
    if let Some(why) = module.split('.').find_map(carried) {
        return Some(why.to_owned());
    }
    if UNPICKLING.contains(&(module, "*")) {
        return Some(PICKLES.to_owned());
    }
    // joblib reads no file but by the members above.
    let reaches = module_capability(module).filter(|_| top != "joblib")?;
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
        .contains(&name)
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
    );
    if action == Action::Block {
        return Some(format!(
            "it is for {reaches}, which `{}` blocks; widening adds nothing that blocks",
            policy.name
        ));
    }
    leads_out.then(|| format!("it is for {reaches}, and widening never adds that"))
}

/// Members of a module that cannot be added, to be named where `*` is asked for.
fn known(module: &str) -> Vec<&'static str> {
    let listed = OPENING.iter().chain(&UNPICKLING);
    let mut all: Vec<&str> = listed
        .filter(|(of, member)| *of == module && *member != "*")
        .map(|(_, member)| *member)
        .collect();
    match module {
        "pandas" => all.extend(["read_pickle", "to_pickle"]),
        "operator" => all.extend(["attrgetter", "methodcaller"]),
        "typing" => all.extend(["get_type_hints", "ForwardRef"]),
        "dataclasses" => all.push("make_dataclass"),
        "uuid" => all.extend(["getnode", "uuid1"]),
        _ => {}
    }
    all
}
