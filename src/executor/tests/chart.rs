//! The contract `chart`, rows Q1 to Q3, with the real libraries in the real child.

use serde_json::{Value, json};

use crate::analysis;
use crate::executor::tests::bench::*;
use crate::model::{Exit, RunErrorKind, VerdictKind};
use crate::policy::Policy;

fn chart() -> Policy {
    profile("chart")
}

fn run(code: &str) -> Outcome {
    run_profile(chart(), code, json!({}))
}

fn result(code: &str) -> Value {
    let outcome = run(code);
    assert_eq!(outcome.run().error, None, "{code}: {:?}", outcome.run());
    outcome.run().result.clone()
}

fn violation(code: &str) -> String {
    let error = run(code).run().error.clone().unwrap();
    assert_eq!(
        error.kind,
        RunErrorKind::ContractViolation,
        "{code}: {error:?}"
    );
    error.message
}

/// The second column of the table lists what each check of the analyser must find; the child
/// refuses the same by itself.
#[test]
fn q1_imports_calls_names_and_attributes_are_refused_twice() {
    let policy = chart();
    for code in [
        "import os",
        "from subprocess import run",
        "import scipy.io",
        "eval('1')",
        "exec('1')",
        "compile('1', 'f', 'eval')",
        "open('x')",
        "breakpoint()",
        "exit()",
        "__globals__",
        "x = (1).__class__",
        "x = print.__code__",
        "x = int.__bases__",
    ] {
        let verdict = analysis::analyse(code.as_bytes(), &policy);
        assert_eq!(verdict.verdict, VerdictKind::Blocked, "{code}");
        let outcome = run(&format!("print('ran')\n{code}"));
        let error = outcome.run().error.clone().unwrap();
        assert_eq!(error.kind, RunErrorKind::PolicyViolation, "{code}");
        assert_eq!(outcome.run().stdout, "", "{code}");
    }
    let verdict = analysis::analyse(b"x = (", &policy);
    assert_eq!(verdict.verdict, VerdictKind::Unanalyzable);
}

#[test]
fn q1_the_eighteen_modules_and_the_builtins_are_there() {
    let modules = [
        "numpy",
        "pandas",
        "scipy",
        "scipy.stats",
        "scipy.optimize",
        "scipy.signal",
        "scipy.interpolate",
        "plotly",
        "plotly.graph_objects",
        "plotly.express",
        "plotly.subplots",
        "math",
        "statistics",
        "json",
        "datetime",
        "_strptime",
        "collections",
        "io",
    ];
    let policy = chart();
    for module in modules {
        assert!(policy.imports.contains_key(module), "{module}");
    }
    let code = "import numpy, pandas, scipy.stats, scipy.optimize, scipy.signal\n\
        import scipy.interpolate, plotly, plotly.graph_objects, plotly.express, plotly.subplots\n\
        import math, statistics, json\n\
        from datetime import datetime\n\
        from collections import Counter\n\
        from io import StringIO\n\
        print(datetime.strptime('2024-05-01', '%Y-%m-%d').year, Counter('aab')['a'])\n\
        print(sorted(set(map(abs, [-2, 1]))), frozenset([1]), isinstance(1, int), None, True)\n";
    let outcome = run(code);
    assert_eq!(
        outcome.run().stdout,
        "2024 2\n[1, 2] frozenset({1}) True None True\n",
        "{:?}",
        outcome.run()
    );
}

#[test]
fn q2_data_is_there_under_its_key_as_plain_json() {
    let code = "ts = data['t1']['timeseries']\n\
        rows = data['table']\n\
        print(type(data) is dict, ts[1]['value'], rows[0]['n'], rows[1]['n'], rows[0]['name'])\n\
        print(sorted(data))";
    let code = code.replace("type(data) is dict", "isinstance(data, dict)");
    let inputs = json!({
        "t1": {"json": {"timeseries": [{"value": 44.5}, {"value": 45.25}]}},
        "table": {"text": "name,n\na,1\nb,\n", "format": "csv"},
    });
    let outcome = run_profile(chart(), &code, inputs);
    assert_eq!(
        outcome.run().stdout,
        "True 45.25 1.0 None a\n['t1', 'table']\n",
        "{:?}",
        outcome.run()
    );
}

