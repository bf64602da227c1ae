//! The guard inside the child: what it refuses before anything runs, what its gates refuse during
//! the run, and what must keep working.

use super::TIER;
use crate::executor::tests::bench::*;
use crate::executor::{DatasetSource, bind};
use crate::model::{BoundInput, DataFormat, InputRequest, RunErrorKind};

fn run_guarded(code: &str) -> Outcome {
    run_spec(spec(code, policy(TIER)))
}

fn bound(inputs: serde_json::Value) -> Vec<BoundInput> {
    let requests: std::collections::BTreeMap<String, InputRequest> =
        serde_json::from_value(inputs).unwrap();
    bind(&requests, &Default::default()).unwrap()
}

/// Each is refused as a violation before anything runs: the first line would print.
const REFUSED_BEFORE: &[&str] = &[
    "eval('1')",
    "e = eval",
    "(e := eval)('1')",
    "list(map(eval, ['1']))",
    "f = lambda e=eval: e('1')",
    "@eval\ndef f(): pass",
    "class A:\n    __class_getitem__ = 1",
    "class M(type): pass\nclass X(metaclass=M): pass",
    "class A:\n    def __del__(self): pass",
    "().__class__",
    "x = 1\nf'{x.__class__}'",
    "x = 1\nf'{x!r:{(y:=x.__class__)}}'",
    "().__\u{1d4ec}\u{1d4f5}\u{1d4ea}\u{1d4fc}\u{1d4fc}__",
    "\u{ff45}val('1')",
    "import subprocess",
    "import subprocess as numpy",
    "import math, subprocess",
    "from math import __name__ as q, __loader__",
    "from subprocess import *",
    "from . import x",
    "from string import Formatter",
    "import encodings.idna",
    "match ():\n    case object(__class__=c): pass",
    "match f:\n    case object(f_globals=g): pass",
    "def g(): yield\ng().gi_frame",
    "try: 1/0\nexcept Exception as e: e.__traceback__.tb_frame",
    "__builtins__['eval']",
    "__spec__",
    "class _:\n    def f(s): return s.__dict",
    "def f(__x__): pass",
    "print(__x__=1)",
    "globals()",
    "x: eval('1') = 1",
    "def f() -> eval('1'): pass",
    "for __loader__ in [1]: pass",
    "global __spec__",
    "breakpoint()",
    "input()",
    "type(1).mro()",
    "# x\rimport subprocess",
];

#[test]
fn s1_code_that_the_policy_does_not_list_is_refused_before_anything_runs() {
    for code in REFUSED_BEFORE {
        let outcome = run_guarded(&format!("print('ran')\n{code}"));
        let run = outcome.run();
        let error = run
            .error
            .as_ref()
            .unwrap_or_else(|| panic!("{code}: {run:?}"));
        assert_eq!(error.kind, RunErrorKind::PolicyViolation, "{code}: {run:?}");
        assert_eq!(run.stdout, "", "{code}");
        assert!(
            error.line.is_some_and(|line| line >= 2),
            "{code}: {error:?}"
        );
        assert_eq!(error.exception, None);
    }
}

/// Each is refused by a gate, because the static rules cannot know the object.
const REFUSED_WHILE_IT_RUNS: &[&str] = &[
    "import json\njson.decoder",
    "import json\nd = json\nd.scanner",
    "import re\nre.enum.sys",
    "import dataclasses\ndataclasses._FIELDS",
    "import random\nrandom._inst",
    "import decimal\ndecimal.Decimal(1)._exp",
    "import io\nclass S(io.StringIO): pass\nS()._checkClosed",
    "import io\nclass S(io.StringIO):\n    def f(self): return super()._checkClosed\nS().f()",
    "import io\nio.StringIO()._x = 1",
    "import collections\ncollections._sys",
    "import collections\ngetattr(collections, '_sys')",
    "getattr(1, '__cl' + 'ass__')",
    "hasattr(1, '__class__')",
    "list(map(getattr, [1], ['__class__']))",
    "'{0.real}'.format(1)",
    "f = '{0.real}'.format\nf(1)",
    "str.format('{0.real}', 1)",
    "list(map('{0.real}'.format, [1]))",
    "'{x.real}'.format_map({'x': 1})",
    "'{0:{1.real}}'.format(1, 2)",
    "getattr('{0.real}', 'format')(1)",
    "class S(str): pass\nS('{0.real}').format(1)",
    "import math\nmath.pi = 3",
    "import math\nfor math.pi in [3]: pass",
    "import math\ndel math.pi",
    "import json\njson.JSONEncoder.default = 1",
    "import math\nmath.tau += 1",
    "type(lambda: 0)(1)",
    "import math\ntype(math)('m')",
    // Blocked when the module is loaded, which in a cold start is at this line.
    "import typing\ntyping.get_origin(type[int])('X', (), {})",
    "import typing\ntyping.get_args(list[type])[0]('X', (), {})",
    "try:\n    '{0.real}'.format(1)\nexcept:\n    pass",
    "try:\n    '{0.real}'.format(1)\nexcept BaseException:\n    pass",
    "def f():\n    try: '{0.real}'.format(1)\n    finally: return 1\nf()",
];

