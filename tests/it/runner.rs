//! The guard's own tests, written in Python because they are about Python: `tests/runner/*.py`, run
//! with the machine's interpreter and, with pandas, with the managed environment's.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;
use crate::texts as hostile;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::interpreters::interpreters;
use countersign::analysis::outline::facts_of;
use countersign::analysis::{Analyser, analyse};
use countersign::model::{Action, CodeFacts, Verdict, VerdictKind};

fn assert_passes(python: &Path, script: &str, arguments: &[&Path]) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(script);
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(python)
        .args(["-s", "-B"])
        .arg(&script)
        .args(arguments)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{} {}:\n{stdout}\n{stderr}",
        python.display(),
        script.display()
    );
    let remaining = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(
        remaining,
        0,
        "{} leaves files where it runs",
        script.display()
    );
    // A script that tested nothing must not count as success.
    assert!(
        stdout.lines().filter(|l| l.starts_with("ok ")).count() >= 8,
        "{stdout}"
    );
}

/// Tests of the guard as a whole, and of each of its files.
const SCRIPTS: [&str; 2] = ["tests/runner/check_guard.py", "tests/runner/check_files.py"];

#[test]
fn the_guard_keeps_its_promises_on_every_python_of_this_machine() {
    for python in interpreters() {
        for script in SCRIPTS {
            assert_passes(&python, script, &[]);
        }
    }
}

#[test]
fn the_guard_keeps_its_promises_with_pandas() {
    let (python, site) = managed();
    for script in SCRIPTS {
        assert_passes(&python, script, &[&site]);
    }
}

#[test]
fn the_counting_of_private_data_is_bounded_and_reports_its_bounds() {
    let (python, site) = managed();
    assert_passes(&python, "tests/runner/check_values.py", &[&site]);
}

/// The managed environment's interpreter, and the folder of its packages.
fn managed() -> (PathBuf, PathBuf) {
    let env = common::python::managed_env();
    let site = env.sys_path.iter().find(|p| p.join("pandas").is_dir());
    (
        env.executable,
        site.expect("the environment has pandas").clone(),
    )
}

fn compare(python: &Path, arguments: &[&str], input: &str) -> Vec<u8> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runner/compare.py");
    let mut child = Command::new(python)
        .args(["-s", "-B"])
        .arg(script)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    to.write_all(input.as_bytes()).unwrap();
    drop(to);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{arguments:?}");
    output.stdout
}

/// A row of the lists of attacks and of hostile texts.
#[derive(serde::Deserialize)]
struct Row {
    code: String,
    profile: Option<String>,
}

/// Rules about written names, attributes and syntax, which both readers judge before anything runs.
/// The gates judge modules found through other objects.
const STRUCTURAL: &[&str] = &["NODE001", "ATTR001", "ATTR003", "ATTR007", "BUILTIN001"];

/// Code in which the analyser follows a value or reads a text; the runner judges it at run time.
const WHEN_IT_RUNS: &[(&str, &str)] = &[
    ("getattr(", "the name is an argument: the gate of getattr"),
    ("= getattr", "the same under another name"),
    ("hasattr(", "the name is an argument: the gate of hasattr"),
    (".query(", "pandas evaluates the text: the hook on text"),
    (".eval(", "pandas evaluates the text: the hook on text"),
    ("= df.eval", "the same under another name"),
    (
        "from_formula(",
        "patsy evaluates the text: the hook on text",
    ),
    ("smf.", "patsy evaluates the text: the hook on text"),
    (
        ": \"x.",
        "an annotation as text, which nothing evaluates but the hook sees",
    ),
    (
        ": 'globals()'",
        "an annotation as text, which nothing evaluates",
    ),
    (
        ".__init__(",
        "an object that is made anew: the gate of the attribute",
    ),
    (
        ".__class__",
        "as `type(x)` where only a class is compared, named or called: the gate of type",
    ),
    ("vars = [", "bound somewhere: the builtins do not have it"),
    ("del dir", "bound somewhere: the builtins do not have it"),
];

