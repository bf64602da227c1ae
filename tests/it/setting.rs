//! What a verdict depends on besides the code and the policy: the tier, the inputs, and the
//! installed packages.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;

use countersign::analysis::analyse_in;
use countersign::model::{Action, Capability, Installed, Setting, Tier, Verdict, VerdictKind};
use countersign::policy::{Policy, builtin};

use crate::common::python;

pub fn policy(name: &str) -> Arc<Policy> {
    let all = builtin().unwrap();
    all.into_iter().find(|p| p.name == name).unwrap()
}

/// The library releases that the lists of members describe.
fn releases() -> BTreeMap<String, String> {
    let lines = include_str!("../../assets/policies/members/locked.txt").lines();
    let releases = lines.filter_map(|l| l.strip_prefix("# ")?.split_once(' '));
    releases
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .collect()
}

/// A run in tier `kernel` with an input `sales`, on a Python 3.12 without seaborn.
pub fn setting() -> Setting {
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Setting {
        tier: Some(Tier::Kernel),
        inputs: Some(set(&["sales"])),
        datasets: set(&["customers", "sales"]),
        python: Some(Installed {
            version: (3, 12),
            missing: set(&["seaborn"]),
            present: set(&["numpy", "openpyxl", "pandas", "scipy"]),
            releases: releases(),
        }),
        values: BTreeMap::new(),
    }
}

pub fn judged(profile: &str, code: &str) -> Verdict {
    analyse_in(code.as_bytes(), &policy(profile), &setting())
}

/// The findings of a family of rules in the order of the code: the rule, the action, the subject.
pub fn findings_of(verdict: &Verdict, family: &str) -> Vec<(String, Action, String)> {
    let found = verdict
        .findings
        .iter()
        .filter(|f| f.rule.starts_with(family));
    let subject = |message: &str| message.split(':').next().unwrap().to_owned();
    found
        .map(|f| (f.rule.clone(), f.action, subject(&f.message)))
        .collect()
}

/// No verdict is clear if the guard is the only protection.
#[test]
fn no_verdict_is_clear_in_tier_process() {
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
        let reported = verdict.findings.iter().any(|f| f.rule == "TIER001");
        assert_eq!(reported, least == Tier::Process);
    }
    // The stronger tier counts.
    let setting = Setting {
        tier: Some(Tier::Process),
        ..setting()
    };
    let script = policy("script");
    assert_eq!(script.tier, Tier::Kernel);
    let verdict = analyse_in(b"print(1)\n", &script, &setting);
    assert!(findings_of(&verdict, "TIER").is_empty());
    // Unknown facts cause no findings.
    let verdict = analyse_in(b"print(1)\n", &policy("analysis"), &Setting::default());
    assert_eq!(verdict.verdict, VerdictKind::Clear);
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
        let found = findings_of(&verdict, "RUN001");
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
fn an_unlisted_package_is_reported_as_missing_where_it_is() {
    let rows: &[(&str, &[&str])] = &[
        ("import lifelines", &["IMPORT001", "RUN001"]),
        ("from lifelines.utils import x", &["IMPORT001", "RUN001"]),
        ("import openpyxl.chart", &["IMPORT001"]),
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
    assert_eq!(findings_of(&unknown, "RUN001"), []);
}

#[test]
fn a_picture_that_nothing_draws_is_answered_at_once_with_the_alternatives() {
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
            let found: Vec<Action> = findings_of(&verdict, "RUN003")
                .into_iter()
                .map(|f| f.1)
                .collect();
            let expected = if newer && minor < 12 {
                &[Action::Block][..]
            } else {
                &[]
            };
            assert_eq!(found, expected, "{minor}: {code}");
        }
    }
}

