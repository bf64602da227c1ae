//! `str.format`: a template that reads attributes counts as an attribute read.

use super::Inspector;
use super::calls::Arguments;
use crate::analysis::fold::fold;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Expr, Ranged};
use crate::analysis::resolve::{BUFFER, PARSED, Val, Vals, address};
use crate::analysis::rules;
use crate::analysis::walk::ExprPlace;
use crate::model::Action;

/// What a template does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Template {
    /// No replacement field.
    Empty,
    Simple,
    /// Some field reads an attribute.
    Walks,
}

impl<'a> Inspector<'a> {
    /// Judges `….format(…)` and `….format_map(…)`.
    pub(super) fn format_call(&mut self, x: &'a ast::ExprAttribute, arguments: Arguments<'a>) {
        let attr = fold(x.attr.as_str());
        if attr != "format" && attr != "format_map" {
            return;
        }
        let base = self.r.eval(&x.value, self.here());
        let at = x.range();
        for val in base.iter() {
            match val {
                Val::Text(text) => {
                    self.template_width(text, arguments, at);
                    if template(text) == Template::Walks {
                        self.add(&rules::FMT_TRAVERSAL, at, &*attr);
                        return;
                    }
                }
                // The result of a library or of a class of the snippet may also be a text.
                Val::ComputedText
                | Val::Unknown
                | Val::Holds(..)
                | Val::Method(_)
                | Val::Result(_)
                | Val::Instance(_) => {
                    if self.defines(val, &attr) {
                        continue;
                    }
                    if base.iter().any(|v| matches!(v, Val::Styler)) {
                        continue;
                    }
                    return self.computed_template(x, &attr, arguments);
                }
                // `str.format(template, …)`, or the method of a class derived from `str`.
                Val::Builtin(_) | Val::Member(_) | Val::TypeOf(_) | Val::Class(_) => {
                    if self.defines(val, &attr) {
                        continue;
                    }
                    self.add(&rules::FMT_BOUND, at, format!("str.{attr}"));
                    return;
                }
                Val::Module(_)
                | Val::TextMethod(_)
                | Val::Function(_)
                | Val::Exception
                | Val::Memory
                | Val::File
                | Val::Styler
                | Val::Items(..) => {}
            }
        }
    }

    /// Judges `template.format(…)` by what is known of a computed template.
    fn computed_template(
        &mut self,
        x: &'a ast::ExprAttribute,
        attr: &str,
        arguments: Arguments<'a>,
    ) {
        let at = x.range();
        match self.templates(&x.value) {
            Templates::Known(texts) => {
                for text in &texts {
                    self.template_width(text, arguments, at);
                }
            }
            Templates::Walking => {
                self.add(&rules::FMT_TRAVERSAL, at, attr);
            }
            Templates::Readable => {
                self.add(&rules::FMT_COMPUTED, at, attr).at_most = Some(Action::Flag);
            }
            Templates::Unknown => {
                self.add(&rules::FMT_COMPUTED, at, attr);
            }
        }
    }

    /// What is known of the templates that an expression may be.
    fn templates(&self, e: &'a Expr) -> Templates {
        if let Some(texts) = self.spelled(e) {
            if texts.iter().any(|t| template(t) == Template::Walks) {
                return Templates::Walking;
            }
            // A stray brace ends the run, or closes a field elsewhere.
            if texts.iter().all(|t| is_balanced(t)) {
                return Templates::Known(texts);
            }
        }
        let sketch = self.sketch(e);
        if sketch.texts().any(|t| template(t) == Template::Walks) {
            Templates::Walking
        } else if sketch.is_readable() && !sketch.has_dunder() {
            Templates::Readable
        } else {
            Templates::Unknown
        }
    }

