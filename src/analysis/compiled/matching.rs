//! Patterns of `match`.

use std::borrow::Cow;
use std::collections::HashSet;

use super::Compiler;
use crate::analysis::fold::fold;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{
    Constant, Expr, Identifier, Operator, Pattern, Ranged, StmtMatch, UnaryOp,
};

/// Names that a pattern binds.
type Names<'a> = HashSet<Cow<'a, str>>;

/// The position of a pattern.
#[derive(Clone, Copy)]
struct At {
    /// The pattern may match everything without making later ones unreachable.
    open: bool,
    /// Directly in a sequence, where a starred pattern is allowed.
    element: bool,
}

impl At {
    const PART: Self = Self {
        open: true,
        element: false,
    };
}

impl<'a> Compiler<'a, '_> {
    pub(super) fn cases(&mut self, x: &'a StmtMatch) {
        let last = x.cases.len().saturating_sub(1);
        for (i, case) in x.cases.iter().enumerate() {
            let at = At {
                open: i == last || case.guard.is_some(),
                element: false,
            };
            self.pattern(&case.pattern, at, &mut Names::new());
        }
    }

    fn pattern(&mut self, p: &'a Pattern, at: At, names: &mut Names<'a>) {
        match p {
            Pattern::MatchValue(x) => {
                self.wildcard(&x.value);
                self.value(&x.value);
            }
            Pattern::MatchSingleton(_) => {}
            Pattern::MatchSequence(x) => {
                let stars = x.patterns.iter().filter(|p| p.is_match_star());
                if stars.count() > 1 {
                    self.refuse(x.range(), "two stars in a pattern");
                }
                for part in &x.patterns {
                    let at = At {
                        element: true,
                        ..At::PART
                    };
                    self.pattern(part, at, names);
                }
            }
            Pattern::MatchMapping(x) => {
                self.keys(&x.keys);
                for part in &x.patterns {
                    self.pattern(part, At::PART, names);
                }
                if let Some(rest) = &x.rest {
                    if rest == "_" {
                        self.refuse(x.range(), "`**_` in a pattern");
                    }
                    self.capture(rest, x.range(), names);
                }
            }
            Pattern::MatchClass(x) => {
                self.wildcard(&x.cls);
                let mut seen = HashSet::new();
                for name in &x.kwd_attrs {
                    if !seen.insert(fold(name.as_str())) {
                        self.refuse(x.range(), format!("two patterns for `{name}`"));
                    }
                }
                for part in x.patterns.iter().chain(&x.kwd_patterns) {
                    self.pattern(part, At::PART, names);
                }
            }
            Pattern::MatchStar(x) => {
                if !at.element {
                    self.refuse(x.range(), "a starred pattern alone");
                }
                if let Some(name) = &x.name {
                    self.capture(name, x.range(), names);
                }
            }
            Pattern::MatchAs(x) => {
                match &x.pattern {
                    Some(inner) => {
                        let element = false;
                        self.pattern(inner, At { element, ..at }, names);
                    }
                    None if !at.open => {
                        self.refuse(x.range(), "a pattern that matches everything before others");
                    }
                    None => {}
                }
                if let Some(name) = &x.name {
                    self.capture(name, x.range(), names);
                }
            }
            Pattern::MatchOr(x) => self.alternatives(&x.patterns, x.range(), at, names),
        }
    }

    /// All alternatives must bind the same names; only the last may match everything.
    fn alternatives(
        &mut self,
        patterns: &'a [Pattern],
        range: TextRange,
        at: At,
        names: &mut Names<'a>,
    ) {
        let mut bound: Option<Names<'a>> = None;
        let last = patterns.len().saturating_sub(1);
        for (i, alternative) in patterns.iter().enumerate() {
            let at = At {
                open: at.open && i == last,
                element: false,
            };
            let mut own = Names::new();
            self.pattern(alternative, at, &mut own);
            match &bound {
                Some(first) if *first != own => {
                    self.refuse(alternative.range(), "alternatives bind different names");
                }
                Some(_) => {}
                None => bound = Some(own),
            }
        }
        for name in bound.into_iter().flatten() {
            self.insert(name, range, names);
        }
    }

    fn capture(&mut self, name: &'a Identifier, at: TextRange, names: &mut Names<'a>) {
        self.insert(fold(name.as_str()), at, names);
    }

    fn insert(&mut self, name: Cow<'a, str>, at: TextRange, names: &mut Names<'a>) {
        if names.contains(&name) {
            self.refuse(at, format!("a pattern binds `{name}` twice"));
        }
        names.insert(name);
    }

    /// Keys must be literals or attributes, each literal at most once.
    fn keys(&mut self, keys: &'a [Expr]) {
        let mut seen = HashSet::new();
        for key in keys {
            self.value(key);
            if literal(key).is_some_and(|key| !seen.insert(key)) {
                self.refuse(key.range(), "a key twice in a pattern");
            }
        }
    }

    /// `_` is no name in a pattern, so it has no attributes and is no class.
    fn wildcard(&mut self, mut e: &'a Expr) {
        while let Expr::Attribute(x) = e {
            e = &x.value;
        }
        if e.as_name_expr().is_some_and(|x| &x.id == "_") {
            self.refuse(e.range(), "`_` as a name in a pattern");
        }
    }

    /// A value to compare with must be a literal or an attribute.
    fn value(&mut self, e: &'a Expr) {
        if !e.is_attribute_expr() && literal(e).is_none() {
            self.refuse(e.range(), "no value that a pattern can compare with");
        }
    }
}

