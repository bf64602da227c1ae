//! Members of modules under the policy.

use super::eval::Resolver;
use super::value::{Standing, Val};
use crate::analysis::library::Library;

impl<'a> Resolver<'a> {
    /// A member of a module and its standing under the policy.
    pub fn child(&self, module: &str, name: &str) -> (Val<'a>, Standing) {
        let path = format!("{module}.{name}");
        if self.policy.imports.contains_key("*") {
            let is_module = self.library.has_module(module, name);
            return (
                if is_module {
                    Val::Module(path.into())
                } else {
                    Val::Member(path.into())
                },
                Standing::Allowed,
            );
        }
        if let Some(target) = self.library.other(module, name) {
            let standing = self.module_standing(target);
            return (Val::Module(target.into()), standing);
        }
        if let standing @ (Standing::Allowed | Standing::OnTheWay) = self.module_standing(&path) {
            return (Val::Module(path.into()), standing);
        }
        let listed = self.policy.imports.get(module);
        if self.library.has_module(module, name) && !listed.is_some_and(|m| m.contains(name)) {
            return (Val::Module(path.into()), Standing::Module);
        }
        let standing = match listed {
            None if self.module_standing(module) == Standing::OnTheWay => Standing::Module,
            None => Standing::Foreign,
            // Listing a module's name does not list its members.
            Some(members) if members.contains(name) && self.library.has_module(module, name) => {
                return (Val::Module(path.into()), Standing::Allowed);
            }
            Some(members) if members.contains(name) => Standing::Allowed,
            Some(_) if name.starts_with('_') => {
                if self.policy.attributes.allow_dunder.contains(name) {
                    Standing::Allowed
                } else {
                    Standing::Private
                }
            }
            Some(members) if members.contains(&format!("-{name}")) => Standing::Withheld,
            Some(members) if members.contains("*") => {
                if self.library.has_member(module, name) {
                    Standing::Allowed
                } else if self.library.is_stdlib(name) && !is_namesake(module, name) {
                    Standing::Module
                } else {
                    Standing::Unresolved
                }
            }
            Some(_) if self.library.is_stdlib(name) && !is_namesake(module, name) => {
                Standing::Module
            }
            Some(_) => Standing::Withheld,
        };
        match standing {
            Standing::Module => (Val::Module(path.into()), standing),
            Standing::Allowed if !self.library.is_stdlib(module) || module == "numbers" => {
                (Val::Member(home(&path, name).into()), standing)
            }
            _ => (Val::Member(path.into()), standing),
        }
    }

    /// The standing of a module that is imported.
    pub fn module_standing(&self, path: &str) -> Standing {
        if self.policy.imports.contains_key(path) || self.policy.imports.contains_key("*") {
            return Standing::Allowed;
        }
        let prefix = format!("{path}.");
        let on_the_way = self
            .policy
            .imports
            .range(prefix.clone()..)
            .next()
            .is_some_and(|(listed, _)| listed.starts_with(&prefix));
        if on_the_way {
            Standing::OnTheWay
        } else {
            Standing::Foreign
        }
    }

    pub fn library(&self) -> &'static Library {
        self.library
    }
}

/// Members of the standard library that share the name of a module but are none.
const NAMESAKES: &[(&str, &str)] = &[
    ("array", "array"),
    ("bisect", "bisect"),
    ("calendar", "calendar"),
    ("copy", "copy"),
    ("datetime", "datetime"),
    ("datetime", "time"),
    ("fnmatch", "fnmatch"),
    ("glob", "glob"),
    ("os", "stat"),
    ("platform", "platform"),
    ("pprint", "pprint"),
    ("random", "random"),
    ("sys", "platform"),
    ("time", "time"),
    ("timeit", "timeit"),
];

fn is_namesake(module: &str, name: &str) -> bool {
    NAMESAKES.contains(&(module, name))
}

/// The original path of a name that other modules re-export (`sklearn.pipeline.deepcopy`), for
/// names whose effect depends on what they are.
fn home<'p>(path: &'p str, name: &str) -> &'p str {
    match name {
        "ABCMeta" => "abc.ABCMeta",
        "EnumMeta" => "enum.EnumMeta",
        "EnumType" => "enum.EnumType",
        "Enum" => "enum.Enum",
        "IntEnum" => "enum.IntEnum",
        "StrEnum" => "enum.StrEnum",
        "Flag" => "enum.Flag",
        "IntFlag" => "enum.IntFlag",
        "wraps" => "functools.wraps",
        "partial" => "functools.partial",
        "partialmethod" => "functools.partialmethod",
        "deepcopy" => "copy.deepcopy",
        "namedtuple" => "collections.namedtuple",
        "FontProperties" if path.starts_with("matplotlib.") => {
            "matplotlib.font_manager.FontProperties"
        }
        _ => path,
    }
}