/// Rows: code, and the action on a file that nothing wrote.
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
    let mut failures = Vec::new();
    for (code, action) in rows {
        let found = findings_of(&judged("analysis", code), "FS007");
        if found.first().map(|f| f.1) != *action {
            failures.push(format!("{code:?}: {found:?}, not {action:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
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

/// Wherever an agent kept its data: the run has them as inputs.
#[test]
fn a_file_outside_that_is_named_like_an_input_is_answered_with_the_input() {
    let hint = |setting: &Setting, code: &str, rule: &str| {
        let verdict = analyse_in(code.as_bytes(), &policy("analysis"), setting);
        let found = verdict.findings.into_iter().find(|f| f.rule == rule);
        found.unwrap_or_else(|| panic!("{code}: no {rule}")).hint
    };
    for code in [
        "df = pd.read_csv('/mnt/data/sales.csv')",
        "df = pd.read_csv('../sales.csv')",
        "df = pd.read_excel('C:\\\\data\\\\sales.xlsx')",
        "text = open('/home/me/sales.json').read()",
        "from pathlib import Path\ntext = Path('/data/sales.csv').read_text()",
        "import os\ndf = pd.read_csv(os.path.join('/mnt/data', 'sales.csv'))",
    ] {
        let said = hint(&setting(), code, "FS003");
        assert!(said.contains("`sales` is already bound"), "{code}: {said}");
    }
    let said = hint(
        &setting(),
        "pd.read_csv('https://x.org/sales.csv')",
        "NET001",
    );
    assert!(said.contains("`sales` is already bound"), "{said}");
    let none = Setting {
        inputs: None,
        ..setting()
    };
    let said = hint(&none, "pd.read_csv('/mnt/data/sales.csv')", "FS003");
    assert!(said.contains("bring a data set as an input"), "{said}");
    // Other files, and files that are written.
    for code in [
        "pd.read_csv('/etc/passwd')",
        "df.to_csv('/mnt/data/sales.csv')",
    ] {
        let said = hint(&setting(), code, "FS003");
        assert!(said.contains("use a relative name"), "{code}: {said}");
    }
}

/// The list of styles is that of the locked release, so no style of it is refused.
#[test]
fn every_style_of_the_installed_matplotlib_may_be_used() {
    const ALL: &str = "import matplotlib.style as s\nprint(*s.library)";
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(python::managed_env().prefix.join("bin/python"))
        .args(["-I", "-c", ALL])
        .env("MPLCONFIGDIR", folder.path())
        .output()
        .unwrap();
    let styles = String::from_utf8(output.stdout).unwrap();
    assert!(styles.split_whitespace().count() > 20, "{styles}");
    for style in styles.split_whitespace() {
        let code = format!("import matplotlib.pyplot as plt\nplt.style.use('{style}')");
        let found = findings_of(&judged("analysis", &code), "RUN");
        assert!(found.is_empty(), "{style}: {found:?}");
    }
}

/// File names that the output folder cannot have are refused before a person is asked
/// (`tests/data/filenames.jsonl`; `executor/tests/ordinary.rs` runs the same rows).
#[test]
fn exactly_the_file_names_that_a_run_would_refuse_are_refused_before_it() {
    #[derive(serde::Deserialize)]
    struct Row {
        code: String,
        action: Option<Action>,
        hint: String,
    }
    let rows = include_str!("../data/filenames.jsonl").lines();
    let rows: Vec<Row> = rows.map(|l| serde_json::from_str(l).unwrap()).collect();
    assert!(rows.len() >= 40);
    let mut failures = Vec::new();
    for row in rows {
        let code = format!("df = pd.DataFrame({{'a': [1], 'b': [2]}})\n{}", row.code);
        let verdict = judged("analysis", &code);
        let mut found = verdict.findings.iter().filter(|f| f.rule == "FS008");
        let first = found.next();
        let hint = first.map_or("", |f| &f.hint);
        let outside = verdict.findings.iter().any(|f| f.rule == "FS003");
        if first.map(|f| f.action) != row.action || !hint.contains(&row.hint) || outside {
            failures.push(format!("{}\n  {first:?}, not {:?}", row.code, row.action));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    // These profiles allow any name or have no files.
    for profile in ["script", "feature", "walled"] {
        let other = judged(profile, "open('My File.txt', 'w')");
        assert_eq!(findings_of(&other, "FS008"), [], "{profile}");
    }
}

/// Used data counts as read, whether or not the code names a column.
#[test]
fn any_use_of_a_table_is_data_read() {
    let read = |profile: &str, code: &str| -> Vec<(Vec<u32>, String)> {
        let verdict = judged(profile, code);
        let uses = verdict.capabilities.iter();
        let reads = uses.filter(|u| u.capability == Capability::DataRead);
        reads.map(|u| (u.lines.clone(), u.detail.clone())).collect()
    };
    let reads_of = |lines: &[u32], detail: &str| vec![(lines.to_vec(), detail.to_owned())];
    assert_eq!(read("analysis", "print(sales)\n"), reads_of(&[1], "sales"));
    assert_eq!(read("analysis", "x = 1\nsales\n"), reads_of(&[2], "sales"));
    assert_eq!(
        read("analysis", "sales = sales.dropna()\nprint(sales)\n"),
        reads_of(&[1], "sales")
    );
    assert_eq!(read("feature", "df['n'] = len(df)\n"), reads_of(&[1], "df"));
    assert_eq!(read("chart", "print(len(data))\n"), reads_of(&[1], "data"));
    assert_eq!(
        read("scoped", "print(system.inputs)\n"),
        reads_of(&[1], "inputs")
    );
    assert_eq!(
        read("scoped", "print(private.sales)\n"),
        reads_of(&[1], "sales")
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

/// Special methods that change other objects while compiled code runs, and honest ones.
#[test]
fn a_special_method_that_changes_other_objects_is_flagged() {
    #[derive(serde::Deserialize)]
    struct Row {
        code: String,
        found: Vec<String>,
    }
    let mut failures = Vec::new();
    for line in include_str!("../data/reentry.jsonl").lines() {
        let row: Row = serde_json::from_str(line).unwrap();
        let found = findings_of(&judged("analysis", &row.code), "NATIVE002");
        assert!(found.iter().all(|(_, action, _)| *action == Action::Flag));
        let found: Vec<String> = found.into_iter().map(|(_, _, name)| name).collect();
        if found != row.found {
            failures.push(format!("{:?}: {found:?}, not {:?}", row.code, row.found));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A member that is surely missing, and a folder that nothing makes, would end a run, so the code
/// is refused beforehand with a proposal. Other code gets no finding (`tests/data/missing.jsonl`).
#[test]
fn surely_missing_names_are_answered_at_once_with_existing_ones() {
    #[derive(serde::Deserialize)]
    struct Row {
        code: String,
        said: Vec<String>,
        hint: Option<String>,
    }
    let mut failures = Vec::new();
    for line in include_str!("../data/missing.jsonl").lines() {
        let row: Row = serde_json::from_str(line).unwrap();
        let verdict = judged("analysis", &row.code);
        let found = [
            findings_of(&verdict, "RUN004"),
            findings_of(&verdict, "FS009"),
        ]
        .concat();
        let actual: Vec<String> = found
            .iter()
            .map(|(rule, action, subject)| format!("{rule} {} {subject}", action.as_str()))
            .collect();
        let hints = verdict.findings.iter().map(|f| f.hint.as_str());
        let hinted = row
            .hint
            .is_none_or(|hint| hints.clone().any(|h| h.contains(&hint)));
        if actual != row.said || !hinted {
            failures.push(format!("{:?}\n  {:?}", row.code, verdict.findings));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    // With unknown libraries there are no findings.
    let unknown = Setting {
        python: None,
        ..setting()
    };
    let code = b"import datetime\nprint(datetime.now())";
    let verdict = analyse_in(code, &policy("analysis"), &unknown);
    assert_eq!(verdict.verdict, VerdictKind::Flagged);
}