    /// Judges templates that a library formats with: `Styler.format`, `set_major_formatter`.
    pub(super) fn templates_in(&mut self, arguments: Arguments<'a>) {
        let given = arguments
            .call
            .args
            .iter()
            .chain(arguments.call.keywords.iter().map(|k| &k.value));
        for e in given {
            let each: Vec<&'a Expr> = match e {
                Expr::Dict(x) => x.values.iter().collect(),
                other => vec![other],
            };
            for e in each {
                let vals = self.r.eval(e, self.here());
                let walks = vals
                    .iter()
                    .any(|v| matches!(v, Val::Text(t) if template(t) == Template::Walks));
                if walks {
                    self.add(&rules::FMT_TRAVERSAL, e.range(), "format");
                }
            }
        }
    }

    /// Remembers a template passed to pandas: `pd.options.display.float_format = "{:.2f}".format`.
    pub(super) fn option_assigned(&mut self, x: &'a ast::StmtAssign) {
        let ([Expr::Attribute(target)], Expr::Attribute(value)) = (x.targets.as_slice(), &*x.value)
        else {
            return;
        };
        let options = self
            .r
            .eval(&target.value, self.here())
            .iter()
            .any(|v| matches!(v, Val::Member(p) if p.starts_with("pandas.options")));
        self.option_value = options.then(|| address(&*value.value));
    }

    /// Remembers templates inside arguments: `formatters={"n": "{:.1%}".format}`,
    /// `.map("…".format if signed else "…".format)`.
    pub(super) fn formats_within(&mut self, call: &'a ast::ExprCall) {
        let given = call
            .args
            .iter()
            .chain(call.keywords.iter().map(|k| &k.value));
        for e in given {
            let parts: Vec<&'a Expr> = match e {
                Expr::Dict(x) => x.values.iter().collect(),
                Expr::IfExp(x) => vec![&x.body, &x.orelse],
                _ => continue,
            };
            for part in parts {
                if let Expr::Attribute(x) = part {
                    self.handed_formats.insert(address(&*x.value));
                }
            }
        }
    }

    /// Whether a class of the snippet defines a method of that name.
    fn defines(&self, val: &Val<'a>, attr: &str) -> bool {
        match val {
            Val::Class(scope) | Val::Instance(scope) => {
                self.r.scopes.all[*scope].names.contains_key(attr)
            }
            Val::Member(path) => path.ends_with("Styler"),
            _ => false,
        }
    }

    /// Judges `"…".format` that is not called at once.
    pub(super) fn format_load(
        &mut self,
        attr: &str,
        receiver: &'a Expr,
        base: &Vals<'a>,
        at: TextRange,
        place: ExprPlace<'a>,
    ) {
        if !matches!(attr, "format" | "format_map") || matches!(place, ExprPlace::Called) {
            return;
        }
        if base
            .iter()
            .any(|v| matches!(v, Val::Module(_) | Val::Styler) || self.defines(v, attr))
        {
            return;
        }
        // A command-line option named `format`, or the layout of a buffer.
        let parsed = |v: &Val<'a>| matches!(v, Val::Result(p) if [PARSED, BUFFER].contains(&&**p));
        if attr == "format" && !base.is_empty() && base.iter().all(parsed) {
            return;
        }
        // `.map("{:.2f}".format)`: a literal with only plain fields.
        let literal = receiver.is_constant_expr()
            && base
                .iter()
                .all(|v| matches!(v, Val::Text(t) if template(t) == Template::Simple));
        let handed = matches!(place, ExprPlace::Argument(_) | ExprPlace::Keyword(_))
            || self.option_value == Some(address(receiver))
            || self.handed_formats.contains(&address(receiver));
        if literal && handed && !base.is_empty() {
            return;
        }
        let text = |v: &Val<'a>| matches!(v, Val::Text(_) | Val::ComputedText | Val::Unknown);
        let known = match base.iter().all(text) {
            true => self.templates(receiver),
            false => Templates::Unknown,
        };
        let walks = base
            .iter()
            .any(|v| matches!(v, Val::Text(t) if template(t) == Template::Walks));
        let (rule, asked) = match known {
            _ if walks => (&rules::FMT_TRAVERSAL, false),
            Templates::Walking => (&rules::FMT_TRAVERSAL, false),
            // Bound to a template, the method formats with no other.
            Templates::Known(texts) if texts.iter().all(|t| reads_whole_arguments(t)) => return,
            Templates::Known(texts) => {
                let fields = texts.iter().all(|t| template(t) == Template::Simple);
                (&rules::FMT_BOUND, fields)
            }
            Templates::Readable => (&rules::FMT_BOUND, true),
            Templates::Unknown => (&rules::FMT_BOUND, false),
        };
        self.add(rule, at, attr.to_owned()).at_most = asked.then_some(Action::Flag);
    }
}

/// What is known of the templates that an expression may be.
enum Templates {
    /// Every one of them, with digits for numbers; none reads an attribute.
    Known(Vec<String>),
    Walking,
    /// Parts that a person can read; the child judges each template when it is used.
    Readable,
    Unknown,
}

/// Whether a template has fields, and each takes an argument as it is.
fn reads_whole_arguments(text: &str) -> bool {
    let mut depth = 0usize;
    let reads_element = text.chars().any(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == '[' && depth > 0
    });
    template(text) == Template::Simple && !reads_element
}

/// Whether each brace has its other one.
fn is_balanced(text: &str) -> bool {
    let mut depth = 0usize;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '{' | '}' if depth == 0 && chars.next_if_eq(&c).is_some() => {}
            '{' => depth += 1,
            '}' if depth == 0 => return false,
            '}' => depth -= 1,
            _ => {}
        }
    }
    depth == 0
}

/// Reads the fields of a template (PEP 3101): attribute access anywhere, nested specs included.
fn template(text: &str) -> Template {
    let mut kind = Template::Empty;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '{' {
            continue;
        }
        if chars.peek() == Some(&'{') {
            chars.next();
            continue;
        }
        let mut field = String::new();
        let mut depth = 1;
        for c in chars.by_ref() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            field.push(c);
        }
        kind = Template::Simple;
        if walks(&field) {
            return Template::Walks;
        }
    }
    kind
}

/// Whether the name of a field reads an attribute. In `name!r:spec`, a dot counts if it comes
/// before `!` and `:` and outside `[…]`; nested fields of the spec are checked separately.
fn walks(field: &str) -> bool {
    let mut index = false;
    for (at, c) in field.char_indices() {
        match c {
            '[' => index = true,
            ']' => index = false,
            '.' if !index => return true,
            '!' | ':' if !index => {
                return field
                    .get(at..)
                    .is_some_and(|spec| template(spec) == Template::Walks);
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_walks_when_a_field_reads_an_attribute() {
        for t in [
            "{0.a}",
            "{a.b.c}",
            "{x[0].y}",
            "{:{0.a}}",
            "{{}}{0.a}",
            "{0.__class__!r:>5}",
        ] {
            assert_eq!(template(t), Template::Walks, "{t}");
        }
        for t in [
            "{}",
            "{:.2f}",
            "{0:,.2f} {name!r}",
            "{a[b]}",
            "{:{w}.{p}}",
            "{x[a.b]}",
        ] {
            assert_eq!(template(t), Template::Simple, "{t}");
        }
        for t in ["", "a.b", "{{0.a}}"] {
            assert_eq!(template(t), Template::Empty, "{t}");
        }
    }
}
