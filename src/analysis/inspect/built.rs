//! Texts built from literals, and whether numbers fill their gaps.
//!
//! A query whose gaps are numbers is the query written around them. A query whose gaps are literal
//! texts is each of the resulting queries. Of any other text there is a [sketch](super::sketch).

use super::Inspector;
use super::slots::{Form, Slot, keeps_digits_as, of_format, of_percent};
use super::sources::{Item, Source, Spot};
use crate::analysis::fold::fold;
use crate::analysis::parse::ast::{self, Constant, Expr};
use crate::analysis::resolve::Val;

/// The nesting limit; no ordinary text is nested deeper.
const DEPTH: usize = 8;

/// The limit on texts; no ordinary query has more variants.
const MOST: usize = 64;

/// The limit on the bytes of a changed text; no template is longer.
const LONGEST: usize = 65_536;

/// Separators between whole conditions or sums, so that each part is an expression of its own.
const BETWEEN: &[&str] = &["&", "|", "+", "*", ":", "and", "or"];

/// Table methods that return a number or a table of numbers.
const NUMBERS: &[&str] = &[
    "count", "max", "mean", "median", "min", "nunique", "quantile", "std", "sum", "var",
];

/// Which values count as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbers {
    /// Those that cannot be anything else.
    Certain,
    /// Also results of methods that give numbers for columns of numbers. The child judges the text
    /// when it is used.
    Believed,
}

/// How deep a text is nested, and what is believed of it.
#[derive(Clone, Copy)]
struct Look {
    depth: usize,
    numbers: Numbers,
}

impl Look {
    fn deeper(self) -> Self {
        Self {
            depth: self.depth + 1,
            ..self
        }
    }
}

impl<'a> Inspector<'a> {
    /// The texts that an expression may evaluate to, with one digit in each gap for a number;
    /// `None` if it may be another text.
    pub(super) fn spelled(&self, e: &'a Expr) -> Option<Vec<String>> {
        self.spelled_at((e, self.here()), Numbers::Believed)
    }

    pub(super) fn spelled_at(&self, spot: Spot<'a>, numbers: Numbers) -> Option<Vec<String>> {
        self.spelled_in(spot, Look { depth: 0, numbers })
    }

    fn spelled_in(&self, (e, scope): Spot<'a>, look: Look) -> Option<Vec<String>> {
        if look.depth > DEPTH {
            return None;
        }
        let inner = |e: &'a Expr| self.spelled_in((e, scope), look.deeper());
        let vals = self.r.eval(e, scope);
        let texts = vals.iter().map(|v| match v {
            Val::Text(text) => Some(text.to_string()),
            _ => None,
        });
        let texts: Option<Vec<String>> = texts.collect();
        if let Some(texts) = texts.filter(|texts| !texts.is_empty()) {
            return Some(texts);
        }
        match e {
            Expr::JoinedStr(x) => {
                let mut all = vec![String::new()];
                for part in &x.values {
                    all = put_after(&all, &inner(part)?)?;
                }
                Some(all)
            }
            Expr::FormattedValue(x)
                if keeps_digits_as(x.format_spec.as_deref())
                    && self.is_number((&x.value, scope), look) =>
            {
                digit()
            }
            Expr::FormattedValue(x) if x.format_spec.is_none() && x.conversion.is_none() => {
                inner(&x.value)
            }
            Expr::BinOp(x) if x.op == ast::Operator::Add => {
                put_after(&inner(&x.left)?, &inner(&x.right)?)
            }
            Expr::BinOp(x) if x.op == ast::Operator::Mod => {
                let template = self.one_text(&x.left, scope)?;
                self.filled(of_percent(&template, &x.right)?, scope, look)
            }
            Expr::Name(name) => self.named((name, scope), look),
            Expr::Call(call) => match self.formatted(call, scope) {
                Some(template) => self.filled(of_format(&template, call)?, scope, look),
                None if self.is_text_of(&call.func, scope) => match call.args.as_slice() {
                    [one] if self.is_number((one, scope), look) => digit(),
                    [one] => inner(one),
                    _ => None,
                },
                None => match self.changed_in(call, scope, look) {
                    Some(texts) => Some(texts),
                    None => self.joined_in(call, (e, scope), look),
                },
            },
            _ => None,
        }
    }

