//! The table of syntax nodes is complete, and analyser, runner and page follow it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::interpreters::interpreters;
use common::python::managed_env;
use countersign::analysis::analyse;
use countersign::analysis::outline::kinds;
use countersign::model::VerdictKind;
use countersign::policy::{Handling, NodeKind, Policy, builtin};
use serde::de::DeserializeOwned;

const OLD: &str = include_str!("../data/nodes.py");
const NEW: &str = include_str!("../data/nodes_312.py");

/// Every Python of this machine, including versions too new to run snippets, and the one that runs
/// them.
fn pythons() -> Vec<PathBuf> {
    let mut found = interpreters();
    let managed = managed_env().executable;
    if !found.contains(&managed) {
        found.push(managed);
    }
    let later = ["python3.14", "python3.15"].map(PathBuf::from);
    let answers = |python: &PathBuf| {
        let output = Command::new(python).arg("--version").output();
        output.is_ok_and(|output| output.status.success())
    };
    found.extend(later.into_iter().filter(answers));
    found
}

fn ask<T: DeserializeOwned>(python: &Path, script: &str, argument: &str) -> T {
    let output = Command::new(python)
        .args(["-I", "-B", "-W", "ignore", "-c", script, argument])
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {stderr}", python.display());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Minor version, and for each class of `ast` its name, its base's name, and whether others extend
/// it.
type Classes = (u8, Vec<(String, String, bool)>);

const CLASSES: &str = "\
import ast, json, sys
def below(one):
    for sub in one.__subclasses__():
        yield sub
        yield from below(sub)
found = {(c.__name__, c.__base__.__name__, bool(c.__subclasses__())) for c in below(ast.AST)}
print(json.dumps([sys.version_info.minor, sorted(found)]))
";

/// The differences between a Python and the table.
fn differences((minor, classes): &Classes) -> Vec<String> {
    let bases: BTreeSet<_> = NodeKind::ALL.iter().map(|kind| kind.base()).collect();
    let mut failures = Vec::new();
    for (name, base, extended) in classes {
        match NodeKind::named(name) {
            Some(kind) if kind.base() != base => failures.push(format!("{name} is a {base}")),
            Some(kind) if kind.since() > *minor => failures.push(format!("{name} is older")),
            None if !(*extended && bases.contains(name.as_str())) => {
                failures.push(format!("{name} ({base}) is not in the table"));
            }
            Some(_) | None => {}
        }
    }
    let known: BTreeSet<_> = classes.iter().map(|(name, ..)| name.as_str()).collect();
    let lost = NodeKind::listed().filter(|kind| kind.since() <= *minor);
    let lost = lost.filter(|kind| !known.contains(kind.name()));
    failures.extend(lost.map(|kind| format!("{} is gone", kind.name())));
    failures
}

#[test]
fn every_node_kind_that_a_python_knows_is_in_the_table() {
    for python in pythons() {
        let mut python_classes: Classes = ask(&python, CLASSES, "");
        assert!(python_classes.1.len() > 100, "{python_classes:?}");
        let differences_found = differences(&python_classes);
        assert!(
            differences_found.is_empty(),
            "{}: {differences_found:#?}",
            python.display()
        );
        // Node types of a later Python: one under a known base, and one under a new base.
        for (name, base, extended) in [("Later", "expr", false), ("later", "AST", true)] {
            python_classes
                .1
                .push((name.to_owned(), base.to_owned(), extended));
        }
        python_classes.1.retain(|(name, ..)| name != "Await");
        assert_eq!(
            differences(&python_classes),
            [
                "Later (expr) is not in the table",
                "later (AST) is not in the table",
                "Await is gone"
            ]
        );
    }
}

fn names(kinds: impl IntoIterator<Item = NodeKind>) -> BTreeSet<String> {
    let names = kinds.into_iter().map(|kind| kind.name().to_owned());
    names.collect()
}

/// The walk matches each of the parser's node types, so a new one does not compile; the walk's name
/// for each is CPython's.
#[test]
fn the_analyser_names_every_kind_as_python_does() {
    let mut seen: BTreeSet<_> = [NodeKind::Module, NodeKind::Expression].into();
    for (since, text) in [(11, OLD), (12, NEW)] {
        let ours = kinds(text).unwrap();
        for python in pythons() {
            let (minor, _): Classes = ask(&python, CLASSES, "");
            if minor >= since {
                const KINDS: &str = "import ast, json, sys\n\
                    nodes = ast.walk(ast.parse(sys.argv[1]))\n\
                    print(json.dumps(sorted({type(n).__name__ for n in nodes} - {'Module'})))";
                let theirs: BTreeSet<String> = ask(&python, KINDS, text);
                assert_eq!(names(ours.clone()), theirs, "{}", python.display());
            }
        }
        seen.extend(ours);
    }
    assert_eq!(names(seen), names(NodeKind::listed()));
}

/// The node kinds that a verdict refuses.
fn refused_kinds(text: &str, policy: &Policy) -> BTreeSet<String> {
    let findings = analyse(text.as_bytes(), policy).findings.into_iter();
    let refused = findings.filter(|f| f.rule == "NODE001");
    refused
        .filter_map(|f| Some(f.message.split_once(": ")?.0.to_owned()))
        .collect()
}

#[test]
fn a_kind_that_is_not_listed_is_refused_in_every_profile() {
    for policy in builtin().unwrap() {
        assert!(!policy.nodes.contains("*"), "{}", policy.name);
        for text in [OLD, NEW] {
            let used = names(kinds(text).unwrap());
            let expected: BTreeSet<_> = used.difference(&policy.nodes).cloned().collect();
            assert_eq!(refused_kinds(text, &policy), expected, "{}", policy.name);
            for kind in &used {
                let mut tighter = Policy::clone(&policy);
                tighter.nodes.remove(kind);
                assert!(
                    refused_kinds(text, &tighter).contains(kind),
                    "{}: {kind}",
                    policy.name
                );
            }
        }
        let nothing = Policy {
            nodes: BTreeSet::from(["*".to_owned()]),
            ..Policy::clone(&policy)
        };
        assert!(
            refused_kinds("x = 1", &nothing).contains("Assign"),
            "{}",
            policy.name
        );
    }
}

#[test]
fn syntax_that_the_analyser_does_not_read_is_unanalyzable_in_every_profile() {
    let unread = NodeKind::ALL
        .iter()
        .filter(|k| k.handling() == Handling::Unread);
    for kind in unread {
        let text = match kind {
            NodeKind::TemplateStr => "x = t\"plain\"",
            NodeKind::Interpolation => "x = t\"{1}\"",
            other => panic!("an example of {other:?}"),
        };
        for policy in builtin().unwrap() {
            let verdict = analyse(text.as_bytes(), &policy);
            assert_eq!(verdict.verdict, VerdictKind::Unanalyzable, "{kind:?}");
            assert!(!policy.nodes.contains(kind.name()), "{}", policy.name);
        }
    }
}

/// `CS_WRITE_RULES=1 cargo test --test it nodes` regenerates the page.
#[test]
fn the_page_of_the_syntax_matches_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/docs/syntax.md");
    let expected = page();
    if std::env::var_os("CS_WRITE_RULES").is_some_and(|v| !v.is_empty()) {
        std::fs::write(&path, &expected).unwrap();
    }
    assert!(
        std::fs::read_to_string(&path).unwrap_or_default() == expected,
        "assets/docs/syntax.md is not current: CS_WRITE_RULES=1 cargo test --test it nodes"
    );
}

