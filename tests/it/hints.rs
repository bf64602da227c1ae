//! Hints say what to do instead, and name nothing that their profile refuses.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use countersign::analysis::{analyse, rules};
use countersign::model::{Action, Finding, VerdictKind};
use countersign::policy::{Policy, builtin};

const GUARDED: [&str; 5] = ["analysis", "feature", "chart", "scoped", "walled"];
const ALL: [&str; 6] = ["analysis", "feature", "chart", "scoped", "walled", "script"];

/// Profiles, code, and a text that the hint of some finding must contain.
#[rustfmt::skip]
const TABLE: &[(&[&str], &str, &str)] = &[
    // What everyday code imports and no profile lists.
    (&["analysis"], "import tabulate", "`print(df.to_markdown())`"),
    (&["analysis"], "import locale", "`f\"{x:,.2f}\"`"),
    (&["analysis"], "import getpass", "nobody to ask"),
    (&["analysis"], "import unittest", "`assert x == y"),
    (&["analysis"], "import xml.etree.ElementTree as ET", "`pd.read_xml("),
    (&["analysis"], "from types import SimpleNamespace", "`from dataclasses import dataclass`"),
    (&["analysis"], "from PIL import Image", "`plt.imshow(a)`"),
    (&["analysis"], "import shutil\nshutil.copy('a', 'b')", "`open(\"name.txt\", \"w\")`"),
    (&["analysis"], "import os\nfor d in os.walk('.'): pass", "`Path(\".\").rglob(\"*\")`"),
    (&["analysis"], "import os\nos.rename('a.csv', 'b.csv')", "`Path(\"a.csv\").rename(\"b.csv\")`"),
    (&["analysis"], "import os\nos.remove('a.csv')", "every file of the output folder is kept"),
    (&["analysis"], "from operator import attrgetter", "`lambda x: x.name`"),
    (&["analysis"], "import sys\nsys.path.append('x')", "is found by itself"),
    (&["analysis"], "from concurrent.futures import ProcessPoolExecutor", "import ThreadPoolExecutor"),
    // What has no hint of its own: a name that is near, or else where all are.
    (&["analysis"], "import matplotlib.pylot", "did you mean `matplotlib.pyplot`?"),
    (&["analysis"], "import statsmodel.api", "did you mean `statsmodels.api`?"),
    (&["analysis"], "import itertool", "did you mean `itertools`?"),
    (&["analysis"], "import acme_tables", "modules are allowed, and none has such a name"),
    (&["analysis"], "import acme_tables", "`countersign policy show analysis` and the answer to hello list them all"),
    (&["analysis"], "import os\nos.sched_yield()", "`os` is allowed without it; `countersign policy show analysis`"),
    (&["analysis"], "import time\ntime.pthread_getcpuclockid(1)", "`countersign policy show analysis` and the answer to hello list its 23 names"),
    // Special names and methods, and names that are computed.
    (&["analysis"], "class A:\n    def __init_subclass__(cls): pass", "a function that is called with the class"),
    (&["analysis"], "class A:\n    def __new__(cls): pass", "write `def __init__(self): ...`"),
    (&["analysis"], "class A: pass\nA.__subclasses__()", "`kinds = [A, B]`"),
    (&["analysis"], "print(__file__)", "the snippet is text"),
    (&["analysis", "walled"], "__import__('math')", "write an `import` statement"),
    (&["feature"], "__import__('math')", "import nothing"),
    (&["analysis"], "print(__foo__)", "only `__name__` and `__doc__` may be read"),
    (&["scoped"], "print(__foo__)", "only `__name__` may be read"),
    (&["feature"], "x = __foo__", "no such name may be read"),
    (&["analysis"], "f = dict(__x__=1)", "without the double underscores"),
    (&["analysis"], "t = df['a'].iloc[0]\nprint(t.format(1))", "`\"{:<{}}\".format(x, w)`"),
    (&["analysis"], "getattr(df, name)", "a column `df[name]`"),
    // Files.
    (&["feature"], "import os", "add columns to `df`"),
    (&["chart"], "import pathlib", "print it, or put it into `result`"),
    (&["scoped"], "import shutil", "keep it in `public`"),
    (&["walled"], "import glob", "there are no files: print it"),
    (&["analysis"], "import shutil", "`open(\"name.txt\", \"w\")`"),
    (&["feature"], "open('x')", "there are no files: add columns to `df`"),
    (&["chart"], "open('x')", "there are no files: print it, or put it into `result`"),
    (&["feature"], "df.to_csv('x.csv')", "there are no files: add columns to `df`"),
    (&["chart"], "import pandas as pd\npd.read_csv('x.csv')", "there are no files"),
    (&["analysis"], "import matplotlib.pyplot as plt\nplt.savefig('/abs/a.png')", "`plt.savefig(\"figure.png\")`"),
    // The network.
    (&["analysis", "walled"], "import requests", "use the inputs you were given"),
    (&["feature"], "import requests", "what there is stands in `df`"),
    (&["chart"], "import urllib.request", "the inputs are in `data`"),
    (&["scoped"], "import httpx", "`system.inputs`"),
    (&["chart"], "import pandas as pd\npd.read_csv('https://x/y.csv')", "the inputs are in `data`"),
    // Programs, including pip.
    (&GUARDED, "import subprocess\nsubprocess.run(['pip', 'install', 'x'])", "the packages that are installed are fixed"),
    (&["analysis"], "import os\nos.system('pip install x')", "the packages that are installed are fixed"),
    (&["analysis"], "import os\nos.popen('ls')", "no program can be started"),
    (&ALL, "!pip install x", "delete the line: the packages that are installed are fixed"),
    (&ALL, "x = 1\n%pip install x\n", "delete the line: the packages that are installed are fixed"),
    (&ALL, "pip install x", "delete the line: the packages that are installed are fixed"),
    (&ALL, "!ls data", "delete the line: no program can be started"),
    // Notebook syntax.
    (&["analysis"], "%matplotlib inline\nx = 1", "delete the line: figures of matplotlib, seaborn and plotly are kept by themselves"),
    (&["chart"], "%matplotlib inline", "put the figure into `result[\"chart\"]`"),
    (&ALL, "%matplotlib inline", "delete the line"),
    (&ALL, "%%time\nx = 1", "delete the line: how long the run takes"),
    (&ALL, "x = 1\n%load_ext autoreload", "delete the line: it is a notebook's"),
    (&ALL, "?name", "delete the line: it asks a notebook for help"),
    (&ALL, "x = 1\ndf.head?\n", "delete the line: it asks a notebook for help"),
    (&ALL, "```python\nx = 1\n```", "send the code alone"),
    (&ALL, "x = = 1", "correct the syntax"),
    (&["chart"], "import plotly.express as px\nfig = px.bar(x=[1])\nfig.show(renderer='browser')", "put the figure into `result[\"chart\"]`"),
    (&["chart"], "import plotly\nplotly.io.renderers.default = 'browser'", "put the figure into `result[\"chart\"]`"),
    (&["analysis"], "import IPython", "`from IPython.display import display`"),
    (&["analysis"], "from tqdm.notebook import tqdm", "`from tqdm.auto import tqdm`"),
    (&["chart"], "import plotly.io as pio", "put the figure into `result[\"chart\"]`"),
    (&["analysis"], "import xlsxwriter", "`df.to_excel(\"name.xlsx\")`"),
    (&["analysis"], "from openpyxl import load_workbook", "`pd.ExcelWriter(\"name.xlsx\", engine=\"xlsxwriter\")` writes one"),
    (&["analysis"], "from openpyxl.chart import BarChart", "`chart = writer.book.add_chart({\"type\": \"column\"})`"),
    (&["analysis"], "from openpyxl.formatting.rule import ColorScaleRule", "conditional_format("),
    (&["chart"], "import openpyxl", "there are no files: print it"),
    (&["analysis"], "import ast\nast.literal_eval(text)", "use `json.loads(text)`"),
    (&["analysis"], "from urllib.parse import quote", "addresses are text"),
    (&["analysis"], "import logging.handlers", "`logging.FileHandler(\"run.log\")`"),
    (&["analysis"], "import importlib", "write an `import` statement for each module"),
    (&["analysis"], "e = SystemExit('why')", "`import sys; sys.exit(\"why\")`"),
    // Figures and logs.
    (&["analysis"], "import plotly.express as px\nfig = px.bar(x=[1])\nfig.write_image('a.png')", "`fig.show()` keeps it"),
    (&["chart"], "import plotly.express as px\nfig = px.bar(x=[1])\nfig.write_image('a.png')", "put the figure into `result[\"chart\"]`"),
    (&["chart"], "import matplotlib.pyplot as plt", "draw with plotly"),
    (&["feature"], "import seaborn", "there are no figures: add columns to `df`"),
    (&["analysis"], "import altair", "matplotlib, seaborn and plotly"),
    (&["scoped"], "import logging", "`log(\"message\")`"),
    (&["chart", "walled"], "import logging", "use `print`"),
    (&["feature"], "import logging", "only `df` is handed back"),
    (&["feature"], "print(df)", "add columns to `df`"),
    // Names that are there already, and libraries that are not.
    (&["feature"], "import pandas as pd", "`pd` and `np` are there"),
    (&["feature"], "import math", "import nothing"),
    (&["scoped", "walled"], "import pandas", "plain Python is all there is"),
    (&["scoped"], "import json", "import nothing: plain Python is all there is"),
    (&["walled"], "import json", "allowed are __future__, dataclasses"),
    (&["feature"], "class A: pass", "functions instead of a class"),
    (&["feature"], "import sklearn", "models are no part of this"),
    (&["analysis"], "import torch", "sklearn or statsmodels"),
    (&["analysis"], "import threading", "ThreadPoolExecutor"),
    (&["chart"], "import sqlite3", "DataFrames"),
    (&["walled"], "import sqlite3", "lists, dicts"),
    (&["analysis"], "open('a/b/c/d/x.csv', 'w')", "at most four segments"),
    (&["analysis"], "open('a/b/../../../x.csv', 'w')", "files live in the output folder"),
    (&["analysis"], "exit()", "`sys.exit()`"),
    (&["feature", "chart"], "quit()", "let the snippet end by itself"),
    // Members that libraries have removed.
    (&["analysis", "chart"], "import numpy as np\nx = np.float(1)", "NumPy 1.24 removed it: write `float` or `np.float64`"),
    (&["analysis"], "import numpy as np\nx = np.int", "`int` or `np.int64`"),
    (&["analysis"], "import numpy as np\nx = np.object", "`np.object_`"),
    (&["analysis"], "from numpy import NaN", "`np.nan`"),
    (&["analysis"], "import numpy as np\nnp.product([1])", "`np.prod`"),
    (&["analysis"], "import numpy as np\nnp.in1d([1], [1])", "`np.isin`"),
    (&["analysis"], "import numpy as np\nnp.trapz([1])", "`np.trapezoid`"),
    (&["analysis"], "import pandas as pd\npd.np.nan", "pandas 2.0 removed it: write `np`"),
    (&["analysis"], "import pandas as pd\npd.Panel()", "MultiIndex"),
    (&["analysis"], "import pandas as pd\npd.rolling_mean(x, 3)", "`x.rolling(n).mean()`"),
    (&["analysis"], "import pandas as pd\npd.datetime(2020, 1, 1)", "write `import datetime`"),
    (&["analysis"], "from sklearn.cross_validation import train_test_split", "write `sklearn.model_selection`"),
    (&["analysis"], "import sklearn.externals.joblib", "write `import joblib`"),
    (&["analysis"], "from sklearn.externals import joblib", "write `import joblib`"),
    (&["analysis"], "import scipy\nscipy.interp(1, [1], [1])", "write `np.interp`"),
    (&["analysis"], "df.to_parquet('out', partition_cols=['a'])", "write a file per group"),
    (&["analysis"], "import pandas as pd\npd.TimeGrouper('D')", "`pd.Grouper(freq=\"D\")`"),
    (&["analysis"], "import pickle\npickle.dump(x, f)", "write csv, json or parquet"),
    (&["analysis"], "import joblib\njoblib.dump(model, 'model.joblib')", "write csv, json or parquet"),
    // People and their clipboards.
    (&GUARDED, "x = input('name?')", "there is nobody to ask: write the value down"),
    (&["analysis"], "df.to_clipboard()", "there is no clipboard: print it, or `df.to_csv(\"name.csv\")`"),
    (&["feature"], "df.to_clipboard()", "there is no clipboard: add columns to `df`"),
    (&["analysis"], "import pandas as pd\npd.read_clipboard()", "use the inputs you were given"),
    (&["chart"], "df.to_pickle('x.pkl')", "there are no pickles: print it, or put it into `result`"),
    (&["analysis"], "df.to_pickle('x.pkl')", "write csv, json or parquet"),
    (&["feature"], "try: f()\nexcept BaseException: pass", "leave the handler out"),
    (&["chart"], "try: f()\nexcept BaseException: pass", "catch `Exception`"),
    (&["chart", "scoped"], "x.__class__", "`isinstance(x, int)`"),
    (&["analysis"], "x.__class__", "`type(x)`"),
    // Column names that pandas itself makes.
    (&GUARDED, "m._merge", "for the column use `m[\"_merge\"]`"),
    (&["analysis"], "m = a.merge(b)\nm[m._merge == 'both']", "for the column use `m[\"_merge\"]`"),
    (&["analysis"], "f(1).g._merge", "for the column use `df[\"_merge\"]`"),
    (&["analysis"], "m._mgr", "use the public interface"),
];