#[test]
fn s4_violations_that_only_show_at_run_time_are_refused_then() {
    for code in REFUSED_WHILE_IT_RUNS {
        let outcome = run_guarded(code);
        let run = outcome.run();
        let kind = run.error.as_ref().map(|e| e.kind);
        assert_eq!(kind, Some(RunErrorKind::PolicyViolation), "{code}: {run:?}");
    }
}

/// Paths that fail without leaving the output folder.
#[test]
fn files_stay_in_the_output_folder() {
    for name in [
        "/etc/passwd",
        "../x",
        "a/../b",
        "a/b/c/d/e",
        "a//b",
        ".",
        "..",
        "",
        "a\0b",
        "a\tb",
        "a\\b",
    ] {
        let outcome = run_guarded(&format!("open({name:?}, 'w')"));
        let error = outcome.run().error.clone().unwrap();
        assert_eq!(error.kind, RunErrorKind::SnippetError, "{name}");
        assert_eq!(
            error.exception.as_deref(),
            Some("PermissionError"),
            "{name}"
        );
    }
    for code in [
        "open(0)",
        "open(4, 'w')",
        "open(b'/etc/passwd')",
        "open('x', opener=print)",
    ] {
        assert!(run_guarded(code).run().error.is_some(), "{code}");
    }
    let outcome = run_guarded(
        "with open('a.txt', 'w') as f: f.write('é')\n\
         with open('a.txt') as f: print(f.read())",
    );
    assert_eq!(outcome.run().stdout, "é\n", "{:?}", outcome.run());
}

#[test]
fn the_builtins_are_what_the_policy_lists_and_cannot_be_changed() {
    // The binding never runs, so the static check accepts it, and the frozen dict has no such name.
    let outcome = run_guarded("if False: eval = 1\nprint(eval)");
    let error = outcome.run().error.clone().unwrap();
    assert_eq!(error.exception.as_deref(), Some("NameError"), "{error:?}");
    let outcome = run_guarded("type('X', (), {})");
    let error = outcome.run().error.clone().unwrap();
    assert_eq!(error.kind, RunErrorKind::PolicyViolation, "{error:?}");
}

