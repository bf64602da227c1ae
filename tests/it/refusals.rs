//! `assets/docs/refusals.md` gives the purpose of every refusal: compared with the child's files
//! and the table of rules.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use countersign::analysis::rules;
use countersign::model::Action;
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{
    Expr, ExprCall, FStringPart, InterpolatedStringElement, Stmt, StmtFunctionDef,
};

/// Functions that make or raise a refusal, by the last part of their name.
const REFUSES: [&str; 6] = [
    "refuse",
    "_refuse",
    "refused",
    "violation",
    "PolicyViolation",
    "PermissionError",
];

/// The purposes of refusals; refusals with `none` are to be removed.
const PURPOSES: [&str; 4] = ["contract", "redaction", "early error", "none"];

type Refusals = BTreeSet<(String, String)>;

#[test]
fn every_refusal_of_the_guard_states_its_purpose() {
    let found = refusals();
    assert!(found.len() > 50, "{found:#?}");
    compare(
        &found,
        &listed(|places| !places.is_empty()),
        "assets/runner",
    );
}

#[test]
fn every_blocking_rule_states_its_purpose() {
    let found = rules::all()
        .filter(|rule| rule.default_action() == Action::Block)
        .map(|rule| (rule.code.to_owned(), rule.name.to_owned()))
        .collect();
    let listed = listed(|places| places.is_empty());
    let named = listed
        .into_iter()
        .map(|(text, _)| {
            let (code, name) = text.split_once(' ').expect("a rule has a code and a name");
            (code.to_owned(), name.to_owned())
        })
        .collect();
    compare(&found, &named, "src/analysis/rules");
}

fn compare(found: &Refusals, listed: &Refusals, from: &str) {
    let missing: Vec<_> = found.difference(listed).collect();
    let obsolete: Vec<_> = listed.difference(found).collect();
    assert!(
        missing.is_empty() && obsolete.is_empty(),
        "assets/docs/refusals.md and {from} differ\nnot in the table: {missing:#?}\nno longer there: {obsolete:#?}"
    );
}

/// The rows of the page: each refusal with each of its files, rules without a file.
fn listed(wanted: impl Fn(&[String]) -> bool) -> Refusals {
    let page = std::fs::read_to_string(root().join("assets/docs/refusals.md")).unwrap();
    let mut all = Refusals::new();
    for row in page.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [texts, places, serves, promise, profiles, tiers] = cells[..] else {
            panic!("a row has six columns: {row}")
        };
        assert!(
            serves.split(", ").all(|one| PURPOSES.contains(&one)),
            "{row}"
        );
        assert!(![promise, profiles, tiers].contains(&""), "{row}");
        let places = spans(places);
        if !wanted(&places) {
            continue;
        }
        for text in spans(texts) {
            let of_row = |place: &str| (text.clone(), place.to_owned());
            let before = all.len();
            if places.is_empty() {
                all.insert(of_row(""));
            }
            all.extend(places.iter().map(|place| of_row(place)));
            assert!(all.len() > before, "the table lists {text} twice");
        }
    }
    all
}

/// The texts in backquotes; a text that contains backquotes is inside three.
fn spans(cell: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = cell;
    while let Some(at) = rest.find('`') {
        let mark = if rest[at..].starts_with("```") {
            "```"
        } else {
            "`"
        };
        let inner = &rest[at + mark.len()..];
        let end = inner.find(mark).expect("a span has an end");
        found.push(inner[..end].trim().to_owned());
        rest = &inner[end + mark.len()..];
    }
    found
}

fn refusals() -> Refusals {
    let folder = root().join("assets/runner");
    let mut files = Vec::new();
    python_files(&folder, &mut files);
    let mut all = Refusals::new();
    for file in files {
        let place = file.strip_prefix(&folder).unwrap().with_extension("");
        let text = std::fs::read_to_string(&file).unwrap();
        let module = ruff_python_parser::parse_module(&text).unwrap();
        let mut names = Assigned::default();
        names.visit_body(module.suite());
        let mut look = Look {
            names: names.0,
            within: Vec::new(),
            found: Vec::new(),
        };
        look.visit_body(module.suite());
        let place = place.to_str().unwrap();
        all.extend(look.found.into_iter().map(|text| (text, place.to_owned())));
    }
    all
}

