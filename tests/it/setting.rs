//! What a verdict rests on beside the code and the policy: the tier, the inputs, what is installed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use countersign::analysis::analyse_in;
use countersign::model::{Action, Capability, Installed, Setting, Tier, Verdict, VerdictKind};
use countersign::policy::{Policy, builtin};

fn policy(name: &str) -> Arc<Policy> {
    let all = builtin().unwrap();
    all.into_iter().find(|p| p.name == name).unwrap()
}

/// A run in tier `kernel` with an input `sales`, on a Python 3.12 without seaborn.
fn setting() -> Setting {
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Setting {
        tier: Some(Tier::Kernel),
        inputs: Some(set(&["sales"])),
        datasets: set(&["customers", "sales"]),
        python: Some(Installed {
            version: (3, 12),
            missing: set(&["seaborn"]),
            present: set(&["numpy", "openpyxl", "pandas", "scipy"]),
        }),
    }
}

fn judged(profile: &str, code: &str) -> Verdict {
    analyse_in(code.as_bytes(), &policy(profile), &setting())
}

/// What the rules of a family did, in the order of the text: the rule, the action, the subject.
fn of(verdict: &Verdict, family: &str) -> Vec<(String, Action, String)> {
    let found = verdict
        .findings
        .iter()
        .filter(|f| f.rule.starts_with(family));
    let subject = |message: &str| message.split(':').next().unwrap().to_owned();
    found
        .map(|f| (f.rule.clone(), f.action, subject(&f.message)))
        .collect()
}

/// Nothing is clear where only the guard stands.
#[test]
fn in_tier_process_no_verdict_is_clear() {
    for (least, kind) in [
        (Tier::Process, VerdictKind::Flagged),
        (Tier::Kernel, VerdictKind::Clear),
    ] {
        let setting = Setting {
            tier: Some(least),
            ..setting()
        };
        let verdict = analyse_in(b"print(1)\n", &policy("analysis"), &setting);
        assert_eq!(verdict.verdict, kind);
        let told = verdict.findings.iter().any(|f| f.rule == "TIER001");
        assert_eq!(told, least == Tier::Process);
    }
    // The stronger of both counts.
    let setting = Setting {
        tier: Some(Tier::Process),
        ..setting()
    };
    let script = policy("script");
    assert_eq!(script.tier, Tier::Kernel);
    let verdict = analyse_in(b"print(1)\n", &script, &setting);
    assert!(of(&verdict, "TIER").is_empty());
    // What nobody knows judges nothing.
    let verdict = analyse_in(b"print(1)\n", &policy("analysis"), &Setting::default());
    assert_eq!(verdict.verdict, VerdictKind::Clear);
}

