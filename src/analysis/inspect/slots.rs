//! The slots of a template (`"… %d" % n`, `"… {}".format(n)`), each with the argument that fills it.

use crate::analysis::fold::fold;
use crate::analysis::parse::ast::{self, Constant, Expr};

/// One piece of a filled template.
#[derive(Debug)]
pub(super) enum Slot<'a> {
    Text(String),
    /// An argument; `None` if it cannot be told which one.
    Filled(Option<&'a Expr>, Form),
}

/// What a slot makes of its argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The text of the argument.
    Plain,
    /// Digits, points and signs, whatever the argument is; otherwise it fails.
    Digits,
    /// Digits, points and signs if the argument is a number.
    OfNumber,
    Other,
}

/// The slots of `template % right` (printf-style formatting); `None` if they cannot be told.
pub(super) fn of_percent<'a>(template: &str, right: &'a Expr) -> Option<Vec<Slot<'a>>> {
    let mut slots = Vec::new();
    let mut text = String::new();
    let mut chars = template.chars().peekable();
    let mut index = 0;
    while let Some(c) = chars.next() {
        if c != '%' {
            text.push(c);
            continue;
        }
        let mut key = None;
        if chars.next_if_eq(&'(').is_some() {
            key = Some(chars.by_ref().take_while(|c| *c != ')').collect::<String>());
        }
        let mut plain = true;
        while chars
            .next_if(|c| "#0- +.123456789hlL".contains(*c))
            .is_some()
        {
            plain = false;
        }
        let form = match chars.next()? {
            '%' => {
                text.push('%');
                continue;
            }
            'd' | 'i' | 'u' | 'o' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' => Form::Digits,
            's' if plain => Form::Plain,
            's' => Form::OfNumber,
            'r' | 'a' => Form::OfNumber,
            'c' | 'x' | 'X' => Form::Other,
            _ => return None,
        };
        slots.push(Slot::Text(std::mem::take(&mut text)));
        let value = match (&key, right) {
            (Some(key), Expr::Dict(dict)) => value_of(dict, key),
            (None, Expr::Tuple(row)) if !row.elts.iter().any(Expr::is_starred_expr) => {
                row.elts.get(index)
            }
            (None, Expr::Tuple(_)) | (Some(_), _) => None,
            (None, whole) => (index == 0).then_some(whole),
        };
        index += 1;
        slots.push(Slot::Filled(value, form));
    }
    slots.push(Slot::Text(text));
    Some(slots)
}

fn value_of<'a>(dict: &'a ast::ExprDict, key: &str) -> Option<&'a Expr> {
    let named =
        |e: &Expr| matches!(e, Expr::Constant(c) if c.value.as_str().is_some_and(|k| k == key));
    // A later entry replaces an earlier one, and `**` may replace any.
    let mut value = None;
    for (key, each) in dict.keys.iter().zip(&dict.values) {
        match key {
            None => return None,
            Some(key) if named(key) => value = Some(each),
            Some(Expr::Constant(_)) => {}
            Some(_) => return None,
        }
    }
    value
}

/// The slots of `template.format(…)` (PEP 3101); `None` if they cannot be told, or if a field reads
/// an attribute or element.
pub(super) fn of_format<'a>(template: &str, call: &'a ast::ExprCall) -> Option<Vec<Slot<'a>>> {
    let mut slots = Vec::new();
    let mut text = String::new();
    let mut chars = template.chars().peekable();
    let mut index = 0;
    while let Some(c) = chars.next() {
        match c {
            '{' | '}' if chars.next_if_eq(&c).is_some() => text.push(c),
            '}' => return None,
            '{' => {
                let field: String = chars.by_ref().take_while(|c| *c != '}').collect();
                let (name, spec) = field.split_once(':').unwrap_or((&field, ""));
                let (name, conversion) = match name.split_once('!') {
                    Some((name, conversion)) => (name, Some(conversion)),
                    None => (name, None),
                };
                if name.contains(['.', '[']) || spec.contains('{') {
                    return None;
                }
                let value = argument(call, name, index);
                if name.is_empty() {
                    index += 1;
                }
                let form = match conversion {
                    None | Some("s") if spec.is_empty() => Form::Plain,
                    None if keeps_digits(spec) => Form::OfNumber,
                    _ => Form::Other,
                };
                slots.push(Slot::Text(std::mem::take(&mut text)));
                slots.push(Slot::Filled(value, form));
            }
            c => text.push(c),
        }
    }
    slots.push(Slot::Text(text));
    Some(slots)
}

