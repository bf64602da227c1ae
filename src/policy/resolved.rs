//! A policy with `extends` and defaults resolved, as all other modules read it.
//!
//! The analyser and the runner in the child must interpret it in the same way:
//!
//! - `imports` maps a module's full name to its members. `import a.b` is allowed if `a.b` is a key.
//!   `from a import n` and `a.n` are allowed if `a.n` is a key; or if `a` is a key and either `n` is one of its
//!   members, or its members include `*` and not `-n`, and `n` is public and not a module. A module whose name
//!   is a proper prefix of a key (`numpy.lib`) may be used in a path but not as a value. A module found under
//!   another name counts by its own `__name__`. The key `*` allows everything.
//! - `builtins` are the names that may be loaded from `builtins`; loading any other one is refused. `*` allows
//!   everything. If listed, `getattr` and `hasattr` take only a literal name that may be read as an attribute,
//!   `type` takes one argument, and `open` opens plain names in the output folder.
//! - `attributes.deny` are refused on every object, whether read, written, deleted, or named by a pattern,
//!   `getattr` or a format field. A name `__x__` may be read only if it is in `allow_dunder`, and defined or
//!   stored only if it is there or in `define_dunder`. A bare annotation and the name of an argument count as
//!   definitions. A snippet may read a name of its own that it may define. `*` in `allow_dunder` allows all.
//!   Names that begin with one underscore are refused on objects that are not the snippet's own, except
//!   `_asdict _field_defaults _fields _make _replace _repr_html_`.
//! - `nodes` are names of CPython's `ast` classes; other nodes are refused. `*` in a file stands for all kinds
//!   that [`super::NodeKind`] lists, and is expanded here.
//! - All names are compared after NFKC.
//! - With `guard = false` none of this is enforced; the analyser flags what it would refuse.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::model::{Action, BoundInput, Capability, Digest, Limits, PolicyRef, Rule, Tier};

/// The shape of a profile's inputs and result, named after a built-in profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Contract {
    Feature,
    Analysis,
    Chart,
    Scoped,
    Walled,
    Script,
}

impl Contract {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Feature => "feature",
            Self::Analysis => "analysis",
            Self::Chart => "chart",
            Self::Scoped => "scoped",
            Self::Walled => "walled",
            Self::Script => "script",
        }
    }

    /// The names bound in a snippet, besides those of its inputs (protocol.md §5).
    pub const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Feature => &["df", "pd", "np"],
            Self::Analysis => &["display", "pd", "np"],
            Self::Chart => &["data"],
            Self::Scoped => &[
                "private",
                "public",
                "system",
                "local",
                "log",
                "log_level",
                "reason",
                "SecurityError",
            ],
            Self::Walled | Self::Script => &[],
        }
    }

    /// The names that the inputs bind; empty if the contract binds none, `None` if it does and they are
    /// unknown.
    pub fn inputs_bound(
        self,
        inputs: Option<&BTreeSet<String>>,
    ) -> Option<impl Iterator<Item = &str> + Clone> {
        let by_name = matches!(self, Self::Analysis | Self::Walled | Self::Script);
        if by_name && inputs.is_none() {
            return None;
        }
        let inputs = inputs.filter(|_| by_name).into_iter();
        Some(inputs.flatten().map(String::as_str))
    }
}

/// Where a policy came from, for display in the header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "origin", rename_all = "lowercase")]
pub enum Origin {
    Builtin,
    /// A file that extends `base` and widens its imports by `widened` modules.
    Extends {
        base: String,
        widened: usize,
    },
    /// A file that extends nothing, shown as `own rules`.
    Own,
}

/// Who set a policy, in descending order of authority.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum SetBy {
    /// Built in.
    #[default]
    Program,
    /// A file in the administrator's folder.
    Administrator,
    /// A file in the user's folder.
    User,
}

/// Whether agents may see the values of private data sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PrivateValues {
    /// Values are redacted from everything that is returned.
    #[default]
    Hide,
    /// Values are treated like those of a public data set.
    Tell,
}

impl PrivateValues {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hide => "hide",
            Self::Tell => "tell",
        }
    }
}

