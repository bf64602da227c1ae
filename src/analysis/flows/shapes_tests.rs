//! Sums that are none: of numbers that were bent before, of the few rows that a condition leaves.

use std::fmt::Write as _;

use super::hidden_tests::names;
use super::tests::{each, leaves};

#[test]
fn a_sum_of_bent_numbers_is_none() {
    let mut wrong = String::new();
    for made in [
        "s ** 60",
        "1000 ** s",
        "1000 ** s.astype(object)",
        "s ** -60",
        "s.pow(60)",
        "s * s * s * s",
        "s ** 2 ** 3",
        "(s ** 3) ** 3",
        "np.exp(s)",
        "np.power(s, 60)",
        "s // 50",
        "s % 50",
        "1 << s",
        "s.round(-3)",
    ] {
        for sum in ["sum()", "mean()", "max()", "groupby(staff['dept']).sum()"] {
            for code in [
                format!("s = staff['age']\nprint(({made}).{sum})"),
                format!("s = staff['age']\nstaff['x'] = {made}\nprint(staff['x'].{sum})"),
                format!("s = staff['age']\nprint(np.log(({made}).{sum}))"),
            ] {
                if !names(&code, "age") {
                    let _ = write!(wrong, "{code}\n  found: {}\n", leaves(&code));
                }
            }
        }
    }
    for code in [
        "s = staff['age']\nstaff['x'] = s ** 60\nprint(staff.sum(numeric_only=True))",
        "s = staff['age']\nfor _ in range(6):\n    s = s * s\nprint(s.sum())",
        "s = staff['age'].astype(float)\ns **= 60\nprint(s.sum())",
        "d = pd.DataFrame({'a': staff['age'] ** 60})\nprint(d.mean())",
    ] {
        if !names(code, "age") {
            let _ = write!(wrong, "{code}\n  found: {}\n", leaves(code));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_sum_of_rows_that_a_sum_or_a_label_picks_is_none() {
    let mut wrong = String::new();
    for code in [
        "s = staff['age']\nprint(s[s >= s.quantile(0.999)].mean())",
        "s = staff['age']\nprint(s[s > s.mean() + 5 * s.std()].sum())",
        "s = staff['age']\nprint(s[s.ge(s.quantile(0.999))].mean())",
        "s = staff['age']\nprint(s.where(s >= s.quantile(0.999)).mean())",
        "d = staff[staff['age'] >= staff['age'].quantile(0.999)]\nprint(d['age'].mean())",
        "print(staff.drop_duplicates('dept')['age'].mean())",
        "print(staff.drop_duplicates(subset='dept', keep='last')['age'].sum())",
        "print(staff[~staff['dept'].duplicated()]['age'].mean())",
        "print(staff.filter(items=[5], axis=0)['age'].mean())",
        "print([staff.filter(items=[i], axis=0)['age'].mean() for i in range(9)])",
        "print(staff.filter(like='63', axis=0)['age'].mean())",
        "print(staff['age'].filter([5]).mean())",
    ] {
        if !names(code, "age") {
            let _ = write!(wrong, "{code}\n  found: {}\n", leaves(code));
        }
    }
    for code in [
        "print([p['age'].mean() for _, p in staff.groupby('name')])",
        "for _, s in staff['age'].groupby(staff['name']):\n    print(s.mean())",
    ] {
        if !names(code, "name") {
            let _ = write!(wrong, "{code}\n  found: {}\n", leaves(code));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn squares_counts_and_groups_of_bins_are_summed_up() {
    let mut wrong = String::new();
    for (code, wanted) in [
        ("print((staff['age'] ** 2).mean())", "output 1: staff / age"),
        (
            "d = staff['age'] - staff['age'].mean()\nprint((d * d).mean() ** 0.5)",
            "output 2: staff / age",
        ),
        (
            "print(np.log(staff['age']).mean())",
            "output 1: staff / age",
        ),
        (
            "print((staff['age'] > staff['age'].mean()).sum())",
            "output 1: staff / age",
        ),
        (
            "print(staff['name'].duplicated().sum())",
            "output 1: staff / name",
        ),
        (
            "print(staff.groupby(staff['age'] // 10)['fte'].mean())",
            "output 1: staff age / fte",
        ),
        (
            "staff['x'] = staff['age'] ** 60\nprint(staff['fte'].mean())",
            "output 2: staff / fte",
        ),
        (
            "print((staff.drop_duplicates('name')['age'] > 30).sum())",
            "output 1: staff / age",
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
fn a_list_or_an_array_that_lost_values_is_no_column_any_more() {
    let mut wrong = String::new();
    let list = "l = staff['age'].tolist()\n";
    let array = "l = staff['age'].to_numpy().copy()\n";
    for (made, change) in [
        (list, "del l[1:]"),
        (list, "l[1:] = []"),
        (list, "[l.pop() for _ in range(9)]"),
        (list, "l.sort()\nl.pop()"),
        (list, "import heapq\nheapq.heapify(l)\nheapq.heappop(l)"),
        ("l = staff['age'].copy()\n", "l.pop(3)"),
        (array, "l[1:].fill(0)"),
        (array, "l.resize(1, refcheck=False)"),
        (array, "x = l.view()\nx[1:] = 0"),
        (array, "l.ravel()[1:] = 0"),
        (array, "l.flat[1:] = 0"),
        (array, "l.T[1:] = 0"),
        (array, "l.reshape(2, 5)[1] = 0"),
        (array, "np.put(l, range(1, 9), 0)"),
        (array, "np.copyto(l, 0, where=np.arange(9) > 0)"),
        (array, "np.place(l, np.arange(9) > 0, 0)"),
        (array, "np.multiply(l, np.arange(9) == 0, out=l)"),
        (array, "np.multiply.at(l, range(1, 9), 0)"),
    ] {
        let code = format!("{made}{change}\nprint(sum(l))");
        if !super::hidden_tests::names(&code, "age") {
            let _ = writeln!(wrong, "{code}\n  {}", leaves(&code));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert_eq!(
        leaves("l = staff['age'].tolist()\nprint(sum(l))"),
        "output 2: staff / age"
    );
}

#[test]
fn a_few_rows_by_their_place_and_extreme_parts_are_no_sums() {
    each(
        &[
            (
                "print(staff.query('age == age[3]')['fte'].mean())",
                "output 1: staff fte",
            ),
            (
                "print(staff.query('age == age.iloc [3]')['fte'].mean())",
                "output 1: staff fte",
            ),
            (
                "print(staff.query('dept in [\"a\", \"b\"]')['fte'].mean())",
                "output 1: staff / fte",
            ),
            (
                "from scipy import stats\nprint(stats.describe(staff['age']))",
                "output 2: staff age",
            ),
            (
                "import statsmodels.formula.api as smf\nprint(smf.quantreg('age ~ 1', staff).fit(q=.999).params)",
                "output 2: staff all",
            ),
            (
                "print(staff['age'].quantile(0.9999), staff['fte'].quantile(0.99))",
                "output 1: staff age / fte",
            ),
        ],
        leaves,
    );
}
