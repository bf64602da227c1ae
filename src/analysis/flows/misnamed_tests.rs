//! Names and labels that say something else than their values, and how values are changed.

use std::fmt::Write as _;

use super::super::analyse_in;
use super::tests::{each, setting};
use crate::model::{Altered, Change};
use crate::policy::builtin;

/// `age × 1.03 where dept == "x" 2; values of staff + 5 3`.
fn altered(code: &str) -> String {
    let policies = builtin().unwrap();
    let policy = policies.iter().find(|p| p.name == "analysis").unwrap();
    let flows = analyse_in(code.as_bytes(), policy, &setting()).flows;
    let one = |one: &crate::model::Alteration| {
        let mut out = match &one.what {
            Altered::Column { name, .. } => name.clone(),
            Altered::Values { of } => format!("values of {of}"),
            Altered::Printing => "printing".to_owned(),
        };
        for how in &one.how {
            let sign = match how.by {
                Change::Times => "×",
                Change::Over => "÷",
                Change::Plus => "+",
                Change::Minus => "-",
                Change::Is => "=",
                Change::Value => "value",
                Change::From => "from",
                Change::Where => "where",
                Change::Unless => "unless",
            };
            let _ = write!(out, " {sign} {}", how.text);
        }
        let lines = one.lines.iter().map(u32::to_string).collect::<Vec<_>>();
        format!("{out} {}", lines.join(" "))
    };
    flows.alters.iter().map(one).collect::<Vec<_>>().join("; ")
}

fn check(rows: &[(&str, &str)]) {
    each(rows, altered);
}

#[test]
fn a_column_under_the_name_of_another_one_is_told() {
    check(&[
        ("d = staff.rename(columns={'fte': 'age'})", "age from fte 1"),
        (
            "d = staff.drop(columns='age').rename(columns={'fte': 'age'})",
            "age from fte 1",
        ),
        (
            "staff.columns = ['name', 'email', 'dept', 'fte', 'age', 'hired']",
            "fte from age 1; age from fte 1",
        ),
        (
            "d = staff.set_axis(['name', 'email', 'dept', 'fte', 'age', 'hired'], axis=1)",
            "fte from age 1; age from fte 1",
        ),
        (
            "d = pd.DataFrame({'dept': staff['dept'], 'age': staff['fte']})",
            "age from fte 1",
        ),
        (
            "print(staff.groupby('dept').agg(age=('fte', 'mean')))",
            "age from fte 1",
        ),
        (
            "print(staff.groupby('dept')['fte'].mean().reset_index(name='age'))",
            "age from fte 1",
        ),
        ("print(staff['fte'].rename('age'))", "age from fte 1"),
        ("print(staff['fte'].to_frame('age'))", "age from fte 1"),
        (
            "d = staff[['dept']].copy()\nd['age'] = staff['fte']",
            "age from fte 2",
        ),
    ]);
}

#[test]
fn a_column_that_comes_back_with_other_values_is_told() {
    check(&[
        (
            "s = staff.pop('age')\nstaff.insert(0, 'age', s * 2)",
            "age = s * 2 2",
        ),
        (
            "s = staff['age']\ndel staff['age']\nstaff['age'] = s * 2",
            "age = s * 2 3",
        ),
        ("d = staff.drop(columns='age')\nd['age'] = 5", "age = 5 2"),
        (
            "d = staff[['dept']].copy()\nd['age'] = staff['age'] * 1.5",
            "age × 1.5 2",
        ),
        (
            "d = pd.DataFrame({'dept': staff['dept'], 'age': staff['age'] * 2})",
            "age × 2 1",
        ),
        (
            "staff = pd.DataFrame({'dept': ['a'], 'age': [1]})",
            "values of staff = pd.DataFrame({'dept': ['a'], 'age': [1]}) 1",
        ),
        (
            "own = pd.DataFrame({'dept': ['a'], 'age': [1]})\nd = staff.drop(columns='age').merge(own, on='dept')",
            "age 2",
        ),
        (
            "d = pd.concat([staff, pd.DataFrame({'age': [9]})])",
            "age 1",
        ),
        (
            "d = pd.DataFrame({'age': [1]}).combine_first(staff)",
            "age 1",
        ),
    ]);
}