#[test]
fn plain_python_works() {
    let code = r#"
from __future__ import annotations
import math, json, collections
from collections import Counter, namedtuple
from dataclasses import dataclass, field
from enum import Enum

@dataclass
class Point:
    x: int
    y: int = 2
    tags: list = field(default_factory=list)

    def norm(self):
        return math.hypot(self.x, self.y)

class Base:
    _made = 0
    def __init__(self, n):
        self.n = n
        self._n = n
        self.__hidden = 5
        Base._made += self._n
    @property
    def twice(self):
        return self.n * 2 + self.__hidden - 5

class Child(Base):
    def __init__(self, n):
        super().__init__(n + 1)
        self.n += 1

class Colour(Enum):
    RED = 1

p = Point(3, 4)
p.x, (p.y, *rest) = 6, (8, 9)
print(p.norm(), p, Child(1).twice, Colour.RED.name, Child(1)._n, Base._made)
print("{:>5}|{name}|{0[1]}".format([1, 2], name="n") if False else "{0}|{name}".format(1, name="n"))
print("{:.2f} {!r:>4} {}".format(1.239, "a", True), f"{p.x:{3}}")
print(json.dumps({"a": [1, None]}), Counter("aab").most_common(1))
match {"kind": "a", "v": [1, 2]}:
    case {"kind": "a", "v": [first, *others]}:
        print(first, others)
match 5:
    case int(n) if n > 3:
        print("int", n)
match p:
    case Point(6, y=y):
        print("point", y)
match Colour.RED:
    case Colour.RED:
        print("red")
try:
    {}["k"]
except (KeyError, ValueError) as e:
    print("caught", e)
try:
    raise ValueError("v")
except:
    print("bare")
print(isinstance(int, type), type(1) is int, getattr(p, "x"), hasattr(p, "nope"), getattr(p, "nope", 7))
def fib():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b
from math import *
print(floor(tau))
g = fib()
print([next(g) for _ in range(6)], sorted({3: 1, 1: 2}), max([1, 2], key=lambda v: -v))
P = namedtuple("P", "a b")
print(P(1, 2)._replace(a=9).a)
"#;
    let outcome = run_guarded(code);
    let run = outcome.run();
    assert_eq!(run.error, None, "{run:?}");
    let expected = [
        "10.0 Point(x=6, y=8, tags=[]) 6 RED 2 4",
        "1|n",
        "1.24  'a' True   6",
        "{\"a\": [1, null]} [('a', 2)]",
        "1 [2]",
        "int 5",
        "point 8",
        "red",
        "caught 'k'",
        "bare",
        "True True 6 False 7",
        "6",
        "[0, 1, 1, 2, 3, 5] [1, 3] 1",
        "9",
    ];
    assert_eq!(
        run.stdout.lines().collect::<Vec<_>>(),
        expected,
        "{}",
        run.stdout
    );
}

#[test]
fn errors_are_the_snippets_own() {
    let cases = [
        (
            "x = 1\ny = x / 0",
            "ZeroDivisionError",
            2,
            "division by zero",
        ),
        ("def f():\n    return {}['k']\n\nf()", "KeyError", 2, "'k'"),
        ("x = 1\nx = = 2", "SyntaxError", 2, "invalid syntax"),
        (
            "x = 'a\n",
            "SyntaxError",
            1,
            "unterminated string literal (detected at line 1)",
        ),
        (
            "import math\nmath.sqrt('x')",
            "TypeError",
            2,
            "must be real number, not str",
        ),
        ("import json\n\njson.loads('{')", "JSONDecodeError", 3, ""),
        ("import numpy.nothing", "", 1, ""),
    ];
    for (code, exception, line, message) in cases {
        let outcome = run_guarded(code);
        let run = outcome.run();
        let error = run.error.as_ref().unwrap();
        assert_eq!(error.line, Some(line), "{code}: {run:?}");
        if exception.is_empty() {
            continue;
        }
        assert_eq!(error.kind, RunErrorKind::SnippetError, "{code}: {run:?}");
        assert_eq!(error.exception.as_deref(), Some(exception), "{code}");
        assert!(error.message.contains(message), "{code}: {error:?}");
        for text in [&run.stderr, &error.message] {
            assert!(
                !text.contains("runner") && !text.contains(".py"),
                "{code}: {text}"
            );
        }
        assert!(run.stderr.contains("File \"<snippet>\", line"), "{run:?}");
    }
}

#[test]
fn a_hostile_exception_cannot_hurt_the_report() {
    for code in [
        "class E(Exception):\n    def __repr__(self): return 'x' * 10**6\nraise E('y' * 10**6)",
        "class E(Exception):\n    def __init__(self): self.args = ('\u{1b}[2J',)\nraise E()",
        "raise KeyError",
        "raise 3",
    ] {
        let run = run_guarded(code).run().clone();
        if let Some(error) = &run.error {
            assert_eq!(error.kind, RunErrorKind::SnippetError, "{code}: {run:?}");
            assert!(error.message.len() < 9000);
        } else {
            panic!("{code}: {run:?}");
        }
    }
}

