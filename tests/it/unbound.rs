//! `RUN002`: names that are read although nothing binds them, or nothing binds them yet or any
//! more.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::process::Command;

use countersign::analysis::analyse_in;
use countersign::model::{Action, Setting};

use crate::common::python;
use crate::setting::{findings_of, judged, policy};

#[derive(serde::Deserialize)]
struct Row {
    code: String,
    unbound: Vec<String>,
}

fn rows(text: &str) -> Vec<Row> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The names with findings of the `RUN` rules; names that are only noted are in parentheses.
fn unbound(code: &str) -> Vec<String> {
    let found = findings_of(&judged("analysis", code), "RUN").into_iter();
    found
        .map(|(_, action, name)| match action {
            Action::Note => format!("({name})"),
            _ => name,
        })
        .collect()
}

fn assert_unbound(rows: &[Row]) {
    let failures: Vec<String> = rows
        .iter()
        .map(|row| (row, unbound(&row.code)))
        .filter(|(row, found)| *found != row.unbound)
        .map(|(row, found)| format!("{:?}: {found:?}, not {:?}", row.code, row.unbound))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Rows about code that surely runs, code that may not run, and names that are not bound yet.
#[test]
fn sure_failures_are_blocked_and_failures_that_may_not_run_are_noted() {
    assert_unbound(&rows(include_str!("../data/course.jsonl")));
}

/// Names that are read before they are bound, unless a loop iteration, a branch or a call has bound
/// them. Code is blocked exactly if Python fails on it; a name in parentheses is in a branch and
/// noted.
#[test]
fn a_name_that_is_bound_only_further_down_is_answered_at_once() {
    let mut failures = Vec::new();
    for row in rows(include_str!("../data/ahead.jsonl")) {
        let found = unbound(&row.code);
        let noted = |name: &&String| name.starts_with('(');
        let expected = |name: &String| row.unbound.contains(name);
        let right = found.iter().filter(|n| !noted(n)).all(expected)
            && row.unbound.iter().all(|name| found.contains(name));
        if !right {
            failures.push(format!("{:?}: {found:?}, not {:?}", row.code, row.unbound));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Python confirms those rows: it raises a `NameError` for that name, or none.
#[test]
fn python_fails_on_the_names_that_are_bound_only_further_down() {
    const EACH: &str = "\
import json, sys
for line in sys.stdin:
    row, said = json.loads(line), None
    try:
        exec(compile(row['code'], '<row>', 'exec'), {'__name__': '__main__'})
    except NameError as error:
        said = error.name or str(error).split(\"'\")[1]
    print(json.dumps([said] if said else []), file=sys.stderr)
";
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("rows.jsonl");
    let text = include_str!("../data/ahead.jsonl");
    std::fs::write(&data, text).unwrap();
    let output = Command::new(&python::managed_env().executable)
        .args(["-I", "-c", EACH])
        .current_dir(folder.path())
        .stdin(std::fs::File::open(&data).unwrap())
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    let rows = rows(text);
    assert_eq!(stderr.lines().count(), rows.len(), "{stderr}");
    for (row, line) in rows.iter().zip(stderr.lines()) {
        let failed: Vec<String> = serde_json::from_str(line).unwrap();
        let expected: Vec<&str> = row
            .unbound
            .iter()
            .map(|n| n.trim_matches(['(', ')']))
            .collect();
        assert_eq!(failed, expected, "{:?}", row.code);
    }
}

#[test]
fn a_name_that_is_local_by_mistake_comes_with_a_remedy() {
    for (code, hint) in [
        ("c = 0\ndef f():\n    c += 1\nf()", "`global c`"),
        (
            "def g():\n    n = 0\n    def f():\n        n += 1\n    f()\ng()",
            "`nonlocal n`",
        ),
        ("total += 1", "begin with `total = 0`"),
        ("print(js.dumps(1))\nimport json as js", "import it first"),
        ("f()\ndef f():\n    pass", "define it first"),
    ] {
        let verdict = judged("analysis", code);
        let mut findings = verdict.findings.iter();
        let found = findings.find(|f| f.rule == "RUN002").unwrap();
        assert!(found.hint.contains(hint), "{code}: {}", found.hint);
    }
    // The inputs are unknown: a member that no data has must be a module's.
    for (code, blocked) in [
        ("print(json.loads('1'))", true),
        ("print(json.mean())", false),
        ("x += 1", false),
        ("print(x)\nx = 1", false),
        ("def f():\n    print(y)\n    y = 1\nf()", true),
    ] {
        let verdict = analyse_in(code.as_bytes(), &policy("analysis"), &Setting::default());
        assert_eq!(
            !findings_of(&verdict, "RUN002").is_empty(),
            blocked,
            "{code}"
        );
    }
}

/// Rows: code with its unbound names; those in parentheses are only noted.
#[test]
fn a_name_that_nothing_binds_is_answered_at_once() {
    let rows: &[(&str, &str, &[&str])] = &[
        ("analysis", "print(totl)", &["totl"]),
        (
            "analysis",
            "print(sales.shape, pd.NA, np.nan)\ndisplay(sales)",
            &[],
        ),
        ("analysis", "plt.plot([1])", &["plt"]),
        ("analysis", "for c in colums:\n    print(c)", &["colums"]),
        ("analysis", "def f():\n    return g(1)\nprint(f())", &["g"]),
        (
            "analysis",
            "def f():\n    return missing_a\n",
            &["(missing_a)"],
        ),
        (
            "analysis",
            "class A:\n    def go(self):\n        return nope\nA().go()",
            &["nope"],
        ),
        (
            "analysis",
            "class A:\n    def go(self):\n        return nope\nA()",
            &["(nope)"],
        ),
        (
            "analysis",
            "class A:\n    x = 1\n    def go(self):\n        return x\nA().go()",
            &["x"],
        ),
        (
            "analysis",
            "class A:\n    n = 2\n    m = [i for i in range(n)]\nprint(A.m)",
            &[],
        ),
        (
            "analysis",
            "class A:\n    n = 2\n    m = [n for i in range(3)]\nprint(A.m)",
            &["n"],
        ),
        (
            "analysis",
            "from math import *\nprint(sqrt(2), anything)",
            &[],
        ),
        (
            "analysis",
            "if len(sales) > 3:\n    big = 1\nprint(big)",
            &[],
        ),
        ("analysis", "if len(sales) > 3:\n    print(big)", &["(big)"]),
        ("analysis", "x = 1 if sales.empty else nope", &["(nope)"]),
        ("analysis", "print(sales.empty or nope)", &["(nope)"]),
        (
            "analysis",
            "try:\n    unicode\nexcept NameError:\n    unicode = str",
            &[],
        ),
        (
            "analysis",
            "try:\n    print(nope)\nexcept NameError:\n    pass",
            &[],
        ),
        (
            "analysis",
            "try:\n    print(nope)\nexcept Exception as e:\n    print(e)",
            &["(nope)"],
        ),
        (
            "analysis",
            "try:\n    print(nope)\nexcept (KeyError, ValueError):\n    pass",
            &["nope"],
        ),
        (
            "analysis",
            "try:\n    print(1)\nfinally:\n    print(nope)",
            &["nope"],
        ),
        (
            "analysis",
            "from contextlib import suppress\nwith suppress(NameError):\n    print(nope)",
            &["(nope)"],
        ),
        ("analysis", "x = 1\ndel x\nx = 2\nprint(x)", &[]),
        (
            "analysis",
            "with open('a.txt', 'w') as f:\n    f.write('a')\nprint(f.closed)",
            &[],
        ),
        ("analysis", "import os.path\nprint(os.sep)", &[]),
        (
            "analysis",
            "import numpy as xx, math\nprint(xx.pi, math.pi)",
            &[],
        ),
        (
            "analysis",
            "print([y for x in [[1]] for y in x], (lambda z: z)(1))",
            &[],
        ),
        ("analysis", "print([x for x in range(3)], x)", &["x"]),
        ("analysis", "if (n := 3) > 2:\n    print(n)", &[]),
        ("analysis", "print([m := 1], m)", &[]),
        (
            "analysis",
            "def count():\n    global total\n    total = 1\ncount()\nprint(total)",
            &[],
        ),
        (
            "analysis",
            "match sales.shape:\n    case (a, b):\n        print(a, b)",
            &[],
        ),
        (
            "analysis",
            "match sales.shape:\n    case {'k': v, **rest}:\n        print(v, rest)",
            &[],
        ),
        (
            "analysis",
            "def f(a, *b, c=1, **d):\n    return a, b, c, d\nprint(f(1))",
            &[],
        ),
        (
            "analysis",
            "def f() -> Later:\n    return 1\nprint(f())",
            &["(Later)"],
        ),
        ("analysis", "x: Later = 1", &["(Later)"]),
        (
            "analysis",
            "if __name__ == '__main__':\n    mian()",
            &["mian"],
        ),
        ("analysis", "sales.query('amount > limit')", &[]),
        ("analysis", "sales.eval('x = amount * 2')", &[]),
        ("analysis", "f = lambda: nope\n", &["(nope)"]),
        ("analysis", "f = lambda: nope\nprint(f())", &["nope"]),
        ("analysis", "print(__name__, __doc__)", &[]),
        (
            "analysis",
            "def outer():\n    n = 0\n    def inner():\n        nonlocal n\n        n += 1\n    inner()\n    return n\nprint(outer())",
            &[],
        ),
        (
            "analysis",
            "def a():\n    return b()\ndef b():\n    return 1\nprint(a())",
            &[],
        ),
        ("analysis", "@decorate\ndef f():\n    pass", &["decorate"]),
        ("analysis", "print(f'{nope!r:>{wide}}')", &["nope", "wide"]),
        (
            "feature",
            "df['n'] = df['a'] * np.pi\nx = sales",
            &["sales"],
        ),
        (
            "chart",
            "result = {'output': str(data['sales']), 'chart': None}\nprint(sales)",
            &["sales"],
        ),
        ("analysis", "x = 1\ndel x\nprint(x)", &["x"]),
        ("analysis", "x = 1\ndel x\nfor x in [1]:\n    print(x)", &[]),
        (
            "analysis",
            "x = 1\nif sales.empty:\n    del x\nprint(x)",
            &[],
        ),
        (
            "analysis",
            "x = 1\ndef put():\n    global x\n    x = 2\ndel x\nput()\nprint(x)",
            &[],
        ),
        (
            "analysis",
            "try:\n    print(1)\nexcept ValueError as e:\n    print(e)\nprint(e)",
            &["e"],
        ),
        (
            "analysis",
            "def f():\n    try:\n        print(1)\n    except ValueError as e:\n        pass\n    return e\nprint(f())",
            &["e"],
        ),
        (
            "analysis",
            "e = 1\ntry:\n    print(1)\nexcept ValueError as e:\n    pass\nprint(e)",
            &[],
        ),
        ("analysis", "try:\n    print(nope)\nexcept:\n    pass", &[]),
        (
            "analysis",
            "def f():\n    return nope\ntry:\n    f()\nexcept Exception as e:\n    print(e)",
            &["(nope)"],
        ),
        (
            "analysis",
            "def f():\n    return nope\nif sales.empty:\n    f()",
            &["(nope)"],
        ),
        (
            "analysis",
            "def f():\n    return nope\ndef main():\n    print(f())\nmain()",
            &["nope"],
        ),
        (
            "analysis",
            "def f():\n    return 1\n    print(nope)\nprint(f())",
            &["(nope)"],
        ),
        (
            "analysis",
            "import sys\nsys.exit(0)\nprint(nope)",
            &["(nope)"],
        ),
        (
            "analysis",
            "class A:\n    def __repr__(self):\n        return nope\na = A()",
            &["(nope)"],
        ),
        (
            "analysis",
            "def f():\n    global later\n    return later\nprint(f())",
            &[],
        ),
        (
            "analysis",
            "import sys\nkind = WindowsError if sys.platform == 'win32' else OSError\nprint(kind)",
            &[],
        ),
        ("analysis", "d = {}\nd = {**d, 'a': 1}\nprint(d['a'])", &[]),
        ("walled", "print(len(sales))", &[]),
        ("walled", "print(len(customers))", &["customers"]),
    ];
    let mut failures = Vec::new();
    for (profile, code, names) in rows {
        let verdict = judged(profile, code);
        let found: Vec<String> = findings_of(&verdict, "RUN002")
            .into_iter()
            .map(|(_, action, subject)| match action {
                Action::Block => subject,
                _ => format!("({subject})"),
            })
            .collect();
        if found != **names {
            failures.push(format!("{profile}: {code:?}: {found:?}, not {names:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_name_that_nothing_binds_comes_with_the_likely_name() {
    for (code, hint) in [
        ("mean_tip = 1\nprint(mean_tips)", "did you mean `mean_tip`?"),
        ("print(sale)", "did you mean `sales`?"),
        ("pritn(sales)", "did you mean `print`?"),
        (
            "plt.plot([1])",
            "write `import matplotlib.pyplot as plt` first",
        ),
        ("print(frame)", "the inputs are sales"),
    ] {
        let verdict = judged("analysis", code);
        let found = verdict
            .findings
            .iter()
            .find(|f| f.rule == "RUN002")
            .unwrap();
        assert_eq!(found.hint, hint, "{code}");
    }
    // With unknown facts, nothing counts as a mistake.
    let verdict = analyse_in(
        b"print(sales, os.sep)",
        &policy("analysis"),
        &Setting::default(),
    );
    let found = findings_of(&verdict, "RUN002");
    assert_eq!(
        found,
        [("RUN002".to_owned(), Action::Block, "os".to_owned())]
    );
}

/// Snippets that run under plain Python get no such finding (`benches/served` runs each of them).
#[test]
fn snippets_that_run_read_no_name_that_is_not_bound() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/served/snippets");
    let mut snippets = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let code = std::fs::read_to_string(&path).unwrap();
        let found = findings_of(&judged("script", &code), "RUN002");
        assert!(found.is_empty(), "{}: {found:?}", path.display());
        snippets += 1;
    }
    assert!(snippets >= 300, "{snippets}");
}
