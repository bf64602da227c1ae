//! The members of the libraries that the built-in policies list.
//!
//! Generated from the real libraries (assets/policies/members); they stand for `"*"` in a policy.

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

    /// A top-level module of the standard library.
    pub fn is_stdlib(&self, name: &str) -> bool {
        self.stdlib.contains(name)
    }

    /// Whether a path is a module of the lists in its own right, not one that another carries.
    pub fn is_listed(&self, path: &str) -> bool {
        self.members.contains_key(path) || self.modules.contains_key(path)
    }

    /// Whether anything is known of a top-level module.
    pub fn knows(&self, top: &str) -> bool {
        self.is_stdlib(top) || self.members.contains_key(top) || self.modules.contains_key(top)
    }

    pub fn has_member(&self, module: &str, name: &str) -> bool {
        self.members.get(module).is_some_and(|m| m.contains(name))
    }

    pub fn has_module(&self, module: &str, name: &str) -> bool {
        self.modules.get(module).is_some_and(|m| m.contains(name))
    }

    /// `statsmodels.api.tsa` is the module `statsmodels.tsa.api`.
    pub fn other(&self, module: &str, name: &str) -> Option<&'static str> {
        // The key's lifetime is the table's, so look it up by what it borrows from.
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
    fn the_lists_know_members_from_modules() {
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
