//! Literal texts that a library evaluates, parsed as the expressions they are.

use super::built::Numbers;
use super::calls::Arguments;
use super::sources::Spot;
use super::spread::{Decided, Spread};
use super::{Inspector, TextCode};
use crate::analysis::fold::fold;
use crate::analysis::methods::Entry;
use crate::analysis::parse::ast::{Constant, Expr, Ranged};
use crate::analysis::parse::{TextRange, expression};
use crate::analysis::resolve::{Set, Val, Vals};
use crate::analysis::rules::{self, Rule};
use crate::analysis::scan;
use crate::analysis::text::comments::imitates;
use crate::analysis::walk::{self, Bound, ExprPlace};
use crate::model::{Action, Capability};

const ADDRESSES: &[&str] = &["__array_interface__", "__array_struct__"];

/// Whether a text is known, or drawn with digits in its gaps: such a text need not be an expression,
/// and is flagged anyway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Text {
    Whole,
    Sketch,
}

/// The limit on sketches of one text.
const SKETCHES: usize = 8;

/// Keywords that hold further formulas of a model.
pub(super) const FORMULAS: &[&str] = &["re_formula", "vc_formula", "vc_formulas"];

/// Models that take such keywords.
const MIXED: &[&str] = &["from_formula", "mixedlm"];

/// The name that replaces a column in back quotes.
pub(super) const COLUMN: &str = "backquoted_column";

impl<'a> Inspector<'a> {
    /// Judges `DataFrame.query`, `DataFrame.eval` and `pandas.eval`.
    pub(super) fn query(
        &mut self,
        entry: Entry,
        subject: &str,
        arguments: Arguments<'a>,
        at: TextRange,
    ) {
        let spread = self.spread(arguments);
        let scoped = ["local_dict", "global_dict", "resolvers", "level"];
        if spread.keyword(&scoped).next().is_some()
            || (subject == "pandas.eval" && arguments.count() > 3)
        {
            self.add(&rules::DYN_QUERY_SCOPE, at, subject);
        }
        let (e, scope) = match spread.deciding(entry) {
            Decided::Given(spot) => spot,
            Decided::Absent => return,
            Decided::Hidden => {
                self.add(&rules::DYN_QUERY_COMPUTED, at, subject);
                return;
            }
        };
        // `tree.query([[0, 0]])` of scipy and scikit-learn takes points.
        if matches!(e, Expr::List(_) | Expr::Tuple(_)) || self.is_tree(arguments) {
            return;
        }
        let texts = texts(&self.r.eval(e, scope));
        self.told_text((e, scope), subject, at, texts.iter().flatten().next());
        let Some(texts) = texts.or_else(|| self.spelled_at((e, scope), Numbers::Believed)) else {
            for text in self.computed(&rules::DYN_QUERY_COMPUTED, (e, scope), subject, at) {
                self.query_text(&text, subject, at, Text::Sketch);
            }
            return;
        };
        for text in texts {
            self.query_text(&text, subject, at, Text::Whole);
        }
    }

    fn query_text(&mut self, text: &str, subject: &str, at: TextRange, kind: Text) {
        if subject == "pandas.eval" && text.contains('@') {
            self.add(&rules::DYN_QUERY_SCOPE, at, subject);
        }
        let (code, local, quoted) = read_query(text);
        for name in quoted {
            if kind == Text::Whole {
                self.column(&name, Capability::DataRead, at);
            }
        }
        for line in code.lines().filter(|l| !l.trim().is_empty()) {
            let value = assigned(line);
            let target = line.get(..line.len() - value.len()).unwrap_or("");
            let target = target.trim_end_matches('=').trim();
            if !target.is_empty() && target != COLUMN && kind == Text::Whole {
                self.column(target, Capability::DataWrite, at);
            }
            self.text_code(value, subject, at, Some(local.clone()), kind);
        }
    }

    /// Reports a computed text that becomes code, and returns what is known of it. A person can
    /// judge a text with literal parts.
    fn computed(
        &mut self,
        rule: &'static Rule,
        spot: Spot<'a>,
        subject: &str,
        at: TextRange,
    ) -> Vec<String> {
        let sketch = self.sketch_at(spot);
        let asked = sketch.is_readable() && !sketch.has_dunder();
        self.add(rule, at, subject).at_most = asked.then_some(Action::Flag);
        let mut known: Vec<String> = sketch.texts().cloned().collect();
        known.dedup();
        known.truncate(SKETCHES);
        known
    }