/// A literal in a pattern; equal if Python considers the values equal.
#[derive(PartialEq, Eq, Hash)]
enum Literal<'a> {
    None,
    Text(&'a str),
    Bytes(&'a [u8]),
    /// The real and the imaginary part.
    Number(String, String),
}

fn literal(e: &Expr) -> Option<Literal<'_>> {
    match e {
        Expr::Constant(c) => match &c.value {
            Constant::None => Some(Literal::None),
            Constant::Str(text) => Some(Literal::Text(text)),
            Constant::Bytes(bytes) => Some(Literal::Bytes(bytes)),
            Constant::Bool(is) => Some(Literal::Number(u8::from(*is).to_string(), zero())),
            Constant::Int(_) | Constant::Float(_) => Some(Literal::Number(real(e)?, zero())),
            Constant::Complex { imag, .. } => Some(Literal::Number(zero(), number(*imag))),
            Constant::Tuple(_) | Constant::Ellipsis => None,
        },
        Expr::UnaryOp(x) if x.op == UnaryOp::USub => match &*x.operand {
            Expr::Constant(c) => match c.value {
                Constant::Complex { imag, .. } => Some(Literal::Number(zero(), number(-imag))),
                _ => Some(Literal::Number(real(e)?, zero())),
            },
            _ => None,
        },
        Expr::BinOp(x) => {
            let Expr::Constant(right) = &*x.right else {
                return None;
            };
            let Constant::Complex { imag, .. } = right.value else {
                return None;
            };
            let imag = match x.op {
                Operator::Add => imag,
                Operator::Sub => -imag,
                _ => return None,
            };
            Some(Literal::Number(real(&x.left)?, number(imag)))
        }
        _ => None,
    }
}

/// The real number with its sign.
fn real(e: &Expr) -> Option<String> {
    match e {
        Expr::Constant(c) => match &c.value {
            Constant::Int(n) => Some(n.to_string()),
            Constant::Float(n) => Some(number(*n)),
            _ => None,
        },
        Expr::UnaryOp(x) if x.op == UnaryOp::USub && x.operand.is_constant_expr() => {
            let digits = real(&x.operand)?;
            Some(if digits == "0" {
                digits
            } else {
                format!("-{digits}")
            })
        }
        _ => None,
    }
}

/// The number, written like an integer if it is whole.
fn number(n: f64) -> String {
    if n == 0.0 {
        zero()
    } else if n.fract() == 0.0 {
        format!("{n:.0}")
    } else {
        n.to_string()
    }
}

fn zero() -> String {
    "0".to_owned()
}