#[test]
fn q3_without_a_result_stdout_is_the_output() {
    assert_eq!(
        result("print('mean', 3)"),
        json!({"output": "mean 3\n", "chart": null})
    );
    assert_eq!(result("x = 1"), json!({"output": "", "chart": null}));
}

#[test]
fn q3_a_result_has_output_and_chart() {
    let found = result(
        "print('noise')\n\
         result = {'output': 'Mean T1 = 45.2 μs', 'chart': {'data': [{'x': [1], 'y': (2, 3), \
         'type': 'scatter'}], 'layout': {'title': 'T1'}}}",
    );
    assert_eq!(
        found,
        json!({"output": "Mean T1 = 45.2 μs", "chart": {"data": [{"x": [1], "y": [2, 3],
            "type": "scatter"}], "layout": {"title": "T1"}}})
    );
    // A missing output is what was printed.
    let found = result("print('said')\nresult = {'chart': {'data': []}}");
    assert_eq!(found["output"], "said\n");
}

#[test]
fn q3_figures_and_library_values_become_plain_json() {
    let found = result(
        "import plotly.graph_objects as go, plotly.express as px, numpy as np, pandas as pd\n\
         from datetime import date, datetime, timedelta\n\
         days = pd.date_range('2024-01-01', periods=3)\n\
         bar = go.Figure(go.Bar(x=['a', 'b', 'c'], y=np.array([1.5, np.nan, np.inf])), \
         layout={'title': 'T'})\n\
         line = px.line(pd.DataFrame({'d': days, 'v': [1, 2, 3]}), x='d', y='v')\n\
         packed = bar.to_dict()\n\
         plain = {'data': [{'y': pd.Series([1, 2]), 'x': days, 'z': np.arange(4).reshape(2, 2),\n\
          'when': [date(2024, 5, 1), datetime(2024, 5, 1, 12), pd.NaT, pd.NA, timedelta(hours=1)],\n\
          'one': np.float64('nan'), 'i': np.int64(7), 'b': np.bool_(True), 5: float('-inf'),\n\
          'bar': go.Bar(y=[1]), 'd64': np.datetime64('2024-01-01T06:00', 'ns')}]}\n\
         result = {'chart': [bar, line, packed, plain]}",
    );
    let charts = found["chart"].as_array().unwrap();
    assert_eq!(charts[0]["data"][0]["y"], json!([1.5, null, null]));
    assert_eq!(charts[0]["layout"]["title"]["text"], "T");
    assert_eq!(charts[1]["data"][0]["y"], json!([1, 2, 3]));
    assert_eq!(charts[1]["data"][0]["x"][1], "2024-01-02T00:00:00");
    assert_eq!(charts[2]["data"][0]["y"], json!([1.5, null, null]));
    let plain = &charts[3]["data"][0];
    assert_eq!(plain["y"], json!([1, 2]));
    assert_eq!(plain["x"][0], "2024-01-01T00:00:00");
    assert_eq!(plain["z"], json!([[0, 1], [2, 3]]));
    assert_eq!(
        plain["when"],
        json!(["2024-05-01", "2024-05-01T12:00:00", null, null, "1:00:00"])
    );
    assert_eq!(plain["one"], Value::Null);
    assert_eq!(plain["i"], 7);
    assert_eq!(plain["b"], true);
    assert_eq!(plain["5"], Value::Null);
    assert_eq!(plain["bar"]["y"], json!([1]));
    assert_eq!(plain["d64"], "2024-01-01T06:00:00");
}

