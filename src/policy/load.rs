//! Built-in policies, and those of the administrator's and the user's folders.

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

/// The embedded policies.
pub fn builtin() -> Result<Vec<Arc<Policy>>, PolicyError> {
    Ok(builtin_sourced()?
        .into_iter()
        .map(|s| Arc::new(s.policy))
        .collect())
}

/// Read once: they are a part of the program.
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

/// Where policy files lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The administrator's folder: every file in it is root's, and binds what extends it.
    pub admin: PathBuf,
    /// The user's folder.
    pub user: PathBuf,
}

impl Places {
    /// Those of this process.
    pub fn of(paths: &Paths) -> Self {
        Self {
            admin: paths.admin_policy_dir.clone(),
            user: paths.policy_dir.clone(),
        }
    }
}

/// Every policy that was resolved, by name.
type Known = BTreeMap<String, Sourced>;

/// The built-in policies, the administrator's and the user's; either folder may be absent. Each
/// file is checked for owner and mode, its name against its stem and the names that are taken;
/// `extends` is worked out.
pub fn load(places: &Places) -> Result<Vec<Arc<Policy>>, PolicyError> {
    let mut known = builtin_known()?;
    // The administrator's first, by themselves: nothing of the user's can stand under them.
    for (dir, set_by) in [
        (&places.admin, SetBy::Administrator),
        (&places.user, SetBy::User),
    ] {
        let mut waiting = Vec::new();
        for path in folder::files(dir)? {
            let one = named(&path, set_by)?;
            taken(&one, known.get(&one.file.name))?;
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

/// Each round resolves what extends something known; a round without progress is a circle or a
/// name that does not exist.
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

/// Reads one file as if it lay in the user's folder (or where it lies, in the administrator's),
/// beside what is there: for `policy check` and `policy diff`. Of the folders only what it extends
/// is read, so that a mistake in another file does not matter.
pub fn load_file(path: &Path, places: &Places) -> Result<Arc<Policy>, PolicyError> {
    let set_by = if folder::holds(&places.admin, path) {
        SetBy::Administrator
    } else {
        SetBy::User
    };
    let mut known = builtin_known()?;
    let mut beside: Vec<(PathBuf, SetBy)> = Vec::new();
    for (dir, by) in [
        (&places.admin, SetBy::Administrator),
        (&places.user, SetBy::User),
    ] {
        if by <= set_by {
            beside.extend(folder::files(dir)?.into_iter().map(|file| (file, by)));
        }
    }
    let one = named(path, set_by)?;
    if set_by == SetBy::User
        && let Some((other, _)) = beside
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
        let file = beside.iter().find(|(p, _)| stem(p) == base);
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

/// A file that was read, not yet resolved.
struct Named {
    path: PathBuf,
    text: String,
    file: file::File,
    set_by: SetBy,
}

/// Refuses a name that a policy from above has.
fn taken(one: &Named, above: Option<&Sourced>) -> Result<(), PolicyError> {
    match above {
        Some(above) if above.policy.set_by == SetBy::Administrator => {
            Err(name_of_administrator(one, &above.path))
        }
        _ => Ok(()),
    }
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
        let message = format!("the name is the file's own: `{stem}`");
        return Err(PolicyError::new(path, message).at(&text, "name"));
    }
    // Whatever the case: `Analysis` would be taken for `analysis`.
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