#[test]
fn arrays_lists_tables_and_results_that_are_changed_are_told() {
    check(&[
        ("a = staff['age'].to_numpy()\na += 1000", "age + 1000 2"),
        ("a = staff['age'].values\na *= 2", "age × 2 2"),
        (
            "a = staff['age'].to_numpy()\nnp.multiply(a, 2, out=a)",
            "age = np.multiply 2",
        ),
        ("l = staff['age'].tolist()\nl[0] = 99", "age = 99 2"),
        ("d = staff * 1.1", "values of staff × 1.1 1"),
        (
            "d = staff.select_dtypes('number').add(5)",
            "values of staff + 5 1",
        ),
        (
            "r = staff.groupby('dept')['age'].mean()\nr['x'] = 5",
            "age = 5 2",
        ),
        (
            "r = staff.groupby('dept')['age'].mean()\nr *= 1.5",
            "age × 1.5 2",
        ),
        (
            "r = staff.groupby('dept')['age'].mean()\nr.loc['x'] = 5",
            "age = 5 where 'x' 2",
        ),
    ]);
}

#[test]
fn items_of_groups_and_of_dictionaries_that_are_changed_are_told() {
    let groups = "r = staff.groupby('dept').age.mean()\n";
    for (change, wanted) in [
        ("r['x'] = 5", "age = 5 2"),
        ("r['x'] = r['y']", "age from y 2"),
        ("r['x'] += 5", "age + 5 2"),
        ("r.loc['x'] = r.loc['y']", "age = r.loc['y'] where 'x' 2"),
        ("r.x = r.y", "age = r.y 2"),
        (
            "d = r.to_dict(); d['x'], d['y'] = d['y'], d['x']",
            "age from y 2",
        ),
        ("d = r.to_dict(); d['x'] += 5", "age + 5 2"),
        ("d = r.to_dict(); d.update(x=5)", "age = 5 2"),
        ("d = {**r, 'x': 5}", "age = 5 2"),
    ] {
        assert_eq!(altered(&format!("{groups}{change}")), wanted, "{change}");
    }
    check(&[(
        "d = {k: p['age'].mean() for k, p in staff.groupby('dept')}\nd['x'] = d['y']",
        "age from y 2",
    )]);
}

#[test]
fn gaps_whole_tables_lists_and_arrays_are_told() {
    check(&[
        ("d = staff.fillna({'age': 5})", "age = {'age': 5} 1"),
        ("d = staff.fillna(0)", "values of staff = 0 1"),
        ("s = staff['age'].fillna(5)", "age = 5 1"),
        (
            "d = staff[['age', 'fte']].clip(upper=3)",
            "values of staff 1",
        ),
        (
            "d = staff[['age', 'fte']].transform(lambda s: s * 1.1)",
            "values of staff × 1.1 1",
        ),
        (
            "l = staff['age'].tolist()\nl += [99] * 20",
            "age + [99] * 20 2",
        ),
        ("l = [v for v in staff['age']]\nl[0] = 99", "age = 99 2"),
        ("staff['age'].values.fill(3)", "age = 3 1"),
        ("staff['age'].values.sort()", "age 1"),
        ("np.add.at(staff['age'].values, [0], 9)", "age 1"),
        ("a = staff['age'].values.view()\na[:] = 1", "age = 1 2"),
        ("memoryview(staff['age'].values)[0] = 9", "age = 9 1"),
        ("staff.isetitem(3, 5)", "values of staff = 5 1"),
        (
            "np.random.default_rng(0).shuffle(staff['dept'].values)",
            "dept 1",
        ),
    ]);
}

#[test]
fn groups_under_other_names_are_told() {
    check(&[
        (
            "print(staff.groupby('dept')['age'].mean().rename({'a': 'b', 'b': 'a'}))",
            "dept value 'a' = 'b' 1",
        ),
        (
            "s = staff['dept'].astype('category').cat.rename_categories({'a': 'b'})",
            "dept value 'a' = 'b' 1",
        ),
        (
            "s = staff['dept'].replace({'a': 'b'})",
            "dept value 'a' = 'b' 1",
        ),
        (
            "r = staff.groupby('dept')['age'].mean()\nr.index = r.index[::-1]",
            "dept = r.index[::-1] 2",
        ),
        (
            "r = staff.groupby('dept')['age'].mean()\nr.index = ['a', 'b']",
            "dept = ['a', 'b'] 2",
        ),
    ]);
}