/// The argument that a field names; `index` is the number of unnamed fields before.
fn argument<'a>(call: &'a ast::ExprCall, name: &str, index: usize) -> Option<&'a Expr> {
    let position = match name {
        "" => Some(index),
        name => name.parse().ok(),
    };
    match position {
        Some(position) => {
            let before = call.args.get(..=position)?;
            let known = !before.iter().any(Expr::is_starred_expr);
            before.last().filter(|_| known)
        }
        None => call.keywords.iter().find_map(|k| {
            let given = fold(k.arg.as_ref()?.as_str()) == name;
            given.then_some(&k.value)
        }),
    }
}

/// Whether a number in this format consists of digits, points and signs.
pub(super) fn keeps_digits(spec: &str) -> bool {
    let spec = spec
        .strip_suffix(['d', 'e', 'E', 'f', 'F', 'g', 'G', 'n', '%'])
        .unwrap_or(spec);
    spec.chars()
        .all(|c| c.is_ascii_digit() || "+-,. <>^=".contains(c))
}

/// The same for the format of an f-string.
pub(super) fn keeps_digits_as(spec: Option<&Expr>) -> bool {
    let Some(Expr::JoinedStr(spec)) = spec else {
        return spec.is_none();
    };
    spec.values.iter().all(|part| match part {
        Expr::Constant(c) => matches!(&c.value, Constant::Str(text) if keeps_digits(text)),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::parse::expression;

    fn shown(slots: Option<Vec<Slot<'_>>>) -> String {
        let Some(slots) = slots else {
            return "none".to_owned();
        };
        let one = |slot: Slot<'_>| match slot {
            Slot::Text(text) => text,
            Slot::Filled(value, form) => {
                let value = value.map_or("?", |e| match e {
                    Expr::Name(name) => name.id.as_str(),
                    _ => "…",
                });
                format!("<{value} {form:?}>")
            }
        };
        slots.into_iter().map(one).collect()
    }

    #[test]
    fn each_slot_has_the_argument_that_python_puts_there() {
        for (text, expected) in [
            ("'a > %d' % n", "a > <n Digits>"),
            ("'%s, %5.2f%%' % (n, m)", "<n Plain>, <m Digits>%"),
            ("'%(k)s' % {'k': n}", "<n Plain>"),
            ("'%(k)s' % {'k': n, **m}", "<? Plain>"),
            ("'%s %s' % n", "<n Plain> <? Plain>"),
            (
                "'%c %x %10s' % (a, b, c)",
                "<a Other> <b Other> <c OfNumber>",
            ),
            ("'%*d' % n", "none"),
        ] {
            let Ok(Expr::BinOp(x)) = expression(text) else {
                panic!("{text}")
            };
            let Expr::Constant(c) = &*x.left else {
                panic!("{text}")
            };
            let template = c.value.as_str().unwrap();
            assert_eq!(shown(of_percent(template, &x.right)), expected, "{text}");
        }
        for (template, call, expected) in [
            ("a > {}", "f(n)", "a > <n Plain>"),
            ("{1:.2f} {0} {{}}", "f(n, m)", "<m OfNumber> <n Plain> {}"),
            (
                "{k!r} {k:_>3} {k:c}",
                "f(k=n)",
                "<n Other> <n Other> <n Other>",
            ),
            ("{} {}", "f(*n)", "<? Plain> <? Plain>"),
            ("{0.a}", "f(n)", "none"),
            ("{:{w}}", "f(n)", "none"),
            ("}", "f(n)", "none"),
        ] {
            let Ok(Expr::Call(call)) = expression(call) else {
                panic!("{call}")
            };
            assert_eq!(shown(of_format(template, &call)), expected, "{template}");
        }
    }
}
