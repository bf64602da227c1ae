//! Values of data sets marked private are not returned, under any contract.

use std::collections::BTreeMap;

use serde_json::json;

use crate::broker::ExecNote;
use crate::executor::DatasetSource;
use crate::executor::bind;
use crate::executor::bind_with;
use crate::executor::spec::RunSpec;
use crate::executor::tests::bench::*;
use crate::model::{DataFormat, Sensitivity, StreamName};

const TABLE: &str = "who,city,pay\nAnn Ferrer,Oslo,51234.5\nBo Lindqvist,Oslo,48010.25\n\
    Cy Nakamura,Oslo,60123.0\nDi Okonkwo,Oslo,47001.5\nEd Petrov,Oslo,52222.25\n";

fn run(profile_name: &str, sensitivity: Sensitivity, code: &str) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let sources = csv_dataset(folder.path(), "pay", TABLE, sensitivity);
    let requests = serde_json::from_value(json!({"df": {"dataset": "pay"}})).unwrap();
    let inputs = bind(&requests, &sources).unwrap();
    let spec = RunSpec {
        env: pandas(),
        ..with_inputs(code, profile(profile_name), inputs)
    };
    begin_with(spec, converting(sources, crate::model::Tier::Process)).finish()
}

/// The same people in another format, read in the jail of real data sets.
fn run_other(format: DataFormat, content: &[u8], code: &str) -> Outcome {
    run_in("analysis", format, content, code)
}

fn run_in(profile_name: &str, format: DataFormat, content: &[u8], code: &str) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pay");
    std::fs::write(&path, content).unwrap();
    let source = DatasetSource {
        path,
        format,
        sensitivity: Sensitivity::Private,
    };
    let sources = converting(
        BTreeMap::from([("pay".to_owned(), source)]),
        crate::model::Tier::Process,
    );
    let requests = serde_json::from_value(json!({"df": {"dataset": "pay"}})).unwrap();
    let inputs = bind_with(&requests, &sources).unwrap();
    let spec = RunSpec {
        env: pandas(),
        ..with_inputs(code, profile(profile_name), inputs)
    };
    begin_with(spec, sources).finish()
}

/// Everything that the run returned.
fn everything_returned(outcome: &Outcome) -> String {
    let run = outcome.run();
    assert_eq!(run.error, None, "{run:?}");
    let streamed = outcome.streamed(StreamName::Stdout);
    format!("{}{}{}{streamed}", run.stdout, run.stderr, run.result)
}

const HIDDEN: [&str; 9] = [
    "Ferrer",
    "Lindqvist",
    "51234",
    "48010",
    "Nakamura",
    "52222",
    "Harbour",
    "4711",
    "1980-02-0",
];

/// Five people with addresses, who all share a town.
fn people() -> Vec<serde_json::Value> {
    TABLE
        .lines()
        .skip(1)
        .zip(4711_u32..)
        .map(|(line, number)| {
            let cells: Vec<&str> = line.split(',').collect();
            let pay: f64 = cells[2].parse().unwrap();
            json!({"who": cells[0], "pay": pay,
                "home": {"town": cells[1], "streets": [format!("{number} Harbour Road")] ,
                    "rent": {cells[0]: pay / 10.0}}})
        })
        .collect()
}

#[test]
fn nested_json_is_hidden_like_a_table() {
    let code = "print(df)\nrows = df['people'] if isinstance(df, dict) else df\n\
        for row in rows: print(row['home']['streets'][0], row['pay'], list(row['home']['rent']))\n\
        print({row['home']['town'] for row in rows}, sum(row['pay'] for row in rows))\n\
        rows[0]";
    let lines: String = people().iter().map(|one| format!("{one}\n")).collect();
    for (format, text) in [
        (DataFormat::Json, json!(people()).to_string()),
        (DataFormat::Json, json!({"people": people()}).to_string()),
        (DataFormat::Jsonl, lines),
    ] {
        let outcome = run_other(format, text.as_bytes(), code);
        let all = everything_returned(&outcome);
        for value in HIDDEN {
            assert!(!all.contains(value), "{value} in {all}");
        }
        // A tenth of somebody's pay is another value.
        assert!(!all.contains("5123.45"), "{all}");
        assert!(
            all.contains("[REDACTED]") && all.contains("{'Oslo'} 258591.5"),
            "{all}"
        );
        assert!(all.contains("'home'") && all.contains("'town'"), "{all}");
    }
}