fn python_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            python_files(&path, found);
        } else if path.extension().is_some_and(|one| one == "py") {
            found.push(path);
        }
    }
}

/// Every text that a file binds to a name.
#[derive(Default)]
struct Assigned(HashMap<String, Vec<String>>);

impl<'a> Visitor<'a> for Assigned {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let Stmt::Assign(assign) = stmt
            && let [Expr::Name(name)] = &assign.targets[..]
            && let Some(text) = text_of(&assign.value)
        {
            self.0.entry(name.id.to_string()).or_default().push(text);
        }
        walk_stmt(self, stmt);
    }
}

/// Finds the texts of refusals: arguments of raising functions, results of `…_problem` functions,
/// and the events of an audit hook.
struct Look {
    names: HashMap<String, Vec<String>>,
    within: Vec<String>,
    found: Vec<String>,
}

impl Look {
    fn take(&mut self, expr: &Expr) {
        match expr {
            Expr::Name(name) => {
                let texts = self.names.get(name.id.as_str()).cloned();
                self.found.extend(texts.unwrap_or_default());
            }
            // `TEXT.format(…)`
            Expr::Call(call) => {
                if let Expr::Attribute(read) = &*call.func
                    && read.attr.as_str() == "format"
                {
                    self.take(&read.value);
                }
            }
            _ => self.found.extend(text_of(expr)),
        }
    }

    fn call(&mut self, call: &ExprCall) {
        let name = called(&call.func);
        let args = &call.arguments.args;
        if REFUSES.contains(&name) {
            args.iter().for_each(|one| self.take(one));
        } else if name == "Refused"
            && let [kind, message] = &args[..]
            && text_of(kind).is_some_and(|kind| kind == "ContractViolation")
        {
            self.take(message);
        }
    }

    fn function(&mut self, def: &StmtFunctionDef) {
        if REFUSES.contains(&def.name.as_str()) {
            let all = def.parameters.args.iter();
            all.filter_map(|one| one.default.as_deref())
                .for_each(|one| self.take(one));
        }
    }

    /// `REFUSED = {event: …}`, `NEVER = frozenset("event event".split())`
    fn events(&mut self, name: &str, value: &Expr) {
        match (name, value) {
            ("REFUSED", Expr::Dict(dict)) => {
                let keys = dict.items.iter().filter_map(|one| one.key.as_ref());
                self.found.extend(keys.filter_map(text_of));
            }
            ("NEVER", Expr::Call(call)) => {
                let Some(Expr::Call(split)) = call.arguments.args.first() else {
                    return;
                };
                let Expr::Attribute(read) = &*split.func else {
                    return;
                };
                let text = text_of(&read.value).unwrap_or_default();
                self.found
                    .extend(text.split_whitespace().map(str::to_owned));
            }
            _ => {}
        }
    }

    fn answers(&self) -> bool {
        let within = self.within.last();
        within.is_some_and(|name| name.ends_with("problem") || name.ends_with("problems"))
    }
}

impl<'a> Visitor<'a> for Look {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => {
                self.function(def);
                self.within.push(def.name.to_string());
                walk_stmt(self, stmt);
                self.within.pop();
                return;
            }
            Stmt::Assign(assign) => {
                if let [Expr::Name(name)] = &assign.targets[..] {
                    self.events(name.id.as_str(), &assign.value);
                }
            }
            Stmt::Return(answer) if self.answers() => {
                if let Some(value) = &answer.value {
                    self.found.extend(text_of(value));
                }
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Call(call) => self.call(call),
            Expr::Yield(one) if self.answers() => {
                self.found.extend(one.value.as_deref().and_then(text_of));
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}

fn called(function: &Expr) -> &str {
    match function {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(read) => read.attr.as_str(),
        _ => "",
    }
}

/// A text with `…` for the parts filled in at run time.
fn text_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::StringLiteral(text) => Some(text.value.to_str().to_owned()),
        Expr::FString(text) => {
            let mut out = String::new();
            for part in &text.value {
                match part {
                    FStringPart::Literal(one) => out.push_str(&one.value),
                    FStringPart::FString(one) => {
                        for piece in &one.elements {
                            match piece {
                                InterpolatedStringElement::Literal(one) => out.push_str(&one.value),
                                InterpolatedStringElement::Interpolation(_) => out.push('…'),
                            }
                        }
                    }
                }
            }
            Some(out)
        }
        _ => None,
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
