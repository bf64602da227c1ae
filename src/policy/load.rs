//! Built-in policies, and those of the policy folder.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::PolicyError;
use super::file;
use super::nearest::nearest;
use super::resolve::{self, Sourced};
use super::resolved::{Origin, Policy};

/// A policy file is a page or two; a larger one is a mistake.
const FILE_BYTES: u64 = 1024 * 1024;

const BUILTIN: &[(&str, &str)] = &[
    (
        "analysis",
        include_str!("../../assets/policies/analysis.toml"),
    ),
    (
        "feature",
        include_str!("../../assets/policies/feature.toml"),
    ),
    ("chart", include_str!("../../assets/policies/chart.toml")),
    ("scoped", include_str!("../../assets/policies/scoped.toml")),
    ("walled", include_str!("../../assets/policies/walled.toml")),
    ("script", include_str!("../../assets/policies/script.toml")),
];

/// The embedded policies.
pub fn builtin() -> Result<Vec<Arc<Policy>>, PolicyError> {
    Ok(builtin_sourced()?
        .into_iter()
        .map(|s| Arc::new(s.policy))
        .collect())
}

fn builtin_sourced() -> Result<Vec<Sourced>, PolicyError> {
    BUILTIN
        .iter()
        .map(|(name, text)| {
            let path = PathBuf::from(format!("{name}.toml"));
            let file = file::read(&path, text)?;
            resolve::own(&path, text, file, Origin::Builtin)
        })
        .collect()
}

/// The built-in policies and the files of the folder, which may be absent. Each file is checked
/// for owner and mode, its name against its stem and the built-in names; `extends` is worked out.
pub fn load(policy_dir: &Path) -> Result<Vec<Arc<Policy>>, PolicyError> {
    let mut known: BTreeMap<String, Sourced> = builtin_sourced()?
        .into_iter()
        .map(|s| (s.policy.name.clone(), s))
        .collect();
    let mut waiting = Vec::new();
    for path in files(policy_dir)? {
        let text = read_checked(&path)?;
        waiting.push(named(&path, text)?);
    }
    // Each round resolves what extends something known; a round without progress is a cycle or
    // a name that does not exist.
    while !waiting.is_empty() {
        let before = waiting.len();
        let mut left = Vec::new();
        for one in waiting {
            match resolve_one(&one, &known)? {
                Some(sourced) => {
                    known.insert(sourced.policy.name.clone(), sourced);
                }
                None => left.push(one),
            }
        }
        if left.len() == before
            && let Some(one) = left.first()
        {
            return Err(unknown_base(one, &known, &left));
        }
        waiting = left;
    }
    let mut builtin_first: Vec<Arc<Policy>> =
        known.into_values().map(|s| Arc::new(s.policy)).collect();
    builtin_first.sort_by_key(|p| (p.origin != Origin::Builtin, p.name.clone()));
    Ok(builtin_first)
}

/// Reads one file as if it lay in the folder, beside what is there: for `policy check` and
/// `policy diff`.
pub fn load_file(path: &Path, policy_dir: &Path) -> Result<Arc<Policy>, PolicyError> {
    let one = named(path, read_checked(path)?)?;
    if let Some(base) = &one.file.extends
        && !BUILTIN.iter().any(|(name, _)| name == base)
    {
        let folder = files(policy_dir)?;
        let base_path = folder.iter().find(|p| stem(p) == *base);
        let Some(base_path) = base_path.filter(|p| stem(p) != one.file.name) else {
            let known = builtin_sourced()?
                .into_iter()
                .map(|s| (s.policy.name.clone(), s))
                .collect();
            return Err(unknown_base(&one, &known, std::slice::from_ref(&one)));
        };
        // The base may extend in its turn; the folder as a whole resolves it.
        let mut known: BTreeMap<String, Sourced> = builtin_sourced()?
            .into_iter()
            .map(|s| (s.policy.name.clone(), s))
            .collect();
        let mut chain = vec![named(base_path, read_checked(base_path)?)?];
        while let Some(next) = chain.last().and_then(|o| o.file.extends.clone()) {
            if known.contains_key(&next) {
                break;
            }
            match folder.iter().find(|p| stem(p) == next) {
                Some(p) if chain.iter().all(|o| o.file.name != next) => {
                    chain.push(named(p, read_checked(p)?)?);
                }
                _ => return Err(unknown_base(&one, &known, &chain)),
            }
        }
        while let Some(base) = chain.pop() {
            if let Some(sourced) = resolve_one(&base, &known)? {
                known.insert(sourced.policy.name.clone(), sourced);
            }
        }
        return match resolve_one(&one, &known)? {
            Some(sourced) => Ok(Arc::new(sourced.policy)),
            None => Err(unknown_base(&one, &known, std::slice::from_ref(&one))),
        };
    }
    let known = builtin_sourced()?
        .into_iter()
        .map(|s| (s.policy.name.clone(), s))
        .collect();
    match resolve_one(&one, &known)? {
        Some(sourced) => Ok(Arc::new(sourced.policy)),
        None => Err(unknown_base(&one, &known, std::slice::from_ref(&one))),
    }
}