#[test]
fn parquet_is_hidden_like_a_table() {
    let content = parquet(
        "df = pd.DataFrame({'who': ['Ann Ferrer', 'Bo Lindqvist', 'Cy Nakamura', 'Di Okonkwo', \
         'Ed Petrov'], 'city': 'Oslo', 'pay': [51234.5, 48010.25, 60123.0, 47001.5, 52222.25],\n\
         'born': pd.date_range('1980-02-01', periods=5), 'n': np.arange(4711, 4716),\n\
         'small': np.array([0.1234, 0.2345, 0.3456, 0.4567, 0.5678], dtype='float32'),\n\
         'seen': pd.date_range('2001-02-03 04:05:06.789', periods=5, freq='61min'),\n\
         'late': pd.to_timedelta([4711 + i for i in range(5)], unit='s'),\n\
         'tags': [['Harbour Road %d' % i] for i in range(5)]})\n\
         df = df.set_index('who')",
    );
    let code = "print(df.to_string())\nprint(df.index[0], df['born'].iloc[0], df['tags'].tolist())\n\
        print(df['born'].dt.date.tolist()[0], df['small'].tolist(), df['small'].iloc[0])\n\
        print(df['city'].unique().tolist(), round(df['pay'].mean(), 1))\n\
        {'all': df, 'dates': df['seen'].to_numpy('datetime64[ms]'), 'late': df['late'], 'one': df['pay'].iloc[0],\n\
         df.index[0]: [df['late'].iloc[0], df['seen'].iloc[0]]}";
    let outcome = run_other(DataFormat::Parquet, &content, code);
    let all = everything_returned(&outcome);
    for value in HIDDEN
        .iter()
        .chain(&["0.1234", "0.12345", "1:18:31", "1H18M31S", "04:05:06"])
    {
        assert!(!all.contains(value), "{value} in {all}");
    }
    assert!(all.contains("['Oslo'] 51718.3"), "{all}");
}

#[test]
fn no_beginning_of_a_long_text_is_printed() {
    let lines: String = ["Abel", "Birk", "Cato", "Dina", "Egil"]
        .iter()
        .map(|who| {
            format!("{who} {who} sat {who} by the lake {who} and said {who} not a word {who},1\n")
        })
        .collect();
    let content = format!("note,n\n{lines}");
    let code = "print(df)\nprint(df['note'])\nprint(df.set_index('note'))\ndf.set_index('n')";
    let all = everything_returned(&run_other(DataFormat::Csv, content.as_bytes(), code));
    assert!(all.matches("[REDACTED]").count() >= 20, "{all}");
    for piece in ["Abel", "Cato", "lake"] {
        assert!(!all.contains(piece), "{piece} in {all}");
    }
}

#[test]
fn numbers_over_few_rows_are_hidden_and_over_five_are_not() {
    let mut rows = Vec::new();
    for i in 0..14 {
        // Two people in one town, three in another, nine in the third.
        let town = ["Aure", "Bodo", "Oslo"][usize::from(i > 1) + usize::from(i > 4)];
        let pay = 40_000.0 + f64::from(i * i) * 137.25;
        rows.push((town, ["x", "y"][i as usize % 2], pay));
    }
    let csv = rows.iter().fold("town,team,pay\n".to_owned(), |text, row| {
        text + &format!("{},{},{}\n", row.0, row.1, row.2)
    });
    let json: Vec<_> = rows
        .iter()
        .map(|(town, team, pay)| json!({"town": town, "team": team, "pay": pay}))
        .collect();
    let code = "df = pd.DataFrame(df)\n\
        g = df.groupby('town')['pay']\n\
        print(g.sum(), g.mean(), g.mean().round(2), g.median(), g.std(), sep='\\n')\n\
        print(df[df['town'] == 'Aure']['pay'].mean(), np.mean(df['pay'].to_numpy()[:2]))\n\
        print(df.pivot_table(index='town', columns='team', values='pay'))\n\
        print(len(df), g.size().to_dict())\n\
        g.agg(['sum', 'mean']).reset_index()";
    for (format, content) in [
        (DataFormat::Csv, csv),
        (DataFormat::Json, json!(json).to_string()),
    ] {
        let outcome = run_other(format, content.as_bytes(), code);
        let all = everything_returned(&outcome);
        for few in ["Aure", "Bodo"] {
            let pays: Vec<f64> = rows.iter().filter(|r| r.0 == few).map(|r| r.2).collect();
            let sum: f64 = pays.iter().sum();
            for number in [sum, sum / pays.len() as f64] {
                let shown = format!("{number:.1}");
                assert!(!all.contains(&shown), "{few} {shown} in {all}");
            }
        }
        let many: Vec<f64> = rows[5..].iter().map(|r| r.2).collect();
        let mean = many.iter().sum::<f64>() / many.len() as f64;
        assert!(all.contains(&format!("{mean:.2}")), "{mean} in {all}");
        assert!(all.contains("14 {") && all.contains("'Oslo': 9"), "{all}");
    }
}

