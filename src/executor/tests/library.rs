//! Code that agents write with libraries other than numpy and pandas: analysed, granted and run in
//! the managed environment, with the expected output or files.

use super::{TIER, run_spec};
use crate::analysis::analyse;
use crate::executor::spec::RunSpec;
use crate::executor::tests::bench::*;
use crate::model::{Tier, VerdictKind};
use crate::policy::Policy;

struct Served {
    code: &'static str,
    /// The start of its output.
    says: &'static str,
    leaves: &'static [&'static str],
}

const SERVED: &[Served] = &[
    Served {
        code: "print(df.to_markdown(index=False))",
        says: "|   x |    y |\n|----:|-----:|\n|   1 |  2.1 |",
        leaves: &[],
    },
    Served {
        code: "df.to_excel('x.xlsx')\nprint(pd.read_excel('x.xlsx', index_col=0).equals(df))",
        says: "True\n",
        leaves: &["x.xlsx"],
    },
    Served {
        code: "with pd.ExcelWriter('book.xlsx') as book:\n\
               \x20   df.to_excel(book, sheet_name='all', index=False)\n\
               \x20   df.describe().to_excel(book, sheet_name='summary')\n\
               both = pd.read_excel('book.xlsx', sheet_name=None)\n\
               print(sorted(both), len(both['all']))",
        says: "['all', 'summary'] 8\n",
        leaves: &["book.xlsx"],
    },
    Served {
        code: "df.to_excel('x.xlsx', engine='openpyxl', index=False)\n\
               df.to_excel('y.xlsx', engine='xlsxwriter', index=False)\n\
               print(pd.read_excel('x.xlsx').equals(pd.read_excel('y.xlsx')))",
        says: "True\n",
        leaves: &["x.xlsx", "y.xlsx"],
    },
    Served {
        code: "from openpyxl import Workbook\nfrom openpyxl.styles import Font\n\
               from openpyxl.utils.dataframe import dataframe_to_rows\n\
               book = Workbook()\nsheet = book.active\nsheet.title = 'all'\n\
               for row in dataframe_to_rows(df, index=False):\n    sheet.append(row)\n\
               sheet['A1'].font = Font(bold=True)\nbook.save('made.xlsx')\n\
               print(pd.read_excel('made.xlsx', sheet_name='all').shape)",
        says: "(8, 2)\n",
        leaves: &["made.xlsx"],
    },
    Served {
        code: "import io\ntext = '<r><x><a>1</a></x><x><a>2</a></x></r>'\n\
               print(pd.read_xml(io.StringIO(text), parser='etree')['a'].sum())",
        says: "3\n",
        leaves: &[],
    },
    Served {
        code: "import warnings\n\
               warnings.simplefilter('ignore', pd.errors.SettingWithCopyWarning)\nprint('quiet')",
        says: "quiet\n",
        leaves: &[],
    },
    Served {
        code: "import plotly.express as px\nimport plotly.graph_objects as go\n\
               fig = px.scatter_mapbox(df, lat='x', lon='y', mapbox_style='open-street-map')\n\
               fig.add_trace(go.Scattermapbox(lat=[1], lon=[2]))\nfig.show(renderer='browser')\n\
               print(len(fig.data))",
        says: "2\n",
        leaves: &["fig1.json"],
    },
    Served {
        code: "from pathlib import Path\ndf.to_csv('a.csv')\nPath('a.csv').rename('b.csv')\n\
               print(sorted(str(p) for p in Path('.').rglob('*')))",
        says: "['b.csv']\n",
        leaves: &["b.csv"],
    },
    Served {
        code: "html = df.style.highlight_max(color='gold').format(precision=1).to_html()\n\
               print('gold' in html, '15.8' in html)",
        says: "True True\n",
        leaves: &[],
    },
    Served {
        code: "import seaborn as sns\nimport matplotlib.pyplot as plt\n\
               sns.set_theme(style='whitegrid')\n\
               sns.histplot(df['y'], kde=True)\nplt.savefig('h.png')\nplt.close()\n\
               ax = sns.regplot(data=df, x='x', y='y')\nax.set_title('t')\n\
               ax.figure.savefig('r.png')\nplt.close()\n\
               sns.heatmap(df.corr(), annot=True)\nplt.savefig('c.png')\nplt.close()\nprint('drawn')",
        says: "drawn\n",
        leaves: &["c.png", "h.png", "r.png"],
    },
    Served {
        code: "import statsmodels.formula.api as smf\n\
               model = smf.ols('y ~ x', data=df).fit()\n\
               print(model.summary())\nprint(round(model.params['x'], 2))",
        says: "                            OLS Regression Results",
        leaves: &[],
    },
    Served {
        code: "import statsmodels.formula.api as smf\n\
               df['kind'] = ['a', 'b'] * 4\n\
               print(len(smf.ols('np.log(y) ~ x + C(kind)', data=df).fit().params))\n\
               print(len(smf.logit('up ~ y', data=df.assign(up=[0, 1] * 4)).fit(disp=0).params))",
        says: "3\n2\n",
        leaves: &[],
    },
    Served {
        code: "import statsmodels.api as sm\n\
               fit = sm.OLS(df['y'], sm.add_constant(df['x'])).fit()\n\
               print(round(fit.rsquared, 1), len(sm.tsa.acf(df['y'], nlags=2)))\nfit.summary()",
        says: "1.0 3\n",
        leaves: &[],
    },
    Served {
        code: "from tqdm import tqdm, trange\n\
               total = 0\nfor n in tqdm(range(3)):\n    total += n\n\
               for n in trange(2, desc='more'):\n    total += n\nprint(total)",
        says: "4\n",
        leaves: &[],
    },
    Served {
        code: "from tqdm.auto import tqdm\n\
               with tqdm(total=3) as bar:\n    bar.update(3)\n    bar.set_postfix(loss=0.5)\n\
               tqdm.write('done')",
        says: "done\n",
        leaves: &[],
    },
    Served {
        code: "from tqdm import tqdm\ntqdm.pandas()\nprint(df['x'].progress_apply(lambda x: x * 2).sum())",
        says: "72\n",
        leaves: &[],
    },
];

