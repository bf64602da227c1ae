//! What is altered, snippet by snippet.

use super::super::analyse_in;
use super::tests::{each, setting};
use crate::model::Altered;
use crate::policy::builtin;

/// `age of staff 2 4; printing 3`; a column that the snippet made has its name in quotes.
fn altered(code: &str) -> String {
    let policies = builtin().unwrap();
    let policy = policies.iter().find(|p| p.name == "analysis").unwrap();
    let flows = analyse_in(code.as_bytes(), policy, &setting()).flows;
    let one = |one: &crate::model::Alteration| {
        let what = match &one.what {
            Altered::Column {
                name,
                of,
                own: true,
            } => format!("'{name}' of {of}"),
            Altered::Column { name, of, .. } => format!("{name} of {of}"),
            Altered::Values { of } => format!("values of {of}"),
            Altered::Printing => "printing".to_owned(),
        };
        let lines = one.lines.iter().map(u32::to_string).collect::<Vec<_>>();
        format!("{what} {}", lines.join(" "))
    };
    flows.alters.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn check(rows: &[(&str, &str)]) {
    each(rows, altered);
}

#[test]
fn columns_that_get_other_values_are_told() {
    check(&[
        (
            "d = staff.copy()\nd['age'] = d['age'].where(d['dept'].eq('x'), 40)",
            "age of staff 2",
        ),
        (
            "staff.loc[staff['dept'] == 'x', 'age'] = 40",
            "age of staff 1",
        ),
        (
            "staff.loc[staff['dept'] == 'x', ['age', 'fte']] = 40",
            "age of staff 1; fte of staff 1",
        ),
        (
            "staff['age'] *= 1.1\nstaff['age'] = staff['age'].clip(20, 60)",
            "age of staff 1; age of staff 2",
        ),
        (
            "staff['age'] = np.where(staff['age'] > 50, 50, staff['age'])",
            "age of staff 1",
        ),
        ("staff['age'] = 40", "age of staff 1"),
        ("staff.age = staff.age + 1", "age of staff 1"),
        ("staff['age'] = sales['amount']", "age of staff 1"),
        (
            "staff['age'] = staff['age'].map(lambda v: v + 1)",
            "age of staff 1",
        ),
        ("staff['age'].fillna(0, inplace=True)", "age of staff 1"),
        ("staff.fillna({'age': 0}, inplace=True)", "age of staff 1"),
        ("staff.replace(0, 1, inplace=True)", "values of staff 1"),
        (
            "t = staff.replace({'x': 'y'})\nprint(t)",
            "values of staff 1",
        ),
        (
            "for i in staff.index:\n    staff.at[i, 'age'] = 3",
            "age of staff 2",
        ),
        ("staff.iat[0, 3] = 3", "values of staff 1"),
        ("staff.iloc[0:5, 3] = 3", "values of staff 1"),
        ("a = staff['age']\na[a > 3] = 0", "age of staff 2"),
        ("staff.update(sales)", "values of staff 1"),
        (
            "s = staff.assign(age=staff['age'] * 2)\nprint(s)",
            "age of staff 1",
        ),
        (
            "s = staff.assign(**{'age': staff['age'] * 2})\nprint(s)",
            "age of staff 1",
        ),
        (
            "s = staff.assign(age=lambda t: t['age'] * 2)\nprint(s)",
            "age of staff 1",
        ),
        (
            "for c in ['age', 'fte']:\n    staff[c] = staff[c] * 2",
            "age of staff 2; fte of staff 2",
        ),
        ("staff['age'], n = staff['fte'], 3", "age of staff 1"),
        (
            "np.putmask(staff['age'].values, staff['fte'] > 0.5, 3)",
            "age of staff 1",
        ),
        (
            "staff.eval('age = age * 2', inplace=True)",
            "age of staff 1",
        ),
        (
            "def f(t):\n    t['age'] = t['age'] / 2\n    return t\nprint(f(staff))",
            "age of staff 2",
        ),
        // The same column in another order, of other rows, cut.
        (
            "staff['age'] = staff.sort_values('fte')['age'].values",
            "age of staff 1",
        ),
        (
            "staff['age'] = staff.loc[staff['fte'] > 0.5, 'age']",
            "age of staff 1",
        ),
        ("staff['age'] = staff['age'].astype(bool)", "age of staff 1"),
        (
            "staff['name'] = staff['name'].str.strip('0')",
            "name of staff 1",
        ),
        (
            "staff['hired'] = pd.to_datetime(staff['hired']).dt.strftime('2024-%m')",
            "hired of staff 1",
        ),
        // Columns that the snippet made before.
        (
            "d = staff.copy()\nd['full'] = d['age'] / d['fte']\nd['full'] = d['full'].where(d['dept'].eq('x'), d['full'] / 0.97)",
            "'full' of d 3",
        ),
        (
            "d = staff.copy()\nd['band'] = 'low'\nd.loc[d['age'] > 3, 'band'] = 'high'",
            "'band' of d 3",
        ),
        (
            "out = staff.groupby('dept').agg(rate=('age', 'mean'))\nout['rate'] = out['rate'] * 0.8\nprint(out)",
            "'rate' of out 2",
        ),
        (
            "out = staff.groupby('dept').agg(rate=('age', 'mean'))\nout.loc['x', 'rate'] = 3\nprint(out)",
            "'rate' of out 2",
        ),
        (
            "out = pd.DataFrame({'rate': staff.groupby('dept')['age'].mean()})\nout['rate'] *= 0.8\nprint(out)",
            "'rate' of out 2",
        ),
    ]);
}

#[test]
fn new_columns_types_and_rows_are_not_told() {
    check(&[
        (
            "staff['hired'] = pd.to_datetime(staff['hired']).dt.strftime('%Y-%m')",
            "",
        ),
        (
            "staff['hired'] = pd.to_datetime(staff['hired'], errors='coerce')",
            "",
        ),
        ("staff['dept'] = staff['dept'].astype('category')", ""),
        ("staff['name'] = staff['name'].str.strip().str.title()", ""),
        (
            "for c in ['age', 'fte']:\n    staff[c] = pd.to_numeric(staff[c])",
            "",
        ),
        (
            "d = staff.assign(hired=lambda t: pd.to_datetime(t['hired']))\nprint(d)",
            "",
        ),
        (
            "d = staff.copy()\nd['year'] = pd.to_datetime(d['hired']).dt.year\nprint(d)",
            "",
        ),
        (
            "d = staff.copy()\nd['year'] = d['hired'].str[:4]\nprint(d)",
            "",
        ),
        ("for i in range(3):\n    staff['n'] = staff['age'] + i", ""),
        (
            "a = staff.copy()\na['share'] = a['age'] / 2\nb = sales.copy()\nb['share'] = b['amount'] / 2",
            "",
        ),
        (
            "m = staff.groupby('dept')[['age']].mean()\nm.loc['all'] = m.mean()\nprint(m)",
            "",
        ),
        (
            "p = sales.pivot_table(index='region', values='amount').fillna(0)\nprint(p)",
            "",
        ),
        (
            "staff.drop(columns=['age'], inplace=True)\nstaff.sort_values('fte', inplace=True)",
            "",
        ),
        ("d = {}\nd['age'] = staff['age'].mean()\nd['age'] = 3", ""),
        ("print(staff.sample(3), staff.head())", ""),
        (
            "w = staff.copy()\nfor k in (1, 2):\n    w[f'n{k}'] = w['age'] * k",
            "",
        ),
        (
            "s = staff.groupby('dept').agg(p=('age', 'mean'))\ns['p'] = s['p'].map('{:.1%}'.format)\nprint(s)",
            "",
        ),
    ]);
}

#[test]
fn how_numbers_are_printed_is_told_if_they_may_be_others() {
    check(&[
        (
            "pd.set_option('display.float_format', lambda v: f'{v * 80:.1f} %')",
            "printing 1",
        ),
        (
            "pd.options.display.float_format = lambda v: f'{v * 80:.1f}'",
            "printing 1",
        ),
        (
            "def f(v):\n    return f'{v + 1:.1f}'\npd.set_option('display.float_format', f)",
            "printing 3",
        ),
        (
            "with pd.option_context('display.float_format', lambda v: str(round(v) + 1)):\n    print(staff)",
            "printing 1",
        ),
        (
            "print(staff.to_string(float_format=lambda v: f'{v / 2}'))",
            "printing 1",
        ),
        (
            "print(staff.to_string(formatters={'age': lambda v: f'{v - 1}'}))",
            "printing 1",
        ),
        (
            "staff.style.format({'age': lambda v: f'{2 * v}'})",
            "printing 1",
        ),
        (
            "setattr(pd.options.display, 'float_format', lambda v: f'{-v}')",
            "printing 1",
        ),
        // Another digit makes another number.
        (
            "pd.set_option('display.float_format', '{:.0f}0'.format)",
            "printing 1",
        ),
        (
            "pd.set_option('display.float_format', lambda v: f'1{v:.0f}')",
            "printing 1",
        ),
        (
            "pd.set_option('display.float_format', lambda v: '3 %')",
            "printing 1",
        ),
        (
            "pd.set_option('display.float_format', lambda v: 'x' if v > 3 else f'{v}')",
            "printing 1",
        ),
        (
            "f = pd.set_option\nf('display.float_format', lambda v: f'{v * 2}')",
            "printing 2",
        ),
        (
            "pd.set_option(*['display.float_format', lambda v: f'{v * 2}'])",
            "printing 1",
        ),
        // Formats only.
        ("pd.set_option('display.float_format', '{:.2f}'.format)", ""),
        (
            "pd.set_option('display.float_format', lambda v: f'{v:,.0f} EUR')",
            "",
        ),
        (
            "pd.set_option('display.float_format', lambda v: f'{v:,.1f}'.replace(',', ' '))",
            "",
        ),
        (
            "pd.set_option('display.width', 160, 'display.float_format', '{:.1f}'.format)",
            "",
        ),
        (
            "print(staff.to_string(float_format='%.2f', formatters={'age': str}))",
            "",
        ),
        ("staff.style.format('{:.1f}', subset=['age'])", ""),
        ("print('{} {}'.format(staff['age'].mean() * 2, 3))", ""),
        (
            "def f(v):\n    return '{:.1f}'.format(v)\npd.options.display.float_format = f",
            "",
        ),
        ("print(staff['age'].dt.strftime('format'))", ""),
    ]);
}
