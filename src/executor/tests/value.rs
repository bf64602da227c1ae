//! How the last value of a snippet is returned (`run.result.value`), how wide a table is printed,
//! and which name an error suggests for a missing one.

use serde_json::{Value, json};

use super::{TIER, run_spec};
use crate::executor::spec::RunSpec;
use crate::executor::tests::bench::*;
use crate::model::Run;

fn run(code: &str) -> Run {
    let policy = crate::policy::Policy {
        tier: TIER,
        ..profile("analysis")
    };
    let outcome = run_spec(RunSpec {
        env: pandas(),
        ..spec(code, policy)
    });
    outcome.run().clone()
}

/// Code after the table, and the whole result.
fn cases() -> Vec<(&'static str, Value)> {
    let value_of = |value: Value| json!({ "value": value });
    let part =
        |value: Value, left_out: &[&str]| json!({"value": value, "value_left_out": left_out});
    vec![
        (
            // No key silently replaces another.
            "{1: 'number', '1': 'text', float('nan'): 'a', float('nan'): 'b', (1, None): 'c', None: 'd'}",
            part(
                json!({"1": "number", "nan": "a", "(1, None)": "c", "None": "d"}),
                &["the values of keys that are the same text as an earlier one"],
            ),
        ),
        (
            "{'\\ud800': 1, '\\ud801': 2}",
            part(
                json!({"?": 1}),
                &["the values of keys that are the same text as an earlier one"],
            ),
        ),
        (
            // A class's own conversions are ignored.
            "class Odd(str):\n    def __getitem__(self, at): return 'other'\n\
             class Three(int):\n    def __int__(self): return 5\n\
             class Half(float):\n    def __float__(self): return 5.0\n\
             class Other(list):\n    def __iter__(self): return iter([4])\n\
             class Named(dict):\n    def items(self): return [('b', 2)]\n\
             [Odd('real'), Three(3), Half(0.5), Other([1]), Named(a=1)]",
            value_of(json!(["real", 3, 0.5, [1], {"a": 1}])),
        ),
        (
            "import datetime, decimal, enum\n\
             class Day(datetime.datetime):\n    def isoformat(self, *a): return '1999'\n\
             class Zone(datetime.tzinfo):\n    def utcoffset(self, at): return datetime.timedelta(hours=1)\n\
             class Price(decimal.Decimal):\n    def __float__(self): return 5.0\n\
             class Colour(enum.Enum):\n    RED = 1\n    value = property(lambda self: 5)\n\
             class Whole(int):\n    def __ge__(self, other): return False\n\
             class Row(np.ndarray):\n    def __iter__(self): return iter([5])\n\
             class Bag(set):\n    def __iter__(self): return iter([5])\n\
             [Day(2024, 5, 6), Price('1.5'), Colour.RED, Whole(3), np.array([1]).view(Row), Bag([1]),\n\
              datetime.datetime(2024, 5, 6, tzinfo=Zone())]",
            part(
                json!([
                    "2024-05-06T00:00:00",
                    1.5,
                    1,
                    3,
                    [1],
                    [1],
                    "[datetime left out]"
                ]),
                &["datetime, which the snippet's own code writes"],
            ),
        ),
        (
            // What printing changes is not in the value either.
            "class Sly:\n    def __repr__(self):\n        df.loc[0, 'n'] = 99\n        return 'sly'\n\
             df['who'] = [Sly(), 'Bo', 'Cy']\ndf",
            part(
                json!({"kind": "DataFrame", "shape": [3, 3], "index": [0, 1, 2], "index_names": [null],
                "columns": ["who", "n", "x"],
                "rows": [["[Sly left out]", 1, 0.5], ["Bo", 2, null], ["Cy", 3, null]]}),
                &["Sly, which has no plain JSON form"],
            ),
        ),
        (
            "df.set_index('who')",
            value_of(json!({"kind": "DataFrame", "shape": [3, 2],
                "index": ["Ann", "Bo", "Cy"], "index_names": ["who"], "columns": ["n", "x"],
                "rows": [[1, 0.5], [2, null], [3, null]]})),
        ),
        (
            "df.groupby(['who', 'n'])['x'].sum()",
            value_of(json!({"kind": "Series", "shape": [3],
                "index": [["Ann", 1], ["Bo", 2], ["Cy", 3]], "index_names": ["who", "n"],
                "columns": ["x"], "rows": [[0.5], [0.0], [0.0]]})),
        ),
        (
            "pd.Series([True, None], dtype='boolean')",
            value_of(
                json!({"kind": "Series", "shape": [2], "index": [0, 1], "index_names": [null],
                "columns": [null], "rows": [[true], [null]]}),
            ),
        ),
        (
            "df.agg({'n': ['min', 'max']}).T.rename_axis('of')",
            value_of(
                json!({"kind": "DataFrame", "shape": [1, 2], "index": ["n"], "index_names": ["of"],
                "columns": ["min", "max"], "rows": [[1, 3]]}),
            ),
        ),
        (
            "df.groupby('who').agg({'n': ['min']}).head(1)",
            value_of(
                json!({"kind": "DataFrame", "shape": [1, 1], "index": ["Ann"],
                "index_names": ["who"], "columns": [["n", "min"]], "rows": [[1]]}),
            ),
        ),
        (
            "pd.DataFrame({'d': pd.to_datetime(['2024-05-06', None]), 'l': [[1, float('nan')], {'a': 1j}]},\n\
             index=pd.date_range('2024-01-01', periods=2))",
            value_of(json!({"kind": "DataFrame", "shape": [2, 2],
                "index": ["2024-01-01T00:00:00", "2024-01-02T00:00:00"], "index_names": [null],
                "columns": ["d", "l"],
                "rows": [["2024-05-06T00:00:00", [1, null]], [null, {"a": "1j"}]]})),
        ),
        ("1 + 1", value_of(json!(2))),
        ("df['n'].mean()", value_of(json!(2.0))),
        ("np.float64('nan')", value_of(json!(null))),
        ("float('-inf')", value_of(json!(null))),
        ("'Ann' + chr(0xd800)", value_of(json!("Ann?"))),
        ("len(df) > 2", value_of(json!(true))),
        ("2 ** 70", value_of(json!("1180591620717411303424"))),
        ("None", json!(null)),
        ("x = 1", json!(null)),
        (
            "[1, (2.5, None), {'b'}, frozenset(), range(2), float('inf'), np.int8(7), pd.NA]",
            value_of(json!([1, [2.5, null], ["b"], [], [0, 1], null, 7, null])),
        ),
        (
            "{'a': np.arange(4).reshape(2, 2), 2: pd.Timestamp('2024-05-06 07:08'), (1, 'x'): np.nan,\n\
             None: {'deep': pd.NaT}, np.int64(5): np.array(1.5), True: np.ma.masked}",
            value_of(
                json!({"a": [[0, 1], [2, 3]], "2": "2024-05-06T07:08:00", "(1, 'x')": null,
                "None": {"deep": null}, "5": 1.5, "True": null}),
            ),
        ),
        (
            "{'part': df['n'].head(1), 'index': df.columns, 'keys': {'a': 1}.keys()}",
            value_of(
                json!({"part": {"kind": "Series", "shape": [1], "index": [0], "index_names": [null],
                "columns": ["n"], "rows": [[1]]}, "index": ["who", "n", "x"], "keys": ["a"]}),
            ),
        ),
        (
            "import datetime, decimal, enum\n\
             class Colour(enum.Enum):\n    RED = 'r'\n\
             [Colour.RED, datetime.date(2024, 5, 6), decimal.Decimal('1.5'), datetime.timedelta(1)]",
            value_of(json!(["r", "2024-05-06", 1.5, "1 day, 0:00:00"])),
        ),
        (
            "[1, print, b'x', 1j]",
            part(
                json!([
                    1,
                    "[builtin_function_or_method left out]",
                    "[bytes left out]",
                    "[complex left out]"
                ]),
                &[
                    "builtin_function_or_method, which has no plain JSON form",
                    "bytes, which has no plain JSON form",
                    "complex, which has no plain JSON form",
                ],
            ),
        ),
        (
            "df.groupby('who')",
            part(
                json!("[DataFrameGroupBy left out]"),
                &["DataFrameGroupBy, which has no plain JSON form"],
            ),
        ),
        (
            "import collections\nclass Odd(collections.UserDict):\n    def items(self): raise ValueError('no')\n    def __repr__(self): return 'odd'\nOdd()",
            part(
                json!("[Odd left out]"),
                &["Odd, which has no plain JSON form"],
            ),
        ),
    ]
}