    /// Every text that a name has where it is read.
    fn named(&self, (name, scope): (&'a ast::ExprName, usize), look: Look) -> Option<Vec<String>> {
        if let Some([held]) = self.held(name, scope).as_deref() {
            return self.spelled_in((held, scope), look.deeper());
        }
        if let Some(sum) = self.sum_of(name, scope) {
            let mut all = vec![String::new()];
            for e in sum {
                all = put_after(&all, &self.spelled_in((e, scope), look.deeper())?)?;
            }
            return Some(all);
        }
        let mut all = Vec::new();
        for source in self.sources(name, scope)? {
            let Source::Whole(at) = source else {
                return None;
            };
            all.extend(self.spelled_in(at, look.deeper())?);
        }
        (all.len() <= MOST).then_some(all)
    }

    /// The texts that the slots of a template make.
    fn filled(&self, slots: Vec<Slot<'a>>, scope: usize, look: Look) -> Option<Vec<String>> {
        let mut all = vec![String::new()];
        for slot in slots {
            let texts = match slot {
                Slot::Text(text) => vec![text],
                Slot::Filled(_, Form::Digits) => digit()?,
                Slot::Filled(Some(e), Form::Plain | Form::OfNumber)
                    if self.is_number((e, scope), look) =>
                {
                    digit()?
                }
                Slot::Filled(Some(e), Form::Plain) => self.spelled_in((e, scope), look.deeper())?,
                Slot::Filled(..) => return None,
            };
            all = put_after(&all, &texts)?;
        }
        Some(all)
    }

    /// `"""…""".strip()`, `dedent("""…""")`: each text as the call changes it.
    fn changed_in(&self, call: &'a ast::ExprCall, scope: usize, look: Look) -> Option<Vec<String>> {
        if !call.keywords.is_empty() || call.args.iter().any(Expr::is_starred_expr) {
            return None;
        }
        if self.makes(&call.func, scope, &["textwrap.dedent"]) {
            let [text] = call.args.as_slice() else {
                return None;
            };
            let texts = self.spelled_in((text, scope), look.deeper())?;
            return Some(texts.iter().map(|text| dedented(text)).collect());
        }
        let Expr::Attribute(x) = &*call.func else {
            return None;
        };
        let attr = fold(x.attr.as_str());
        let given = call.args.iter().map(|e| self.one_text(e, scope));
        let given = given.collect::<Option<Vec<_>>>()?;
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        changed("", &attr, &given)?;
        let texts = self.spelled_in((&x.value, scope), look.deeper())?;
        texts.iter().map(|t| changed(t, &attr, &given)).collect()
    }

    /// Whether the callee is `str`.
    fn is_text_of(&self, func: &'a Expr, scope: usize) -> bool {
        matches!(self.r.eval(func, scope).as_slice(), [Val::Builtin(name)] if &**name == "str")
    }

    /// `" and ".join(f"{c} > 1" for c in columns)`: each part alone, and all of them together.
    fn joined_in(
        &self,
        call: &'a ast::ExprCall,
        (_, scope): Spot<'a>,
        look: Look,
    ) -> Option<Vec<String>> {
        let (Expr::Attribute(x), [list]) = (&*call.func, call.args.as_slice()) else {
            return None;
        };
        if &*fold(x.attr.as_str()) != "join" {
            return None;
        }
        let [between] =
            <[String; 1]>::try_from(self.spelled_in((&x.value, scope), look.deeper())?).ok()?;
        if !BETWEEN.contains(&between.trim()) {
            return None;
        }
        let mut all = Vec::new();
        for item in self.items((list, scope))? {
            let Item::Of(at) = item else { return None };
            all.extend(self.spelled_in(at, look.deeper())?);
        }
        let whole = all.join(&between);
        all.push(whole);
        (all.len() <= MOST).then_some(all)
    }

    /// Whether the value is always a number.
    fn is_number(&self, (e, scope): Spot<'a>, look: Look) -> bool {
        if look.depth > DEPTH {
            return false;
        }
        let inner = |e: &'a Expr| self.is_number((e, scope), look.deeper());
        match e {
            Expr::Constant(c) => matches!(c.value, Constant::Int(_) | Constant::Float(_)),
            Expr::UnaryOp(x) => inner(&x.operand),
            Expr::BinOp(x) => inner(&x.left) && inner(&x.right),
            Expr::Name(name) => self.sources(name, scope).is_some_and(|sources| {
                sources.into_iter().all(|source| match source {
                    Source::Whole(at) | Source::Added(at) => self.is_number(at, look.deeper()),
                    Source::Element(at) => self.holds_numbers(at, look.deeper()),
                })
            }),
            Expr::Call(call) => match &*call.func {
                Expr::Attribute(x) => {
                    look.numbers == Numbers::Believed && NUMBERS.contains(&&*fold(x.attr.as_str()))
                }
                func => {
                    let vals = self.r.eval(func, scope);
                    let believed = look.numbers == Numbers::Believed;
                    let counts = |v: &Val<'a>| matches!(v, Val::Builtin(b) if matches!(&**b, "len" | "int" | "float") || (&**b == "round" && believed));
                    let chooses =
                        |v: &Val<'a>| matches!(v, Val::Builtin(b) if matches!(&**b, "max" | "min"));
                    let numbers = |all: &'a [Expr]| match all {
                        [one] => self.holds_numbers((one, scope), look.deeper()),
                        all => all.iter().all(inner),
                    };
                    !vals.is_empty()
                        && (vals.iter().all(counts)
                            || (vals.iter().all(chooses)
                                && call.keywords.is_empty()
                                && numbers(&call.args)))
                }
            },
            _ => false,
        }
    }

