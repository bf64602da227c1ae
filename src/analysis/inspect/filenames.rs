//! Names that no file in the output folder can have: the run would refuse to open them. A text that
//! is surely part of a name is judged like the name itself.

use unicode_normalization::UnicodeNormalization;

use super::Inspector;
use super::files::{PathKind, beneath};
use super::paths::is_time;
use super::sources::{Item, Source, Spot};
use crate::analysis::methods::Entry;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Expr, Stmt};
use crate::analysis::resolve::Val;
use crate::analysis::rules;
use crate::analysis::text::shown;
use crate::analysis::walk::{Bound, ExprPlace, Visitor, body};
use crate::model::{Artifact, Capability};
use crate::policy::Contract;

const LETTERS: &str = "names are made of A-Z, a-z, 0-9, \".\", \"_\" and \"-\"";

/// An invalid name or part of one, and whether it is surely used as a name.
struct Misnamed {
    text: String,
    sure: bool,
    hint: String,
}

/// Methods that only tables and figures have, and that open the file named by their argument.
const SURE: &[&str] = &[
    "savefig",
    "to_csv",
    "to_excel",
    "to_feather",
    "to_html",
    "to_json",
    "to_latex",
    "to_markdown",
    "to_orc",
    "to_parquet",
    "to_stata",
    "to_string",
    "to_xml",
    "write_html",
    "write_json",
    "write_text",
    "write_bytes",
    "touch",
    "mkdir",
    "open",
];

/// Words for the temporary folder and temporary files, whose names are not restricted.
const TEMPORARY: &[&str] = &[
    "HOME",
    "NamedTemporaryFile",
    "TMPDIR",
    "TemporaryDirectory",
    "expanduser",
    "gettempdir",
    "home",
    "mkdtemp",
    "mkstemp",
    "tempfile",
];

/// The nesting limit; no ordinary name is nested deeper.
const DEPTH: usize = 8;

impl<'a> Inspector<'a> {
    /// Checks the name of a file or folder that is created.
    pub(super) fn named_so(
        &mut self,
        e: &'a Expr,
        kind: PathKind,
        capability: Capability,
        entry: Option<Entry>,
        subject: &str,
        at: TextRange,
    ) {
        let kept = self.policy.guard
            && self.policy.builtins.contains("open")
            && matches!(self.policy.contract, Contract::Analysis | Contract::Walled);
        // pyarrow inserts a number into its template.
        let template = entry.is_some_and(|entry| entry.names.contains(&"basename_template"));
        if !kept || template || capability != Capability::FsWrite {
            return;
        }
        let found = match kind {
            PathKind::Plain | PathKind::Followed | PathKind::Computed => self.misnamed(e),
            PathKind::None | PathKind::Outside | PathKind::Url => None,
        };
        if let Some(found) = found {
            let method = !subject.contains('.');
            let own = self.r.scopes.all.iter().any(|scope| {
                let bound = scope.names.get(subject).into_iter().flatten();
                subject != "open" && bound.count() > 0
            });
            // A logger that is already set up opens no other file.
            let named = !subject.starts_with("logging.");
            let opens = (!method || SURE.contains(&subject)) && named;
            let sure = found.sure && !own && opens;
            self.cannot_be_named(found.text, found.hint, sure, at);
        }
    }

    /// Checks `os.makedirs("My Results")`.
    pub(super) fn folder_call(&mut self, path: &str, call: &'a ast::ExprCall, at: TextRange) {
        if matches!(path, "os.makedirs" | "os.mkdir")
            && let Some(e) = call.args.first()
        {
            self.folder(e, path, at);
        }
    }

    /// Checks a folder that is created.
    pub(super) fn folder(&mut self, e: &'a Expr, subject: &str, at: TextRange) {
        let kind = self.kind(e);
        self.named_so(e, kind, Capability::FsWrite, None, subject, at);
        if self.too_deep(e, kind, at) {
            self.uses(
                Capability::FsWrite,
                at,
                &format!("{subject}, literal argument"),
            );
        }
    }