/// What surely runs, what may not, and when a name is bound yet: each with what is not bound or installed, as
/// below.
#[test]
fn what_surely_fails_is_blocked_and_what_may_not_run_is_noted() {
    #[derive(serde::Deserialize)]
    struct Row {
        code: String,
        unbound: Vec<String>,
    }
    let mut wrong = Vec::new();
    for line in include_str!("../data/course.jsonl").lines() {
        let row: Row = serde_json::from_str(line).unwrap();
        let found = of(&judged("analysis", &row.code), "RUN");
        let found = found.into_iter().map(|(_, action, name)| match action {
            Action::Note => format!("({name})"),
            _ => name,
        });
        let found: Vec<String> = found.collect();
        if found != row.unbound {
            wrong.push(format!("{:?}: {found:?}, not {:?}", row.code, row.unbound));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Each row was run: with the name that Python failed for, or without. One in parentheses stands in a branch,
/// which is only noted.
#[test]
fn a_name_that_is_used_before_it_is_bound_is_found_and_no_other() {
    #[derive(serde::Deserialize)]
    struct Row {
        code: String,
        fails: Vec<String>,
    }
    let mut wrong = Vec::new();
    for line in include_str!("../data/early.jsonl").lines() {
        let row: Row = serde_json::from_str(line).unwrap();
        let found = of(&judged("analysis", &row.code), "RUN002");
        let told: Vec<String> = found
            .iter()
            .map(|(_, action, name)| match action {
                Action::Block => name.clone(),
                _ => format!("({name})"),
            })
            .collect();
        let right = match row.fails.as_slice() {
            [] => found.is_empty(),
            names => names.iter().all(|name| told.contains(name)),
        };
        if !right {
            wrong.push(format!("{:?}: {found:?}, not {:?}", row.code, row.fails));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_name_that_is_local_by_mistake_comes_with_what_is_right() {
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
    // Nobody told which inputs there are: what no data has is a module's.
    for (code, blocked) in [
        ("print(json.loads('1'))", true),
        ("print(json.mean())", false),
        ("x += 1", false),
        ("print(x)\nx = 1", false),
        ("def f():\n    print(y)\n    y = 1\nf()", true),
    ] {
        let verdict = analyse_in(code.as_bytes(), &policy("analysis"), &Setting::default());
        assert_eq!(!of(&verdict, "RUN002").is_empty(), blocked, "{code}");
    }
}

/// Each with the names that are not bound; those in parentheses are only noted.
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
    let mut wrong = Vec::new();
    for (profile, code, names) in rows {
        let verdict = judged(profile, code);
        let found: Vec<String> = of(&verdict, "RUN002")
            .into_iter()
            .map(|(_, action, subject)| match action {
                Action::Block => subject,
                _ => format!("({subject})"),
            })
            .collect();
        if found != **names {
            wrong.push(format!("{profile}: {code:?}: {found:?}, not {names:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_name_that_nothing_binds_comes_with_what_may_be_meant() {
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
    // What nobody told of is no mistake.
    let verdict = analyse_in(
        b"print(sales, os.sep)",
        &policy("analysis"),
        &Setting::default(),
    );
    let found = of(&verdict, "RUN002");
    assert_eq!(
        found,
        [("RUN002".to_owned(), Action::Block, "os".to_owned())]
    );
}

#[test]
fn a_package_that_is_not_installed_is_answered_at_once_with_those_that_are() {
    let rows: &[(&str, Option<Action>)] = &[
        ("import seaborn as sns", Some(Action::Block)),
        ("from seaborn import histplot", Some(Action::Block)),
        ("import scipy.stats, seaborn", Some(Action::Block)),
        ("def f():\n    import seaborn\n", Some(Action::Note)),
        ("def f():\n    import seaborn\nf()", Some(Action::Block)),
        (
            "try:\n    import seaborn\nexcept ImportError:\n    seaborn = None",
            Some(Action::Note),
        ),
        (
            "try:\n    import seaborn\nexcept ModuleNotFoundError:\n    pass",
            Some(Action::Note),
        ),
        (
            "try:\n    import seaborn\nexcept KeyError:\n    pass",
            Some(Action::Block),
        ),
        ("import numpy, json, IPython.display", None),
        ("from scipy import stats", None),
    ];
    for (code, action) in rows {
        let verdict = judged("analysis", code);
        let found = of(&verdict, "RUN001");
        assert_eq!(found.first().map(|f| f.1), *action, "{code}");
        if let Some(f) = verdict.findings.iter().find(|f| f.rule == "RUN001") {
            assert!(f.hint.contains("installed here are ") && f.hint.contains("numpy"));
            assert!(
                !f.hint.contains("seaborn") && !f.hint.contains("json"),
                "{}",
                f.hint
            );
        }
    }
}

#[test]
fn a_package_that_nobody_lists_is_told_to_be_missing_where_it_is() {
    let rows: &[(&str, &[&str])] = &[
        ("import lifelines", &["IMPORT001", "RUN001"]),
        ("from lifelines.utils import x", &["IMPORT001", "RUN001"]),
        ("import openpyxl", &["IMPORT001"]),
        ("import queue", &["IMPORT001"]),
        (
            "try:\n    import lifelines\nexcept ImportError:\n    lifelines = None",
            &["IMPORT013"],
        ),
        (
            "try:\n    import socket\nexcept ImportError:\n    pass",
            &["IMPORT001"],
        ),
    ];
    for (code, rules) in rows {
        let verdict = judged("analysis", code);
        let mut found: Vec<&str> = verdict.findings.iter().map(|f| &*f.rule).collect();
        found.sort_unstable();
        assert_eq!(found, *rules, "{code}");
    }
    let unknown = analyse_in(
        b"import lifelines",
        &policy("analysis"),
        &Setting::default(),
    );
    assert_eq!(of(&unknown, "RUN001"), []);
}

#[test]
fn a_picture_that_nothing_draws_is_answered_at_once_with_what_there_is_instead() {
    let code = "import plotly.express as px\nfig = px.bar(x=[1])\nfig.write_image('a.png')";
    for (missing, blocked) in [("kaleido", true), ("seaborn", false)] {
        let setting = Setting {
            python: Some(Installed {
                version: (3, 12),
                missing: [missing.to_owned()].into(),
                ..Installed::default()
            }),
            ..setting()
        };
        let verdict = analyse_in(code.as_bytes(), &policy("analysis"), &setting);
        let found = verdict.findings.iter().find(|f| f.rule == "RUN001");
        assert_eq!(found.is_some_and(|f| f.action == Action::Block), blocked);
        assert!(found.is_none_or(|f| f.hint.contains("`fig.show()`")));
    }
}

#[test]
fn a_syntax_that_this_python_does_not_have_yet_is_answered_at_once() {
    let python = |minor| Setting {
        python: Some(Installed {
            version: (3, minor),
            ..Installed::default()
        }),
        ..setting()
    };
    for (code, newer) in [
        ("type Row = dict[str, int]\nprint(1)", true),
        (
            "def first[T](row: list[T]) -> T:\n    return row[0]\nprint(first([1]))",
            true,
        ),
        ("class Box[T]:\n    pass\nprint(Box())", true),
        ("type = 1\nprint(type)", false),
        ("try:\n    print(1)\nexcept* ValueError:\n    pass", false),
    ] {
        for minor in [11, 12, 14] {
            let verdict = analyse_in(code.as_bytes(), &policy("analysis"), &python(minor));
            let found: Vec<Action> = of(&verdict, "RUN003").into_iter().map(|f| f.1).collect();
            let wanted = if newer && minor < 12 {
                &[Action::Block][..]
            } else {
                &[]
            };
            assert_eq!(found, wanted, "{minor}: {code}");
        }
    }
}

/// Each with what is said of a file that nothing wrote.
#[test]
fn a_file_that_nothing_wrote_is_answered_at_once_with_the_inputs() {
    let rows: &[(&str, Option<Action>)] = &[
        ("pd.read_csv('sales.csv')", Some(Action::Block)),
        ("pd.read_csv('./data/sales.csv')", Some(Action::Block)),
        ("open('notes.txt').read()", Some(Action::Block)),
        (
            "with open('notes.txt') as f:\n    print(f.read())",
            Some(Action::Block),
        ),
        (
            "from pathlib import Path\nprint(Path('a.txt').read_text())",
            Some(Action::Block),
        ),
        (
            "path = 'a.csv'\nprint(pd.read_csv(path))",
            Some(Action::Block),
        ),
        (
            "for name in ['a.csv', 'b.csv']:\n    print(pd.read_csv(name))",
            Some(Action::Block),
        ),
        ("np.loadtxt('a.txt')", Some(Action::Block)),
        ("sales.to_csv('a.csv')\nprint(pd.read_csv('a.csv'))", None),
        ("sales.to_csv('./a.csv')\nprint(pd.read_csv('a.csv'))", None),
        (
            "path = 'a.csv'\nsales.to_csv(path)\nprint(pd.read_csv(path))",
            None,
        ),
        (
            "with open('a.txt', 'w') as f:\n    f.write('x')\nprint(open('a.txt').read())",
            None,
        ),
        (
            "from pathlib import Path\nPath('a.txt').write_text('x')\nprint(Path('a.txt').read_text())",
            None,
        ),
        (
            "sales.to_csv('b.csv')\nprint(pd.read_csv('a.csv'))",
            Some(Action::Block),
        ),
        (
            "for n in ['a', 'b']:\n    sales.to_csv(f'{n}.csv')\nprint(pd.read_csv('a.csv'))",
            Some(Action::Note),
        ),
        (
            "def save(name):\n    print(name)\nsave('a.csv')\nprint(pd.read_csv('a.csv'))",
            Some(Action::Note),
        ),
        (
            "try:\n    print(pd.read_csv('a.csv'))\nexcept FileNotFoundError:\n    pass",
            Some(Action::Note),
        ),
        (
            "try:\n    print(pd.read_csv('a.csv'))\nexcept Exception:\n    pass",
            Some(Action::Note),
        ),
        (
            "import os\nif os.path.exists('a.csv'):\n    print(pd.read_csv('a.csv'))",
            Some(Action::Note),
        ),
        (
            "import zipfile\nzipfile.ZipFile('a.zip', 'w').extractall()\nprint(pd.read_csv('a.csv'))",
            Some(Action::Note),
        ),
        (
            "from pathlib import Path\nsales.to_csv('b.csv')\nPath('b.csv').rename('a.csv')\nprint(pd.read_csv('a.csv'))",
            Some(Action::Note),
        ),
        (
            "import io\nprint(pd.read_csv(io.StringIO('a,b\\n1,2')))",
            None,
        ),
        ("print(pd.read_json('[1, 2]'))", None),
        ("np.save('arr', [1])\nprint(np.load('arr.npy'))", None),
        (
            "np.savez_compressed('arr', a=[1])\nprint(np.load('arr.npz'))",
            None,
        ),
        (
            "import matplotlib.pyplot as plt\nplt.savefig('f')\nprint(plt.imread('f.png'))",
            None,
        ),
        (
            "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nfig.savefig('f')\nprint(plt.imread('f.png'))",
            None,
        ),
        (
            "from scipy.io import loadmat, savemat\nsavemat('m', {'a': 1})\nprint(loadmat('m.mat'))",
            None,
        ),
        (
            "from scipy.io import loadmat, savemat\nsavemat('m.mat', {'a': 1})\nprint(loadmat('m'))",
            None,
        ),
        (
            "from scipy import sparse\nsparse.save_npz('s', sparse.eye(3))\nprint(sparse.load_npz('s.npz'))",
            None,
        ),
        (
            "np.save('arr', [1])\nprint(np.load('other.npy'))",
            Some(Action::Block),
        ),
        (
            "np.save('arr.npy', [1])\nprint(np.load('arr.npz'))",
            Some(Action::Block),
        ),
    ];
    let mut wrong = Vec::new();
    for (code, action) in rows {
        let found = of(&judged("analysis", code), "FS007");
        if found.first().map(|f| f.1) != *action {
            wrong.push(format!("{code:?}: {found:?}, not {action:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let hint = |setting: &Setting, code: &str| {
        let verdict = analyse_in(code.as_bytes(), &policy("analysis"), setting);
        let found = verdict.findings.into_iter().find(|f| f.rule == "FS007");
        found.unwrap().hint
    };
    let same = hint(&setting(), "pd.read_csv('data/sales.csv')");
    assert!(same.contains("`sales` is already bound"), "{same}");
    let other = hint(&setting(), "pd.read_csv('x.csv')");
    assert!(other.ends_with("names: sales"), "{other}");
    let none = Setting {
        inputs: None,
        ..setting()
    };
    let asked = hint(&none, "pd.read_csv('x.csv')");
    assert!(asked.ends_with("customers, sales"), "{asked}");
}

/// Data that is used is read, a column of it named or not.
#[test]
fn a_table_that_is_used_at_all_is_data_read() {
    let read = |profile: &str, code: &str| -> Vec<(Vec<u32>, String)> {
        let verdict = judged(profile, code);
        let uses = verdict.capabilities.iter();
        let reads = uses.filter(|u| u.capability == Capability::DataRead);
        reads.map(|u| (u.lines.clone(), u.detail.clone())).collect()
    };
    let told = |lines: &[u32], detail: &str| vec![(lines.to_vec(), detail.to_owned())];
    assert_eq!(read("analysis", "print(sales)\n"), told(&[1], "sales"));
    assert_eq!(read("analysis", "x = 1\nsales\n"), told(&[2], "sales"));
    assert_eq!(
        read("analysis", "sales = sales.dropna()\nprint(sales)\n"),
        told(&[1], "sales")
    );
    assert_eq!(read("feature", "df['n'] = len(df)\n"), told(&[1], "df"));
    assert_eq!(read("chart", "print(len(data))\n"), told(&[1], "data"));
    assert_eq!(
        read("scoped", "print(system.inputs)\n"),
        told(&[1], "inputs")
    );
    assert_eq!(
        read("scoped", "print(private.sales)\n"),
        told(&[1], "sales")
    );
    for code in [
        "print(1)\n",
        "def f(sales):\n    return sales\nf(2)\n",
        "sales = 1\nprint(sales)\n",
    ] {
        assert_eq!(read("analysis", code), [], "{code}");
    }
    assert_eq!(read("scoped", "private.x = 1\nprint(private.x)\n"), []);
}
