//! Branches that values of rows choose: what they make or write is computed per row.

use super::tests::{each, leaves};

#[test]
fn a_branch_for_each_row_is_per_row() {
    each(
        &[
            (
                "def band(x):\n    if x > 60:\n        return 'hi'\n    if x > 40:\n        return 'mid'\n    return 'lo'\nstaff['band'] = staff['age'].apply(band)\nprint(staff['band'].tolist())\nprint(staff.groupby('band').size())",
                "output 8: staff ~ age; output 9: staff ~ age",
            ),
            (
                "print(['hi' if x > 60 else 'lo' for x in staff['age']])",
                "output 1: staff ~ age",
            ),
            (
                "for x in staff['age']:\n    print('hi' if x > 60 else 'lo')",
                "output 2: staff ~ age",
            ),
            (
                "out = []\nfor x in staff['age']:\n    if x > 60:\n        out.append('hi')\n        continue\n    out.append('lo')\nprint(out[:5])",
                "output 7: staff ~ age",
            ),
            (
                "s = ''\nfor x in staff['age']:\n    s += '1' if x > 60 else '0'\nprint(s)",
                "output 4: staff ~ age",
            ),
            (
                "def band(x):\n    match x:\n        case 7:\n            return 'a'\n        case _:\n            return 'b'\nprint([band(x) for x in staff['age']])",
                "output 7: staff ~ age",
            ),
            (
                "def risk(r):\n    if r['age'] > 60 and r['fte'] < 1:\n        return 'A'\n    return 'B'\nprint(staff.apply(risk, axis=1).tolist())",
                "output 5: staff ~ age fte",
            ),
            (
                "for x in staff['age']:\n    x > 60 and print('hi')",
                "output 2: staff ~ age",
            ),
            (
                "def f(x):\n    if x > 60:\n        return\n    print('low')\nstaff['age'].apply(f)\nprint(1)",
                "output 4: staff ~ age",
            ),
            (
                "if staff['age'].max() > 90:\n    print('old')",
                "output 2: staff ~ age",
            ),
        ],
        leaves,
    );
}

#[test]
fn positions_that_a_value_sets_are_per_row() {
    each(
        &[
            (
                "print([i for i, x in enumerate(staff['age']) if x > 60])",
                "output 1: staff ~ age",
            ),
            (
                "for i, n in enumerate(staff['name']):\n    if n == 'X':\n        break\nprint(i)",
                "output 4: staff ~ name",
            ),
            (
                "i = 0\nfor n in staff['name']:\n    if n == 'X':\n        break\n    i += 1\nprint(i)",
                "output 6: staff ~ name",
            ),
            (
                "c = []\nfor n in staff['name']:\n    if n == 'X':\n        break\n    c.append(1)\nprint(len(c))",
                "output 6: staff ~ name",
            ),
            (
                "c = 0\nfor x in staff['age']:\n    c += 1\n    if x > 60:\n        print(c)",
                "output 5: staff ~ age",
            ),
            (
                "for x in staff['age']:\n    if x == 7:\n        break\nelse:\n    print('none')",
                "output 5: staff ~ age",
            ),
        ],
        leaves,
    );
}

#[test]
fn a_count_of_all_rows_is_summed_up() {
    each(
        &[
            (
                "n = 0\nfor x in staff['age']:\n    if x > 60:\n        n += 1\nprint(n)",
                "output 5: staff / age",
            ),
            (
                "print(sum(1 for x in staff['age'] if x > 60))",
                "output 1: staff / age",
            ),
            // Not of all rows, or told on the way.
            (
                "n = 0\nfor i, x in enumerate(staff['age']):\n    if i == 3 and x > 60:\n        n += 1\nprint(n)",
                "output 5: staff ~ age",
            ),
            (
                "n = k = 0\nfor x in staff['age']:\n    k += 1\n    if k == 3:\n        if x > 60:\n            n += 1\nprint(n)",
                "output 7: staff ~ age",
            ),
            (
                "print(sum(1 for i, x in enumerate(staff['age']) if i == 3 if x > 60))",
                "output 1: staff age",
            ),
            (
                "n = 0\nfor x in staff['age'][:1]:\n    if x > 60:\n        n += 1\nprint(n)",
                "output 5: staff ~ age",
            ),
            (
                "n = 0\nfor x in staff['age']:\n    if x > 60:\n        n += 1\n    print(n)",
                "output 5: staff ~ age",
            ),
        ],
        leaves,
    );
}

#[test]
fn many_tests_of_a_value_show_it() {
    each(
        &[
            (
                "def f(x):\n    if x > 10: return 1\n    if x > 20: return 2\n    if x > 30: return 3\n    if x > 40: return 4\n    if x > 50: return 5\nprint(staff['age'].map(f))",
                "output 7: staff age",
            ),
            (
                "def f(x, n):\n    return '1' if x > n else '0'\nprint([[f(x, n) for n in range(99)] for x in staff['age']])",
                "output 3: staff age",
            ),
            (
                "print(['a' if x > 10 else 'b' for x in staff['age']])\nprint(['a' if x > 20 else 'b' for x in staff['age']])",
                "output 1: staff age; output 2: staff age",
            ),
        ],
        leaves,
    );
}

#[test]
fn a_branch_by_a_sum_or_a_number_of_rows_names_nothing() {
    each(
        &[
            (
                "def run(df):\n    if df is None or df.empty:\n        return None\n    return df['age'].mean()\nprint(run(staff))",
                "output 5: staff / age",
            ),
            (
                "if staff.isna().any().any() or len(staff) > 5:\n    print('x')",
                "",
            ),
            ("if staff['age'].mean() > 5:\n    print('x')", ""),
            (
                "for d, g in staff.groupby('dept'):\n    if len(g) < 5:\n        continue\n    print(d, g['age'].mean())",
                "output 4: staff dept / age",
            ),
        ],
        leaves,
    );
}
