//! What is computed from each value and does not show it, and what shows it after all.

use super::tests::{each, leaves};

#[test]
fn what_a_coarse_function_made_of_each_value_is_per_row() {
    each(
        &[
            (
                "print(pd.cut(staff['age'], [0, 30, 60]))",
                "output 1: staff ~ age",
            ),
            (
                "print(pd.qcut(staff['age'], 4, labels=False).value_counts())",
                "output 1: staff ~ age",
            ),
            (
                "a = 2024 - pd.to_datetime(staff['hired']).dt.year\nstaff['band'] = pd.cut(a, [0, 5, 9], labels=['a', 'b'])\nprint(staff.groupby('band')['fte'].mean())",
                "output 3: staff ~ hired / fte",
            ),
            (
                "t = staff.copy()\nt['age_now'] = 2024 - pd.to_datetime(t['hired']).dt.year\nt['band'] = pd.cut(t['age_now'], 5)\nprint(t['band'], t['dept'])",
                "output 4: staff dept ~ hired",
            ),
            (
                "print(pd.to_datetime(staff['hired']).dt.quarter)",
                "output 1: staff ~ hired",
            ),
            (
                "print(pd.to_datetime(staff['hired']).dt.month_name())",
                "output 1: staff ~ hired",
            ),
            ("print(staff['age'] > 50)", "output 1: staff ~ age"),
            (
                "LIMIT = 50\nprint((staff['age'] > LIMIT).tolist())",
                "output 2: staff ~ age",
            ),
            (
                "print(staff['age'].between(30, 40), staff['fte'].isna())",
                "output 1: staff ~ age fte",
            ),
            (
                "print(staff['dept'].str.startswith('S'))",
                "output 1: staff ~ dept",
            ),
            (
                "print([x > 50 for x in staff['age']])",
                "output 1: staff ~ age",
            ),
            (
                "for c in staff.columns:\n    print(staff[c].dropna().astype(str).str.len().max())",
                "output 2: staff ~ name email dept age fte hired",
            ),
            (
                "import hashlib\nprint([hashlib.sha256(e.encode()).hexdigest()[:9] for e in staff['email']])",
                "output 2: staff ~ email",
            ),
            (
                "import hashlib\nkey = 'k'\nprint(staff['email'].map(lambda e: hashlib.sha256(f'{key}{e}'.lower().encode()).hexdigest()))",
                "output 3: staff ~ email",
            ),
            // Beside it, as it is.
            (
                "print(staff[['age']].assign(old=staff['age'] > 50))",
                "output 1: staff age",
            ),
            (
                "t = staff.set_index('age')\nprint(t['fte'] > 0.5)",
                "output 2: staff age fte",
            ),
        ],
        leaves,
    );
}

#[test]
fn two_functions_of_a_column_show_it() {
    each(
        &[
            (
                "print(staff['age'] > 50, staff['age'] > 40)",
                "output 1: staff age",
            ),
            (
                "print(staff['age'] > 50)\nprint(staff['age'] > 40)",
                "output 1: staff age; output 2: staff age",
            ),
            (
                "d = pd.to_datetime(staff['hired'])\nprint(d.dt.month)\nprint(d.dt.weekday)",
                "output 2: staff hired; output 3: staff hired",
            ),
        ],
        leaves,
    );
}