#[test]
fn the_two_readers_of_a_policy_agree() {
    let (python, site) = managed();
    let site = site.to_str().unwrap();
    let examples: Vec<String> =
        serde_json::from_slice(&compare(&python, &["examples", site], "")).unwrap();
    assert!(examples.len() > 1000, "{}", examples.len());
    let rows = [
        include_str!("../data/attacks.jsonl"),
        include_str!("../data/more.jsonl"),
        include_str!("../data/hunt.jsonl"),
        include_str!("../data/precision.jsonl"),
    ];
    let mut codes: Vec<(String, String)> = rows
        .iter()
        .flat_map(|file| file.lines())
        .map(|line| serde_json::from_str::<Row>(line).unwrap())
        .map(|row| (row.profile.unwrap_or("analysis".to_owned()), row.code))
        // Without the guard there is no second check.
        .filter(|(profile, _)| profile != "script")
        .collect();
    codes.extend(
        examples
            .into_iter()
            .map(|code| ("analysis".to_owned(), code)),
    );
    let policies = countersign::policy::builtin().unwrap();
    let input = serde_json::to_string(&codes).unwrap();
    let readings: Vec<Reading> =
        serde_json::from_slice(&compare(&python, &["read"], &input)).unwrap();
    assert_eq!(readings.len(), codes.len());
    let mut failures = Vec::new();
    for ((profile, code), readings) in codes.iter().zip(&readings) {
        let policy = policies.iter().find(|p| p.name == *profile).unwrap();
        let verdict = analyse(code.as_bytes(), policy);
        let differs = disagreement(code, &verdict, facts_of(code), readings);
        failures.extend(differs.map(|text| format!("{profile}: {text}")));
    }
    assert!(
        failures.is_empty(),
        "{}:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

/// The check's refusal, and what Python sees in the code, if it can parse it.
type Reading = (Option<String>, Option<CodeFacts>);

/// Used where the analyser is stricter.
const ACCEPTED: &str = "accepted, but blocked";

/// How the analyser's verdict and the runner's check differ although they must agree. `facts`: what
/// the analyser sees in the code.
fn disagreement(
    code: &str,
    verdict: &Verdict,
    facts: Option<CodeFacts>,
    (refused, seen): &Reading,
) -> Option<String> {
    if let (Some(seen), Some(facts)) = (seen, facts)
        && *seen != facts
    {
        return Some(format!("read otherwise: {code:?}"));
    }
    match verdict.verdict {
        VerdictKind::Clear | VerdictKind::Flagged => refused
            .as_ref()
            .map(|why| format!("refused, but {}: {code:?}: {why}", verdict.verdict)),
        VerdictKind::Blocked => {
            let structural = verdict
                .findings
                .iter()
                .any(|f| f.action == Action::Block && STRUCTURAL.contains(&f.rule.as_str()));
            let later = WHEN_IT_RUNS.iter().any(|(part, _)| code.contains(part));
            (structural && !later && refused.is_none() && seen.is_some())
                .then(|| format!("{ACCEPTED}: {code:?}"))
        }
        VerdictKind::Unanalyzable => None,
    }
}

/// Every form that binds, declares, deletes, annotates or reads a name `N`, or an attribute `N`.
const FORMS: &[&str] = &[
    "N = 1",
    "x = N = 1",
    "x, N = 1, 2",
    "[x, (y, *N)] = 1, (2,)",
    "N += 1",
    "N: int = 1",
    "N: int",
    "(N): int",
    "(N): int = 1",
    "(N := 1)",
    "[(N := y) for y in (1,)]",
    "for N in (): pass",
    "for x, [N] in (): pass",
    "[0 for N in ()]",
    "{y: 0 for y, N in ()}",
    "(y for y in () for N in ())",
    "with x as N: pass",
    "with x as (y, N): pass",
    "try: pass\nexcept ValueError as N: pass",
    "try: pass\nexcept* ValueError as N: pass",
    "import math as N",
    "import N",
    "import N.y",
    "import math.N",
    "from math import pi as N",
    "from math import N",
    "from math import N as y",
    "from N import y",
    "def N(): pass",
    "async def N(): pass",
    "class N: pass",
    "def f(N): pass",
    "def f(N, /): pass",
    "def f(*, N): pass",
    "def f(*N): pass",
    "def f(**N): pass",
    "def f(y=N): pass",
    "def f(y: N): pass",
    "def f() -> N: pass",
    "lambda N: 0",
    "lambda *N: 0",
    "lambda y=N: 0",
    "global N",
    "def f():\n    global N",
    "def f():\n    global N\n    N = 1",
    "def f():\n    N = 1\n    def g():\n        nonlocal N",
    "match x:\n    case N: pass",
    "match x:\n    case 1 | N: pass",
    "match x:\n    case [N, *_]: pass",
    "match x:\n    case [*N]: pass",
    "match x:\n    case {'a': N}: pass",
    "match x:\n    case {'a': 1, **N}: pass",
    "match x:\n    case int() as N: pass",
    "match x:\n    case int(N): pass",
    "match x:\n    case int(N=1): pass",
    "match x:\n    case int(N=[int(real=y)]): pass",
    "match x:\n    case N(): pass",
    "match x:\n    case N.y: pass",
    "match x:\n    case x.N: pass",
    "match x:\n    case {x.N: 1}: pass",
    "print(N=1)",
    "class A(N=1): pass",
    "@N\ndef f(): pass",
    "@x.N\nclass A: pass",
    "@N()\nasync def f(): pass",
    "class A(N): pass",
    "type N = int",
    "type A[N] = int",
    "type A = N",
    "def f[N](): pass",
    "def f[*N](): pass",
    "def f[**N](): pass",
    "def f[T: N](): pass",
    "class A[N]: pass",
    "class A[N: int](x): pass",
    "del N",
    "del (x, [N])",
    "N",
    "N()",
    "N[0] = 1",
    "N[0]: int",
    "N.y = 1",
    "N.y: int",
    "x.N",
    "x.N()",
    "x.N = 1",
    "x.N += 1",
    "x.N: int",
    "x.N: int = 1",
    "del x.N",
    "for x.N in (): pass",
    "with x as x.N: pass",
    "[0 for x.N in ()]",
    "x: N",
    "x: N = 1",
    "x: list[N] = 1",
    "f'{N}'",
    "f'{x.N!r:>{N}}'",
    "raise N from N",
    "assert N, N",
    "if N: pass",
    "x[N:N, N]",
    "print(*N, **N)",
    "{**N, 'a': [*N]}",
];

/// Forms that bind a name and read it back. The runner does not judge a name that is bound anywhere
/// as a builtin, since its guarded builtins lack forbidden names. The analyser checks where it is
/// bound.
const READ_BACK: &[&str] = &[
    "N = 1; N",
    "def N(): N()",
    "def f(N: int = 1): return N",
    "class A: N = y = N",
    "global N; N: int; N",
];

/// Code around a form.
const AROUND: &[&str] = &[
    "x = 1\n#",
    "x = 1\ndef outer():\n    #",
    "x = 1\nclass Outer:\n    #",
    "x = 1\nclass __:\n    async def outer(self):\n        #",
];

/// Special names, builtins and names from policies, and similar ordinary names.
const NAMES: &[&str] = &[
    "__loader__",
    "__name__",
    "__class__",
    "__init__",
    "__dict__",
    "__builtins__",
    "__debug__",
    "__all__",
    "__doc__",
    "__file__",
    "__annotations__",
    "__slots__",
    "__match_args__",
    "__getattr__",
    "__del__",
    "__import__",
    "__build_class__",
    "__anything__",
    "__\u{e9}__",
    "__\u{ff4c}oader__",
    "__",
    "____",
    "_____",
    "__x",
    "__x_",
    "_x__",
    "_",
    "_x",
    "eval",
    "exec",
    "globals",
    "input",
    "open",
    "print",
    "type",
    "getattr",
    "BaseException",
    "exit",
    "mro",
    "gi_frame",
    "format",
    "math",
    "df",
    "anything",
];

/// Profiles with a guard, besides `analysis`.
const OTHERS: &[&str] = &["chart", "feature", "scoped", "walled"];

/// All combinations of forms, names and places: both readers refuse the same ones.
#[test]
fn the_two_readers_agree_on_every_form_of_a_name() {
    let policies = countersign::policy::builtin().unwrap();
    let mut codes: Vec<(&str, String)> = Vec::new();
    for form in FORMS.iter().chain(READ_BACK) {
        for name in NAMES {
            for (at, around) in AROUND.iter().enumerate() {
                let indent = around.rsplit('\n').next().unwrap_or_default();
                let below = format!("\n{}", indent.trim_end_matches('#'));
                let inside = form.replace('N', name).replace('\n', &below);
                let code = around.replace('#', &inside);
                // Every policy treats the places alike, so the other profiles need only the first
                // one.
                let others = if at == 0 { OTHERS } else { &[] };
                codes.extend(others.iter().map(|profile| (*profile, code.clone())));
                codes.push(("analysis", code));
            }
        }
    }
    let read_back = codes.len() / (FORMS.len() + READ_BACK.len()) * FORMS.len();
    let verdicts: Vec<Verdict> = codes
        .iter()
        .map(|(profile, code)| {
            let policy = policies.iter().find(|p| p.name == *profile).unwrap();
            analyse(code.as_bytes(), policy)
        })
        .collect();
    let input = serde_json::to_string(&codes).unwrap();
    for python in interpreters() {
        let readings: Vec<Reading> =
            serde_json::from_slice(&compare(&python, &["read"], &input)).unwrap();
        assert_eq!(readings.len(), codes.len());
        let read = readings.iter().filter(|(_, facts)| facts.is_some()).count();
        assert!(
            read * 4 > codes.len() * 3,
            "{} reads {read}",
            python.display()
        );
        let mut failures = Vec::new();
        for (i, (_, code)) in codes.iter().enumerate() {
            let differs = disagreement(code, &verdicts[i], facts_of(code), &readings[i]);
            let stricter = |text: &String| i >= read_back && text.starts_with(ACCEPTED);
            failures.extend(differs.filter(|text| !stricter(text)));
        }
        assert!(
            failures.is_empty(),
            "{}:\n{}",
            python.display(),
            failures.join("\n")
        );
    }
}

/// Seeds with syntax of Python 3.12, a syntax error for older versions. Inputs that fuzzers make
/// from them keep the statement `type`.
const NEWER: &str = "syntax-types";

/// Text made to stall or mislead a reader, given to the analyser's real worker. It has a time
/// limit, as the runner's check has here.
#[test]
fn the_two_readers_agree_on_hostile_text() {
    let (python, _) = managed();
    let mut texts: Vec<(String, Vec<u8>)> = Vec::new();
    for size in [2 * 1024, 64 * 1024] {
        let named = hostile::hostile(size).into_iter();
        texts.extend(named.map(|(name, code)| (format!("{name} of {size} bytes"), code)));
    }
    let encodings = hostile::encodings().into_iter();
    texts.extend(encodings.map(|(name, code, _)| (name.to_owned(), code)));
    for target in ["parse", "text", "walk"] {
        let seeds = hostile::seeds(target).into_iter();
        texts.extend(seeds.map(|(path, code)| (path.display().to_string(), code)));
    }
    // Text that is not UTF-8, or longer than the policy allows, never reaches a child.
    let texts: Vec<(String, String)> = texts
        .into_iter()
        .filter(|(_, code)| code.len() <= 64 * 1024)
        .filter_map(|(name, code)| Some((name, String::from_utf8(code).ok()?)))
        .collect();
    let codes: Vec<_> = texts.iter().map(|(_, code)| ("analysis", code)).collect();
    let input = serde_json::to_string(&codes).unwrap();
    let readings: Vec<Reading> =
        serde_json::from_slice(&compare(&python, &["read"], &input)).unwrap();
    assert_eq!(readings.len(), texts.len());
    let mut analyser = Analyser::new(
        PathBuf::from(env!("CARGO_BIN_EXE_countersign")),
        countersign::policy::builtin().unwrap(),
    );
    let (mut wrong, mut judged) = (Vec::new(), 0);
    for ((name, code), readings) in texts.iter().zip(&readings) {
        let verdict = analyser.verdict(code.as_bytes(), "analysis");
        let runs = matches!(verdict.verdict, VerdictKind::Clear | VerdictKind::Flagged);
        judged += usize::from(verdict.verdict < VerdictKind::Unanalyzable && readings.1.is_some());
        if runs && readings.1.is_none() && !name.ends_with(NEWER) && !code.contains("type ") {
            wrong.push(format!("{name}: {}, but not Python's", verdict.verdict));
        }
        if runs && verdict.facts.is_none() {
            wrong.push(format!("{name}: {} without facts", verdict.verdict));
        }
        let differs = disagreement(code, &verdict, verdict.facts, readings);
        wrong.extend(
            differs.map(|text| format!("{name}: {}", text.chars().take(300).collect::<String>())),
        );
    }
    assert!(judged > 100, "both read {judged} of {} texts", texts.len());
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
