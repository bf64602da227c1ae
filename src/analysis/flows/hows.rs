//! How values are changed, in a few words: by which factor, to what, where.

use super::Pass;
use super::formats::is_plain;
use super::stmts;
use super::tables::word;
use crate::analysis::parse::ast::{self, Constant, Expr, Operator, Ranged};
use crate::analysis::text;
use crate::model::{Change, How};

/// Signs of a text that are kept.
const MOST: usize = 60;
/// Expressions in expressions that are looked at.
const DEPTH: usize = 12;
/// Methods that leave numbers what they are, or nearly.
const NEARLY: &[&str] = &[
    "abs", "astype", "copy", "round", "to_list", "to_numpy", "tolist",
];

impl Pass<'_> {
    /// Notes how the values at this place are changed.
    pub(super) fn explains(&mut self, at: usize, hows: Vec<How>) {
        if !hows.is_empty() {
            self.altering.hows.entry(at).or_insert(hows);
        }
    }

    /// A change with the source text of what it is made by.
    pub(super) fn how(&self, by: Change, e: &Expr) -> How {
        let (from, to) = (e.range().start().to_usize(), e.range().end().to_usize());
        let source = self.text.get(from..to).unwrap_or_default();
        let line: Vec<&str> = source.split_whitespace().collect();
        let line = line.join(" ");
        let cut: String = line.chars().take(MOST).collect();
        let more = if cut.len() < line.len() { "…" } else { "" };
        How {
            by,
            text: text::shown(&format!("{cut}{more}")),
        }
    }

    /// `t["c"] += e`.
    pub(super) fn how_augmented(&self, op: Operator, e: &Expr) -> Vec<How> {
        sign(op, false)
            .map(|by| self.how(by, e))
            .into_iter()
            .collect()
    }

    /// How a column is changed by this value; `of`: whether an expression is the column itself.
    pub(super) fn how_changed(&self, e: &Expr, of: &dyn Fn(&Expr) -> bool) -> Vec<How> {
        match self.shape(e, of, 0) {
            Some(hows) => hows,
            None => match column(e) {
                Some(name) => vec![How {
                    by: Change::From,
                    text: text::shown(name),
                }],
                None => vec![self.how(Change::Is, e)],
            },
        }
    }

    /// The rows that a target names: `t.loc[rows, "c"]`, `t[rows]`.
    pub(super) fn how_picked(&self, x: &ast::ExprSubscript) -> Option<How> {
        let by_label = matches!(&*x.value, Expr::Attribute(by) if matches!(by.attr.as_str(), "at" | "iat" | "iloc" | "loc"));
        let rows = match &*x.slice {
            Expr::Tuple(pair) if by_label => pair.elts.first()?,
            rows if by_label => rows,
            rows @ (Expr::Compare(_) | Expr::BinOp(_) | Expr::UnaryOp(_)) => rows,
            _ => return None,
        };
        let all = matches!(rows, Expr::Slice(s) if s.lower.is_none() && s.upper.is_none());
        (!all).then(|| self.how(Change::Where, rows))
    }

    fn shape(&self, e: &Expr, of: &dyn Fn(&Expr) -> bool, depth: usize) -> Option<Vec<How>> {
        if depth > DEPTH {
            return None;
        }
        let is = |e: &Expr| same(e, of);
        match e {
            e if is(e) => Some(Vec::new()),
            Expr::BinOp(x) => {
                let (other, turned) = match (is(&x.left), is(&x.right)) {
                    (true, false) => (&x.right, false),
                    (false, true) => (&x.left, true),
                    _ => return None,
                };
                Some(vec![self.how(sign(x.op, turned)?, other)])
            }
            Expr::Lambda(x) => self.shape(&x.body, of, depth + 1),
            Expr::IfExp(x) => {
                let (then, other) = (is(&x.body), is(&x.orelse));
                self.parted(&x.test, (&x.body, then), (&x.orelse, other), of, depth)
            }
            Expr::Call(x) => {
                let Expr::Attribute(f) = &*x.func else {
                    return None;
                };
                let name = f.attr.as_str();
                let first = x.args.first();
                if name == "where" && matches!(&*f.value, Expr::Name(n) if n.id.as_str() == "np") {
                    let [test, then, other] = x.args.as_slice() else {
                        return None;
                    };
                    let kept = (is(then), is(other));
                    return self.parted(test, (then, kept.0), (other, kept.1), of, depth);
                }
                match name {
                    "where" | "mask" if is(&f.value) => {
                        let test = first.or_else(|| word(x, "cond"))?;
                        let other = x.args.get(1).or_else(|| word(x, "other"))?;
                        let mut hows = self.part(other, of, depth);
                        let by = match name {
                            "mask" => Change::Where,
                            _ => Change::Unless,
                        };
                        hows.push(self.how(by, test));
                        Some(hows)
                    }
                    name if NEARLY.contains(&name) => self.shape(&f.value, of, depth + 1),
                    "apply" | "map" | "transform" if is(&f.value) => match first? {
                        Expr::Lambda(by) => {
                            let mut names = by.args.posonlyargs.iter().chain(&by.args.args);
                            let name = names.next()?.def.arg.as_str();
                            let of = |e: &Expr| matches!(e, Expr::Name(n) if n.id.as_str() == name);
                            self.shape(&by.body, &of, depth + 1)
                        }
                        _ => None,
                    },
                    name if is(&f.value) => {
                        Some(vec![self.how(
                            method_sign(name)?,
                            first.filter(|_| x.args.len() == 1)?,
                        )])
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// One of two values, by a condition: the one that is another.
    fn parted(
        &self,
        test: &Expr,
        then: (&Expr, bool),
        other: (&Expr, bool),
        of: &dyn Fn(&Expr) -> bool,
        depth: usize,
    ) -> Option<Vec<How>> {
        let (changed, by) = match (then.1, other.1) {
            (false, true) => (then.0, Change::Where),
            (true, false) => (other.0, Change::Unless),
            _ => return None,
        };
        let mut hows = self.part(changed, of, depth);
        hows.push(self.how(by, test));
        Some(hows)
    }

    fn part(&self, e: &Expr, of: &dyn Fn(&Expr) -> bool, depth: usize) -> Vec<How> {
        let shape = self.shape(e, of, depth + 1);
        shape.unwrap_or_else(|| vec![self.how(Change::Is, e)])
    }

    /// How numbers are printed: `lambda v: f"{v * 80:.1f} %"`.
    pub(super) fn how_printed(&self, e: &Expr) -> Vec<How> {
        if let Expr::Lambda(x) = e
            && let Some(name) = x.args.posonlyargs.iter().chain(&x.args.args).next()
        {
            let name = name.def.arg.as_str();
            let of = |e: &Expr| matches!(e, Expr::Name(n) if n.id.as_str() == name);
            let fields: Vec<&Expr> = match &*x.body {
                Expr::JoinedStr(x) => x.values.iter().filter_map(field).collect(),
                _ => Vec::new(),
            };
            if let [one] = fields.as_slice()
                && let Some(hows) = self.shape(one, &of, 0)
                && !hows.is_empty()
            {
                return hows;
            }
            return vec![self.how(Change::Is, &x.body)];
        }
        match is_plain(e) {
            true => Vec::new(),
            false => vec![self.how(Change::Is, e)],
        }
    }
}

fn field(e: &Expr) -> Option<&Expr> {
    match e {
        Expr::FormattedValue(x) => Some(&x.value),
        _ => None,
    }
}

/// Whether an expression is the column, of another type at most.
fn same(e: &Expr, of: &dyn Fn(&Expr) -> bool) -> bool {
    if of(e) {
        return true;
    }
    match e {
        Expr::Attribute(x) if x.attr.as_str() == "values" => same(&x.value, of),
        Expr::Call(x) => match &*x.func {
            Expr::Attribute(f) => NEARLY.contains(&f.attr.as_str()) && same(&f.value, of),
            _ => false,
        },
        _ => false,
    }
}

/// The column that an expression picks by its name.
fn column(e: &Expr) -> Option<&str> {
    match e {
        Expr::Subscript(x) => match stmts::literal(stmts::place(x).1?)?[..] {
            [name] => Some(name),
            _ => None,
        },
        Expr::Attribute(x) if x.attr.as_str() == "values" => column(&x.value),
        Expr::Call(x) => match &*x.func {
            Expr::Attribute(f) if NEARLY.contains(&f.attr.as_str()) => column(&f.value),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn sign(op: Operator, turned: bool) -> Option<Change> {
    Some(match op {
        Operator::Mult => Change::Times,
        Operator::Add => Change::Plus,
        Operator::Div if !turned => Change::Over,
        Operator::Sub if !turned => Change::Minus,
        _ => return None,
    })
}

pub(super) fn method_sign(name: &str) -> Option<Change> {
    Some(match name {
        "mul" | "multiply" => Change::Times,
        "add" => Change::Plus,
        "div" | "divide" | "truediv" => Change::Over,
        "sub" | "subtract" => Change::Minus,
        _ => return None,
    })
}

/// Whether a number only changes the unit: 100, 0.001.
pub(super) fn is_unit(e: &Expr) -> bool {
    let Expr::Constant(x) = e else { return false };
    let digits = match &x.value {
        Constant::Int(n) => n.to_string(),
        Constant::Float(n) => format!("{n}"),
        _ => return false,
    };
    let digits: String = digits.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0') == "1"
}
