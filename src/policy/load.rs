//! Loads the built-in policies and those in the administrator's and the user's folders.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use super::error::PolicyError;
use super::resolve::{self, Sourced, Written};
use super::resolved::{Origin, Policy, SetBy};
use super::{file, folder};
use crate::model::nearest;
use crate::paths::Paths;

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

/// The built-in policies.
pub fn builtin() -> Result<Vec<Arc<Policy>>, PolicyError> {
    Ok(builtin_sourced()?
        .into_iter()
        .map(|s| Arc::new(s.policy))
        .collect())
}

/// Parses the built-in policies once.
fn builtin_sourced() -> Result<Vec<Sourced>, PolicyError> {
    static READ: LazyLock<Result<Vec<Sourced>, PolicyError>> = LazyLock::new(read_builtin);
    READ.clone()
}

fn read_builtin() -> Result<Vec<Sourced>, PolicyError> {
    BUILTIN
        .iter()
        .map(|(name, text)| {
            let path = PathBuf::from(format!("{name}.toml"));
            let file = file::read(&path, text)?;
            let written = Written {
                path: &path,
                text,
                set_by: SetBy::Program,
            };
            resolve::own(written, file, Origin::Builtin)
        })
        .collect()
}

/// The folders of policy files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The administrator's folder. Its files must belong to root, and are binding for policies that extend
    /// them.
    pub admin: PathBuf,
    /// The user's folder.
    pub user: PathBuf,
}

impl Places {
    /// The folders of this process.
    pub fn of(paths: &Paths) -> Self {
        Self {
            admin: paths.admin_policy_dir.clone(),
            user: paths.policy_dir.clone(),
        }
    }
}

/// The resolved policies by name.
type Known = BTreeMap<String, Sourced>;

/// Loads the built-in policies, the administrator's and the user's. Either folder may be absent. Checks the
/// owner and mode of each file and that its policy's name is unused and equals the file's stem; resolves
/// `extends`.
pub fn load(places: &Places) -> Result<Vec<Arc<Policy>>, PolicyError> {
    let mut known = builtin_known()?;
    // Resolve the administrator's alone first: they cannot extend a user's policy.
    for (dir, set_by) in [
        (&places.admin, SetBy::Administrator),
        (&places.user, SetBy::User),
    ] {
        let mut waiting = Vec::new();
        for path in folder::files(dir)? {
            let one = named(&path, set_by)?;
            check_unused(&one, known.get(&one.file.name))?;
            waiting.push(one);
        }
        resolve_all(waiting, &mut known)?;
    }
    let mut all: Vec<Arc<Policy>> = known.into_values().map(|s| Arc::new(s.policy)).collect();
    all.sort_by_key(|p| (p.set_by, p.name.clone()));
    Ok(all)
}

fn builtin_known() -> Result<Known, PolicyError> {
    let sourced = builtin_sourced()?.into_iter();
    Ok(sourced.map(|s| (s.policy.name.clone(), s)).collect())
}

/// Each round resolves the files whose base is known. A round without progress means a cycle or an unknown
/// name.
fn resolve_all(mut waiting: Vec<Named>, known: &mut Known) -> Result<(), PolicyError> {
    while !waiting.is_empty() {
        let before = waiting.len();
        let mut left = Vec::new();
        for one in waiting {
            match resolve_one(&one, known)? {
                Some(sourced) => {
                    known.insert(sourced.policy.name.clone(), sourced);
                }
                None => left.push(one),
            }
        }
        if left.len() == before
            && let Some(one) = left.first()
        {
            return Err(unknown_base(one, known, &left));
        }
        waiting = left;
    }
    Ok(())
}

/// Loads one file for `policy check` and `policy diff`, as if it were in the user's folder, or in the
/// administrator's if it is there. From the folders only the policies that it extends are read, so that
/// mistakes in other files do not matter.
pub fn load_file(path: &Path, places: &Places) -> Result<Arc<Policy>, PolicyError> {
    let set_by = if folder::contains(&places.admin, path) {
        SetBy::Administrator
    } else {
        SetBy::User
    };
    let mut known = builtin_known()?;
    let mut files: Vec<(PathBuf, SetBy)> = Vec::new();
    for (dir, by) in [
        (&places.admin, SetBy::Administrator),
        (&places.user, SetBy::User),
    ] {
        if by <= set_by {
            files.extend(folder::files(dir)?.into_iter().map(|file| (file, by)));
        }
    }
    let one = named(path, set_by)?;
    if set_by == SetBy::User
        && let Some((other, _)) = files
            .iter()
            .find(|(p, by)| *by == SetBy::Administrator && stem(p) == one.file.name)
    {
        return Err(name_of_administrator(&one, other));
    }
    let name = one.file.name.clone();
    let mut chain = vec![one];
    while let Some(base) = chain.last().and_then(|o| o.file.extends.clone()) {
        if known.contains_key(&base) {
            break;
        }
        let file = files.iter().find(|(p, _)| stem(p) == base);
        match file.filter(|_| chain.iter().all(|o| o.file.name != base)) {
            Some((path, by)) => chain.push(named(path, *by)?),
            None => break,
        }
    }
    resolve_all(chain, &mut known)?;
    match known.remove(&name) {
        Some(sourced) => Ok(Arc::new(sourced.policy)),
        None => Err(PolicyError::new(path, "cannot be resolved")),
    }
}

/// A parsed file that is not resolved yet.
struct Named {
    path: PathBuf,
    text: String,
    file: file::File,
    set_by: SetBy,
}

/// Refuses a name that a policy of the administrator has. No file has the name of a built-in policy, so any
/// other policy of this name is the administrator's.
fn check_unused(one: &Named, above: Option<&Sourced>) -> Result<(), PolicyError> {
    above.map_or(Ok(()), |above| Err(name_of_administrator(one, &above.path)))
}

fn name_of_administrator(one: &Named, above: &Path) -> PolicyError {
    let message = format!(
        "the administrator's {} has this name; choose another",
        above.display()
    );
    PolicyError::new(&one.path, message).at(&one.text, "name")
}

fn named(path: &Path, set_by: SetBy) -> Result<Named, PolicyError> {
    let text = folder::read(path, set_by)?;
    let file = file::read(path, &text)?;
    let stem = stem(path);
    if file.name != stem {
        let message = format!("the name must be that of the file, `{stem}`");
        return Err(PolicyError::new(path, message).at(&text, "name"));
    }
    // Ignore case: people would mistake `Analysis` for `analysis`.
    let taken = |name: &str| name.eq_ignore_ascii_case(&file.name);
    let contracts = resolve::contract_names();
    if BUILTIN.iter().any(|(name, _)| taken(name)) || contracts.iter().any(|(name, _)| taken(name))
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
        set_by,
    })
}

fn resolve_one(one: &Named, known: &Known) -> Result<Option<Sourced>, PolicyError> {
    let written = Written {
        path: &one.path,
        text: &one.text,
        set_by: one.set_by,
    };
    match &one.file.extends {
        None => resolve::own(written, one.file.clone(), Origin::Own).map(Some),
        Some(base) => match known.get(base) {
            Some(base) => resolve::extending(written, one.file.clone(), base).map(Some),
            None => Ok(None),
        },
    }
}

fn unknown_base(one: &Named, known: &Known, waiting: &[Named]) -> PolicyError {
    let base = one.file.extends.as_deref().unwrap_or_default();
    let circular = waiting.iter().any(|other| other.file.name == base);
    let message = if circular {
        format!("`{base}` extends this file, directly or through others: a circle")
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