#[test]
fn q3_a_chart_must_have_data() {
    for chart in [
        "{'layout': {}}",
        "[{'data': []}, {}]",
        "5",
        "'x'",
        "[None]",
        "[[{'data': []}]]",
    ] {
        let message = violation(&format!("result = {{'chart': {chart}}}"));
        assert_eq!(message, "a chart must have \"data\"", "{chart}");
    }
    assert!(violation("result = 5").contains("`result` must be a dict"));
    assert!(violation("result = {'chrat': 1}").contains("`result` must be a dict"));
    let message = violation(
        "result = {'chart': {'data': [{'y': [1, object]}]}}"
            .replace("object", "print")
            .as_str(),
    );
    assert!(
        message.contains("result[\"chart\"]['data'][0]['y'][1]")
            && message.contains("no plain JSON"),
        "{message}"
    );
    let deep = "x = []\nfor i in range(200): x = [x]\nresult = {'chart': {'data': x}}";
    assert!(violation(deep).contains("nested deeper than"));
}

#[test]
fn q3_output_is_cut_at_100_kb_on_a_character_boundary_and_the_run_goes_on() {
    assert_eq!(chart().limits.output_bytes, 100_000);
    // Each has three bytes, so byte 100,000 is inside of one.
    let outcome = run("print('€' * 50_000)\nresult = {'chart': {'data': []}}");
    let run = outcome.run();
    assert_eq!(
        (&run.exit, run.limit, &run.error),
        (&Exit::Code(0), None, &None)
    );
    assert!(run.stdout_truncated);
    assert_eq!(run.stdout_bytes, 150_001);
    assert_eq!(run.stdout, "€".repeat(33_333));
    assert_eq!(run.result["output"], run.stdout.as_str());
    assert_eq!(run.result["chart"], json!({"data": []}));
    let found = result("result = {'output': '€' * 50_000}");
    assert_eq!(found["output"], "€".repeat(33_333));
    assert_eq!(found["output_truncated"], true);
}

#[test]
fn q3_five_seconds_are_the_limit() {
    let all = crate::policy::builtin().unwrap();
    let built_in = all.iter().find(|p| p.name == "chart").unwrap();
    assert_eq!((built_in.limits.wall_s, built_in.limits.cpu_s), (5, 5));
    let mut policy = chart();
    policy.limits.wall_s = 1;
    let outcome = run_profile(policy, "while True: print('x' * 1000)", json!({}));
    let error = outcome.run().error.clone().unwrap();
    assert_eq!(
        error.kind,
        RunErrorKind::Timeout,
        "{:?}",
        outcome.run().error
    );
}

#[test]
fn a_result_contains_no_path_of_this_machine() {
    let found = result("import pandas\nresult = {'output': str(pandas)}");
    let text = found["output"].as_str().unwrap();
    assert!(
        text.contains("<python>") && !text.contains("data-home"),
        "{text}"
    );
}

#[test]
fn q3_every_chart_is_left_as_json_and_as_a_picture() {
    let outcome = run("import plotly.express as px\n\
         fig = px.pie(names=['a', 'b'], values=[1, 2])\n\
         result = {'chart': [{'data': [{'type': 'bar', 'x': ['p'], 'y': [3]}]}, fig]}");
    let finished = outcome.run();
    assert_eq!(finished.error, None, "{finished:?}");
    let blobs = outcome.left();
    let names: Vec<_> = finished.artifacts.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(
        names,
        ["chart1.json", "chart1.png", "chart2.json", "chart2.png"]
    );
    for (at, blob) in blobs.iter().enumerate() {
        assert_eq!(finished.artifacts[at].sha256, blob.sha256.hex());
        if at % 2 == 0 {
            assert_eq!(finished.artifacts[at].media_type, "application/json");
            let chart: Value = serde_json::from_slice(&blob.bytes).unwrap();
            assert_eq!(chart, finished.result["chart"][at / 2]);
        } else {
            assert_eq!(finished.artifacts[at].media_type, "image/png");
            assert!(blob.bytes.starts_with(b"\x89PNG\r\n\x1a\n"));
        }
    }
    // A failed run, and one without a chart, leave no files.
    for code in [
        "result = {'chart': {'data': [1]}}\n1 / 0",
        "print('no chart')",
    ] {
        assert!(run(code).left().is_empty());
    }
}