/// Attribute rules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attributes {
    /// Names that are refused on every object.
    pub deny: BTreeSet<String>,
    /// The dunder names that may be read or defined.
    pub allow_dunder: BTreeSet<String>,
    /// Further dunder names that a class or module may define but that may not be read.
    #[serde(default)]
    pub define_dunder: BTreeSet<String>,
}

/// A resolved policy. The analyser's worker and the child's runner receive it as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    pub name: String,
    /// SHA-256 of the file's text followed by the texts of the files that it extends, in order.
    pub sha256: Digest,
    pub origin: Origin,
    #[serde(default)]
    pub set_by: SetBy,
    pub contract: Contract,
    /// Whether the gates inside the child are on.
    pub guard: bool,
    /// Module → its members; `*` stands for all that are not modules, `-name` excludes one.
    pub imports: BTreeMap<String, BTreeSet<String>>,
    /// Modules and members that `[widen.imports]` added and of which nothing is known: `acme`, `pandas.io`.
    /// They may be imported, but code that does so is flagged.
    #[serde(default)]
    pub unjudged: BTreeSet<String>,
    pub builtins: BTreeSet<String>,
    pub attributes: Attributes,
    /// Names of CPython `ast` node classes that may occur, each of them [`super::NodeKind::listed`].
    pub nodes: BTreeSet<String>,
    /// The effect of each capability on the verdict; one that is not listed blocks.
    pub capabilities: BTreeMap<Capability, Action>,
    pub limits: Limits,
    /// The weakest tier in which it may run.
    pub tier: Tier,
    /// The value as written; [`Policy::tells_private`] decides.
    #[serde(default)]
    pub private: PrivateValues,
    /// Who has to grant; every rule that applies has to be met. Empty: one person at the dashboard.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grant: Vec<Rule>,
}

impl Policy {
    /// Whether the values of private data sets are returned to the agent. Never under the contract `scoped`,
    /// which promises that its scope `private` does not leave the run.
    pub fn tells_private(&self) -> bool {
        self.private == PrivateValues::Tell && self.contract != Contract::Scoped
    }

    /// Whether this input is a private data set whose values are returned nevertheless.
    pub fn tells(&self, input: &BoundInput) -> bool {
        input.is_private() && self.tells_private()
    }

    /// Whether this input is a private data set whose values are redacted from everything that is returned.
    pub fn hides(&self, input: &BoundInput) -> bool {
        input.is_private() && !self.tells_private()
    }

    /// Whether values of any of these inputs are. The files of such a run are thrown away: values cannot be searched for
    /// in a picture or a packed file.
    pub fn hides_any(&self, inputs: &[BoundInput]) -> bool {
        inputs.iter().any(|input| self.hides(input))
    }

    /// SHA-256 of the policy as JSON: of what it says, whatever its file is said to be.
    pub fn content_digest(&self) -> Digest {
        // It holds strings, numbers and words, so serialising cannot fail.
        Digest::of(&serde_json::to_vec(self).unwrap_or_default())
    }

    /// The effect of this capability on a verdict; one that is not listed blocks.
    pub fn action(&self, capability: Capability) -> Action {
        self.capabilities
            .get(&capability)
            .copied()
            .unwrap_or(Action::Block)
    }

    /// The reference to this policy in a verdict.
    pub fn reference(&self) -> PolicyRef {
        PolicyRef {
            profile: self.name.clone(),
            sha256: self.sha256.hex(),
        }
    }

    /// Whether the policy's file extends this one.
    pub fn extends(&self, other: &Self) -> bool {
        matches!(&self.origin, Origin::Extends { base, .. } if *base == other.name)
    }

    /// The label in the header: `analysis`, `team (analysis + 1)`, or `team (own rules)`.
    pub fn label(&self) -> String {
        match &self.origin {
            Origin::Builtin => self.name.clone(),
            Origin::Extends { widened: 0, .. } => self.name.clone(),
            Origin::Extends { base, widened } => format!("{} ({base} + {widened})", self.name),
            Origin::Own => format!("{} (own rules)", self.name),
        }
    }
}
