//! The members of the libraries that the built-in policies list.
//!
//! Generated from the real libraries (assets/policies/members). `"*"` in a policy stands for these members.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

/// Members and submodules of the modules that the built-in policies list.
pub struct Library {
    stdlib: HashSet<&'static str>,
    members: HashMap<&'static str, HashSet<&'static str>>,
    modules: HashMap<&'static str, HashSet<&'static str>>,
    others: HashMap<(&'static str, &'static str), &'static str>,
    locked: Locked,
}

/// What the managed environment's releases have beside the lists, and what of the lists they lack.
#[derive(Default)]
struct Locked {
    /// The Pythons whose standard libraries are known.
    pythons: HashSet<(u32, u32)>,
    /// Distribution → release.
    releases: HashMap<&'static str, &'static str>,
    more: HashMap<&'static str, HashSet<&'static str>>,
    less: HashMap<&'static str, HashSet<&'static str>>,
}

impl Locked {
    fn read(text: &'static str, lists: &'static str) -> Self {
        let mut locked = Self::default();
        let pythons = lists.lines().find_map(|l| l.strip_prefix("# python "));
        for python in pythons.unwrap_or_default().split(' ') {
            let mut numbers = python.split('.').filter_map(|n| n.parse().ok());
            if let (Some(major), Some(minor)) = (numbers.next(), numbers.next()) {
                locked.pythons.insert((major, minor));
            }
        }
        for line in text.lines() {
            let mut words = line.split(' ');
            let Some(head) = words.next() else { continue };
            if head == "#" {
                if let (Some(name), Some(release)) = (words.next(), words.next()) {
                    locked.releases.insert(name, release);
                }
            } else if let Some(module) = head.strip_suffix(':') {
                locked.more.insert(module, words.collect());
            } else if let Some(module) = head.strip_suffix('-') {
                locked.less.insert(module, words.collect());
            }
        }
        locked
    }
}

const LISTS: &str = include_str!("../../assets/policies/members/members.txt");
const LOCKED: &str = include_str!("../../assets/policies/members/locked.txt");

static LIBRARY: LazyLock<Library> = LazyLock::new(|| Library::read(LISTS, LOCKED));

/// A Python's version, and the releases of its distributions.
pub type Releases<'r> = ((u32, u32), &'r BTreeMap<String, String>);

/// The embedded lists.
pub fn library() -> &'static Library {
    &LIBRARY
}

impl Library {
    fn read(text: &'static str, locked: &'static str) -> Self {
        let mut library = Self {
            locked: Locked::read(locked, text),
            stdlib: HashSet::new(),
            members: HashMap::new(),
            modules: HashMap::new(),
            others: HashMap::new(),
        };
        for line in text.lines().filter(|l| !l.starts_with('#')) {
            let mut words = line.split(' ');
            let Some(head) = words.next() else { continue };
            if head == "stdlib" {
                library.stdlib = words.collect();
            } else if let Some(module) = head.strip_suffix(':') {
                library.members.insert(module, words.collect());
            } else if let Some(module) = head.strip_suffix('/') {
                library.modules.insert(module, words.collect());
            } else if let Some(module) = head.strip_suffix('>')
                && let (Some(name), Some(target)) = (words.next(), words.next())
            {
                library.others.insert((module, name), target);
            }
        }
        library
    }

    /// Whether a top-level module belongs to the standard library.
    pub fn is_stdlib(&self, name: &str) -> bool {
        self.stdlib.contains(name)
    }

    /// Whether the lists have this path as a module's own path, not only as a module that another one exposes.
    pub fn is_listed(&self, path: &str) -> bool {
        self.members.contains_key(path) || self.modules.contains_key(path)
    }

    /// Whether the lists have a top-level module.
    pub fn knows(&self, top: &str) -> bool {
        self.is_stdlib(top) || self.members.contains_key(top) || self.modules.contains_key(top)
    }

    pub fn has_member(&self, module: &str, name: &str) -> bool {
        self.members.get(module).is_some_and(|m| m.contains(name))
    }