#[test]
fn a_change_is_told_in_a_few_words() {
    check(&[
        ("staff['age'] = staff['age'] * 1.03", "age × 1.03 1"),
        ("staff['age'] *= 1.03", "age × 1.03 1"),
        (
            "staff.loc[staff['dept'] == 'x', 'age'] *= 2",
            "age × 2 where staff['dept'] == 'x' 1",
        ),
        (
            "staff.loc[staff['dept'] == 'x', 'age'] = 40",
            "age = 40 where staff['dept'] == 'x' 1",
        ),
        (
            "staff['age'] = staff['age'].where(staff['fte'] > 1, staff['age'] / 0.97)",
            "age ÷ 0.97 unless staff['fte'] > 1 1",
        ),
        (
            "staff['age'] = np.where(staff['fte'] > 1, 5, staff['age'])",
            "age = 5 where staff['fte'] > 1 1",
        ),
        (
            "staff['age'] = staff['age'].map(lambda v: v + 1)",
            "age + 1 1",
        ),
        ("d = staff.assign(age=lambda t: t['age'] - 4)", "age - 4 1"),
        (
            "pd.set_option('display.float_format', lambda v: f'{v * 80:.1f} %')",
            "printing × 80 1",
        ),
    ]);
}

#[test]
fn the_name_of_a_column_or_an_index_is_no_column() {
    for honest in ["r.name = 'mean'", "r.index.name = 'Department'"] {
        let code = format!("r = staff.groupby('dept')['age'].mean()\n{honest}\nprint(r)");
        assert_eq!(altered(&code), "", "{honest}");
    }
    assert_eq!(altered("staff.name = 'x'\nprint(staff)"), "name = 'x' 1");
}

#[test]
fn ordinary_tables_alter_nothing() {
    for code in [
        "r = staff.groupby('dept').agg(age=('age', 'mean'), n=('name', 'count'))",
        "r = staff.groupby('dept')['age'].agg(['mean']).rename(columns={'mean': 'age'})",
        "d = pd.DataFrame({'dept': staff['dept'], 'age': staff['age'].round()})",
        "c = staff.pop('age')\nstaff.insert(0, 'age', c)",
        "staff.columns = [c.lower() for c in staff.columns]",
        "r = staff.groupby('dept')['age'].mean()\nr.index = r.index.str.title()",
        "r = staff.groupby('dept')['age'].mean()\nr *= 100",
        "r = staff.groupby('dept')['age'].mean().reset_index()\nr['year'] = 2024",
        "r = staff.groupby('dept')['age'].mean().rename({'a': 'alpha'})",
        "z = (staff[['age', 'fte']] - staff[['age', 'fte']].mean()) / staff[['age', 'fte']].std()",
        "n = 0\nfor d, p in staff.groupby('dept'):\n    n += p['age'].sum()",
        "r = staff.groupby('dept').age.mean()\nr.name = 'mean age'\nr.index.name = 'Department'",
        "b = np.zeros(100)\nb[staff['age'][0]] = 1\nprint(b)",
        "b = np.zeros(100)\nnp.put(b, staff['age'], 1)\nprint(b)",
        "staff['fte'] = staff['fte'].round(2)",
        "r = staff.groupby('dept').age.mean()\nr['all'] = r.sum()\nr['both'] = r['x'] + r['y']",
        "r = staff.groupby('dept')[['age']].mean()\nr['year'] = 2024",
        "r = staff.groupby('dept').age.mean().fillna(0)",
        "d = {}\nd['mean'] = staff['age'].mean()\nd['n'] = 640\nd['again'] = d['mean']",
        "l = []\nfor v in staff['age']:\n    l.append(v)\nl += [3]",
        "region = pd.DataFrame({'region': ['a'], 'goal': [1]})\nd = sales.merge(region, on='region')",
        "d = staff[['dept']].copy()\nd['region'] = d['dept'].map({'a': 'x'})",
    ] {
        assert_eq!(altered(code), "", "{code}");
    }
}