/// The least different of many names is none that was meant.
#[test]
fn a_name_that_nothing_is_near_to_gets_no_neighbour() {
    let policies = builtin().unwrap();
    let policy = named(&policies, "analysis");
    for code in [
        "import acme_tables",
        "import os\nos.sched_yield()",
        "import sklearn.some_old_thing",
        "import importlib",
    ] {
        for finding in findings(code, policy) {
            let hint = &finding.hint;
            assert!(
                !hint.contains("nearest")
                    && !hint.contains("did you mean")
                    && !hint.contains("importlib"),
                "{code}: {hint}"
            );
        }
    }
}

#[test]
fn a_hint_says_what_to_do_instead_in_its_own_profile() {
    let policies = builtin().unwrap();
    let mut failures = Vec::new();
    for (profiles, code, words) in TABLE {
        for profile in *profiles {
            let policy = named(&policies, profile);
            let hints: Vec<String> = findings(code, policy).into_iter().map(|f| f.hint).collect();
            if !hints.iter().any(|hint| hint.contains(words)) {
                failures.push(format!(
                    "{profile}: {code:?}\n  wanted {words}\n  have {hints:?}"
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Covers the whole table and the examples of all rules, in every profile.
#[test]
fn no_hint_suggests_code_that_its_profile_refuses() {
    let policies = builtin().unwrap();
    let examples = rules::all().map(|rule| rule.example);
    let codes: Vec<&str> = examples
        .chain(TABLE.iter().map(|(_, code, _)| *code))
        .collect();
    let mut failures = Vec::new();
    let mut judged = 0;
    for profile in GUARDED {
        let policy = named(&policies, profile);
        for code in &codes {
            for finding in findings(code, policy) {
                for name in functions(&finding.hint) {
                    judged += 1;
                    if !policy.builtins.contains(&name) {
                        failures.push(format!("{profile}: {code:?}: {name} in {:?}", finding.hint));
                    }
                }
                for inner in quoted(&finding.hint) {
                    judged += 1;
                    let verdict = analyse(inner.as_bytes(), policy);
                    // The snippet binds the names in a hint.
                    let is_refused = |f: &&Finding| f.action == Action::Block && f.rule != "RUN002";
                    // Fragments such as `@name` are not code by themselves.
                    if verdict.verdict != VerdictKind::Unanalyzable
                        && let Some(finding) = verdict.findings.iter().find(is_refused)
                    {
                        failures.push(format!(
                            "{profile}: {code:?}: {inner:?}: {}",
                            finding.message
                        ));
                    }
                }
            }
        }
    }
    assert!(judged > 200, "{judged}");
    failures.sort();
    failures.dedup();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn named<'p>(policies: &'p [Arc<Policy>], name: &str) -> &'p Policy {
    policies.iter().find(|policy| policy.name == name).unwrap()
}

fn findings(code: &str, policy: &Policy) -> Vec<Finding> {
    analyse(code.as_bytes(), policy).findings
}

fn quoted(hint: &str) -> Vec<&str> {
    hint.split('`').skip(1).step_by(2).collect()
}

/// Builtins that a hint suggests to call or catch, in backquotes or not.
fn functions(hint: &str) -> Vec<String> {
    const PLAIN: [&str; 9] = [
        "isinstance",
        "getattr",
        "hasattr",
        "setattr",
        "delattr",
        "repr",
        "Exception",
        "print",
        "open",
    ];
    const CALLED: [&str; 5] = ["type(", "str(", "len(", "dir(", "vars("];
    let words = hint.split(|c: char| !c.is_alphanumeric() && c != '_');
    let plain = words.filter(|word| PLAIN.contains(word)).map(str::to_owned);
    let called = CALLED.iter().filter(|name| {
        hint.match_indices(**name).any(|(at, _)| {
            !hint[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.')
        })
    });
    plain
        .chain(called.map(|name| name.trim_end_matches('(').to_owned()))
        .collect()
}