/// The events for the person.
fn person_notes(outcome: &Outcome) -> Vec<&str> {
    let events = outcome.notes.iter().find_map(|note| match note {
        ExecNote::Noted(events) => Some(events),
        _ => None,
    });
    let events = events.into_iter().flatten();
    events.map(|event| event.message.as_str()).collect()
}

#[test]
fn the_bounds_of_group_numbers_are_reported_to_the_person_and_not_to_the_agent() {
    let names = (0..10_002).map(|n| format!("n{}", n.max(1)));
    let many: String = names.map(|name| format!("{name},1\n")).collect();
    let many = format!("name,pay\n{many}");
    for (format, text, says) in [
        (DataFormat::Csv, TABLE, vec![]),
        (
            DataFormat::Csv,
            &many,
            vec![
                "group numbers of `pay` by 1 column of more than 10,000 different values were not \
                 compared; they are not recognised",
            ],
        ),
        (
            DataFormat::Json,
            "{\"ann\": {\"pay\": 4711.5}, \"bo\": {\"pay\": 4712.5}}",
            vec![
                "group numbers of `pay` were not compared: it is no table and no list of records; \
                 they are not recognised",
            ],
        ),
    ] {
        let outcome = run_other(format, text.as_bytes(), "print(len(df))");
        assert_eq!(person_notes(&outcome), says, "{outcome:?}");
        let run = serde_json::to_string(outcome.run()).unwrap();
        assert!(!run.contains("recognised") && outcome.run().events.is_empty());
        if !says.is_empty() {
            // The note comes before anything runs.
            assert!(
                matches!(outcome.notes[0], ExecNote::Noted(_)),
                "{outcome:?}"
            );
        }
    }
}

#[test]
fn private_data_that_cannot_be_read_runs_nothing() {
    let deep = "[".repeat(5000) + &"]".repeat(5000);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pay");
    std::fs::write(&path, "[1]").unwrap();
    let source = DatasetSource {
        path: path.clone(),
        format: DataFormat::Json,
        sensitivity: Sensitivity::Private,
    };
    let datasets = BTreeMap::from([("pay".to_owned(), source)]);
    let requests = serde_json::from_value(json!({"df": {"dataset": "pay"}})).unwrap();
    let sources = converting(datasets.clone(), crate::model::Tier::Process);
    let inputs = bind_with(&requests, &sources).unwrap();
    std::fs::write(&path, &deep).unwrap();
    let mut changed = inputs;
    changed[0].sha256 = crate::model::Digest::of(deep.as_bytes());
    let spec = RunSpec {
        env: pandas(),
        ..with_inputs("print(df)", profile("analysis"), changed)
    };
    let outcome = begin_with(spec, sources).finish();
    let failure = outcome.failure();
    assert!(
        failure.starts_with("data set pay is private, and its values cannot be hidden: "),
        "{failure}"
    );
}

const CODE: &str = "print(df)\n\
    print(df['pay'].iloc[0], df['who'].tolist(), df['city'].unique().tolist())\n\
    print('mean', round(df['pay'].mean(), 1), 'rows', len(df))\n\
    for c in df['who'].iloc[0]: print(c, end='')\n\
    print()\ndf";

