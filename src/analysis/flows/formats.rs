//! How numbers are printed: functions and texts that print another number than they are given.

use super::Pass;
use super::functions::Body;
use super::tables::word;
use crate::analysis::parse::ast::{self, Constant, Expr, Operator, Ranged, Stmt};
use crate::model::Altered;

/// Keywords that say how numbers are printed.
const KEYWORDS: &[&str] = &["float_format", "fmt", "formatter", "formatters"];
/// Functions and methods that take a format.
const TAKING: &[&str] = &[
    "FuncFormatter",
    "format",
    "format_index",
    "option_context",
    "set_major_formatter",
    "set_minor_formatter",
    "set_option",
    "setattr",
];
/// Parts of formats in formats that are followed.
const DEPTH: usize = 12;

impl<'a> Pass<'a> {
    /// Notes where a call changes how numbers are printed.
    pub(super) fn prints_by(&mut self, x: &'a ast::ExprCall) {
        let name = match &*x.func {
            Expr::Attribute(f) => f.attr.as_str(),
            Expr::Name(f) => f.id.as_str(),
            _ => "",
        };
        let said = x
            .args
            .iter()
            .any(|e| text(e).is_some_and(|t| t.contains("format")));
        if said || TAKING.contains(&name) {
            for e in &x.args {
                self.prints(e, said);
            }
        }
        for keyword in KEYWORDS {
            if let Some(e) = word(x, keyword) {
                self.prints(e, true);
            }
        }
        for e in x
            .keywords
            .iter()
            .filter(|k| k.arg.is_none())
            .map(|k| &k.value)
        {
            if let Expr::Dict(dict) = e {
                let of = dict.keys.iter().zip(&dict.values);
                for (_, e) in of.filter(|(key, _)| {
                    key.as_ref()
                        .and_then(text)
                        .is_some_and(|t| KEYWORDS.contains(&t))
                }) {
                    self.prints(e, true);
                }
            }
        }
    }

    /// Notes where an attribute changes how numbers are printed.
    pub(super) fn prints_with(&mut self, attr: &str, e: &'a Expr) {
        if attr.contains("format") {
            self.prints(e, true);
        }
    }

    /// `sure`: whether it is a format.
    fn prints(&mut self, e: &'a Expr, sure: bool) {
        let at = e.range().start().to_usize();
        match e {
            Expr::Dict(x) => x.values.iter().for_each(|e| self.prints(e, sure)),
            Expr::List(x) => x.elts.iter().for_each(|e| self.prints(e, sure)),
            Expr::Tuple(x) => x.elts.iter().for_each(|e| self.prints(e, sure)),
            Expr::Constant(_) => {
                if text(e).is_some_and(|t| sure && adds_digits(t)) {
                    self.explains(at, self.how_printed(e));
                    self.alters(Altered::Printing, at);
                }
            }
            e if is_plain(e) => {}
            e => {
                let value = self.eval(e);
                let own = value
                    .funcs
                    .iter()
                    .filter_map(|id| self.funcs.get(*id as usize));
                let own: Vec<bool> = own.map(|f| prints_as_is(f.args, f.body)).collect();
                let plain = match (own.is_empty(), &value.texts) {
                    (false, _) => own.iter().all(|plain| *plain),
                    (true, Some(texts)) => !texts.iter().any(|t| adds_digits(t)),
                    (true, None) => {
                        !sure || !matches!(e, Expr::Call(_) | Expr::Attribute(_) | Expr::Lambda(_))
                    }
                };
                if !plain {
                    self.explains(at, self.how_printed(e));
                    self.alters(Altered::Printing, at);
                }
            }
        }
    }
}

/// A literal text.
fn text(e: &Expr) -> Option<&str> {
    match e {
        Expr::Constant(ast::ExprConstant {
            value: Constant::Str(text),
            ..
        }) => Some(text),
        _ => None,
    }
}

/// Whether a format prints the number that it is given: `"{:.2f}".format`, `lambda v: f"{v:.1f} %"`.
pub(super) fn is_plain(e: &Expr) -> bool {
    match e {
        Expr::Attribute(x) if x.attr.as_str() == "format" => {
            text(&x.value).is_some_and(|t| t.contains('{') && !adds_digits(t))
        }
        Expr::Lambda(x) => prints_as_is(&x.args, Body::Expression(&x.body)),
        Expr::Name(x) => x.id.as_str() == "str",
        _ => false,
    }
}

/// Whether a literal text has no digits of its own beside its fields.
pub(super) fn is_template(e: &Expr) -> bool {
    text(e).is_some_and(|t| !adds_digits(t))
}

/// Whether a text has digits beside its fields.
fn adds_digits(text: &str) -> bool {
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '{' => drop(rest.by_ref().find(|c| *c == '}')),
            '%' => {
                while rest.next_if(|c| "-+ #0123456789.*,".contains(*c)).is_some() {}
                rest.next();
            }
            c if c.is_numeric() => return true,
            _ => {}
        }
    }
    false
}

fn prints_as_is(args: &ast::Arguments, body: Body<'_>) -> bool {
    let mut names = args.posonlyargs.iter().chain(&args.args);
    let Some(name) = names.next().map(|a| a.def.arg.as_str()) else {
        return false;
    };
    let given = match body {
        Body::Expression(e) => Some(e),
        Body::Statements(all) => {
            let all = match all {
                [Stmt::Expr(said), rest @ ..] if text(&said.value).is_some() => rest,
                all => all,
            };
            match all {
                [Stmt::Return(x)] => x.value.as_deref(),
                _ => None,
            }
        }
    };
    given.is_some_and(|e| is_number(e, name) || prints_only(e, name, 0) == Some(true))
}

fn is_number(e: &Expr, name: &str) -> bool {
    matches!(e, Expr::Name(x) if x.id.as_str() == name)
}

/// Whether a text holds the number; `None` if it may hold another one.
fn prints_only(e: &Expr, name: &str, depth: usize) -> Option<bool> {
    if depth > DEPTH {
        return None;
    }
    let one = |e: &Expr| prints_only(e, name, depth + 1);
    let plain = |e: &Expr| is_number(e, name).then_some(true);
    match e {
        Expr::Constant(_) => (!text(e)?.chars().any(char::is_numeric)).then_some(false),
        Expr::JoinedStr(x) => {
            let mut holds = false;
            for part in &x.values {
                holds |= match part {
                    Expr::FormattedValue(field) => plain(&field.value)?,
                    e => one(e)?,
                };
            }
            Some(holds)
        }
        Expr::BinOp(x) => match x.op {
            Operator::Add => Some(one(&x.left)? | one(&x.right)?),
            Operator::Mod => match text(&x.left) {
                Some(t) if !adds_digits(t) => plain(&x.right),
                _ => None,
            },
            _ => None,
        },
        Expr::Call(x) => match &*x.func {
            Expr::Name(f) if matches!(f.id.as_str(), "str" | "format") => plain(x.args.first()?),
            Expr::Attribute(f) => {
                let signs = |e: &Expr| text(e).is_some_and(|t| !t.chars().any(char::is_numeric));
                match f.attr.as_str() {
                    "format" if is_plain(&x.func) => plain(x.args.first()?),
                    "replace" if x.args.iter().all(signs) => one(&f.value),
                    "strip" | "rjust" | "ljust" | "center" if x.args.len() < 2 => one(&f.value),
                    _ => None,
                }
            }
            _ => None,
        },
        _ => None,
    }
}
