//! Names bound in another scope through `global`, `nonlocal` and `:=`: the rules of CPython's
//! symbol table.

use std::borrow::Cow;
use std::collections::HashMap;

use super::Compiler;
use crate::analysis::fold::fold;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{ExprName, ExprNamedExpr, Ranged};
use crate::analysis::walk::{Bound, Scope};

/// The uses of a name in a scope so far.
type Flags = u8;

const USED: Flags = 1;
const LOCAL: Flags = 1 << 1;
const PARAMETER: Flags = 1 << 2;
const IMPORTED: Flags = 1 << 3;
const ANNOTATED: Flags = 1 << 4;
const GLOBAL: Flags = 1 << 5;
const NONLOCAL: Flags = 1 << 6;
/// The target of a comprehension.
const ELEMENT: Flags = 1 << 7;

#[derive(Clone, Copy, PartialEq, Eq)]
enum TableKind {
    Module,
    Function,
    Class,
    Comprehension,
    TypeParameters,
}

struct Table<'a> {
    kind: TableKind,
    parent: usize,
    /// The class whose name is used to mangle private names.
    class: Option<&'a str>,
    names: HashMap<Cow<'a, str>, Flags>,
}

/// The names of all scopes.
pub(super) struct Symbols<'a> {
    tables: Vec<Table<'a>>,
    stack: Vec<usize>,
    /// Each `nonlocal`: the name, its scope and its position.
    nonlocals: Vec<(Cow<'a, str>, usize, TextRange)>,
}

impl<'a> Symbols<'a> {
    /// Few snippets use any of these three, so skip the work for all others.
    pub fn where_needed(text: &str) -> Option<Self> {
        let needed = ["global", "nonlocal", ":="];
        needed.iter().any(|word| text.contains(word)).then(|| {
            let mut symbols = Self {
                tables: Vec::new(),
                stack: Vec::new(),
                nonlocals: Vec::new(),
            };
            symbols.push(TableKind::Module, None);
            symbols
        })
    }

    pub fn enter(&mut self, scope: Scope<'a>) {
        let class = self.tables[self.here()].class;
        match scope {
            Scope::Function(_) | Scope::Async(_) => self.push(TableKind::Function, class),
            Scope::Class(class) => self.push(TableKind::Class, Some(class.name.as_str())),
            Scope::Comprehension { .. } => self.push(TableKind::Comprehension, class),
            Scope::TypeParameters => self.push(TableKind::TypeParameters, class),
        }
    }

    pub fn leave(&mut self) {
        self.stack.pop();
    }

    fn push(&mut self, kind: TableKind, class: Option<&'a str>) {
        let table = Table {
            kind,
            parent: self.here(),
            class,
            names: HashMap::new(),
        };
        self.stack.push(self.tables.len());
        self.tables.push(table);
    }

    fn here(&self) -> usize {
        self.stack.last().copied().unwrap_or(0)
    }

    /// The name after mangling by the innermost enclosing class.
    fn mangled(&self, name: &'a str) -> Cow<'a, str> {
        let name = fold(name);
        if !name.starts_with("__") || name.ends_with("__") {
            return name;
        }
        let class = self.tables[self.here()].class.unwrap_or_default();
        match fold(class).trim_start_matches('_') {
            "" => name,
            class => Cow::Owned(format!("_{class}{name}")),
        }
    }

    fn flags(&self, table: usize, name: &str) -> Flags {
        self.tables[table].names.get(name).copied().unwrap_or(0)
    }

    fn add(&mut self, table: usize, name: Cow<'a, str>, flags: Flags) {
        *self.tables[table].names.entry(name).or_default() |= flags;
    }

    /// Whether an enclosing function binds the name.
    fn is_bound_around(&self, name: &str, scope: usize) -> bool {
        let mut at = scope;
        while at != 0 {
            at = self.tables[at].parent;
            let flags = self.flags(at, name);
            match self.tables[at].kind {
                TableKind::Module => return false,
                TableKind::Class if matches!(name, "__class__" | "__classdict__") => return true,
                TableKind::Class | TableKind::Comprehension => {}
                TableKind::TypeParameters if flags != 0 => return true,
                TableKind::TypeParameters => {}
                TableKind::Function if flags & GLOBAL != 0 => return false,
                TableKind::Function if flags & NONLOCAL != 0 => {}
                TableKind::Function if flags & (LOCAL | PARAMETER | IMPORTED) != 0 => return true,
                TableKind::Function => {}
            }
        }
        false
    }

    /// Checks `name := …`; returns the error, if any.
    fn walrus(&mut self, written: &'a str) -> Option<String> {
        let (here, name) = (self.here(), self.mangled(written));
        // Before 3.13, CPython looked up private names without mangling and found none.
        let private = name != fold(written);
        let mut at = here;
        loop {
            match self.tables[at].kind {
                TableKind::Comprehension => {
                    if !private && self.flags(at, &name) & ELEMENT != 0 {
                        return Some(format!(
                            "`{name} :=` binds what a comprehension goes through"
                        ));
                    }
                    at = self.tables[at].parent;
                }
                // Outside comprehensions, the name belongs to the current scope.
                _ if at == here => return None,
                TableKind::Function => {
                    let handed = if self.flags(at, &name) & GLOBAL == 0 {
                        NONLOCAL
                    } else {
                        GLOBAL
                    };
                    self.add(here, name.clone(), handed);
                    self.add(at, name, LOCAL);
                    return None;
                }
                TableKind::Module => {
                    self.add(here, name.clone(), GLOBAL);
                    self.add(at, name, GLOBAL);
                    return None;
                }
                TableKind::Class => {
                    return Some("`:=` in a comprehension of a class body".to_owned());
                }
                TableKind::TypeParameters => return None,
            }
        }
    }
}

impl<'a> Compiler<'a, '_> {
    pub(super) fn name(&mut self, x: &'a ExprName) {
        if let Some(symbols) = &mut self.symbols
            && x.ctx.is_load()
        {
            let (here, name) = (symbols.here(), symbols.mangled(x.id.as_str()));
            // `super()` needs the enclosing class.
            let kind = symbols.tables[here].kind;
            if name == "super" && matches!(kind, TableKind::Function | TableKind::Comprehension) {
                symbols.add(here, "__class__".into(), USED);
            }
            symbols.add(here, name, USED);
        }
    }