#[test]
fn values_of_a_private_data_set_are_never_returned() {
    let outcome = run("analysis", Sensitivity::Private, CODE);
    let finished = outcome.run();
    assert_eq!(finished.error, None, "{finished:?}");
    let all = format!(
        "{}{}{}{}",
        finished.stdout,
        finished.result,
        finished.stderr,
        outcome.streamed(StreamName::Stdout)
    );
    for value in ["Ferrer", "Lindqvist", "51234", "48010", "Nakamura", "52222"] {
        assert!(!all.contains(value), "{value} in {all}");
    }
    assert!(all.contains("[REDACTED]"), "{all}");
    // A value that all rows share is a category, and a number over them an aggregate.
    assert!(finished.stdout.contains("['Oslo']"), "{all}");
    assert!(finished.stdout.contains("mean 51718.3 rows 5"), "{all}");
    assert_eq!(finished.result["value"]["rows"][0][0], "[REDACTED]");
    assert_eq!(finished.result["value"]["rows"][0][2], "[REDACTED]");
    // The same data set marked public.
    let outcome = run("analysis", Sensitivity::Public, CODE);
    assert!(
        outcome.run().stdout.contains("Ann Ferrer"),
        "{:?}",
        outcome.run()
    );
    assert_eq!(outcome.run().result["value"]["rows"][0][2], 51234.5);
}

#[test]
fn a_private_value_is_hidden_in_errors_too() {
    let outcome = run(
        "analysis",
        Sensitivity::Private,
        "raise ValueError(df['who'][0])",
    );
    let error = outcome.run().error.clone().unwrap();
    assert_eq!(error.message, "[REDACTED]");
    assert!(
        !outcome.run().stderr.contains("Ferrer"),
        "{:?}",
        outcome.run()
    );
}

#[test]
fn columns_made_from_a_private_data_set_are_not_returned() {
    let outcome = run("feature", Sensitivity::Private, "df['n'] = df['pay'] * 1.0");
    let result = &outcome.run().result;
    assert_eq!(
        result["withheld"], "made from a private data set",
        "{outcome:?}"
    );
    assert!(result["arrow"].is_null());
    assert_eq!(result["columns"][0]["name"], "n");
}

#[test]
fn a_private_data_sets_chart_is_left_without_its_values() {
    let outcome = run(
        "chart",
        Sensitivity::Private,
        "rows = data['df']\n\
         result = {'chart': {'data': [{'type': 'bar', 'x': [r['who'] for r in rows],\n\
          'y': [r['pay'] for r in rows]}], 'layout': {'title': rows[0]['who']}}}",
    );
    let run = outcome.run();
    assert_eq!(run.error, None, "{run:?}");
    assert_eq!(run.artifacts.len(), 2);
    let json = String::from_utf8_lossy(&outcome.left()[0].bytes);
    assert!(json.contains("[REDACTED]"), "{json}");
    assert!(
        !json.contains("Ferrer") && !json.contains("51234"),
        "{json}"
    );
    // The picture is drawn from the cleaned chart: bars without a size have no colour.
    let bare = crate::chart::draw(&serde_json::from_str(&json).unwrap()).unwrap();
    assert_eq!(*outcome.left()[1].bytes, bare[..]);
}

#[test]
fn d2_a_private_data_set_is_in_the_private_scope() {
    let outcome = run(
        "scoped",
        Sensitivity::Private,
        "t = private.df\nprint(len(t), 'df' in system.inputs)\nprint(t.to_csv())",
    );
    let run = outcome.run();
    assert!(run.stdout.starts_with("5 False\n"), "{run:?}");
    assert!(
        !run.stdout.contains("Ferrer") && !run.stdout.contains("51234"),
        "{run:?}"
    );
}

