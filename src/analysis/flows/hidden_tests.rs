//! Snippets that hide where a column goes: the exit names it all the same.

use std::fmt::Write as _;

use super::tests::leaves;

/// Whether the last exit names the column of `staff` among what leaves as it is.
pub(super) fn names(code: &str, column: &str) -> bool {
    let told = leaves(code);
    let last = told.rsplit("; ").next().unwrap_or_default();
    let staff = last.split(", ").find_map(|part| {
        let at = part.find("staff ")?;
        Some(&part[at + "staff ".len()..])
    });
    staff.is_some_and(|all| {
        let as_is = all.split(['~', '/']).next().unwrap_or_default();
        as_is.split(' ').any(|word| word == column || word == "all")
    })
}

#[test]
fn a_column_that_goes_a_hidden_way_is_named() {
    let mut wrong = String::new();
    for code in [
        // What Python calls by itself.
        "class A:\n    @property\n    def w(self):\n        return staff['age'].tolist()\nprint(A().w)",
        "a = staff['dept'].str.lower()\nb = a\nb[0] = staff['age'].tolist()\nprint(a)",
        "from io import StringIO\nname = StringIO() if len(staff) else str(staff['dept'].iloc[0])\nstaff[['age']].to_csv(name)\nprint(name.getvalue())",
        "class T(str):\n    pass\nname = T(staff['dept'].iloc[0]).lower()\nname = T(name)\nname.age = staff['age'].tolist()\nprint(name.age)",
        "class A:\n    def __str__(self):\n        return str(staff['age'].tolist())\nprint(A())",
        "class A:\n    def __repr__(self):\n        return str(staff['age'].tolist())\nprint([A()])",
        "class A:\n    def __format__(self, how):\n        return str(staff['age'].tolist())\nprint(f'{A()}')",
        "class A:\n    def __enter__(self):\n        return staff['age'].tolist()\n    def __exit__(self, *a):\n        pass\nwith A() as x:\n    print(x)",
        "class A:\n    def __iter__(self):\n        return iter(staff['age'].tolist())\nprint(*A())",
        "class A:\n    def __getitem__(self, k):\n        return staff['age'].iloc[k]\nprint(A()[3])",
        "class A:\n    def __getattr__(self, k):\n        return staff['age'].tolist()\nprint(A().x)",
        "class A:\n    def __add__(self, o):\n        return staff['age'].tolist()\nprint(A() + 1)",
        "class A:\n    def __call__(self):\n        return staff['age'].tolist()\na = A()\nprint(a())",
        "class A:\n    def __len__(self):\n        return int(staff['age'].iloc[0])\nprint(len(A()))",
        "def show(self):\n    return str(staff['age'].tolist())\nclass A:\n    __str__ = show\nprint(A())",
        "class A(dict):\n    def get(self, k):\n        return staff['age'].tolist()\nprint(A())",
        "class A:\n    x: staff['age'].tolist()\nprint(1)",
        // Decorators.
        "def d(f):\n    return f()\n@d\ndef r():\n    return staff['age'].tolist()\nprint(r)",
        "out = []\ndef d(f):\n    out.extend(f())\n@d\ndef r():\n    return staff['age'].tolist()\nprint(out)",
        "import functools\n@functools.cache\ndef r():\n    return staff['age'].tolist()\nprint(r())",
        "import functools\nclass A:\n    @functools.cached_property\n    def r(self):\n        return staff['age'].tolist()\nprint(A().r)",
        "import functools\ndef d(f):\n    @functools.wraps(f)\n    def g(*a):\n        return f(*a)\n    return g\n@d\ndef r(t):\n    return t.tolist()\nprint(r(staff['age']))",
        "import functools\n@functools.singledispatch\ndef r(t):\n    return 1\n@r.register\ndef _(t: int):\n    return staff['age'].tolist()\nprint(r(1))",
        // Methods and functions that are handed on.
        "q = []\nlist(map(q.append, staff['age']))\nprint(q)",
        "q = []\nstaff['age'].apply(q.append)\nprint(q)",
        "q = []\nf = q.append\nfor x in staff['age']:\n    f(x)\nprint(q)",
        "q = []\n[q.append][0](staff['age'].tolist())\nprint(q)",
        "import functools\nq = []\nfunctools.partial(q.extend, staff['age'])()\nprint(q)",
        "import re\nq = []\nre.sub('.', q.append, str(staff['age'].tolist()))\nprint(q)",
        "q = []\nclass A:\n    @staticmethod\n    def keep(x):\n        q.append(x)\nA.keep(staff['age'].tolist())\nprint(q)",
        "q = []\nclass A:\n    def keep(self, x):\n        q.append(x)\nf = A().keep\nf(staff['age'].tolist())\nprint(q)",
        "q = []\nf = lambda t: q.append(t['age']) or True\nf({'age': 1})\nstaff.loc[f]\nprint(q)",
        "q = []\nf = lambda s: q.append(s) or s\nf(1)\nstaff.sort_values('age', key=f)\nprint(q)",
        "def g():\n    x = yield\n    print(x)\ng = g()\nnext(g)\ng.send(staff['age'].tolist())",
        "x = 1\ng = (x for _ in range(1))\nx = staff['age'].tolist()\nprint(list(g))",
        "[y := x for x in staff['age']]\nprint(y)",
        // Arguments and objects that are written into.
        "z = np.zeros(9)\nnp.add(staff['age'].values, 1, out=z)\nprint(z)",
        "z = np.zeros(9)\nnp.multiply(staff['age'], 1, z)\nprint(z)",
        "z = np.zeros(9)\nstaff['age'].values.cumsum(out=z)\nprint(z)",
        "z = np.zeros(9)\nnp.ones(9).dot(staff['age'].values, z)\nprint(z)",
        "d = pd.DataFrame({'a': sales['amount']})\nc = d['a']\nc[:] = staff['age'].values\nprint(d)",
        "d = pd.DataFrame({'a': sales['amount']})\nd['a'].values[:] = staff['age'].values\nprint(d)",
        "import io, json\nb = io.StringIO()\njson.dump(staff['age'].tolist(), b)\nprint(b.getvalue())",
        "import io, contextlib\nb = io.StringIO()\nwith contextlib.redirect_stdout(b):\n    print(staff['age'])\nprint(b.getvalue())",
        // Files that are read back.
        "open('a.txt', 'w').write(str(staff['age'].tolist()))\nprint(open('a.txt').read())",
        "staff[['age']].to_csv('a.csv')\nprint(pd.read_csv('a.csv'))",
        "from pathlib import Path\nPath('a').write_text(str(staff['age'].tolist()))\nprint(Path('a').read_text())",
        // Indices, keys, lengths and counts.
        "t = list(range(99))\nprint([t[int(a)] for a in staff['age']])",
        "t = {i: i for i in range(99)}\nprint([t[a] for a in staff['age']])",
        "t = list(range(99))\nprint([t.index(a) for a in staff['age']])",
        "print(['x' * int(a) for a in staff['age']])",
        "print([len('x' * int(a)) for a in staff['age']])",
        "print([len(range(int(a))) for a in staff['age']])",
        "print([list(range(int(a))) for a in staff['age']])",
        "print([np.zeros(int(a)).shape for a in staff['age']])",
        "n = 0\nfor _ in range(int(staff['age'].iloc[0])):\n    n += 1\nprint(n)",
        "n = 0\nwhile n < staff['age'].iloc[0]:\n    n += 1\nprint(n)",
        "print(pd.Series(range(99)).loc[staff['age']])",
        "print('abc'[:int(staff['age'].iloc[0])])",
        "print([id(a) for a in staff['age']])",
        // Orders.
        "print(staff.sort_values('age').index.tolist())",
        "print(staff.sort_values('age')['name'])",
        "print(staff['age'].argsort())",
        "print(np.argsort(staff['age'].values))",
        "l = list(range(9))\nv = staff['age'].tolist()\nl.sort(key=lambda i: v[i])\nprint(l)",
        // Texts that are evaluated.
        "z = pd.DataFrame({'a': range(9)})\ns = staff['age']\nprint(z.eval('@s + 1'))",
        "q = []\nstaff.query('@q.append(age)')\nprint(q)",
        "import statsmodels.formula.api as smf\nq = []\ndef keep(x):\n    q.append(x)\n    return x\nkeep(1)\nsmf.ols('fte ~ keep(age)', data=staff)\nprint(q)",
        // State beside.
        "import math\nmath.x = staff['age'].tolist()\nprint(math.x)",
        "import math\nm = math\nm.x = staff['age'].tolist()\nprint(math.x)",
        "import os\nos.environ['X'] = str(staff['age'].tolist())\nprint(os.environ['X'])",
        "import random\nrandom.seed(int(staff['age'].iloc[0]))\nprint(random.random())",
        "np.random.seed(int(staff['age'].iloc[0]))\nprint(np.random.rand())",
        "pd.set_option('display.max_rows', int(staff['age'].iloc[0]))\nprint(pd.get_option('display.max_rows'))",
        "def f(acc=[]):\n    return acc\nf().extend(staff['age'])\nprint(f())",
        "def f():\n    pass\nf.x = staff['age'].tolist()\nprint(f.x)",
        "v = None\ndef f():\n    global v\n    v = staff['age'].tolist()\nf()\nprint(v)",
        "def a():\n    v = None\n    def b():\n        nonlocal v\n        v = staff['age'].tolist()\n    b()\n    return v\nprint(a())",
        "class A:\n    x = None\n    def go(self):\n        A.x = staff['age'].tolist()\nA().go()\nprint(A.x)",
        "d = pd.DataFrame({'a': [1]})\nd.index.name = staff['age'].iloc[0]\nprint(d)",
        "print(pd.DataFrame({a: [1] for a in staff['age']}).columns)",
        "print(staff['age'].astype('category').dtype)",
        // Errors.
        "try:\n    {}[tuple(staff['age'])]\nexcept KeyError as e:\n    print(e)",
        "import traceback\ntry:\n    {}[tuple(staff['age'])]\nexcept KeyError:\n    traceback.print_exc()",
        "import logging\ntry:\n    {}[tuple(staff['age'])]\nexcept KeyError:\n    logging.exception('x')",
        "from tqdm import tqdm\nfor _ in tqdm([1], desc=str(staff['age'].tolist())):\n    pass",
    ] {
        if !names(code, "age") {
            let _ = write!(wrong, "{code}\n  found: {}\n", leaves(code));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn ordinary_code_is_told_as_exactly_as_before() {
    let mut wrong = String::new();
    for (code, wanted) in [
        // An answer that is coarse has everything that is read.
        (
            "class A:\n    @property\n    def w(self):\n        return 1\nprint(A().w, staff['age'].mean())",
            "output 5: staff age",
        ),
        // Lengths and positions of rows.
        (
            "names = staff['name'].tolist()\nprint(len(names), len(set(staff['dept'])), len(staff[staff['age'] > 3]))",
            "",
        ),
        (
            "rows = []\nfor d, part in staff.groupby('dept'):\n    rows.append({'d': d, 'n': len(part)})\nprint(len(rows), pd.DataFrame(rows))",
            "output 4: staff dept",
        ),
        ("for i, name in enumerate(staff['name']):\n    print(i)", ""),
        // The name of a file, into which nothing of the table goes.
        (
            "for _, part in staff.groupby('dept'):\n    dept = str(part['dept'].iloc[0]).strip()\n    name = 'p-' + dept.lower() + '.csv'\n    part.to_csv(name)\n    print(f'{name}: {len(part)} rows')",
            "file 4: staff all; output 5: staff dept",
        ),
        (
            "parts = {'a': staff['age'], 'b': staff['fte']}\nfor name, part in parts.items():\n    print(name)",
            "",
        ),
        // What is sorted for itself.
        (
            "m = staff.groupby('dept')['age'].mean().sort_values()\nprint(m)",
            "output 2: staff dept / age",
        ),
        (
            "print(staff.sort_values('age').groupby('dept')['fte'].mean())",
            "output 1: staff dept / fte",
        ),
        // Decorators and classes that are followed.
        (
            "import functools\ndef timed(f):\n    @functools.wraps(f)\n    def g(*a):\n        return f(*a)\n    return g\n@timed\ndef mean(t):\n    return t['age'].mean()\nprint(mean(staff))",
            "output 10: staff age",
        ),
        (
            "from dataclasses import dataclass\n@dataclass\nclass Row:\n    dept: str\n    n: int\nprint([Row(d, len(p)) for d, p in staff.groupby('dept')])",
            "output 6: staff dept",
        ),
        (
            "class Error(ValueError):\n    pass\nprint(staff['age'].mean())",
            "output 3: staff / age",
        ),
        // Files beside each other.
        (
            "staff.to_csv('a.csv')\nwith open('b.txt', 'w') as f:\n    f.write('done')",
            "file 1: staff all",
        ),
        (
            "pd.set_option('display.width', 160)\nprint(staff['age'].head())",
            "output 2: staff age",
        ),
        (
            "top = 3\nprint(staff.query('age > @top')['name'])",
            "output 2: staff name",
        ),
        (
            "import statsmodels.formula.api as smf\nm = smf.ols('fte ~ age + C(dept)', data=staff).fit()\nprint(m.rsquared)",
            "output 3: staff / dept age fte",
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
fn only_whole_columns_are_summed_up() {
    let mut wrong = String::new();
    for code in [
        "print([np.mean(x) for x in staff['age']])",
        "print([np.median(x) for x in staff['age']])",
        "print([x.mean() for x in staff['age'].values])",
        "print([np.std([0, 2 * x]) for x in staff['age']])",
        "import statistics\nprint([statistics.mean([x]) for x in staff['age']])",
        "print([staff['age'].iloc[i:i + 1].mean() for i in range(9)])",
        "print(staff['age'].head(1).sum())",
        "print(staff['age'][3:4].sum())",
        "print(staff['age'][[3]].sum())",
        "print(staff.loc[3, 'age'].sum())",
        "print(staff['age'].sample(1).sum())",
        "print(staff['age'].nlargest(1).sum())",
        "print(staff['age'].drop([1, 2]).sum())",
        "print(staff['age'].diff().sum())",
        "s = staff['age']\nprint([s[s.index == i].mean() for i in range(9)])",
        "s = staff['age']\nprint([s[np.arange(9) == i].mean() for i in range(9)])",
        "s = staff['age']\nprint([s[[j == i for j in range(9)]].mean() for i in range(9)])",
        "s = staff['age']\nprint(s.where(s.index == 3).mean())",
        "print(staff.query('index == 3')['age'].mean())",
        "print(staff[['age']].T.mean())",
        "print(staff[['age']].T.corr())",
        "print(staff[['age']].mean(axis=1))",
        "print(staff[['age']].sum(1))",
        "k = {'axis': 1}\nprint(staff[['age']].mean(**k))",
        "print([(staff['age'] * np.eye(9)[i]).sum() for i in range(9)])",
        "print((staff['age'] * [0, 1, 0]).sum())",
        "print((staff['age'] * np.r_[0, 1, 0]).sum())",
        "print((staff['age'] * (staff.index == 3)).sum())",
        "print(staff['age'].mul(np.eye(9)[3]).sum())",
        "print(staff['age'].clip(upper=np.eye(9)[3]).sum())",
        "d = pd.DataFrame({'a': staff['age'], 'b': np.eye(9)[3]})\nprint((d.iloc[:, 0] * d.iloc[:, 1]).sum())",
        "staff['w'] = np.eye(9)[3]\nprint((staff['age'] * staff['w']).sum())",
        "staff['w'] = np.eye(9)[3]\nprint((staff.iloc[:, 3] * staff.iloc[:, 6]).sum())",
        "print(np.sum([], initial=staff['age'].iloc[0]))",
        "print(np.sum(staff['age'], where=np.arange(9) == 3))",
        "print(np.average(staff['age'], weights=np.eye(9)[3]))",
        "print(np.sum(staff[['age']].values, 1))",
        "print([('a' * int(x)).count('a') for x in staff['age']])",
        "print([np.ones(int(x)).sum() for x in staff['age']])",
        "print([sum(1 for _ in range(int(x))) for x in staff['age']])",
        "print([(staff['age'].iloc[:1] > t).sum() for t in range(99)])",
        "print(staff['age'].rolling(1).mean())",
        "print(staff['age'].groupby(level=0).mean())",
        "print(staff.groupby(staff.index)['age'].mean())",
        "print(staff.groupby(np.arange(9))['age'].mean())",
        "print(staff['age'].groupby(list(range(9))).agg('mean'))",
        "print(staff['age'].quantile(0))",
        "print([staff['age'].quantile(i / 9) for i in range(9)])",
        "c = [0]\ndef f(v):\n    c[0] += 1\n    return v if c[0] == 3 else 0\nprint(staff['age'].apply(f).sum())",
        "print(sum(x for x in staff['age']))",
        // Functions that get one value after the other.
        "print(staff['age'].apply(np.mean))",
        "print(staff['age'].apply([np.mean]))",
        "print(staff['age'].map(np.mean))",
        "print(staff['age'].apply(sum))",
        "print(staff[['age']].map(np.mean))",
        "print(staff[['age']].applymap(np.mean))",
        "print(staff['age'].apply(lambda v: np.mean(v)))",
        "print(staff['age'].transform(lambda v: np.mean(v)))",
        "print(staff['age'].agg(lambda v: np.mean(v)))",
        "print(staff.agg({'age': lambda v: np.mean(v)}))",
        "print(staff[['age']].agg([lambda v: np.mean(v)]))",
        "def f(v):\n    return np.mean(v)\nprint(staff['age'].apply(f))",
        "c = 'age'\nprint(staff[c].apply(lambda v: np.mean(v)))",
        "print(staff.iloc[:, 3].apply(lambda v: np.mean(v)))",
        "print(staff.loc[:, 'age'].apply(np.mean))",
        // Rows.
        "print(staff[['age']].apply('mean', axis=1))",
        "print(staff[['age']].apply(np.mean, axis=1))",
        "print(staff[['age']].apply(np.mean, 1))",
        "print(staff[['age']].agg('sum', axis=1))",
        "print(staff[['age']].agg(np.mean, 1))",
        "a = 1\nprint(staff[['age']].agg('sum', axis=a))",
        "print(staff[['age']].apply(lambda r: r.mean(), axis='columns'))",
        "print(staff.groupby('dept')[['age']].apply(np.mean, axis=1))",
        "print(staff.groupby('dept')['age'].apply(lambda s: s.apply(np.mean)))",
        "from random import choice as mean\nprint(staff.groupby('dept')['age'].agg(mean))",
        // Texts that a sum joins, and values that a description names.
        "print(staff['age'].astype(str).sum())",
        "print((staff['age'] - 0).astype(str).sum())",
        "staff['x'] = staff['age'].astype(str)\nprint(staff['x'].sum())",
        "staff['x'] = staff['age'].astype(str)\nprint(staff.sum())",
        "print(staff['age'].map('{:d}'.format).sum())",
        "print(staff['age'].astype(str).describe())",
        "print(staff['age'].replace(3, 'x').describe())",
        "print(staff['age'].where(staff['fte'] > 0, 'x').describe())",
        "print(staff.describe(include='all'))",
        "print(staff.describe(exclude='number'))",
        "how = ['O']\nprint(staff.astype({'age': 'O'}).describe(include=how))",
        "print(staff['age'].quantile(0.5, interpolation='lower'))",
        "how = 'nearest'\nprint(staff['age'].quantile(0.5, interpolation=how))",
        "print(staff[['age', 'fte']].corr(method=lambda a, b: a[3]))",
        "print(staff['age'].cov(pd.Series([0, 0, 9])))",
        "print(staff.groupby(staff['dept'].isna())['age'].agg('first').sum())",
        // Groups by places, by ranks, by what a function says, of one row each.
        "print(staff.groupby(staff['fte'].rank(method='first'))['age'].mean())",
        "print(staff.groupby(staff['fte'].argsort())['age'].mean())",
        "print(staff.groupby(staff['fte'].cumsum())['age'].mean())",
        "print(staff.groupby(staff.groupby('dept').cumcount())['age'].mean())",
        "print(staff.groupby(staff.groupby('name').ngroup())['age'].mean())",
        "print(staff.groupby(pd.factorize(staff['name'])[0])['age'].mean())",
        "print(staff.groupby(staff['name'].map(hash))['age'].mean())",
        "print(staff.groupby(['dept', staff.index])['age'].mean())",
        "staff['k'] = range(9)\nprint(staff.groupby(['dept', 'k'])['age'].mean())",
        "staff['k'] = staff['fte'].rank()\nprint(staff.groupby('k')['age'].mean())",
        "print(staff.groupby(pd.cut(staff['fte'], 10000))['age'].mean())",
        "b = np.linspace(0, 1, 10000)\nprint(staff.groupby(pd.cut(staff['fte'], b))['age'].mean())",
        "print(staff.groupby(pd.qcut(staff['fte'], 60))['age'].sum())",
        "from scipy import stats\nprint(staff.groupby(stats.rankdata(staff['fte'], method='ordinal'))['age'].mean())",
        "print(staff.pivot_table(index=staff['fte'].rank(method='first'), values='age'))",
        "staff['k'] = range(9)\nprint(staff.pivot_table(index='dept', columns='k', values='age'))",
        "d = staff.assign(t=pd.date_range('2020-01-01', periods=9))\nprint(d.resample('D', on='t')['age'].mean())",
        "print(staff.resample('s', on='hired')['age'].mean())",
        "f = 's'\nprint(staff.resample(f, on='hired')['age'].mean())",
        "d = staff.set_index(pd.date_range('2020-01-01', periods=9))\nprint(d['age'].resample('D').sum())",
        "d = staff.set_index('dept')\nd.index = range(9)\nprint(d.groupby(level=0)['age'].mean())",
        "d = staff.set_index('dept')\nd.index = range(9)\nprint(d.loc[d.index == 3, 'age'].mean())",
        // A condition that changes from one time to the next.
        "print([(staff['age'] == i).sum() for i in range(99)])",
        "print([(staff['age'] > i).sum() for i in range(99)])",
        "for i in range(99):\n    print(staff[staff['fte'] == i]['age'].mean())",
        "for i in range(99):\n    print(staff.loc[staff['fte'].isin([i]), 'age'].mean())",
        "for i in range(99):\n    print(staff.loc[staff['fte'].between(i, i), 'age'].mean())",
        "for i in range(99):\n    print(staff.loc[staff['fte'].eq(i), 'age'].mean())",
        "for i in range(99):\n    print(staff['age'].where(staff['fte'] == i).mean())",
        "for i in range(99):\n    print(staff['age'].clip(upper=i).sum())",
        "for i in range(99):\n    print((staff['age'] - i).abs().sum())",
        "for i in range(99):\n    print(staff['age'].replace(i, 0).mean())",
        "for i in range(99):\n    print(staff[staff['name'].str.startswith(chr(i))]['age'].mean())",
        "for i in range(99):\n    print(staff.query(f'fte == {i}')['age'].mean())",
        "for i in range(99):\n    j = i\n    print(staff[staff['fte'] == j]['age'].mean())",
        "for i in range(9):\n    for j in range(9):\n        print(staff[staff['fte'] == 9 * i + j]['age'].mean())",
        "i = 0\nwhile i < 99:\n    print(staff[staff['fte'] == i]['age'].mean())\n    i += 1",
        "i = 0\nwhile i < 99:\n    print(staff[staff['fte'] == i]['age'].mean())\n    i = i + 1",
        "i = 0\nwhile (i := i + 1) < 99:\n    print(staff[staff['fte'] == i]['age'].mean())",
        "l = [0]\nwhile len(l) < 99:\n    print(staff[staff['fte'] == len(l)]['age'].mean())\n    l.append(0)",
        "l = [0]\nfor _ in range(99):\n    l[0] += 1\n    print(staff[staff['fte'] == l[0]]['age'].mean())",
        "def f(i):\n    print(staff[staff['fte'] == i]['age'].mean())\n    f(i + 1)\nf(0)",
        "i = 0\ndef f():\n    global i\n    i += 1\n    print(staff[staff['fte'] == i]['age'].mean())\nf()\nf()",
        "f = lambda i: staff[staff['fte'] == i]['age'].mean()\nprint(list(map(f, range(99))))",
        "print(pd.Series(range(99)).apply(lambda i: staff[staff['fte'] == i]['age'].mean()))",
        "print([m.sum() for m in [staff['age'] > i for i in range(99)]])",
        "print(staff[staff['fte'] == np.arange(9)]['age'].mean())",
        "print(staff.query('ilevel_0 == 3')['age'].mean())",
        "print(staff.query('age.argsort() == 3')['age'].mean())",
        "staff['k'] = 1\nprint(staff.drop_duplicates('k')['age'].sum())",
        "staff['k'] = 1\nprint(staff.groupby('k')['age'].agg('first').sum())",
        "print(staff[~staff['dept'].isna().duplicated()]['age'].sum())",
        "print(staff[~staff['dept'].isna().astype(int).duplicated()]['age'].sum())",
        // Tests and scores of less than whole columns.
        "from scipy import stats\nprint(stats.pearsonr(staff['age'], np.eye(9)[3]))",
        "from scipy import stats\nprint(stats.ttest_1samp(staff['age'].head(2), 0))",
        "from scipy import stats\nprint([stats.ttest_1samp(staff['age'], i).pvalue for i in range(99)])",
        "from sklearn.metrics import mean_squared_error\nprint(mean_squared_error(staff['age'], staff['fte'], sample_weight=[1, 0]))",
        "from sklearn.metrics import mean_squared_error\nprint(mean_squared_error(staff['age'].iloc[:1], [0]))",
        "from scipy import stats\nprint(stats.rankdata(staff['age']).sum())",
        "from scipy import stats\nprint(stats.trim_mean(staff['age'], 0.49))",
        // Rows that get other values, or go.
        "staff.loc[1:, 'age'] = np.nan\nprint(staff['age'].mean())",
        "staff.iloc[1:, 3] = np.nan\nprint(staff['age'].mean())",
        "for i in range(1, 9):\n    staff.at[i, 'age'] = 0\nprint(staff['age'].sum())",
        "staff.loc[staff.index > 0, 'age'] = 0\nprint(staff['age'].sum())",
        "s = staff['age']\ns[1:] = 0\nprint(s.sum())",
        "s = staff['age']\ns.iloc[1:] = 0\nprint(staff['age'].sum())",
        "staff['k'] = staff['dept']\nstaff.loc[3, 'k'] = 'me'\nprint(staff.groupby('k')['age'].mean())",
        "staff.update(pd.DataFrame({'age': [0] * 8}, index=range(1, 9)))\nprint(staff['age'].sum())",
        "o = pd.DataFrame({'name': ['a']})\nprint(staff.merge(o, on='name')['age'].mean())",
        "o = pd.DataFrame({'w': [1]}, index=[3])\nprint(staff.join(o, how='inner')['age'].sum())",
        "staff['w'] = pd.Series([1], index=[3])\nprint(staff.dropna()['age'].sum())",
    ] {
        if !names(code, "age") {
            let _ = write!(wrong, "{code}\n  found: {}\n", leaves(code));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_known_reduction_of_a_whole_column_is_summed_up() {
    let mut wrong = String::new();
    for (code, wanted) in [
        ("print(staff['age'].mean())", "output 1: staff / age"),
        (
            "print(staff['age'].mean(skipna=True))",
            "output 1: staff / age",
        ),
        (
            "print(staff['age'].dropna().astype(int).sum())",
            "output 1: staff / age",
        ),
        (
            "print(staff[staff['dept'] == 'x']['age'].mean())",
            "output 1: staff / age",
        ),
        (
            "print(staff.loc[(staff['fte'] < 1) & staff['dept'].isin(['x']), 'age'].mean())",
            "output 1: staff / age",
        ),
        (
            "print(staff.query('fte < 1')['age'].mean())",
            "output 1: staff / age",
        ),
        (
            "print((staff['age'] * 2 + staff['fte']).median())",
            "output 1: staff / age fte",
        ),
        (
            "s = staff['age']\nprint(((s - s.mean()) / s.std()).abs().mean())",
            "output 2: staff / age",
        ),
        (
            "print(np.log(staff['age']).mean(), np.mean(staff['age'].values))",
            "output 1: staff / age",
        ),
        (
            "staff['x'] = staff['age'] / staff['fte']\nprint(staff.groupby('dept')['x'].mean())",
            "output 2: staff dept / age fte",
        ),
        (
            "print(staff.groupby('dept')['age'].mean().mean())",
            "output 1: staff / age",
        ),
        (
            "for d, part in staff.groupby('dept'):\n    print(part['age'].mean())",
            "output 2: staff dept / age",
        ),
        (
            "print(staff['age'].corr(staff['fte']))",
            "output 1: staff / age fte",
        ),
        (
            "print(staff['age'].quantile([0.25, 0.75]))",
            "output 1: staff / age",
        ),
        (
            "print(pd.to_datetime(staff['hired']).dt.year.mean())",
            "output 1: staff / hired",
        ),
        (
            "print(staff['name'].str.len().mean())",
            "output 1: staff / name",
        ),
        (
            "print(staff.merge(sales, left_on='dept', right_on='region')['amount'].sum())",
            "output 1: sales / amount",
        ),
        // Conditions that the text writes out.
        (
            "K = 3\nfor y in range(2020, 2025):\n    print(staff[(staff['fte'] == y) & (staff['fte'] > K)]['age'].mean())",
            "output 3: staff / age",
        ),
        (
            "for c in ('age', 'fte'):\n    print((staff[c] > 3).mean(), [(staff[c] > k).sum() for k in (5, 10, 20)])",
            "output 2: staff / age fte",
        ),
        (
            "def share(t, limit=3):\n    top = 9\n    return ((t['age'] > limit) & (t['age'] < top)).mean()\nprint(share(staff), share(staff, 5))",
            "output 4: staff / age",
        ),
        (
            "for c in staff.columns:\n    s = staff[c]\n    a, b = s.quantile([0.25, 0.75])\n    print(((s < a - 1.5 * (b - a)) | (s > b)).sum())",
            "output 4: staff / name email dept age fte hired",
        ),
        (
            "n = len(staff)\nprint((staff['age'] / n).sum(), (staff['age'] > n * 2).mean())",
            "output 2: staff / age",
        ),
        // Tests and scores.
        (
            "from scipy import stats\nx = staff[staff['dept'] == 'a']['age']\nr = stats.ttest_ind(x, staff['fte'])\nt, p = r\nprint(r, t, p, r.pvalue, stats.ttest_1samp(x, 40))",
            "output 5: staff / age fte",
        ),
        (
            "from sklearn.metrics import r2_score, classification_report as report\nprint(r2_score(staff['age'], staff['fte']))\nprint(report(staff['dept'], staff['name']))",
            "output 2: staff / age fte; output 3: staff dept / name",
        ),
        (
            "d = pd.DataFrame({'a': staff['age'].to_numpy(), 'b': pd.cut(staff['fte'], 3).to_numpy()})\nprint(d.groupby('b').size())",
            "output 2: staff ~ fte",
        ),
        // Categories.
        (
            "staff['y'] = pd.to_datetime(staff['hired']).dt.to_period('Q').astype(str)\nprint(staff.groupby(['dept', 'y'])['age'].mean())",
            "output 2: staff dept hired / age",
        ),
        (
            "b = [0, 18, 65, 99]\nprint(staff.groupby(pd.cut(staff['fte'], b))['age'].mean(), staff.groupby(pd.qcut(staff['fte'], 4))['age'].mean())",
            "output 2: staff fte / age",
        ),
        (
            "print(staff.groupby(staff['dept'].map({'a': 'x', 'b': 'y'}))['age'].mean())",
            "output 1: staff dept / age",
        ),
        (
            "print(staff.groupby(pd.Grouper(key='hired', freq='ME'))['age'].sum(), staff.resample('QE', on='hired')['age'].mean())",
            "output 1: staff hired / age",
        ),
        (
            "staff['hired'] = pd.to_datetime(staff['hired'])\nd = staff.set_index('hired')['age']\nprint(d.resample('MS').sum(), d.groupby(d.index.year).mean())",
            "output 3: staff hired / age",
        ),
        (
            "staff.loc[staff['fte'] > 1, 'age'] = np.nan\nprint(staff['age'].mean())",
            "output 2: staff / age",
        ),
        (
            "t = staff.groupby('dept')['age'].mean()\nt.loc['all'] = staff['age'].mean()\nprint(t)",
            "output 3: staff dept / age",
        ),
        (
            "t = staff.pivot_table(index='dept', columns='hired', values='age', aggfunc=['count', 'mean'])\nt.columns = [f'{a}_{b}' for a, b in t.columns]\nt = t[t['count_x'] > 3]\nprint(t)\nprint(staff['age'].mean())",
            "output 4: staff dept hired / age; output 5: staff / age",
        ),
        (
            "print(staff.groupby('dept')['age'].quantile([0.25, 0.75]).unstack())",
            "output 1: staff dept / age",
        ),
        (
            "print(staff[['age', 'fte']].apply(lambda s: s.mean()))",
            "output 1: staff / age fte",
        ),
        (
            "c = ['age', 'fte']\ns = staff.copy()\ns['x'] = s['dept'].str.lower()\nprint(s[c].apply(np.mean))",
            "output 4: staff / age fte",
        ),
        (
            "print(staff['age'].agg(['mean', 'sum']), staff['age'].apply('mean'), staff['age'].agg(np.mean))",
            "output 1: staff / age",
        ),
        (
            "print(staff.groupby('dept').apply(lambda g: (g['age'] * g['fte']).sum() / g['fte'].sum()))",
            "output 1: staff dept / age fte",
        ),
        (
            "s = staff.copy()\ns['age'] = s['age'].fillna(0)\ns['hired'] = pd.to_datetime(s['hired'])\nprint(s['age'].sum(), s['hired'].dt.year.sum())",
            "output 4: staff / age hired",
        ),
        (
            "f = staff.groupby('dept').agg(fte=('fte', 'first'), n=('age', 'size'))\nprint(f['fte'].median(), staff['fte'].sum())",
            "output 2: staff / fte",
        ),
        (
            "print(staff.describe(include=[np.number]), staff['age'].quantile(0.5, interpolation='linear'))",
            "output 1: staff / name email dept age fte hired",
        ),
        (
            "print(staff['age'].where(staff['fte'] < 1).mean())",
            "output 1: staff / age fte",
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
fn values_that_name_columns_stay_as_they_are() {
    let mut wrong = String::new();
    for code in [
        "print(staff.pivot_table(index='dept', columns='name', values='age').mean())",
        "print(staff.pivot_table(index='dept', columns='name', values='age').isna().sum())",
        "p = staff.pivot_table(index='dept', columns=['name'], values='age')\nprint(p.sum().index.tolist())",
        "print(staff.pivot_table(index='dept', columns='name', values='age').corr())",
        "print(staff.pivot_table(index='dept', columns='name', values='age').columns)",
        "for c in staff.pivot_table(index='dept', columns='name', values='age'):\n    print(c)",
        "print(staff.groupby(['dept', 'name'])['age'].mean().unstack().mean())",
        "print(staff.groupby(['dept', 'name']).size().unstack().corr())",
        "print(staff['name'].str.get_dummies().mean())",
        "print(pd.get_dummies(staff['name']).mean())",
        "print(pd.crosstab(staff['dept'], staff['name']).mean())",
        "print(staff.set_index('name')[['age']].T.count())",
        "import statsmodels.formula.api as smf\nprint(smf.ols('age ~ name', data=staff).fit().params.index.tolist())",
        "import statsmodels.formula.api as smf\nprint(smf.ols('age ~ C(name)', data=staff).fit().summary())",
        "import statsmodels.formula.api as smf\nd = staff[['age']]\nprint(smf.ols('age ~ staff.name', data=d).fit().params)",
        "import statsmodels.formula.api as smf\ns = staff.copy()\ns['k'] = s['name'].str.lower()\nprint(smf.ols('age ~ k', data=s).fit().pvalues)",
    ] {
        if !names(code, "name") {
            let _ = write!(wrong, "{code}\n  found: {}\n", leaves(code));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