    /// Whether the receiver is a spatial index.
    fn is_tree(&self, arguments: Arguments<'a>) -> bool {
        let Expr::Attribute(x) = &*arguments.call.func else {
            return false;
        };
        let is_tree = |vals: &Vals<'a>| {
            let tree = |v: &Val<'a>| matches!(v, Val::Result(p) if !p.starts_with("pandas."));
            !vals.is_empty() && vals.iter().all(tree)
        };
        if is_tree(&self.r.eval(&x.value, self.here())) {
            return true;
        }
        let Expr::Name(name) = &*x.value else {
            return false;
        };
        // A name that is also bound to None, which has no method.
        let found = self.r.scopes.lookup(&fold(name.id.as_str()), self.here());
        let bindings = found.bindings.iter().flat_map(|(all, _)| all.iter());
        let none = |to: Bound<'a>| match to {
            Bound::Value(e) => is_none(e),
            Bound::Deleted => true,
            _ => false,
        };
        let values = bindings.filter(|b| !none(b.to));
        let mut trees = values.map(|b| match b.to {
            Bound::Value(e) | Bound::With(e) => is_tree(&self.r.eval(e, b.scope)),
            _ => false,
        });
        trees
            .next()
            .is_some_and(|first| first && trees.all(|tree| tree))
    }

    /// Judges a model formula: patsy evaluates its terms, which can use the names of the snippet.
    pub(super) fn formula(
        &mut self,
        entry: Entry,
        subject: &str,
        arguments: Arguments<'a>,
        at: TextRange,
    ) {
        let spread = self.spread(arguments);
        self.unpacked_formulas(arguments, &spread, subject, at);
        match spread.deciding(entry) {
            Decided::Given(spot) => self.formula_at(spot, subject, at),
            Decided::Absent => {}
            Decided::Hidden => {
                self.add(&rules::DYN_FORMULA, at, subject);
            }
        }
    }

    fn formula_at(&mut self, spot: Spot<'a>, subject: &str, at: TextRange) {
        let texts = texts(&self.r.eval(spot.0, spot.1));
        self.told_text(spot, subject, at, texts.iter().flatten().next());
        let Some(texts) = texts.or_else(|| self.spelled_at(spot, Numbers::Certain)) else {
            for text in self.computed(&rules::DYN_FORMULA, spot, subject, at) {
                self.formula_text(&text, subject, at, Text::Sketch);
            }
            return;
        };
        for text in texts {
            self.formula_text(&text, subject, at, Text::Whole);
        }
    }

    /// Judges further formulas behind `**`; those that stand in the call are judged in every call.
    fn unpacked_formulas(
        &mut self,
        arguments: Arguments<'a>,
        spread: &Spread<'a>,
        subject: &str,
        at: TextRange,
    ) {
        if !arguments.open_ended() {
            return;
        }
        if spread.keyword(&["eval_env"]).next().is_some() {
            self.add(&rules::DYN_QUERY_SCOPE, at, "eval_env");
        }
        if spread.more_keywords && MIXED.iter().any(|end| subject.ends_with(end)) {
            self.add(&rules::DYN_FORMULA, at, subject).at_most = Some(Action::Flag);
        }
        let further: Vec<_> = spread.keyword(FORMULAS).collect();
        for spot in further {
            self.formulas_in(spot, at);
        }
    }

    fn formula_text(&mut self, text: &str, subject: &str, at: TextRange, kind: Text) {
        for side in text.split('~') {
            let side = interactions(side);
            let side = side.trim().trim_end_matches(['+', '-']).trim();
            if !side.is_empty() {
                self.text_code(side, subject, at, None, kind);
            }
        }
    }

    /// Judges `re_formula="…"` and `vc_formula={"g": "…"}`.
    pub(super) fn formulas_in(&mut self, (e, scope): Spot<'a>, at: TextRange) {
        let each: Vec<&'a Expr> = match e {
            Expr::Dict(x) => x.values.iter().collect(),
            other => vec![other],
        };
        for e in each {
            let mut vals = Set::default();
            for val in self.r.eval(e, scope).iter() {
                match val {
                    Val::Items(..) => self.r.element(val, &mut vals),
                    other => vals.add(other.clone()),
                }
            }
            match texts(&vals.into_vec().into()) {
                Some(texts) => {
                    for text in texts {
                        self.formula_text(&text, "formula", at, Text::Whole);
                    }
                }
                None => {
                    for text in self.computed(&rules::DYN_FORMULA, (e, scope), "formula", at) {
                        self.formula_text(&text, "formula", at, Text::Sketch);
                    }
                }
            }
        }
    }

    /// Judges a string annotation, which is evaluated when a library asks for the type hints.
    pub(super) fn annotation(&mut self, text: &str, at: TextRange) {
        let readable =
            scan::scan(text, scan::MOST_BYTES).is_ok() && expression(text.trim()).is_ok();
        if readable && self.text.is_none() {
            self.text_code(text, "annotation", at, None, Text::Whole);
        }
    }

    /// Reports texts with the name of an attribute from which numpy takes a memory address, because
    /// labels and keys can become attributes.
    pub(super) fn address_text(&mut self, text: &str, at: TextRange) {
        if let Some(name) = ADDRESSES.iter().find(|name| text.contains(**name)) {
            self.add(&rules::NATIVE_CALL, at, *name);
        }
    }

    /// The same for a text built from literals.
    pub(super) fn address_in(&mut self, e: &'a Expr) {
        for val in self.r.eval(e, self.here()).iter() {
            if let Val::Text(text) = val {
                self.address_text(text, e.range());
            }
        }
    }

    /// Judges a text that is a statement of its own: people read it like a comment.
    pub(super) fn bare_text(&mut self, e: &'a Expr) {
        if let Expr::Constant(c) = e
            && let Constant::Str(text) = &c.value
            && imitates(text)
        {
            self.add(&rules::TEXT_IMITATION, e.range(), "");
        }
    }

    /// Visits a text as an expression. With `columns`, all bare names except those are columns.
    fn text_code(
        &mut self,
        code: &str,
        subject: &str,
        at: TextRange,
        columns: Option<Vec<String>>,
        kind: Text,
    ) {
        let code = code.trim();
        let parsed = if scan::scan(code, scan::MOST_BYTES).is_ok() {
            expression(code).ok()
        } else {
            None
        };
        let Some(kept) = parsed.and_then(|e| self.arena.keep(e)) else {
            if kind == Text::Whole {
                self.add(&rules::DYN_QUERY_UNREADABLE, at, subject);
            }
            return;
        };
        let at = self.place(at);
        let outer = self.text.take();
        let columns_only = columns.is_some();
        self.text = Some(TextCode {
            at,
            local: columns.unwrap_or_default(),
            columns: columns_only,
            formula: !columns_only && subject != "annotation",
        });
        walk::expression(self, kept, ExprPlace::Plain);
        self.text = outer;
    }
}