/// The information of `datasets` is not secret: the columns of a table, and the first keys of
/// records.
#[test]
fn d4_the_columns_of_a_private_data_set_are_shown_in_the_private_scope() {
    let outcome = run(
        "scoped",
        Sensitivity::Private,
        "print(list(private.df))\nprivate.t = private.df[['who']]\nprint('who city pay 0 12')",
    );
    assert_eq!(
        everything_returned(&outcome).lines().next(),
        Some("['who', 'city', 'pay']")
    );
    assert!(
        outcome.run().stdout.ends_with("who city pay 0 12\n"),
        "{:?}",
        outcome.run()
    );
    let content = serde_json::to_vec(&people()).unwrap();
    let code = "for row in private.df:\n    print(list(row), list(row['home']), list(row['home']['rent']))";
    let outcome = run_in("scoped", DataFormat::Json, &content, code);
    let line = "['home', 'pay', 'who'] ['[REDACTED]', '[REDACTED]', '[REDACTED]'] ['[REDACTED]']\n";
    let all = everything_returned(&outcome);
    assert!(all.starts_with(line), "{all}");
    // A replacement of the data set is not a data set.
    let code = "private.df = {'Zeta-Quill': 1}\nprint(list(private.df))";
    let outcome = run_in("scoped", DataFormat::Json, &content, code);
    assert!(
        !everything_returned(&outcome).contains("Zeta"),
        "{:?}",
        outcome.run()
    );
}

#[test]
fn no_beginning_of_a_value_is_shown_where_a_long_error_is_cut() {
    let code = "raise ValueError('x' * 1995 + df['who'][0])";
    let outcome = run("analysis", Sensitivity::Private, code);
    let all = format!("{:?}", outcome.run());
    assert!(!all.contains("xAnn") && !all.contains("xAn"), "{all}");
    let outcome = run("analysis", Sensitivity::Public, code);
    let message = &outcome.run().error.as_ref().unwrap().message;
    assert!(message.ends_with("xAnn F"), "{message}");
}

#[test]
fn reading_records_like_a_table_hints_to_make_one() {
    let lines = "{\"pay\": 4711.5}\n{\"pay\": 4712.5}\n";
    let hint = "; `df` is a list of records: `pd.DataFrame(df)` makes a table of it";
    for (format, text) in [
        (DataFormat::Jsonl, lines.to_owned()),
        (
            DataFormat::Json,
            format!("[{}]", lines.trim().replace('\n', ",")),
        ),
    ] {
        for (code, hinted) in [("df.groupby('pay')", true), ("[*df].groupby('pay')", false)] {
            let outcome = run_other(format, text.as_bytes(), code);
            let message = &outcome.run().error.as_ref().unwrap().message;
            assert!(
                message.starts_with("'list' object has no attribute"),
                "{message}"
            );
            assert_eq!(message.ends_with(hint), hinted, "{message}");
        }
    }
}

/// The pressure of three people has no decimals, so it is a number of three digits.
const PRESSURE: &str = "bp\n128.0\n129.0\n131.0\n128.5\n129.5991\n";

#[test]
fn a_mean_is_shown_whole_even_if_a_value_has_its_first_digits() {
    let code = "print(f'{df.bp.mean():.2f} {df.bp.mean()}')\nprint(df.bp.tolist())";
    let all = everything_returned(&run_other(DataFormat::Csv, PRESSURE.as_bytes(), code));
    assert!(all.contains("129.22 129.21982"), "{all}");
    assert!(
        all.contains("[128.0, 129.0, 131.0, [REDACTED], [REDACTED]]"),
        "{all}"
    );
}

#[test]
fn a_charts_numbers_and_its_text_are_hidden_by_the_same_rule() {
    let code = "values = [float(r['bp']) for r in data['df']]\n\
        shown = [sum(values) / 5, 129.0, 129.5991, -129.5991]\n\
        result = {'chart': {'data': [{'y': shown}]}, 'output': str(shown)}";
    let outcome = run_in("chart", DataFormat::Csv, PRESSURE.as_bytes(), code);
    let run = outcome.run();
    assert_eq!(run.error, None, "{run:?}");
    let y = &run.result["chart"]["data"][0]["y"];
    let mean = y[0].as_f64().unwrap();
    assert_eq!(*y, json!([mean, 129.0, "[REDACTED]", "[REDACTED]"]));
    assert_eq!(
        run.result["output"],
        format!("[{mean}, 129.0, [REDACTED], -[REDACTED]]")
    );
}
