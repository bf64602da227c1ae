//! Private values as libraries and reports write them: none comes back.

use serde_json::json;

use crate::executor::bind_with;
use crate::executor::spec::RunSpec;
use crate::executor::tests::bench::*;
use crate::model::{Sensitivity, Tier};

const TABLE: &str = "who,city,pay,share,born,seen,note,big\n\
    Ann Ferrer,Oslo,51234.567,0.512345,1994-09-15,2021-03-04 10:11:12,Uses 40% & more_of #5,1512345.678\n\
    José Álvarez,Oslo,48010.253,0.480103,1980-02-01,2021-03-05 11:12:13,The O'Brien_Smith {case},1480102.531\n\
    Cy Nakamura,Oslo,60123.019,0.601239,1971-12-31,2021-03-06 12:13:14,None$ at all here,1601239.193\n\
    Di Okonkwo,Oslo,47001.541,0.470017,1969-07-20,2021-03-07 13:14:15,back\\slash ~ tilde^hat,1470017.414\n\
    Ed Petrov,Oslo,52222.251,0.522229,1985-05-25,2021-03-08 14:15:16,\"quo\"\"ted <b> 'x'\",1522222.513\n";

/// The lines that the code prints over the private table.
fn printed(code: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let datasets = csv_dataset(folder.path(), "pay", TABLE, Sensitivity::Private);
    let sources = converting(datasets, Tier::Process);
    let requests = serde_json::from_value(json!({"df": {"dataset": "pay"}})).unwrap();
    let inputs = bind_with(&requests, &sources).unwrap();
    let spec = RunSpec {
        env: pandas(),
        ..with_inputs(code, profile("analysis"), inputs)
    };
    let outcome = begin_with(spec, sources).finish();
    let run = outcome.run();
    assert_eq!(run.error, None, "{run:?}");
    format!("{}{}", run.stdout, run.result)
}

