//! `RUN005`, `RUN006` and `RUN007`: columns that an input does not have, what its values cannot do, and keywords that
//! nothing takes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::process::Command;

use countersign::analysis::analyse_in;
use countersign::model::{Action, Column, Form, Setting, Value, Verdict};

use crate::common::python;
use crate::setting::{findings_of, policy, setting};

#[derive(serde::Deserialize)]
struct Row {
    code: String,
    said: Vec<String>,
    hint: Option<String>,
    /// Whether Python fails although nothing says so.
    #[serde(default)]
    fails: bool,
}

const ROWS: &str = include_str!("../data/columns.jsonl");

fn rows() -> Vec<Row> {
    ROWS.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn value(form: Form, columns: &[(&str, &str)]) -> Value {
    let column = |(name, dtype): &(&str, &str)| Column {
        name: (*name).to_owned(),
        dtype: (*dtype).to_owned(),
    };
    Value {
        form,
        columns: columns.iter().map(column).collect(),
        // What the converter says of the tables below.
        texts: columns
            .iter()
            .filter(|(_, dtype)| *dtype == "object")
            .map(|(name, _)| (*name).to_owned())
            .collect(),
    }
}

/// A run with the inputs of the rows.
fn setting_with_inputs() -> Setting {
    let values: BTreeMap<String, Value> = [
        (
            "sales",
            value(
                Form::Table,
                &[
                    ("date", "object"),
                    ("region", "object"),
                    ("amount", "float64"),
                    ("units", "int64"),
                    ("price", "float64"),
                ],
            ),
        ),
        (
            "customers",
            value(Form::Table, &[("region", "object"), ("segment", "object")]),
        ),
        (
            "reviews",
            value(Form::List, &[("text", "object"), ("stars", "int64")]),
        ),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    let mut setting = setting();
    setting.inputs = Some(values.keys().cloned().collect());
    if let Some(python) = &mut setting.python {
        python.missing.clear();
    }
    Setting { values, ..setting }
}

fn judge(code: &str, setting: &Setting) -> Verdict {
    analyse_in(code.as_bytes(), &policy("analysis"), setting)
}

/// The findings of the rules for columns and kinds.
fn column_findings(verdict: &Verdict) -> Vec<String> {
    let found = findings_of(verdict, "RUN").into_iter();
    found
        .filter(|(rule, ..)| matches!(rule.as_str(), "RUN004" | "RUN005" | "RUN006" | "RUN007"))
        .map(|(rule, action, subject)| format!("{rule} {} {subject}", action.as_str()))
        .collect()
}

#[test]
fn a_column_that_an_input_surely_lacks_is_answered_at_once() {
    let (setting, mut wrong) = (setting_with_inputs(), Vec::new());
    for row in rows() {
        let verdict = judge(&row.code, &setting);
        let found = column_findings(&verdict);
        if found != row.said {
            wrong.push(format!("{:?}: {found:?}, not {:?}", row.code, row.said));
        }
        if let Some(hint) = &row.hint {
            let mut hints = verdict.findings.iter().map(|f| f.hint.as_str());
            if !hints.any(|h| h.contains(hint.as_str())) {
                wrong.push(format!("{:?}: no hint {hint:?}", row.code));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Python confirms each row: it fails exactly where a finding blocks.
#[test]
fn python_fails_on_the_columns_that_are_answered_at_once() {
    const EACH: &str = "\
import io, json, sys, warnings
warnings.simplefilter('ignore')
import matplotlib
matplotlib.use('Agg')
import matplotlib.pyplot as plt
import numpy as np, pandas as pd
SALES = 'date,region,amount,units,price\\n' + ''.join(
    f'2024-01-{day:02},{region},{amount},{units},{amount / units}\\n'
    for day, region, amount, units in [(1, 'north', 10.5, 2), (2, 'south', 20.25, 3), (3, 'north', 5.0, 1),
                                       (4, 'east', 7.75, 4)])
CUSTOMERS = 'region,segment\\nnorth,a\\nsouth,b\\neast,a\\n'
for line in sys.stdin:
    row, failed = json.loads(line), None
    names = {
        '__name__': '__main__', 'pd': pd, 'np': np,
        'sales': pd.read_csv(io.StringIO(SALES)), 'customers': pd.read_csv(io.StringIO(CUSTOMERS)),
        'reviews': [{'text': 'good', 'stars': 5}, {'text': 'bad', 'stars': 1}],
    }
    try:
        exec(compile(row['code'], '<row>', 'exec'), names)
    except Exception as error:
        failed = type(error).__name__
    plt.close('all')
    print(json.dumps(failed), file=sys.stderr)
";
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("rows.jsonl");
    std::fs::write(&data, ROWS).unwrap();
    let output = Command::new(python::managed_env().prefix.join("bin/python"))
        .args(["-I", "-c", EACH])
        .current_dir(folder.path())
        .env("MPLCONFIGDIR", folder.path())
        .stdin(std::fs::File::open(&data).unwrap())
        .output()
        .unwrap();
    let answers = String::from_utf8(output.stderr).unwrap();
    let rows = rows();
    assert_eq!(answers.lines().count(), rows.len(), "{answers}");
    let mut failures = Vec::new();
    for (row, line) in rows.iter().zip(answers.lines()) {
        let failed: Option<String> = serde_json::from_str(line).unwrap();
        let blocked = row.said.iter().any(|one| one.contains(" block "));
        if failed.is_some() != (blocked || row.fails) {
            failures.push(format!("{:?}: {failed:?}", row.code));
        }
        let expected = [
            "KeyError",
            "ValueError",
            "AttributeError",
            "TypeError",
            "UndefinedVariableError",
            "PatsyError",
        ];
        if failed.is_some_and(|name| !expected.contains(&name.as_str())) {
            failures.push(format!("{:?}: {line}", row.code));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn both_kinds_of_rows_are_many() {
    let rows = rows();
    let blocked = rows
        .iter()
        .filter(|row| row.said.iter().any(|one| one.contains(" block ")));
    let blocked = blocked.count();
    assert!(blocked >= 80 && rows.len() - blocked >= 60, "{blocked}");
}

#[test]
fn unknown_facts_about_an_input_are_no_finding() {
    let code = "print(sales[\"amuont\"])";
    let without = Setting {
        values: BTreeMap::new(),
        ..setting_with_inputs()
    };
    assert!(column_findings(&judge(code, &without)).is_empty());
    // The index of such a table may have a name, which an argument may mean.
    let mut indexed = setting_with_inputs();
    indexed.values.get_mut("sales").unwrap().form = Form::Indexed;
    assert_eq!(
        column_findings(&judge(code, &indexed)),
        ["RUN005 block amuont"]
    );
    for code in [
        "sales.groupby(\"day\").size()",
        "df = sales.reset_index()\nprint(df[\"day\"])",
    ] {
        assert!(column_findings(&judge(code, &indexed)).is_empty(), "{code}");
    }
    // Only the profile `analysis` binds tables to the names of the inputs.
    let verdict = analyse_in(code.as_bytes(), &policy("chart"), &setting_with_inputs());
    assert!(column_findings(&verdict).is_empty());
}

#[test]
fn a_hint_names_twelve_columns_and_counts_the_others() {
    let names: Vec<String> = (0..15).map(|n| format!("c{n}\u{202e}")).collect();
    let columns: Vec<(&str, &str)> = names.iter().map(|n| (n.as_str(), "int64")).collect();
    let mut setting = setting_with_inputs();
    let wide = value(Form::Table, &columns);
    setting.values.insert("sales".to_owned(), wide);
    let verdict = judge("print(sales[\"amuont\"])", &setting);
    let found = verdict.findings.iter().find(|f| f.rule == "RUN005");
    let hint = &found.unwrap().hint;
    assert!(hint.ends_with("c11\\u{202e}, and 3 more"), "{hint}");
    assert!(!hint.contains("c12"), "{hint}");
}

/// No snippet that runs under plain Python gets such a finding, whatever its inputs are called.
#[test]
fn ordinary_snippets_look_up_no_missing_column() {
    let bench = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/served/snippets");
    let ordinary = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ordinary");
    let mut snippets = 0;
    let setting = setting_with_inputs();
    for folder in [bench, ordinary] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let code = std::fs::read_to_string(&path).unwrap();
            let verdict = judge(&code, &setting);
            let found = verdict.findings.iter().filter(|f| {
                matches!(f.rule.as_str(), "RUN005" | "RUN006" | "RUN007")
                    && f.action == Action::Block
            });
            let found: Vec<&str> = found.map(|f| f.message.as_str()).collect();
            assert!(found.is_empty(), "{}: {found:?}", path.display());
            snippets += 1;
        }
    }
    assert!(snippets >= 300, "{snippets}");
}