const DF: &str = "df = pd.DataFrame({'who': ['Ann', 'Bo', 'Cy'], 'n': [1, 2, 3], \
                  'x': [0.5, None, float('inf')]})\ndf.loc[2, 'x'] = np.nan\n";

#[test]
fn the_last_value_comes_back_as_plain_json() {
    if !available(TIER) {
        return;
    }
    let mut failures = Vec::new();
    for (code, expected) in cases() {
        let run = run(&format!("{DF}{code}"));
        if run.error.is_some() || run.result != expected {
            failures.push(format!(
                "{code}\n-> {}\nnot {expected}\n{:?}",
                run.result, run.error
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn large_values_are_cut_and_marked_without_failing_the_run() {
    if !available(TIER) {
        return;
    }
    for (left_out, code) in [
        ("beyond 200000 bytes", "list(range(10 ** 6))"),
        ("beyond 200000 bytes", "np.zeros(10 ** 7)"),
        (
            "beyond 200000 bytes",
            "{n: 'x' * 100 for n in range(10 ** 4)}",
        ),
        ("beyond 200000 bytes", "[['\\0' * 9000] * 10] * 100"),
        (
            "beyond 200000 bytes",
            "pd.DataFrame([['\\0' * 2000] * 300] * 60)",
        ),
        (
            "columns after the first 200",
            "pd.DataFrame([[1] * 300] * 60)",
        ),
        ("after 10000 characters", "'x' * 10 ** 6"),
        ("nested deeper than 100", "a = []\na.append(a)\n[a] * 2"),
    ] {
        let run = run(code);
        assert_eq!(run.error, None, "{code}: {run:?}");
        let size = run.result.to_string().len();
        assert!(size > 400 && size < 500_000, "{code}: {size}");
        let why = run.result["value_left_out"].to_string();
        assert!(why.contains(left_out), "{code}: {why}");
    }
}

#[test]
fn a_wide_table_is_one_block_of_lines() {
    if !available(TIER) {
        return;
    }
    let wide = "df = pd.DataFrame({f'column {n}': [n * 1e6 + 0.123456789, n] for n in range(30)})\n\
        df['words'] = ['so many words ' * 20, 'a\\nb']\n";
    // Printed, as the last value, and with `display`; for a simple table and one with two-level
    // labels.
    for last in [
        "print(df)",
        "df",
        "display(df)",
        "print(df.set_index(['words', 'column 1']))",
    ] {
        let run = run(&format!("{wide}{last}"));
        assert_eq!(run.error, None, "{run:?}");
        let lines: Vec<&str> = run.stdout.lines().collect();
        // A header, a second one for the index if it has a name, and the rows.
        let header = if last.contains("set_index") { 2 } else { 1 };
        assert_eq!(lines.len(), header + 2, "{last}: {}", run.stdout);
        assert!(
            lines[0].contains("column 0") && lines[0].contains("column 29"),
            "{last}: {}",
            lines[0]
        );
        assert!(
            !run.stdout.contains('\\') || lines.last().unwrap().contains("a\\nb"),
            "{}",
            run.stdout
        );
    }
}

/// Code that fails, and the name suggested for the missing one.
const MEANT: &[(&str, Option<&str>)] = &[
    ("df['whoo']", Some("who")),
    ("df[['n', 'Total Amont']]", Some("Total amount")),
    ("df.groupby('wo')['n'].sum()", Some("who")),
    (
        "df.groupby('who')['total amount'].sum()",
        Some("Total amount"),
    ),
    ("df.sort_values('total_amount')", Some("Total amount")),
    ("df.drop(columns=['totl amount'])", Some("Total amount")),
    (
        "df.merge(df.rename(columns={'who': 'name'}), left_on='who', right_on='nam')",
        Some("name"),
    ),
    ("df.loc[:, 'wh0']", Some("who")),
    ("df.apply(lambda row: row['Whoo'], axis=1)", Some("who")),
    ("df.query('whoo == 1')", Some("who")),
    (
        "def f(table):\n    return table['whoo']\nf(df)",
        Some("who"),
    ),
    ("df.entirely", None),
    ("df['entirely']", None),
    ("df.Who", Some("who")),
    ("df.groupbi('who')", Some("groupby")),
    ("df['n'].meen()", Some("mean")),
    ("np.meann([1])", Some("mean")),
    ("import math\nmath.squrt(2)", Some("sqrt")),
    ("'x'.uper()", Some("upper")),
    (
        "class Box:\n    def __init__(self):\n        self.size = 1\n    def weigh(self): pass\nBox().weight()",
        Some("weigh"),
    ),
    (
        "class Box:\n    def __init__(self):\n        self.size = 1\nBox().sise",
        Some("size"),
    ),
    ("{'alpha': 1}['alhpa']", None),
    (
        "d = {'alpha': {'beta': 1}}\nd['alpha']['bta']",
        Some("beta"),
    ),
    (
        "d = {'people': [{'name': 'Ann'}]}\nd['people'][0]['nme']",
        Some("name"),
    ),
    ("d = {'1': 'one'}\nd[1]", Some("'1'")),
    ("total = 1\nprint(totel)", Some("total")),
    (
        "def f():\n    amount = 1\n    return [amuont for _ in [1]]\nf()",
        Some("amount"),
    ),
    ("raise KeyError('who is there')", None),
    ("raise AttributeError('nothing')", None),
    (
        "def f():\n    print(total)\n    total = 1\ntotals = 2\nf()",
        None,
    ),
    ("[].apend(1)\n", Some("append")),
];

/// Code that seeks a column that no name is near to, and whether the columns are named: only where they answer the
/// question.
const COLUMNS: &[(&str, bool)] = &[
    ("df['unit price per piece']", true),
    ("df[['n', 'unit price per piece']]", true),
    ("df.groupby('who')['unit price per piece'].sum()", true),
    ("df.groupby('unit price per piece')", true),
    ("df.sort_values('unit price per piece')", true),
    ("df.set_index('unit price per piece')", true),
    ("df.drop(columns=['unit price per piece'])", true),
    ("df.loc[:, 'unit price per piece']", true),
    (
        "df.apply(lambda row: row['unit price per piece'], axis=1)",
        true,
    ),
    ("df.loc['unit price per piece']", false),
    ("df.drop('unit price per piece')", false),
    ("df.set_index('who').loc['Cy']", false),
    ("df.set_index('who')['n']['Cy the last']", false),
    ("{'who': 1}['unit price per piece']", false),
    ("raise KeyError('unit price per piece')", false),
];

#[test]
fn a_missing_column_without_a_near_name_is_answered_with_the_columns() {
    if !available(TIER) {
        return;
    }
    let mut failures = Vec::new();
    for (code, named) in COLUMNS {
        let run = run(&format!("{NAMED}{code}"));
        let message = run
            .error
            .as_ref()
            .map_or("", |error| error.message.as_str());
        let columns = "; the columns are `who`, `n`, `Total amount`";
        if message.is_empty()
            || message.ends_with(columns) != *named
            || message.contains("columns are") != *named
        {
            failures.push(format!("{code}\n-> {message}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    let wide = run("df = pd.DataFrame({f'column {n}': [n] for n in range(30)})\ndf['who']");
    let message = wide.error.unwrap().message;
    assert!(
        message.ends_with("`column 19` and 10 more") && !message.contains("column 20"),
        "{message}"
    );
}

const NAMED: &str =
    "df = pd.DataFrame({'who': ['Ann', 'Bo'], 'n': [1, 2], 'Total amount': [1.5, 2.5]})\n";

#[test]
fn an_unknown_name_is_answered_with_the_nearest_known_one() {
    if !available(TIER) {
        return;
    }
    let mut failures = Vec::new();
    for (code, meant) in MEANT {
        let run = run(&format!("{NAMED}{code}"));
        let message = run
            .error
            .as_ref()
            .map_or("", |error| error.message.as_str());
        let hint = meant.map(|name| format!("; did you mean `{name}`?"));
        let fits = match &hint {
            Some(hint) => message.ends_with(hint.as_str()),
            None => !message.is_empty() && !message.contains("did you mean"),
        };
        let times = run.stderr.matches("did you mean").count();
        if !fits || times != usize::from(hint.is_some()) {
            failures.push(format!("{code}\n-> {message}\n{}", run.stderr));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
