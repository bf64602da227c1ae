//! The members of the libraries that the built-in policies list.
//!
//! Generated from the real libraries (assets/policies/members). `"*"` in a policy stands for these members.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Members and submodules of the modules that the built-in policies list.
pub struct Library {
    stdlib: HashSet<&'static str>,
    members: HashMap<&'static str, HashSet<&'static str>>,
    modules: HashMap<&'static str, HashSet<&'static str>>,
    others: HashMap<(&'static str, &'static str), &'static str>,
}

static LIBRARY: LazyLock<Library> =
    LazyLock::new(|| Library::read(include_str!("../../assets/policies/members/members.txt")));

/// The embedded lists.
pub fn library() -> &'static Library {
    &LIBRARY
}

impl Library {
    fn read(text: &'static str) -> Self {
        let mut library = Self {
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
}
