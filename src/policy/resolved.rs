//! A policy after `extends` and defaults were worked out: what everything else reads.
//!
//! Two programs read it, the analyser here and the runner in the child, and must mean the same:
//!
//! - `imports` maps a module's full name to its members. `import a.b` is allowed when `a.b` is a
//!   key. `from a import n` and `a.n` are allowed when `a.n` is a key, or `a` is a key and `n` is
//!   one of its members, or its members hold `*`, not `-n`, and `n` is public and not a module. A module
//!   whose name is a proper prefix of a key (`numpy.lib`) may be walked through, not kept. A
//!   module found under another name counts by its own `__name__`. The key `*` allows everything.
//! - `builtins` are the names that load from `builtins`; a name that is not listed is refused
//!   where it is loaded. `*` allows everything. `getattr` and `hasattr`, where listed, take a
//!   literal name that an attribute read would be allowed; `type` takes one argument; `open`
//!   opens plain names in the output folder.
//! - `attributes.deny` is refused on every object, whether read, written, deleted, or named by
//!   a pattern, `getattr` or a format field. A name `__x__` may be read only if it is in
//!   `allow_dunder`, and defined or stored only if it is there or in `define_dunder`; a bare annotation
//!   and the name of an argument count as definitions, and a name of the snippet's own that it may
//!   define it may read. `*` in `allow_dunder` allows all. Names that begin with one underscore are refused on objects that
//!   are not the snippet's own, but for `_asdict _field_defaults _fields _make _replace
//!   _repr_html_`.
//! - `nodes` are names of CPython's `ast` classes; any other node is refused. `*` in a file stands for
//!   all that [`super::NodeKind`] lists, and is written out here.
//! - All names are compared after NFKC.
//! - With `guard = false` nothing of this is enforced; the analyser flags what it would refuse.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::model::{Action, BoundInput, Capability, Digest, Limits, PolicyRef, Tier};

/// Which shape of inputs and result a profile has; a built-in profile's name.
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

    /// The names that a snippet finds bound, beside those of its inputs (protocol.md §5).
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

    /// Those of its inputs, where inputs bind names at all; `None` where they do and are not known.
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

/// Where a policy came from; what the header says of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "origin", rename_all = "lowercase")]
pub enum Origin {
    Builtin,
    /// A file that extends `base` and widens its imports by `widened` modules.
    Extends {
        base: String,
        widened: usize,
    },
    /// A file that extends nothing: marked `own rules`.
    Own,
}

/// Whose word a policy is; the order is who stands above whom.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum SetBy {
    /// Built in.
    #[default]
    Program,
    /// A file of the administrator's folder.
    Administrator,
    /// A file of the user's folder.
    User,
}

/// What agents get back of the data sets that are marked private.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PrivateValues {
    /// Their values are redacted from everything that goes back.
    #[default]
    Hide,
    /// As of a public data set.
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
    /// Refused whatever they are read from.
    pub deny: BTreeSet<String>,
    /// The dunder names that may be read or defined; all others are refused.
    pub allow_dunder: BTreeSet<String>,
    /// Further dunder names that a class or module may define, but nobody may read.
    #[serde(default)]
    pub define_dunder: BTreeSet<String>,
}

/// A resolved policy. Serialised as JSON it is what the analyser worker and the child's runner
/// are given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    pub name: String,
    /// SHA-256 of the text of the file, and of every file it extends, in that order.
    pub sha256: Digest,
    pub origin: Origin,
    #[serde(default)]
    pub set_by: SetBy,
    pub contract: Contract,
    /// Whether the gates inside the child are on.
    pub guard: bool,
    /// Module → its members; `*` stands for all that is not itself a module, `-name` takes one out.
    pub imports: BTreeMap<String, BTreeSet<String>>,
    /// Modules and members that `[widen.imports]` added and nothing is known of: `acme`,
    /// `pandas.io`. They may be imported, and what imports them is flagged.
    #[serde(default)]
    pub unjudged: BTreeSet<String>,
    pub builtins: BTreeSet<String>,
    pub attributes: Attributes,
    /// Names of CPython `ast` node classes that may occur, each of them [`super::NodeKind::listed`].
    pub nodes: BTreeSet<String>,
    /// What a capability does to the verdict; one that is not listed blocks.
    pub capabilities: BTreeMap<Capability, Action>,
    pub limits: Limits,
    /// The weakest tier it may run in.
    pub tier: Tier,
    /// As written; [`Policy::tells_private`] says what comes of it.
    #[serde(default)]
    pub private: PrivateValues,
}

impl Policy {
    /// Whether the values of private data sets go back to the agent. Never under the contract
    /// `scoped`, which promises that its scope `private` does not leave the run.
    pub fn tells_private(&self) -> bool {
        self.private == PrivateValues::Tell && self.contract != Contract::Scoped
    }

    /// Whether this input is a private data set whose values go back all the same.
    pub fn tells(&self, input: &BoundInput) -> bool {
        input.is_private() && self.tells_private()
    }

    /// Whether this input is a private data set whose values are hidden from what goes back.
    pub fn hides(&self, input: &BoundInput) -> bool {
        input.is_private() && !self.tells_private()
    }

    /// What this capability does to a verdict: what is not listed blocks.
    pub fn action(&self, capability: Capability) -> Action {
        self.capabilities
            .get(&capability)
            .copied()
            .unwrap_or(Action::Block)
    }

    /// The reference a verdict carries.
    pub fn reference(&self) -> PolicyRef {
        PolicyRef {
            profile: self.name.clone(),
            sha256: self.sha256.hex(),
        }
    }

    /// What the header shows: `analysis`, `analysis + 1`, or `team (own rules)`.
    pub fn label(&self) -> String {
        match &self.origin {
            Origin::Builtin => self.name.clone(),
            Origin::Extends { widened: 0, .. } => self.name.clone(),
            Origin::Extends { base, widened } => format!("{base} + {widened}"),
            Origin::Own => format!("{} (own rules)", self.name),
        }
    }
}