    fn misnamed(&self, e: &'a Expr) -> Option<Misnamed> {
        let vals = self.r.eval(e, self.here());
        let text = |v: &Val<'a>| match v {
            Val::Text(text) => Some(text.to_string()),
            _ => None,
        };
        let texts: Option<Vec<String>> = vals.iter().map(text).collect();
        match texts.filter(|texts| !texts.is_empty()) {
            Some(texts) => several(texts.iter().map(|text| self.name_of_file(text))),
            // A temporary file may have any name.
            None if self.temporary => None,
            None => self.part((e, self.here()), 0),
        }
    }

    /// Checks a whole name.
    fn name_of_file(&self, text: &str) -> Option<Misnamed> {
        let path = match self.files_in_memory() {
            true => beneath(text)?,
            false => text.trim_end_matches('/').to_owned(),
        };
        let path = without_dot(&path);
        let wrong = path.split('/').find(|s| !Artifact::is_segment(s))?;
        let right: Vec<String> = path.split('/').map(segment).collect();
        Some(Misnamed {
            text: path.to_owned(),
            sure: true,
            hint: hint(wrong, &right.join("/")),
        })
    }

    /// The first text in the expression that is part of a name and invalid there.
    fn part(&self, (e, scope): Spot<'a>, depth: usize) -> Option<Misnamed> {
        if depth > DEPTH {
            return None;
        }
        let part = |e: &'a Expr| self.part((e, scope), depth + 1);
        let either = |all: Vec<Spot<'a>>| {
            let parts = all.into_iter().map(|at| self.part(at, depth + 1));
            several(parts.collect::<Vec<_>>().into_iter())
        };
        match e {
            Expr::Constant(c) => c.value.as_str().and_then(|text| piece(text)),
            Expr::JoinedStr(x) => x.values.iter().find_map(part),
            Expr::FormattedValue(x) => match x.format_spec.as_deref() {
                None if is_time(self, &x.value, scope) => Some(time()),
                None => part(&x.value),
                Some(spec) => moment(spec),
            },
            Expr::BinOp(x) if matches!(x.op, ast::Operator::Add | ast::Operator::Div) => {
                part(&x.left).or_else(|| part(&x.right))
            }
            Expr::BinOp(x) if x.op == ast::Operator::Mod => match &*x.left {
                Expr::Constant(c) => piece(&without_gaps(c.value.as_str()?, '%')),
                _ => None,
            },
            Expr::IfExp(x) => either(vec![(&x.body, scope), (&x.orelse, scope)]),
            Expr::Call(call) => match &*call.func {
                func if self.is_path_maker(func, scope) => call.args.iter().find_map(part),
                Expr::Name(name) if name.id.as_str() == "str" => match call.args.as_slice() {
                    [one] if is_time(self, one, scope) => Some(time()),
                    [one] => part(one),
                    _ => None,
                },
                Expr::Attribute(x) if x.attr.as_str() == "format" => match &*x.value {
                    Expr::Constant(c) => piece(&without_gaps(c.value.as_str()?, '{')),
                    _ => None,
                },
                _ => None,
            },
            Expr::Name(name) => {
                let mut spots = Vec::new();
                for source in self.sources(name, scope)? {
                    match source {
                        Source::Whole(at) => spots.push(at),
                        Source::Element(at) => {
                            for item in self.items(at)? {
                                match item {
                                    Item::Of(at) => spots.push(at),
                                    Item::Listed(..) => return None,
                                }
                            }
                        }
                        Source::Added(_) => return None,
                    }
                }
                // `name = name.replace(" ", "_")` repairs an invalid text.
                let mut parts = Vec::new();
                for at in spots {
                    let found = self.part(at, depth + 1);
                    if found.is_none() && !self.is_literal(at) {
                        return None;
                    }
                    parts.push(found);
                }
                several(parts.into_iter())
            }
            _ => None,
        }
    }

    /// Reports a name with more folders than allowed.
    pub(super) fn too_deep(&mut self, e: &'a Expr, kind: PathKind, at: TextRange) -> bool {
        let kept = self.policy.guard
            && matches!(self.policy.contract, Contract::Analysis | Contract::Walled);
        let names = (kind == PathKind::Outside && kept).then(|| self.deep_name(e));
        let Some(name) = names.flatten() else {
            return false;
        };
        let folders = Artifact::SEGMENTS - 1;
        let have = name.split('/').count() - 1;
        let hint = format!(
            "use a name of at most four segments, as \"out/2024/may/summary.csv\": this one has {have} \
             folders, and {folders} are the most"
        );
        let subject = name.chars().take(120).collect::<String>();
        self.add(&rules::FS_NAME, at, subject).hint = Some(hint);
        true
    }
}

/// Whether a word in the snippet may refer to the temporary folder.
pub(super) fn may_be_temporary(statements: &[Stmt]) -> bool {
    let mut words = Words(false);
    body(&mut words, statements);
    words.0
}

struct Words(bool);

impl Words {
    fn say(&mut self, word: &str) {
        self.0 |= TEMPORARY.contains(&word);
    }
}

impl<'a> Visitor<'a> for Words {
    fn expression(&mut self, e: &'a Expr, _: ExprPlace<'a>) {
        match e {
            Expr::Name(x) => self.say(x.id.as_str()),
            Expr::Attribute(x) => self.say(x.attr.as_str()),
            Expr::Constant(c) => self.say(c.value.as_str().map_or("", String::as_str)),
            _ => {}
        }
    }

    fn bind(&mut self, _: &'a str, _: TextRange, to: Bound<'a>) {
        match to {
            Bound::Module(module) => self.say(module),
            Bound::Member { module, name } => {
                self.say(module);
                self.say(name);
            }
            _ => {}
        }
    }
}