fn page() -> String {
    let policies = builtin().unwrap();
    let mut page = "\
# What becomes of each kind of syntax node

From the table in `src/policy/nodes.rs`, which has every class of CPython's `ast`, and the built-in profiles'
`[nodes]`. `yes`: the profile lists it. `no`: the proposal is blocked (`NODE001`), and the runner would refuse it
again. `unread`: newer than what the analyser reads, so the proposal is unanalyzable, whatever a policy says. `–`: no
snippet's tree has it. `since` is the first Python that has it; with an older one such a proposal is blocked too
(`RUN003`).

**Any other kind is refused in every profile**: no policy can list it, and in a policy file `*` stands for what is
here. In `script`, which has no guard inside the child, that is the analyser's word alone.

"
    .to_owned();
    let heads: Vec<_> = policies.iter().map(|p| p.name.as_str()).collect();
    writeln!(page, "| kind | base | since | {} |", heads.join(" | ")).unwrap();
    writeln!(page, "|---|---|---|{}", "---|".repeat(heads.len())).unwrap();
    for kind in NodeKind::ALL {
        let since = match kind.since() {
            11 => String::new(),
            minor => format!("3.{minor}"),
        };
        let cells = policies.iter().map(|policy| match kind.handling() {
            Handling::Listed if policy.nodes.contains(kind.name()) => "yes",
            Handling::Listed => "no",
            Handling::Unread => "unread",
            Handling::Elsewhere => "–",
        });
        let cells: Vec<_> = cells.collect();
        let (name, base) = (kind.name(), kind.base());
        writeln!(
            page,
            "| `{name}` | `{base}` | {since} | {} |",
            cells.join(" | ")
        )
        .unwrap();
    }
    page
}