#[test]
fn deep_or_odd_code_is_an_error_and_not_a_crash() {
    let deep = format!("x = {}1{}", "(".repeat(5000), ")".repeat(5000));
    let chain = format!("x = {}1", "1+".repeat(20_000));
    let attributes = format!("x = y{}", ".a".repeat(20_000));
    for code in [
        deep.as_str(),
        &chain,
        &attributes,
        "x = '\0'",
        "\u{feff}x = 1",
        "# coding: utf-7\nx",
    ] {
        let outcome = run_guarded(code);
        let run = outcome.run();
        if let Some(error) = &run.error {
            assert!(
                matches!(
                    error.kind,
                    RunErrorKind::SnippetError | RunErrorKind::MemoryLimit
                ),
                "{run:?}"
            );
        }
    }
}

#[test]
fn the_last_expression_is_shown_as_in_a_notebook() {
    for (code, expected) in [
        ("1 + 1", "2\n"),
        ("x = 3\nx", "3\n"),
        ("'a'", "'a'\n"),
        ("None", ""),
        ("print(1)", "1\n"),
        ("1\nx = 2", ""),
        ("", ""),
    ] {
        assert_eq!(run_guarded(code).run().stdout, expected, "{code}");
    }
}

#[test]
fn plain_inputs_are_bound_to_their_names() {
    let inputs = bound(serde_json::json!({
        "cfg": {"json": {"a": [1, 2.5, null, "é"]}},
        "lines": {"text": "{\"n\": 1}\n\n{\"n\": 2}\n", "format": "jsonl"},
        "text": {"text": "[1, 2]", "format": "json"},
    }));
    let outcome = run_spec(with_inputs("print(cfg, lines, text)", policy(TIER), inputs));
    assert_eq!(
        outcome.run().stdout,
        "{'a': [1, 2.5, None, 'é']} [{'n': 1}, {'n': 2}] [1, 2]\n",
        "{:?}",
        outcome.run()
    );
    let inputs = bound(serde_json::json!({"cfg": {"text": "{", "format": "json"}}));
    let outcome = run_spec(with_inputs("print('ran')", policy(TIER), inputs));
    let run = outcome.run();
    assert!(
        run.error
            .as_ref()
            .unwrap()
            .message
            .contains("input cfg is no json"),
        "{run:?}"
    );
    assert_eq!(run.stdout, "");
}

#[test]
fn a_table_without_pandas_is_a_clear_error() {
    let inputs = bound(serde_json::json!({"df": {"text": "a,b\n1,2\n", "format": "csv"}}));
    let mut spec = with_inputs("print(df)", policy(TIER), inputs);
    let mut env = (*spec.env).clone();
    env.distributions.clear();
    spec.env = env.into();
    let outcome = run_spec(spec);
    let error = outcome.run().error.clone().unwrap();
    assert_eq!(error.kind, RunErrorKind::SandboxError);
    assert!(error.message.contains("no pandas"), "{error:?}");
}