fn is_none(e: &Expr) -> bool {
    matches!(e, Expr::Constant(c) if c.value.is_none())
}

/// The texts, if every value is a known text.
fn texts(vals: &Vals<'_>) -> Option<Vec<String>> {
    let texts: Option<Vec<String>> = vals
        .iter()
        .map(|v| match v {
            Val::Text(t) => Some(t.to_string()),
            _ => None,
        })
        .collect();
    texts.filter(|t| !t.is_empty())
}

/// Converts pandas' query syntax to Python: back quotes become a column, `@name` a name of the
/// snippet.
fn read_query(text: &str) -> (String, Vec<String>, Vec<String>) {
    let mut out = String::with_capacity(text.len());
    let (mut local, mut quoted) = (Vec::new(), Vec::new());
    let mut quote: Option<char> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(q), c) if c == q => {
                quote = None;
                out.push(c);
            }
            (Some(_), '\\') => {
                out.push(c);
                out.extend(chars.next());
            }
            (Some(_), c) => out.push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                out.push(c);
            }
            (None, '`') => {
                quoted.push(chars.by_ref().take_while(|c| *c != '`').collect());
                out.push_str(COLUMN);
            }
            (None, '@') => {
                let mut name = String::new();
                while let Some(c) = chars.peek()
                    && (c.is_alphanumeric() || *c == '_')
                {
                    name.push(*c);
                    chars.next();
                }
                out.push_str(&name);
                local.push(crate::analysis::fold::fold(&name).into_owned());
            }
            (None, c) => out.push(c),
        }
    }
    (out, local, quoted)
}

/// The value of `name = value`, or the whole line.
fn assigned(line: &str) -> &str {
    let bytes = line.as_bytes();
    let mut depth = 0usize;
    for (i, b) in bytes.iter().enumerate() {
        match b {
            b'"' | b'\'' => return line,
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'=' if depth == 0 => {
                let before = i.checked_sub(1).and_then(|i| bytes.get(i));
                let after = bytes.get(i + 1);
                let comparison =
                    matches!(before, Some(b'=' | b'<' | b'>' | b'!')) || after == Some(&b'=');
                if !comparison {
                    return line.get(i + 1..).unwrap_or(line);
                }
            }
            _ => {}
        }
    }
    line
}

/// Replaces `a:b`, an interaction in a formula but invalid in Python, by a sum.
fn interactions(side: &str) -> String {
    let mut depth = 0usize;
    let mut quote: Option<char> = None;
    side.chars()
        .map(|c| {
            match (quote, c) {
                (Some(q), c) if c == q => quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') => quote = Some(c),
                (None, '(' | '[' | '{') => depth += 1,
                (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
                (None, ':') if depth == 0 => return '+',
                (None, _) => {}
            }
            c
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_read_as_pandas_reads_it() {
        let (code, local, quoted) = read_query("`unit price` > @limit and name == 'a@b`c'");
        assert_eq!(code, "backquoted_column > limit and name == 'a@b`c'");
        assert_eq!(local, ["limit"]);
        assert_eq!(quoted, ["unit price"]);
        assert_eq!(assigned("c = a + b").trim(), "a + b");
        assert_eq!(assigned("a == b"), "a == b");
        assert_eq!(interactions("a:b + np.log(x[1:2])"), "a+b + np.log(x[1:2])");
    }
}