    /// Whether every element is a number.
    fn holds_numbers(&self, (e, scope): Spot<'a>, look: Look) -> bool {
        if let Expr::Call(call) = e
            && matches!(self.r.eval(&call.func, scope).as_slice(), [Val::Builtin(name)] if &**name == "range")
        {
            return true;
        }
        self.items((e, scope)).is_some_and(|items| {
            items.into_iter().all(|item| match item {
                Item::Of(at) => self.is_number(at, look.deeper()),
                Item::Listed(..) => false,
            })
        })
    }
}

/// The result of a method of a text; `None` for methods that are not followed.
fn changed(text: &str, method: &str, given: &[&str]) -> Option<String> {
    let any = |set: &str| {
        let set: Vec<char> = set.chars().collect();
        move |c: char| set.contains(&c)
    };
    Some(match (method, given) {
        ("lower", []) => text.to_lowercase(),
        ("upper", []) => text.to_uppercase(),
        ("strip", []) => text.trim().to_owned(),
        ("lstrip", []) => text.trim_start().to_owned(),
        ("rstrip", []) => text.trim_end().to_owned(),
        ("strip", [set]) => text.trim_matches(any(set)).to_owned(),
        ("lstrip", [set]) => text.trim_start_matches(any(set)).to_owned(),
        ("rstrip", [set]) => text.trim_end_matches(any(set)).to_owned(),
        ("removeprefix", [part]) => text.strip_prefix(part).unwrap_or(text).to_owned(),
        ("removesuffix", [part]) => text.strip_suffix(part).unwrap_or(text).to_owned(),
        ("replace", [old, new]) => {
            let changed = text.replace(old, new);
            (changed.len() <= LONGEST).then_some(changed)?
        }
        _ => return None,
    })
}

/// The text as `textwrap.dedent` returns it: without the blanks that all of its lines begin with.
fn dedented(text: &str) -> String {
    let blank = |c: char| c == ' ' || c == '\t';
    let lines: Vec<&str> = text
        .split('\n')
        .map(|line| {
            if line.trim_matches(blank).is_empty() {
                ""
            } else {
                line
            }
        })
        .collect();
    let mut margin: Option<&str> = None;
    for line in lines.iter().filter(|line| !line.is_empty()) {
        let indent = &line[..line.len() - line.trim_start_matches(blank).len()];
        margin = Some(match margin {
            None => indent,
            Some(all) => {
                let same = all.bytes().zip(indent.bytes()).take_while(|(a, b)| a == b);
                &all[..same.count()]
            }
        });
    }
    let margin = margin.unwrap_or("");
    let each = lines
        .iter()
        .map(|line| line.strip_prefix(margin).unwrap_or(line));
    each.collect::<Vec<_>>().join("\n")
}

/// The text that stands for a number.
#[allow(clippy::unnecessary_wraps)]
fn digit() -> Option<Vec<String>> {
    Some(vec!["0".to_owned()])
}

/// Every text of `before` followed by every text of `behind`.
fn put_after(before: &[String], behind: &[String]) -> Option<Vec<String>> {
    let few = before.len().saturating_mul(behind.len()) <= MOST;
    let each = |a: &String| {
        behind
            .iter()
            .map(move |b| format!("{a}{b}"))
            .collect::<Vec<_>>()
    };
    few.then(|| before.iter().flat_map(each).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_changes_as_python_changes_it() {
        assert_eq!(
            dedented("\n    a\n      b {n}\n   \n    "),
            "\na\n  b {n}\n\n"
        );
        assert_eq!(dedented("a\n  b"), "a\n  b");
        assert_eq!(dedented("\ta\n    b"), "\ta\n    b");
        assert_eq!(changed(" a ", "strip", &[]).as_deref(), Some("a"));
        assert_eq!(changed("xyax", "strip", &["yx"]).as_deref(), Some("a"));
        assert_eq!(
            changed("{0!a}", "replace", &["!", "."]).as_deref(),
            Some("{0.a}")
        );
        assert_eq!(changed("a", "translate", &["x"]), None);
    }
}