#[test]
fn what_may_show_all_of_a_value_is_as_it_is() {
    each(
        &[
            // Computed again and again.
            (
                "for n in range(99):\n    print((staff['age'] > n).tolist())",
                "output 2: staff age",
            ),
            (
                "for n in [1, 2, 3]:\n    print((staff['age'] > n).tolist())",
                "output 2: staff age",
            ),
            (
                "def old(s):\n    return s > 50\nprint([old(staff['age'] - i) for i in range(50)])",
                "output 3: staff age",
            ),
            (
                "for e in [[0, 30], [30, 60]]:\n    print(pd.cut(staff['age'], e))",
                "output 2: staff age",
            ),
            (
                "x = staff['age'].iloc[0]\nprint([(x := x // 2) > 0 for _ in range(17)])",
                "output 2: staff age",
            ),
            (
                "for i in range(9):\n    staff['fte'] = staff['age'] // 2 ** i % 2\n    print(staff['fte'] > 0)",
                "output 3: staff age fte",
            ),
            (
                "for i in range(9):\n    staff.iloc[:, 4] = staff['age'] // 2 ** i % 2\n    print([x > 0 for x in staff['fte']])",
                "output 3: staff age fte",
            ),
            // Many parts of a value at once.
            (
                "t = pd.DataFrame({f'b{i}': staff['age'] // 2 ** i % 2 for i in range(7)})\nprint(t > 0)",
                "output 2: staff age",
            ),
            (
                "t = staff[['age']].copy()\nt['a'] = t['age'] // 2 % 2\nt['b'] = t['age'] // 4 % 2\nprint(t > 0)",
                "output 4: staff age",
            ),
            (
                "t = staff[['age']].copy()\nt['a'] = t['age'] // 2 % 2\nt['b'] = t['age'] // 4 % 2\nprint([(t[c] > 0).tolist() for c in t.columns])",
                "output 4: staff age",
            ),
            (
                "print(staff['age'].to_numpy()[:, None] > np.arange(99))",
                "output 1: staff age",
            ),
            (
                "print(staff['age'].to_numpy()[:, None] > [1, 2, 3])",
                "output 1: staff age",
            ),
            (
                "print(pd.cut(pd.concat([staff['age'] // 9 ** i % 9 for i in range(3)]), 9))",
                "output 1: staff age",
            ),
            (
                "m = staff[['age']].merge(staff[['age']], how='cross')\nprint(pd.cut(m['age_x'] // 9 ** (m['age_y'] % 3) % 9, 9))",
                "output 2: staff age",
            ),
            // Parts of a value.
            (
                "import hashlib\nprint([hashlib.sha256(c.encode()).hexdigest() for e in staff['email'] for c in e])",
                "output 2: staff all",
            ),
            (
                "import hashlib\nprint([hashlib.sha256(e[:1].encode()).hexdigest() for e in staff['email']])",
                "output 2: staff email",
            ),
            (
                "import hashlib\nprint([hashlib.sha256(e.encode()).hexdigest() for e in staff['email'].str[:1]])",
                "output 2: staff email",
            ),
            (
                "import hashlib\nstaff['a'] = staff['email'].str[0]\nfor c in staff.columns:\n    print([hashlib.sha256(str(e).encode()).hexdigest() for e in staff[c]])",
                "output 4: staff all",
            ),
            (
                "print(staff['age'].map(lambda n: 'x' * n).str.len())",
                "output 1: staff age",
            ),
            // A reader can undo it.
            (
                "print(staff['age'] * 7 + 3, staff['name'].str[::-1], staff['fte'].rank())",
                "output 1: staff name age fte",
            ),
            (
                "print(pd.cut(staff['age'], sorted(staff['age'].unique())))",
                "output 1: staff age",
            ),
            (
                "print(pd.cut(staff['age'], [0, 30, 60], labels=staff['name'].head(2)))",
                "output 1: staff name age",
            ),
            (
                "print(staff['age'].where(staff['age'] > 50))",
                "output 1: staff age",
            ),
            ("print(staff['age'] // 10)", "output 1: staff age"),
        ],
        leaves,
    );
}

#[test]
fn quartiles_are_sums() {
    each(
        &[
            (
                "print(staff['age'].describe(percentiles=[0.25, 0.9]))",
                "output 1: staff / age",
            ),
            (
                "print(staff['age'].describe(percentiles=[0.25, 1.0]))",
                "output 1: staff age",
            ),
            (
                "print(np.percentile(staff['age'], [25, 75]), np.quantile(staff['fte'], 0.5))",
                "output 1: staff / age fte",
            ),
            (
                "print(np.percentile(staff['age'], 100), np.quantile(staff['fte'], [0.0]))",
                "output 1: staff age fte",
            ),
            (
                "print(np.percentile(staff['age'].head(1), 50))",
                "output 1: staff age",
            ),
            (
                "print(np.quantile(staff['age'], 0.5, method='lower'))",
                "output 1: staff age",
            ),
        ],
        leaves,
    );
}