#[test]
fn tables_are_data_frames_and_a_last_one_is_the_result() {
    let env = pandas();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sales.csv");
    let rows: String = (0..80).map(|i| format!("r{},{i},\n", i % 3)).collect();
    std::fs::write(&path, format!("region,n,gap\n{rows}")).unwrap();
    let data: std::collections::BTreeMap<_, _> = [(
        "sales".to_owned(),
        DatasetSource {
            path,
            format: DataFormat::Csv,
            sensitivity: Default::default(),
        },
    )]
    .into();
    let request = serde_json::from_value(serde_json::json!({
        "df": {"dataset": "sales"}, "t": {"text": "a\tb\n1\tx\n", "format": "tsv"}
    }))
    .unwrap();
    let inputs = bind(&request, &data).unwrap();
    let mut policy = policy(TIER);
    policy.limits.memory_mb = 1024;
    let code = "import pandas as pd\nimport numpy as np\n\
                print(t.shape, df.groupby('region')['n'].sum().to_dict())\n\
                df.columns = ['region', 'n', 'gap']\n\
                df['m'] = np.sqrt(df['n'])\n\
                df.to_csv('out.csv')\n\
                print('{:,.1f}'.format(np.float64(1234.5)), df.style is not None if False else 1)\n\
                df";
    let mut spec = with_inputs(code, policy, inputs);
    spec.env = env;
    let outcome = begin(spec, data).finish();
    let run = outcome.run();
    assert_eq!(run.error, None, "{run:?}");
    let value = &run.result["value"];
    assert_eq!(value["shape"], serde_json::json!([80, 4]), "{run:?}");
    assert_eq!(value["rows"].as_array().unwrap().len(), 50);
    assert_eq!(value["rows"][0], serde_json::json!(["r0", 0, null, 0.0]));
    assert!(
        run.stdout.starts_with("(1, 2) {'r0': 1053"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("1,234.5 1"), "{}", run.stdout);
}

#[test]
fn pandas_is_no_way_around_the_guard() {
    let env = pandas();
    for code in [
        "pd.io.common",
        "from pandas import io",
        "from numpy import f2py",
        "np.lib.format",
        "pd.DataFrame()._mgr",
        "class D(pd.DataFrame):\n    def f(self): return self._mgr\nD().f()",
        "pd.DataFrame()._x = 1",
        "import pandas as pd\npd.io",
        "np.ctypeslib",
        "x = pd\nx.compat",
        "pd.DataFrame.sum = 1",
        "np.pi = 3",
    ] {
        let mut policy = policy(TIER);
        policy.limits.memory_mb = 1024;
        let mut spec = spec(code, policy);
        spec.env = env.clone();
        let outcome = run_spec(spec);
        let run = outcome.run();
        let kind = run.error.as_ref().map(|e| e.kind);
        assert_eq!(kind, Some(RunErrorKind::PolicyViolation), "{code}: {run:?}");
    }
}

#[test]
fn a_warning_shows_nothing_of_this_machine() {
    let env = pandas();
    let mut policy = policy(TIER);
    policy.limits.memory_mb = 1024;
    let mut spec = spec(
        "np.float64(1) / np.float64(0)\nnp.array([1]) / np.array([0])",
        policy,
    );
    spec.env = env;
    let run = run_spec(spec).run().clone();
    assert_eq!(run.error, None, "{run:?}");
    assert!(run.stderr.contains("RuntimeWarning"), "{run:?}");
    assert!(!run.stderr.contains('/'), "{run:?}");
}

/// A line of the shared list of attacks.
#[derive(serde::Deserialize)]
struct Attack {
    expect: String,
    code: String,
    /// The profile; `analysis` if the row names none.
    profile: Option<String>,
}

fn attacks() -> Vec<Attack> {
    include_str!("../../../tests/data/attacks.jsonl")
        .lines()
        .chain(include_str!("../../../tests/data/more.jsonl").lines())
        .map(|line| serde_json::from_str::<Attack>(line).unwrap())
        .filter(|row| row.profile.as_deref().is_none_or(|p| p == "analysis"))
        .collect()
}

/// Runs only the static check over the whole list, in one run.
#[test]
fn the_guard_accepts_what_the_analyser_accepts() {
    let cases = attacks();
    let codes: Vec<&str> = cases.iter().map(|attack| attack.code.as_str()).collect();
    let inputs = bound(serde_json::json!({
        "codes": {"json": codes},
        "policy": {"json": policy(TIER)},
    }));
    let code = "import ast, json\n\
        from _countersign import check, errors, events, mangle, rules\n\
        lists = rules.Rules(policy)\n\
        def said(code):\n\
        \x20   try: check.check(mangle.mangle(ast.parse(code)), lists, ['df', 'pd', 'np'], events.Events(lambda line: None))\n\
        \x20   except errors.PolicyViolation as e: return e.message\n\
        \x20   except (SyntaxError, ValueError, RecursionError, MemoryError): pass\n\
        print(json.dumps([said(code) for code in codes]))";
    let mut policy = raw_policy(TIER);
    policy.limits.output_bytes = 1_000_000;
    let outcome = run_spec(with_inputs(code, policy, inputs));
    let refusals: Vec<Option<String>> = serde_json::from_str(&outcome.run().stdout)
        .unwrap_or_else(|e| panic!("{e}: {:?}", outcome.run()));
    assert_eq!(refusals.len(), cases.len());
    let mut both = 0;
    for (attack, refusal) in cases.iter().zip(refusals) {
        if attack.expect != "blocked" {
            assert_eq!(refusal, None, "{}", attack.code);
        } else if refusal.is_some() {
            both += 1;
        }
    }
    eprintln!("refused by both readers before anything runs: {both}");
    assert!(both > 0);
}