/// Combines alternatives: sure only if every one of them is invalid.
fn several(found: impl Iterator<Item = Option<Misnamed>>) -> Option<Misnamed> {
    let (mut first, mut sure) = (None, true);
    for one in found {
        sure &= one.as_ref().is_some_and(|one| one.sure);
        first = first.or(one);
    }
    first.map(|one| Misnamed { sure, ..one })
}

fn without_dot(path: &str) -> &str {
    let mut path = path;
    while let Some(rest) = path.strip_prefix("./") {
        path = rest;
    }
    path
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

/// Checks a text next to other pieces of a name.
fn piece(text: &str) -> Option<Misnamed> {
    let wrong = |c: char| !is_of_name(c) && !matches!(c, '/' | '\\' | '~' | '\0');
    text.contains(wrong).then(|| {
        let right: Vec<String> = text.split('/').map(letters).collect();
        Misnamed {
            text: text.to_owned(),
            sure: true,
            hint: hint(text, &right.join("/")),
        }
    })
}

/// Checks a date or time formatted into a name: `{now:%H:%M}`.
fn moment(spec: &Expr) -> Option<Misnamed> {
    let Expr::JoinedStr(x) = spec else {
        return None;
    };
    let [Expr::Constant(c)] = x.values.as_slice() else {
        return None;
    };
    let text = c.value.as_str()?;
    let directive = |at: usize| text[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic());
    let times = text.match_indices('%').any(|(at, _)| directive(at));
    let wrong = |c: char| !is_of_name(c) && !matches!(c, '/' | '%');
    (times && text.contains(wrong)).then(time)
}

fn time() -> Misnamed {
    Misnamed {
        text: "a date with its time".to_owned(),
        sure: true,
        hint: format!(
            "{LETTERS}; write the time without blanks and colons, as {{now:%Y-%m-%d_%H%M}}"
        ),
    }
}

/// The template without its placeholders.
fn without_gaps(text: &str, mark: char) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(mark) {
        out.push_str(&rest[..at]);
        let gap = &rest[at..];
        let end = match mark {
            '{' => gap.find('}'),
            _ => gap[1..]
                .find(|c: char| c.is_ascii_alphabetic() || c == '%')
                .map(|end| end + 1),
        };
        match end {
            Some(end) => rest = &gap[end + 1..],
            None => return out,
        }
    }
    out.push_str(rest);
    out
}

fn hint(wrong: &str, right: &str) -> String {
    let what = match wrong.chars().find(|c| !is_of_name(*c) && *c != '/') {
        Some(c) if c.is_whitespace() => "a blank".to_owned(),
        Some(c) => format!("'{}'", shown(&c.to_string())),
        None => format!("{} characters, and 100 are the most", wrong.chars().count()),
    };
    let wrong: String = wrong.chars().take(120).collect();
    let wrong = shown(&wrong);
    format!("write \"{right}\": \"{wrong}\" has {what}; {LETTERS}")
}

/// A valid segment made from the text.
fn segment(text: &str) -> String {
    let name = letters(text);
    if name.len() <= 100 {
        return name;
    }
    let end = match name.rsplit_once('.') {
        Some((_, end)) if end.len() < 10 => format!(".{end}"),
        _ => String::new(),
    };
    format!("{}{end}", &name[..100 - end.len()])
}

/// The text in the characters allowed in a name.
fn letters(text: &str) -> String {
    let mut out = String::new();
    for c in text.nfc() {
        match c {
            'ä' => out.push_str("ae"),
            'ö' => out.push_str("oe"),
            'ü' => out.push_str("ue"),
            'Ä' => out.push_str("Ae"),
            'Ö' => out.push_str("Oe"),
            'Ü' => out.push_str("Ue"),
            'ß' => out.push_str("ss"),
            c if is_of_name(c) => out.push(c),
            c => {
                let base = std::iter::once(c).nfd().next().unwrap_or(c);
                match is_of_name(base) {
                    true => out.push(base),
                    false if out.ends_with('_') => {}
                    false => out.push('_'),
                }
            }
        }
    }
    out.replace("_.", ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_suggested_is_a_name_that_a_file_may_have() {
        for (wrong, right) in [
            ("Total Amount.csv", "Total_Amount.csv"),
            ("Übersicht.txt", "Uebersicht.txt"),
            ("café (1).csv", "cafe_1.csv"),
            ("a & b.png", "a_b.png"),
            ("表.csv", "_.csv"),
        ] {
            let suggested = segment(wrong);
            if right != "_.csv" {
                assert_eq!(suggested, right);
            }
            assert!(Artifact::is_segment(&suggested), "{suggested}");
        }
        let long = format!("{}.csv", "a b".repeat(60));
        let short = segment(&long);
        assert!(
            Artifact::is_segment(&short) && short.ends_with(".csv"),
            "{short}"
        );
    }

    #[test]
    fn what_fills_a_template_is_none_of_its_text() {
        assert_eq!(without_gaps("{: >5}_x.csv", '{'), "_x.csv");
        assert_eq!(without_gaps("% 5d_%s x.csv", '%'), "_ x.csv");
    }
}