    pub(super) fn bound(&mut self, name: &'a str, at: TextRange, to: Bound<'a>) {
        let Some(symbols) = &mut self.symbols else {
            return;
        };
        let (here, name) = (symbols.here(), symbols.mangled(name));
        let flags = match to {
            Bound::Member { name: "*", .. } => return,
            Bound::Module(_) | Bound::Member { .. } => IMPORTED,
            Bound::Parameter { .. } | Bound::Rest(_) => PARAMETER,
            // In a comprehension, this is `:=`; all others are targets of the loop.
            Bound::Value(_) => LOCAL,
            Bound::ElementOf(_)
            | Bound::Part(..)
            | Bound::Within(_)
            | Bound::Gains(_)
            | Bound::With(_)
            | Bound::Function(_)
            | Bound::Class(_)
            | Bound::Exception
            | Bound::Capture(_)
            | Bound::Something
            | Bound::Deleted => match symbols.tables[here].kind {
                TableKind::Comprehension => LOCAL | ELEMENT,
                TableKind::Module
                | TableKind::Function
                | TableKind::Class
                | TableKind::TypeParameters => LOCAL,
            },
        };
        let before = symbols.flags(here, &name);
        if flags & ELEMENT != 0 && before & (GLOBAL | NONLOCAL) != 0 {
            let what = format!("a comprehension goes through `{name}`, which `:=` binds");
            self.refuse(at, what);
        } else {
            symbols.add(here, name, flags);
        }
    }

    /// Refuses `name: …` in a scope that declares the name `global` or `nonlocal`.
    pub(super) fn annotated_name(&mut self, x: &'a ExprName) {
        let Some(symbols) = &mut self.symbols else {
            return;
        };
        let (here, name) = (symbols.here(), symbols.mangled(x.id.as_str()));
        if here != 0 && symbols.flags(here, &name) & (GLOBAL | NONLOCAL) != 0 {
            let what = format!("annotates `{name}`, which belongs to another scope");
            self.refuse(x.range(), what);
        } else {
            symbols.add(here, name, LOCAL | ANNOTATED);
        }
    }

    pub(super) fn declared(&mut self, name: &'a str, global: bool, at: TextRange) {
        let Some(symbols) = &mut self.symbols else {
            return;
        };
        let word = if global { "global" } else { "nonlocal" };
        let (here, name) = (symbols.here(), symbols.mangled(name));
        let before = symbols.flags(here, &name);
        let wrong = if before & PARAMETER != 0 {
            format!("`{name}` is a parameter and {word}")
        } else if before & (LOCAL | USED | ANNOTATED) != 0 {
            format!("`{name}` occurs before it is {word}")
        } else if !global && here == 0 {
            "nonlocal at the module's level".to_owned()
        } else {
            let (own, other) = if global {
                (GLOBAL, NONLOCAL)
            } else {
                (NONLOCAL, GLOBAL)
            };
            symbols.add(here, name.clone(), own);
            if before & other == 0 {
                if !global {
                    symbols.nonlocals.push((name, here, at));
                }
                return;
            }
            format!("`{name}` is nonlocal and global")
        };
        self.refuse(at, wrong);
    }

    pub(super) fn walrus(&mut self, x: &'a ExprNamedExpr) {
        let inside = self.inside();
        let wrong = if inside.quoted {
            Some("`:=` in an annotation".to_owned())
        } else if inside.iterable {
            Some("`:=` in what a comprehension goes through".to_owned())
        } else if let (Some(symbols), Some(name)) = (&mut self.symbols, x.target.as_name_expr()) {
            symbols.walrus(name.id.as_str())
        } else {
            None
        };
        if let Some(wrong) = wrong {
            self.refuse(x.range(), wrong);
        }
    }

    /// Every `nonlocal` needs an enclosing function that binds the name, anywhere in its body.
    pub(super) fn unbound_nonlocals(&mut self) {
        let Some(symbols) = self.symbols.take() else {
            return;
        };
        for (name, scope, at) in &symbols.nonlocals {
            if !symbols.is_bound_around(name, *scope) {
                self.refuse(*at, format!("no function around binds `{name}`"));
            }
        }
    }
}