/// A file that was read, not yet resolved.
struct Named {
    path: PathBuf,
    text: String,
    file: file::File,
}

fn named(path: &Path, text: String) -> Result<Named, PolicyError> {
    let file = file::read(path, &text)?;
    let stem = stem(path);
    if file.name != stem {
        let message = format!("the name is the file's own: `{stem}`");
        return Err(PolicyError::new(path, message).at(&text, "name"));
    }
    if BUILTIN.iter().any(|(name, _)| *name == file.name)
        || resolve::contract_names()
            .iter()
            .any(|(name, _)| *name == file.name)
    {
        return Err(
            PolicyError::new(path, "a built-in profile has this name; choose another")
                .at(&text, "name"),
        );
    }
    let sound = file
        .name
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if !sound || file.name.is_empty() || file.name.len() > 64 {
        return Err(
            PolicyError::new(path, "a name is up to 64 letters, digits, `-` and `_`")
                .at(&text, "name"),
        );
    }
    Ok(Named {
        path: path.to_path_buf(),
        text,
        file,
    })
}

fn resolve_one(
    one: &Named,
    known: &BTreeMap<String, Sourced>,
) -> Result<Option<Sourced>, PolicyError> {
    match &one.file.extends {
        None => resolve::own(&one.path, &one.text, one.file.clone(), Origin::Own).map(Some),
        Some(base) => match known.get(base) {
            Some(base) => {
                resolve::extending(&one.path, &one.text, one.file.clone(), base).map(Some)
            }
            None => Ok(None),
        },
    }
}

fn unknown_base(one: &Named, known: &BTreeMap<String, Sourced>, waiting: &[Named]) -> PolicyError {
    let base = one.file.extends.as_deref().unwrap_or_default();
    let circular = waiting.iter().any(|other| other.file.name == base);
    let message = if circular {
        format!("`{base}` extends, in the end, this file: a circle")
    } else {
        format!("there is no policy `{base}`")
    };
    let mut error = PolicyError::new(&one.path, message).at(&one.text, "extends");
    if !circular {
        error.nearest = nearest(base, known.keys().map(String::as_str)).map(str::to_owned);
    }
    error
}

fn stem(path: &Path) -> String {
    path.file_stem()
        .map(|s| s.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// The `*.toml` of the folder, sorted; none where there is no folder.
fn files(dir: &Path) -> Result<Vec<PathBuf>, PolicyError> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(PolicyError::new(dir, format!("cannot be read: {error}"))),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry
            .map_err(|error| PolicyError::new(dir, format!("cannot be read: {error}")))?
            .path();
        if path.extension().is_some_and(|e| e == "toml") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Reads a file that nobody but root and the user can have written.
fn read_checked(path: &Path) -> Result<String, PolicyError> {
    let fault = |error: std::io::Error| PolicyError::new(path, format!("cannot be read: {error}"));
    let mut file = File::open(path).map_err(fault)?;
    // Of the open file, so that it cannot be exchanged between the check and the reading.
    let meta = file.metadata().map_err(fault)?;
    if !meta.is_file() {
        return Err(PolicyError::new(path, "not a file"));
    }
    let me = nix::unistd::geteuid().as_raw();
    if meta.uid() != 0 && meta.uid() != me {
        let message = format!(
            "belongs to uid {}; a policy belongs to root or to you (chown it)",
            meta.uid()
        );
        return Err(PolicyError::new(path, message));
    }
    if meta.mode() & 0o022 != 0 {
        let message = format!(
            "may be written by others (mode {:04o}); chmod go-w it",
            meta.mode() & 0o7777
        );
        return Err(PolicyError::new(path, message));
    }
    if meta.len() > FILE_BYTES {
        return Err(PolicyError::new(path, "larger than 1 MiB"));
    }
    let mut bytes = Vec::new();
    file.by_ref()
        .take(FILE_BYTES)
        .read_to_end(&mut bytes)
        .map_err(fault)?;
    String::from_utf8(bytes).map_err(|_| PolicyError::new(path, "not UTF-8"))
}