const DF: &str = "df = pd.DataFrame({'x': range(1, 9), \
                  'y': [2.1, 3.9, 6.2, 8.1, 9.7, 12.2, 14.1, 15.8]})\n";

#[test]
fn the_libraries_of_the_environment_work() {
    if !available(TIER) {
        return;
    }
    let at = |tier| Policy {
        tier,
        ..profile("analysis")
    };
    let mut failures = Vec::new();
    for served in SERVED {
        let code = format!("{DF}{}", served.code);
        // In a tier without a jail no verdict is clear.
        let verdict = analyse(code.as_bytes(), &at(Tier::Kernel));
        if verdict.verdict != VerdictKind::Clear {
            failures.push(format!("{code}\n-> {verdict:?}"));
            continue;
        }
        let outcome = run_spec(RunSpec {
            env: pandas(),
            ..spec(&code, at(TIER))
        });
        let run = outcome.run();
        let names: Vec<&str> = run.artifacts.iter().map(|a| a.name.as_str()).collect();
        if run.error.is_some() || !run.stdout.starts_with(served.says) || names != served.leaves {
            failures.push(format!("{code}\n-> {run:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// What the analyser says that the managed environment lacks it lacks (`members/locked.txt`; the standard library's
/// lines are of several Pythons).
#[test]
fn members_listed_as_missing_are_missing() {
    let stdout = written_by("locked.py");
    let lines = |text: &'static str| text.lines().filter(|line| !is_of_stdlib(line));
    let expected: Vec<&str> =
        lines(include_str!("../../../assets/policies/members/locked.txt")).collect();
    let missing: Vec<&str> = stdout.lines().filter(|line| !is_of_stdlib(line)).collect();
    assert!(!missing.is_empty());
    assert_eq!(
        missing, expected,
        "assets/policies/members/locked.py writes it"
    );
}

/// The keywords beside which the analyser says nothing is taken (`members/keywords.txt`). The script calls each
/// function and class with another one.
#[test]
fn functions_listed_with_their_keywords_take_no_others() {
    let wanted = include_str!("../../../assets/policies/members/keywords.txt");
    let there = written_by("keywords.py");
    assert_eq!(
        there, wanted,
        "assets/policies/members/keywords.py writes it"
    );
    assert!(there.lines().count() > 1000);
}

/// What a script of the lists writes in the managed environment.
fn written_by(script: &str) -> String {
    let env = pandas();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/policies/members");
    let output = std::process::Command::new(&env.executable)
        .env_clear()
        .env("PYTHONPATH", std::env::join_paths(&env.sys_path).unwrap())
        .env("MPLBACKEND", "Agg")
        .args(["-B", "-W", "ignore", &format!("{folder}/{script}")])
        .current_dir("/")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn is_of_stdlib(line: &str) -> bool {
    let top = line.split(['.', ':', '-']).next().unwrap_or_default();
    crate::policy::library().is_stdlib(top)
}
