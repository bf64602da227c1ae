//! Who may see a proposal, by the data sets that it uses.

use std::collections::{BTreeMap, BTreeSet};

use super::Role;

/// The key of what belongs to everything of a host.
pub const ALL: &str = "*";

/// Who may see a proposal: everybody, or people with one of these roles; of none, nobody.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readers(Option<BTreeSet<Role>>);

/// Which roles see what uses which data set, and under [`ALL`] what of this host at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routes(pub BTreeMap<String, BTreeSet<Role>>);

impl Readers {
    pub const EVERYBODY: Self = Self(None);

    pub const fn only(roles: BTreeSet<Role>) -> Self {
        Self(Some(roles))
    }

    /// Who may see both.
    #[must_use]
    pub fn and(self, other: &Self) -> Self {
        Self(match (self.0, &other.0) {
            (Some(mut roles), Some(others)) => {
                roles.retain(|role| others.contains(role));
                Some(roles)
            }
            (roles, others) => roles.or_else(|| others.clone()),
        })
    }

    /// Whether a person with these roles is one of them.
    pub fn has(&self, roles: &BTreeSet<Role>) -> bool {
        let among = |readers: &BTreeSet<Role>| !readers.is_disjoint(roles);
        self.0.as_ref().is_none_or(among)
    }

    /// Whether nobody is.
    pub fn is_nobody(&self) -> bool {
        self.0.as_ref().is_some_and(BTreeSet::is_empty)
    }

    /// `None` for everybody.
    pub const fn roles(&self) -> Option<&BTreeSet<Role>> {
        self.0.as_ref()
    }
}

impl Routes {
    /// Who may see what uses these data sets.
    pub fn of<'a>(&self, datasets: impl IntoIterator<Item = &'a str>) -> Readers {
        let names = std::iter::once(ALL).chain(datasets);
        let routes = names.filter_map(|name| self.0.get(name));
        routes.fold(Readers::EVERYBODY, |readers, roles| {
            readers.and(&Readers::only(roles.clone()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(names: &str) -> BTreeSet<Role> {
        names
            .split_whitespace()
            .map(|n| n.parse().unwrap())
            .collect()
    }

    #[test]
    fn more_data_sets_never_have_more_readers() {
        let routes = Routes(BTreeMap::from([
            (ALL.to_owned(), roles("clinical data law")),
            ("patients".to_owned(), roles("clinical")),
            ("trials".to_owned(), roles("clinical law")),
            ("ledger".to_owned(), roles("finance data")),
        ]));
        for (datasets, readers) in [
            (&[][..], "clinical data law"),
            (&["open"], "clinical data law"),
            (&["patients"], "clinical"),
            (&["trials", "patients", "open"], "clinical"),
            // Finance sees nothing of this host.
            (&["ledger"], "data"),
            (&["ledger", "trials"], ""),
        ] {
            let found = routes.of(datasets.iter().copied());
            assert_eq!(found.roles(), Some(&roles(readers)), "{datasets:?}");
            assert_eq!(found.is_nobody(), readers.is_empty());
            assert_eq!(found.has(&roles("clinical")), readers.contains("clinical"));
            assert!(!found.has(&roles("finance")) && !found.has(&roles("")));
        }
        let none = Routes::default().of(["patients"]);
        assert!(none == Readers::EVERYBODY && none.has(&roles("")) && !none.is_nobody());
    }
}
