//! What leaves, snippet by snippet.

use std::fmt::Write as _;

use super::super::analyse_in;
use crate::model::{Column, Form, Setting, Value, Way};
use crate::policy::builtin;

/// Compares what is found of each snippet with what is wanted.
pub(super) fn each(rows: &[(&str, &str)], find: fn(&str) -> String) {
    let mut wrong = String::new();
    for (code, wanted) in rows {
        let found = find(code);
        if found != *wanted {
            let _ = write!(wrong, "{code}\n  found:  {found}\n  wanted: {wanted}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

pub(super) fn setting() -> Setting {
    let value = |columns: &[(&str, &str)]| Value {
        form: Form::Table,
        columns: columns
            .iter()
            .map(|(name, dtype)| Column {
                name: (*name).to_owned(),
                dtype: (*dtype).to_owned(),
            })
            .collect(),
        texts: Default::default(),
    };
    let staff = value(&[
        ("name", "object"),
        ("email", "object"),
        ("dept", "object"),
        ("age", "int64"),
        ("fte", "float64"),
        ("hired", "object"),
    ]);
    let sales = value(&[("region", "object"), ("amount", "float64")]);
    Setting {
        inputs: Some(["staff".to_owned(), "sales".to_owned()].into()),
        values: [("staff".to_owned(), staff), ("sales".to_owned(), sales)].into(),
        ..Setting::default()
    }
}

/// `output 2: staff name email ~ hired / age, sales amount`: behind the tilde what is computed per row, behind the
/// slash what is summed up.
pub(super) fn leaves(code: &str) -> String {
    let policies = builtin().unwrap();
    let policy = policies.iter().find(|p| p.name == "analysis").unwrap();
    let verdict = analyse_in(code.as_bytes(), policy, &setting());
    let mut out = String::new();
    for exit in &verdict.flows.exits {
        let to = match exit.to {
            Way::Output => "output",
            Way::Value => "value",
            Way::File => "file",
            Way::Figure => "figure",
            Way::Public => "public",
        };
        let shares = exit.shares.iter().map(|share| {
            let all = share.as_is.len() == share.of;
            let as_is = if all {
                "all".to_owned()
            } else {
                share.as_is.join(" ")
            };
            let mut told = format!("{} {as_is}", share.input);
            for (sign, names) in [('~', &share.rows), ('/', &share.summed)] {
                if !names.is_empty() {
                    let _ = write!(told, " {sign} {}", names.join(" "));
                }
            }
            told
        });
        let shares = shares.collect::<Vec<_>>().join(", ").replace("  ", " ");
        if !shares.is_empty() {
            let _ = write!(
                out,
                "{}{to} {}: {shares}",
                if out.is_empty() { "" } else { "; " },
                exit.line
            );
        }
    }
    if verdict.flows.tangled {
        out.push_str(" TANGLED");
    }
    out
}

#[test]
fn what_leaves_is_told_by_exit_and_column() {
    let mut wrong = String::new();
    for (code, wanted) in [
        ("print(staff)", "output 1: staff all"),
        ("print(len(staff), staff.shape, list(staff.columns))", ""),
        ("print(staff['email'])", "output 1: staff email"),
        (
            "print(staff[['name', 'age']].head())",
            "output 1: staff name age",
        ),
        (
            "print(staff.loc[staff.age > 3, 'email'])",
            "output 1: staff email",
        ),
        ("print(staff.email)", "output 1: staff email"),
        ("print(staff['age'].mean())", "output 1: staff / age"),
        ("print(staff['name'].sum())", "output 1: staff name"),
        (
            "print((staff['dept'] == 'x').sum())",
            "output 1: staff / dept",
        ),
        ("print(staff['age'].max())", "output 1: staff age"),
        (
            "print(staff.groupby('dept')['age'].mean())",
            "output 1: staff dept / age",
        ),
        (
            "print(staff.groupby('dept').size())",
            "output 1: staff dept",
        ),
        (
            "s = staff.groupby('dept').agg(n=('age', 'count'), c=('email', lambda s: ';'.join(sorted(s))))\nprint(s.to_csv())",
            "output 2: staff email dept / age",
        ),
        (
            "s = staff.groupby('dept').agg(n=('age', 'count'), c=('email', lambda s: ';'.join(sorted(s))))\nprint(s['n'].sum())",
            "output 2: staff / age",
        ),
        (
            "print(staff.groupby('dept')['age'].agg(['count', 'max']))",
            "output 1: staff dept age",
        ),
        (
            "print(staff.groupby('dept')['age'].agg(p=lambda s: s.quantile(0.9)))",
            "output 1: staff dept / age",
        ),
        (
            "print(staff['age'].quantile(np.linspace(0, 1, 500)))",
            "output 1: staff age",
        ),
        ("print(staff[['age']].mean(axis=1))", "output 1: staff age"),
        (
            "print(staff['age'].rolling(1).mean())",
            "output 1: staff age",
        ),
        (
            "s = staff.copy()\ns['y'] = s['hired'].str[:4]\nprint(s['y'].value_counts())",
            "output 3: staff hired",
        ),
        (
            "s = staff.copy()\ns['q'] = s['dept'] + 'Q'\nprint(s['name'].head())",
            "output 3: staff name",
        ),
        (
            "s = staff.copy()\ns.to_csv('a.csv')\nprint('done')",
            "file 2: staff all",
        ),
        (
            "sales.to_csv('a.csv')\nwith open('b.txt', 'w') as f:\n    f.write(staff['name'].to_string())",
            "file 1: sales all; file 2: staff name",
        ),
        (
            "import json\nwith open('b.json', 'w') as f:\n    json.dump({'a': staff['name'].tolist()}, f)",
            "file 2: staff name",
        ),
        (
            "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.bar(sales['region'], sales['amount'])\nfig.savefig('a.png', metadata={'C': staff[['name', 'email']].to_csv()})",
            "file 4: sales all, staff name email",
        ),
        ("staff['age'].describe()", "value 1: staff / age"),
        (
            "sales.merge(staff, left_on='region', right_on='dept')[['amount', 'email']].head()",
            "value 1: sales amount, staff email",
        ),
        (
            "for k, part in staff.groupby('dept'):\n    print(k, part['email'].head(2), part['age'].mean())",
            "output 2: staff email dept / age",
        ),
        // Through functions, loops, containers and other names.
        (
            "def f(t, c):\n    return t[c]\nprint(f(staff, 'name'), f(sales, 'amount'))",
            "output 3: sales amount, staff name",
        ),
        (
            "for c in ['name', 'age']:\n    print(staff[c])",
            "output 2: staff name age",
        ),
        (
            "for c in staff.columns:\n    print(staff[c])",
            "output 2: staff all",
        ),
        (
            "a = []\nb = a\nb.append(staff['name'])\nprint(a)",
            "output 4: staff name",
        ),
        (
            "a = {}\na['x'] = staff['name']\nprint(a)",
            "output 3: staff name",
        ),
        ("p = print\np(staff['name'])", "output 2: staff name"),
        (
            "list(map(print, staff['name']))",
            "output 1: staff name; value 1: staff name; output 1: staff name",
        ),
        (
            "import sys\nsys.stdout.write(staff['name'].to_string())",
            "output 2: staff name",
        ),
        (
            "import io\nb = io.StringIO()\nstaff.to_csv(b)\nprint(b.getvalue())",
            "output 4: staff all",
        ),
        (
            "x = sales\ny = sales\nfor i in range(3):\n    print(x)\n    x = y\n    y = staff",
            "output 4: sales all, staff all",
        ),
        (
            "raise ValueError(staff['name'].iloc[0])",
            "output 1: staff name",
        ),
        (
            "class A:\n    def __init__(self, t):\n        self.t = t\n    def n(self):\n        return self.t['name']\nprint(A(staff).n())",
            "output 6: staff all",
        ),
        (
            "def f():\n    print(staff['name'])\nf()",
            "output 2: staff name",
        ),
        (
            "print(f'{staff[\"age\"].mean():.1f}', [r for r in staff['email']])",
            "output 1: staff email / age",
        ),
        // A column's name is not believed where it may have changed.
        (
            "s = staff.rename(columns={'name': 'age'})\nprint(s['age'].head())",
            "output 2: staff name age",
        ),
        (
            "staff.columns = list(staff.columns)[::-1]\nprint(staff['age'].head())",
            "output 2: staff all",
        ),
        (
            "d = dict(zip(['age', 'x'], [staff['name'], staff['age']]))\nprint(d['age'])",
            "output 2: staff name age",
        ),
        (
            "staff['age'] = staff['email']\nprint(staff['age'].head())",
            "output 2: staff email age",
        ),
        (
            "print(pd.DataFrame({'dept': staff['name']})['dept'])",
            "output 1: staff name",
        ),
        (
            "from types import SimpleNamespace\nn = SimpleNamespace(shape=staff['name'])\nprint(n.shape)",
            "output 3: staff name",
        ),
        (
            "print(staff.drop(columns=['name', 'email']).head())",
            "output 1: staff dept age fte hired",
        ),
        (
            "print(staff.set_index('name')['age'])",
            "output 1: staff name age",
        ),
        (
            "cols = ['age'] + ['fte']\nprint(staff[cols])",
            "output 2: staff age fte",
        ),
        (
            "print(staff.pivot_table(index='dept', columns='hired', values='fte'))",
            "output 1: staff dept hired / fte",
        ),
    ] {
        let found = leaves(code);
        if found != wanted {
            let _ = write!(wrong, "{code}\n  found:  {found}\n  wanted: {wanted}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn evaluated_texts_listings_variables_and_found_files_are_told() {
    let policies = builtin().unwrap();
    let policy = policies.iter().find(|p| p.name == "analysis").unwrap();
    let told = |code: &str| {
        let flows = analyse_in(code.as_bytes(), policy, &setting()).flows;
        let named = |all: &[crate::model::Named]| {
            let each = all
                .iter()
                .map(|n| format!("{} {} {}", n.what, n.line, n.text));
            each.collect::<Vec<_>>().join(", ")
        };
        let variables = flows.variables.iter();
        let variables = variables.map(|(line, names)| format!("{line} {}", names.join(" ")));
        let found = flows.found_by.iter();
        let found = found.map(|(line, by, from)| format!("{line} {by} {from}"));
        [
            named(&flows.evaluated),
            named(&flows.listings),
            variables.collect::<Vec<_>>().join(", "),
            found.collect::<Vec<_>>().join(", "),
        ]
        .join("|")
    };
    for (code, wanted) in [
        ("staff.query('age > 3')", "query 1 age > 3|||"),
        (
            "t = {'a': 'fte', 'b': '{x}', 'c': '(age < 55)'}\nf = ' * '.join(t.values())\nstaff.eval(f.format(x=2))",
            "eval 3 fte * {…} * (age < 55)|||",
        ),
        (
            "import statsmodels.formula.api as smf\nsmf.ols('age ~ fte', data=staff)",
            "ols 2 age ~ fte|||",
        ),
        (
            "from pathlib import Path\nfor old in Path('x').resolve().rglob('*'):\n    old.write_bytes(b'')",
            "|rglob 2 *||3 rglob 2",
        ),
        (
            "import os\nprint({k: os.environ.get(k) for k in ('HOME', 'KEY')})",
            "||2 HOME KEY|",
        ),
    ] {
        assert_eq!(told(code), wanted, "{code}");
    }
}