    pub fn has_module(&self, module: &str, name: &str) -> bool {
        self.modules.get(module).is_some_and(|m| m.contains(name))
    }

    /// The real path of a module that another one exposes under a different name: `statsmodels.tsa.api` for
    /// `statsmodels.api.tsa`.
    pub fn other(&self, module: &str, name: &str) -> Option<&'static str> {
        // `others` needs `'static` keys, so take them from the table.
        let (module, _) = self.modules.get_key_value(module)?;
        let name = self.modules.get(module)?.get(name)?;
        self.others.get(&(*module, *name)).copied()
    }

    /// Whether a Python of this version, with these releases of distributions, surely has no such public member
    /// of a module that the lists have.
    pub fn lacks(&self, (module, name): (&str, &str), python: &Releases) -> bool {
        let is = |names: &HashMap<&str, HashSet<&str>>| {
            names.get(module).is_some_and(|names| names.contains(name))
        };
        // The lists hold public names only.
        if name.starts_with('_') {
            return false;
        }
        let listed = self.has_member(module, name) || self.has_module(module, name);
        let absent = is(&self.locked.less) || !(listed || is(&self.locked.more));
        self.members.contains_key(module) && absent && self.is_known(module, python)
    }

    /// What a class of such a library has in public; none where this release is not known.
    pub fn class(&self, path: &str, python: &Releases) -> Option<&HashSet<&'static str>> {
        let found = self.locked.more.get(path)?;
        self.is_known(path, python).then_some(found)
    }

    /// The keywords that what is at this path takes. `None` if it may take others, and where this
    /// release is not known.
    pub fn keywords(&self, path: &str, python: &Releases) -> Option<Vec<&'static str>> {
        let known = self.is_known(path, python);
        known.then(|| super::keywords::of(path)).flatten()
    }

    /// Whether the library of this module is installed in the release that the lists describe.
    pub fn is_known(&self, path: &str, python: &Releases) -> bool {
        let top = path.split('.').next().unwrap_or(path);
        if self.is_stdlib(top) {
            return self.locked.pythons.contains(&python.0);
        }
        let distribution = if top == "sklearn" {
            "scikit-learn"
        } else {
            top
        };
        let here = python.1.get(distribution).map(String::as_str);
        here.is_some() && self.locked.releases.get(distribution).copied() == here
    }

    pub fn members(&self, module: &str) -> impl Iterator<Item = &'static str> + '_ {
        self.members.get(module).into_iter().flatten().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_distinguish_members_from_modules() {
        let l = library();
        assert!(l.has_member("numpy", "mean") && !l.has_member("numpy", "f2py"));
        assert!(l.has_module("json", "decoder") && l.has_module("re", "enum"));
        assert!(!l.has_member("datetime", "sys") && l.is_stdlib("sys"));
        assert_eq!(
            l.other("statsmodels.api", "tsa"),
            Some("statsmodels.tsa.api")
        );
    }

    #[test]
    fn only_what_the_known_releases_lack_is_surely_missing() {
        let l = library();
        let releases = |pandas: &str| BTreeMap::from([("pandas".to_owned(), pandas.to_owned())]);
        let known = releases(l.locked.releases["pandas"]);
        let lacks = |at: (&str, &str)| l.lacks(at, &((3, 11), &known));
        assert!(lacks(("pandas", "DataFrme")) && lacks(("datetime", "now")));
        assert!(!lacks(("pandas", "DataFrame")) && !lacks(("pandas", "read_gbq")));
        // Listed of a later release.
        assert!(lacks(("pandas", "col")));
        assert!(!lacks(("pandas", "__version__")) && !lacks(("math", "__name__")));
        // Nothing is known of other releases, other Pythons and packages that are not there.
        assert!(!l.lacks(("pandas", "DataFrme"), &((3, 11), &releases("0.1"))));
        assert!(!l.lacks(("datetime", "now"), &((3, 99), &known)));
        assert!(!lacks(("numpy", "arrange")));
        let table = l.class("pandas.DataFrame", &((3, 11), &known)).unwrap();
        assert!(table.contains("to_csv") && !table.contains("append"));
    }
}
