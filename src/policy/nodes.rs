//! The table of all node kinds in Python's syntax trees and how each is handled, used by analyser and runner.
//!
//! Kinds that are not in the table are refused in every profile: the analyser's walk can only produce
//! [`NodeKind`]s; no policy can list another kind, and `*` stands only for kinds in the table; the runner gets
//! a policy's list from here and refuses all others. `assets/docs/syntax.md` shows the table with the built-in
//! profiles. `tests/it/nodes.rs` compares it with every Python on the machine.

use std::collections::BTreeSet;
use std::path::Path;

use super::error::PolicyError;
use crate::model::nearest;

/// How a kind is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handling {
    /// The analyser walks it, the runner inserts its gates into it, and the policy's list decides.
    Listed,
    /// Too new for the analyser: a snippet with it is unanalyzable, and no policy can list it.
    Unread,
    /// Never in a snippet's tree: other modes of the parser, and classes that Python keeps for compatibility.
    Elsewhere,
}

macro_rules! kinds {
    ($($handling:ident $since:literal $group:literal: $($name:ident)+;)+) => {
        /// A class of CPython's `ast`, by its own name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(non_camel_case_types)] // the names are CPython's
        pub enum NodeKind {
            $($($name,)+)+
        }

        impl NodeKind {
            /// All kinds, in the order of the table.
            pub const ALL: &'static [Self] = &[$($(Self::$name,)+)+];

            pub const fn name(self) -> &'static str {
                match self {
                    $($(Self::$name => stringify!($name),)+)+
                }
            }

            /// Handling, minor version of Python 3 that introduced the kind (11 for older ones), and base
            /// class.
            const fn row(self) -> (Handling, u8, &'static str) {
                match self {
                    $($(Self::$name => (Handling::$handling, $since, $group),)+)+
                }
            }
        }
    };
}

kinds! {
    Listed 11 "mod": Module Expression;
    Listed 11 "stmt": FunctionDef AsyncFunctionDef ClassDef Return Delete Assign AugAssign AnnAssign For AsyncFor
        While If With AsyncWith Match Raise Try TryStar Assert Import ImportFrom Global Nonlocal Expr Pass Break
        Continue;
    Listed 12 "stmt": TypeAlias;
    Listed 11 "expr": BoolOp NamedExpr BinOp UnaryOp Lambda IfExp Dict Set ListComp SetComp DictComp GeneratorExp
        Await Yield YieldFrom Compare Call FormattedValue JoinedStr Constant Attribute Subscript Starred Name List
        Tuple Slice;
    Listed 11 "expr_context": Load Store Del;
    Listed 11 "boolop": And Or;
    Listed 11 "operator": Add Sub Mult MatMult Div Mod Pow LShift RShift BitOr BitXor BitAnd FloorDiv;
    Listed 11 "unaryop": Invert Not UAdd USub;
    Listed 11 "cmpop": Eq NotEq Lt LtE Gt GtE Is IsNot In NotIn;
    Listed 11 "AST": comprehension arguments arg keyword alias withitem match_case;
    Listed 11 "excepthandler": ExceptHandler;
    Listed 11 "pattern": MatchValue MatchSingleton MatchSequence MatchMapping MatchClass MatchStar MatchAs MatchOr;
    Listed 12 "type_param": TypeVar ParamSpec TypeVarTuple;
    Unread 14 "expr": TemplateStr Interpolation;
    Elsewhere 11 "mod": Interactive FunctionType Suite;
    Elsewhere 11 "type_ignore": TypeIgnore;
    Elsewhere 11 "slice": Index ExtSlice;
    Elsewhere 11 "expr_context": AugLoad AugStore Param;
    Elsewhere 11 "Constant": Num Str Bytes NameConstant Ellipsis;
}

impl NodeKind {
    pub const fn handling(self) -> Handling {
        self.row().0
    }

    /// The minor version of the first Python 3 that has the kind, at least 11, the oldest that runs snippets.
    pub const fn since(self) -> u8 {
        self.row().1
    }

    /// The base class of its class.
    pub const fn base(self) -> &'static str {
        self.row().2
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// The kinds that a policy may list.
    pub fn listed() -> impl Iterator<Item = Self> + Clone {
        let all = Self::ALL.iter().copied();
        all.filter(|kind| kind.handling() == Handling::Listed)
    }
}

/// A file's `nodes.allow`, checked, with `*` replaced by all kinds that can be listed.
pub(super) fn allowed(
    path: &Path,
    text: &str,
    written: BTreeSet<String>,
) -> Result<BTreeSet<String>, PolicyError> {
    for name in written.iter().filter(|name| *name != "*") {
        let message = match NodeKind::named(name).map(NodeKind::handling) {
            Some(Handling::Listed) => continue,
            Some(Handling::Unread) => {
                format!("`{name}` is syntax that the analyser does not read: no policy allows it")
            }
            Some(Handling::Elsewhere) => format!("`{name}` never occurs in a snippet"),
            None => format!("`{name}` is not a known kind of syntax node"),
        };
        return Err(PolicyError {
            nearest: nearest(name, NodeKind::listed().map(NodeKind::name)).map(str::to_owned),
            ..PolicyError::new(path, message).at(text, "nodes.allow")
        });
    }
    if !written.contains("*") {
        return Ok(written);
    }
    Ok(NodeKind::listed()
        .map(|kind| kind.name().to_owned())
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(names: &[&str]) -> Result<BTreeSet<String>, String> {
        let written = names.iter().map(|name| (*name).to_owned()).collect();
        let text = "[nodes]\nallow = []\n";
        allowed(Path::new("team.toml"), text, written).map_err(|e| e.to_string())
    }

    #[test]
    fn a_policy_lists_only_kinds_of_the_table_and_a_star_stands_for_all_of_them() {
        assert_eq!(read(&["Name", "Call"]).unwrap().len(), 2);
        let all = read(&["*", "Name"]).unwrap();
        assert_eq!(all.len(), NodeKind::listed().count());
        assert!(!all.contains("*") && !all.contains("TemplateStr") && !all.contains("Interactive"));
        for (name, expected) in [
            ("Nonsense", "`Nonsense` is not a known kind of syntax node"),
            ("Nmae", "did you mean `Name`?"),
            ("TemplateStr", "does not read"),
            ("Interactive", "never occurs in a snippet"),
        ] {
            let error = read(&["Name", name]).unwrap_err();
            assert!(
                error.contains(expected)
                    && error.contains("team.toml:2")
                    && error.contains("`nodes.allow`"),
                "{error}"
            );
        }
    }

    #[test]
    fn each_kind_is_in_the_table_once() {
        let names: BTreeSet<_> = NodeKind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), NodeKind::ALL.len());
        assert!(
            NodeKind::ALL
                .iter()
                .all(|kind| NodeKind::named(kind.name()) == Some(*kind))
        );
    }
}