/// Prints each expression of the list in a line of its own, and asserts that none of them shows any
/// of the fragments, in any case.
fn none_shows(before: &str, expressions: &[&str], fragments: &[&str]) {
    let lines: Vec<String> = expressions
        .iter()
        .enumerate()
        .map(|(at, expression)| format!("print('<{at}>', {expression})"))
        .collect();
    let all = printed(&format!("{before}\n{}", lines.join("\n")));
    let mut wrong = Vec::new();
    for (at, expression) in expressions.iter().enumerate() {
        let start = all.find(&format!("<{at}>")).expect("every line is printed");
        let end = all.find(&format!("<{}>", at + 1)).unwrap_or(all.len());
        let shown = all[start..end].to_lowercase();
        if let Some(found) = fragments.iter().find(|f| shown.contains(&f.to_lowercase())) {
            wrong.push(format!("{expression}\n  {found}: {shown}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The beginnings of the numbers as they are grouped, and of their roundings.
const NUMBERS: &[&str] = &[
    "51234",
    "51235",
    "51,23",
    "51.23",
    "51 23",
    "51'23",
    "51\u{a0}23",
    "51\u{202f}23",
    "48010",
    "48,01",
    "48 01",
    "60123",
    "60,12",
    "60 12",
    "47001",
    "47002",
    "47,00",
    "47 00",
    "46988",
    "52222",
    "52,22",
    "52 22",
    "1512345",
    "1,512,3",
    "1 512 3",
    "1.51235",
    "1.512346",
    "0.5123",
    "7795872",
];

#[test]
fn a_private_number_is_hidden_however_a_library_prints_it() {
    none_shows(
        "from decimal import Decimal\nx, n, share = df.pay[0], df.big[0], df['share'][0]\n\
         np.set_printoptions(precision=2, suppress=True)",
        &[
            "df.to_latex()",
            "df.to_latex(float_format='%.1f', decimal=',')",
            "df.to_markdown()",
            "df.to_markdown(floatfmt=',.1f', tablefmt='html')",
            "df.to_markdown(tablefmt='latex')",
            "df.to_html(float_format='%.1f')",
            "df.to_csv(float_format='%.2f', decimal=',')",
            "df.to_string(float_format='{:,.2f}'.format)",
            "df.to_json(orient='records', double_precision=2)",
            "df.style.format(precision=1, thousands=' ', decimal=',').to_latex()",
            "df.style.format(precision=2, thousands=\"'\").to_html()",
            "pd.cut(df.pay, 3).iloc[3].left, pd.cut(df.pay, 3).iloc[2].right",
            "pd.cut(df.pay, 3, right=False).iloc[3].left",
            "pd.qcut(df.pay, 4).tolist()",
            "pd.qcut(df.pay, 2, precision=1).cat.categories",
            "pd.qcut(df.pay, 2, precision=0).cat.categories",
            "df.describe()",
            "df[['pay', 'big']].round(1), df.pay.round().astype(int).tolist(), df.pay.astype(int).tolist()",
            "df.pay.to_numpy(), np.round(df.big.to_numpy(), 1)",
            "df.pay.to_numpy().astype('float32'), df.pay.astype('float32').tolist()",
            "pd.cut(df.pay, 3, precision=0).iloc[3].left, pd.cut(df.pay, 4, retbins=True)[1][0]",
            "df.pay.value_counts(bins=2)",
            "f'{x:,} {x:_} {x:e} {x:g} {x:G} {x:n} {x:.8g} {x:+} {x:012.2f} {x:>15,.1f}'",
            "f'{x:.0f} {x:.1f} {x:.2f} {x:.3f} {x:,.0f} {x:,.1f} {x:,.2f} {-x:.1f}'",
            "'%d %i %.1f %.2f %e %g' % (x, x, x, x, x, x)",
            "'{:,.1f} {:.2f}'.format(x, n)",
            "int(x), round(x), round(x, 1), round(x, 2), round(n, -0), np.floor(x)",
            "f'{n:,.0f} {n:g} {n:.5e} {n:.6e} {n:.1f} {n:,.2f}'",
            "Decimal(x), Decimal(str(x)), Decimal(str(x)).quantize(Decimal('0.1')), repr(Decimal(str(n)))",
            "complex(x), [x], (x,), {x: n}, {x}",
            "[f'{x:,.2f}'.replace(',', ' '), f'{x:,.0f}'.replace(',', ' '), f'{n:,.1f}'.replace(',', ' ')]",
            "f'{x:,.2f}'.replace(',', ' '), 'kr, most', f'{n:,.0f}'.replace(',', ' '), 'kr'",
            "f'{x:,.2f}'.replace(',', '\\u00a0'), f'{n:,.2f}'.replace(',', '\\u202f').replace('.', ',')",
            "f'{x:,.2f}'.replace(',', \"'\"), f'{n:,.2f}'.replace(',', '\\u2019')",
            "f'{x:,.2f}'.replace(',', 'X').replace('.', ',').replace('X', '.')",
            "f'${x:,.2f} €{x:.2f} {x:.2f}kr USD{x:,.3f} NOK{x:.1f} £{x:,.0f}.'",
            "f'{share:.2%} {share:.3%} {share:%} {share * 100:.2f} {round(share * 100, 2)} {share:.4f}'",
            "pd.to_datetime(df.born).astype('int64').tolist()",
            "pd.to_datetime(df.born)[0].timestamp(), pd.to_datetime(df.born).astype('int64')[0] // 10**6",
        ],
        NUMBERS,
    );
    // Aggregates over all rows stay.
    let all =
        printed("print(f'{df.pay.mean():,.2f} {df.pay.sum():.1f} {df.pay.std():.3f}', len(df))");
    assert_eq!(all, "51,718.33 258591.6 5175.053 5\nnull");
}

#[test]
fn the_numbers_of_a_private_figure_are_not_packed() {
    none_shows(
        "import plotly.express as px\nimport plotly.graph_objects as go\nf = px.bar(df, x='who', y='pay')",
        &[
            "f.to_json()",
            "f.to_dict()",
            "f.data[0].to_plotly_json()",
            "go.Figure(go.Scatter(x=df.pay, y=df.big)).to_json()",
        ],
        &[NUMBERS, &["bdata", "Ferrer"]].concat(),
    );
}

#[test]
fn options_of_the_snippet_do_not_bring_private_values_out() {
    let pay = &NUMBERS[..NUMBERS.len() - 2];
    none_shows(
        "pd.set_option('display.precision', 2)\npd.set_option('display.max_colwidth', 12)",
        &[
            "df[['pay', 'who', 'note']]",
            "df[['note']].to_string(max_colwidth=10), df[['who']].to_html()",
            "df.note, df.who",
        ],
        &[
            pay,
            &["Uses 4", "The O'", "None$", "back", "quo\"", "José", "Álv"],
        ]
        .concat(),
    );
    let before = "pd.options.display.float_format = '{:,.1f}'.format\npd.options.display.max_colwidth = 9\n\
                  with pd.option_context('display.max_colwidth', 8): print(df.note)\n\
                  pd.reset_option('display.max_colwidth')";
    none_shows(
        before,
        &["df[['pay', 'big']]", "df.pay.describe()", "df.note"],
        &[pay, &["Uses", "None$", "back", "quo\""]].concat(),
    );
}

#[test]
fn a_private_text_or_date_is_hidden_however_a_library_prints_it() {
    none_shows(
        "import json, pprint, re, unicodedata\nborn, seen = pd.to_datetime(df.born), pd.to_datetime(df.seen)\n\
         def written(form): return born.dt.strftime(form).tolist(), seen.dt.strftime(form).tolist()",
        &[
            "df.to_latex(escape=True)",
            "df.style.to_latex(), df.style.format(escape='latex').to_latex()",
            "df.to_markdown(), df.to_markdown(tablefmt='latex'), df.to_markdown(tablefmt='jira')",
            "df.to_html(), df.to_csv(), df.to_csv(quotechar=\"'\"), df.to_json(), df.to_json(force_ascii=False)",
            "json.dumps(df.who.tolist()), ascii(df.note.tolist()), repr(df.to_dict('list'))",
            "df.who.str.upper().tolist(), df.who.str.lower().tolist(), df.who.str.title().tolist()",
            "df.note.str.upper().tolist(), df.note.str.lower().tolist(), df.who.str.casefold().tolist()",
            "unicodedata.normalize('NFKD', df.who[1]), df.who.str.normalize('NFD').tolist()",
            "df.who.str.normalize('NFKD').str.encode('ascii', 'ignore').str.decode('ascii').tolist()",
            "df.born.tolist(), born.tolist(), born.dt.date.tolist(), born.dt.to_period('D').tolist()",
            "written('%d %B %Y'), written('%d %b %Y'), written('%a %d %b %Y')",
            "written('%B %d, %Y'), written('%b %d, %Y'), written('%b %d %Y')",
            "written('%d/%m/%Y'), written('%m/%d/%Y'), written('%d.%m.%Y'), written('%d-%m-%Y')",
            "written('%Y%m%d'), written('%Y/%m/%d'), written('%Y.%m.%d'), written('%d-%b-%Y')",
            "[d.ctime() for d in born], written('%Y %b %d')[0], written('%d. %B %Y'), written('%d%b%Y'), written('%d%m%Y')[0]",
            "written('%x'), written('%D'), written('%F'), written('%d/%m/%y')",
            "written('%-d.%-m.%Y'), written('%d/%b/%Y'), written('%d-%b-%y'), written('%b %d %y'), written('%d.%m.%y')",
            "written('%-m/%-d/%y'), written('%Y %m %d'), written('%Y, %B %d'), written('%y-%m-%d')",
            "*map(re.escape, df.who.tolist() + df.born.tolist())",
            "written('%d/%m/%Y %H:%M'), written('%A, %d %B %Y'), born.dt.strftime('%-d %B %Y').tolist()",
        ],
        &[
            "Ferrer",
            "Álvarez",
            "A\u{301}lvarez",
            "Alvarez",
            "lvarez",
            "Nakamura",
            "Okonkwo",
            "Petrov",
            "more_of",
            "more\\_of",
            "Brien",
            "tilde",
            "quo",
            "1994",
            "1980",
            "1971",
            "1969",
            "1985",
            "/94",
            "/80",
            "/71",
            "/69",
            "/85",
            "2021",
        ],
    );
}
