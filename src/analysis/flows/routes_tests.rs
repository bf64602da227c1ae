//! Composed snippets: each source of a column, along each route, to each exit. The exit names the column.

use std::fmt::Write as _;

use super::hidden_tests::names;

/// Where the column `age` comes from: one value, and many.
const SOURCES: &[(&str, &str)] = &[
    ("int(staff['age'].iloc[0])", "staff['age']"),
    ("next(iter(staff.age))", "staff.age.to_numpy()"),
    ("staff.at[0, 'age']", "staff['age'].tolist()"),
];
/// Where `r` goes.
const EXITS: &[&str] = &[
    "print(r)",
    "r",
    "open('out.txt', 'w').write(str(r))",
    "raise ValueError(r)",
];

/// Methods and functions of Python and of libraries that put something into what they are given. `VALUE` is one value,
/// `VALUES` are many.
const GIVEN: &[&str] = &[
    "r = []\nlist.append(r, VALUE)",
    "r = []\nlist.extend(r, VALUES)",
    "r = []\nlist.insert(r, 0, VALUE)",
    "r = []\nf = list.append\nf(r, VALUE)",
    "r = []\n{'f': list.append}['f'](r, VALUE)",
    "r = []\ntype(r).append(r, VALUE)",
    "r = []\nlist(map(list.append, [r] * 9, VALUES))",
    "r = []\nlist(map(lambda v: list.append(r, v), VALUES))",
    "import itertools\nr = []\nlist(itertools.starmap(list.append, [(r, VALUE)]))",
    "import functools\nr = []\nfunctools.partial(list.append, r)(VALUE)",
    "import functools\nr = []\nlist(map(functools.partial(list.append, r), VALUES))",
    "import operator\nr = []\noperator.methodcaller('append', VALUE)(r)",
    "import operator\nr = []\nlist(map(operator.methodcaller('append', VALUE), [r]))",
    "import operator\nr = {}\noperator.setitem(r, 'x', VALUE)",
    "import operator\nr = {}\nlist(map(operator.setitem, [r], ['x'], VALUES))",
    "from operator import setitem as put\nr = {}\nlist(map(put, [r], ['x'], VALUES))",
    "import heapq\nr = []\nlist(map(heapq.heappush, [r] * 9, VALUES))",
    "import bisect\nr = []\nbisect.insort(r, VALUE)",
    "r = {}\ndict.update(r, x=VALUE)",
    "r = {}\ndict.setdefault(r, 'x', VALUE)",
    "r = set()\nset.update(r, VALUES)",
    "r = bytearray()\nbytearray.extend(r, str(VALUE).encode())",
    "from collections import deque\nr = deque()\ndeque.append(r, VALUE)",
    "from collections import Counter\nr = Counter()\nCounter.update(r, VALUES)",
    "import io\nb = io.StringIO()\nio.StringIO.write(b, str(VALUE))\nr = b.getvalue()",
    "r = ','.join(map(str, VALUES))",
    "r = str.join(',', map(str, VALUES))",
    "r = pd.DataFrame({'a': range(9)})\npd.DataFrame.insert(r, 0, 'x', VALUES)",
    "r = pd.Series(range(9))\npd.Series.update(r, VALUES)",
    "r = pd.Series.tolist(pd.Series(VALUES))",
    "r = np.zeros(9)\nnp.ndarray.fill(r, VALUE)",
    "r = np.zeros(9)\nnp.add.at(r, 0, VALUE)",
    "r = np.zeros(9)\nlist(map(np.copyto, [r], [VALUES]))",
    "r = []\nnp.vectorize(r.append)(VALUES)",
    "r = []\nnp.frompyfunc(list.append, 2, 1)([r], VALUE)",
    "from concurrent.futures import ThreadPoolExecutor\nr = []\nThreadPoolExecutor().submit(r.append, VALUE)",
    "from joblib import Parallel, delayed\nr = []\nParallel()(delayed(r.append)(v) for v in VALUES)",
    // What functions keep from one call to the next.
    "def make():\n    kept = []\n    def add(v):\n        kept.append(v)\n    def get():\n        return kept\n    return add, get\nadd, get = make()\nadd(VALUE)\nr = get()",
    "def add(v, kept=[]):\n    kept.append(v)\n    return kept\nadd(VALUE)\nr = add(1)",
    "add = lambda v, kept=[]: kept.append(v) or kept\nadd(VALUE)\nr = add(1)",
    "class A:\n    kept = []\n    def add(self, v):\n        self.kept.append(v)\nlist(map(A().add, VALUES))\nr = A.kept",
];

/// Arrays and cells of tables of the snippet's own, and models that others hold.
const VIEWED: &[&str] = &[
    "r = pd.DataFrame({'x': np.zeros(9)})\nr.to_numpy()[:, 0] = VALUE",
    "r = pd.DataFrame({'x': np.zeros(9)})\nm = r.to_numpy()\nm[:, 0] = VALUES",
    "r = pd.DataFrame({'x': np.zeros(9)})\nnp.asarray(r)[:, 0] = VALUES",
    "r = pd.DataFrame({'x': np.zeros(9)})\nr.values[:, 0] = VALUES",
    "r = pd.DataFrame({'x': np.zeros(9)})\nr.get('x')[:] = VALUES",
    "r = np.zeros(9)\ns = pd.Series(r, copy=False)\ns.to_numpy()[:] = VALUES",
    "r = np.zeros((9, 1))\nr.ravel()[:] = VALUES",
    "r = np.zeros(9)\nr.flat[:] = VALUE",
    "r = np.zeros(9)\nnp.put(r, range(9), VALUES)",
    "r = np.zeros(9)\nnp.copyto(r, VALUES)",
    "r = np.zeros(9)\nnp.place(r, r == 0, VALUES)",
    "r = pd.Series(np.zeros(9))\nnp.add(VALUES, 0, out=r.to_numpy())",
    "r = bytearray(8)\nmemoryview(r)[0:1] = bytes([VALUE])",
    "r = []\nd = pd.DataFrame({'x': [r]})\nd.at[0, 'x'].append(VALUE)",
    "r = []\nd = pd.DataFrame({'x': [r]})\nd.iat[0, 0].extend(VALUES)",
    "r = []\npd.Series([r]).iloc[0].append(VALUE)",
    "r = []\npd.Series([r]).item().append(VALUE)",
    "r = []\npd.Series([r]).apply(lambda x: x.append(VALUE))",
    "r = []\npd.Series([r]).apply(list.append, args=(VALUE,))",
    "r = {}\npd.Series([r]).map(lambda x: x.update(a=VALUE))",
    "r = []\nz = np.empty(1, dtype=object)\nz[0] = r\nz[0].append(VALUE)",
    "r = []\nmatch {'k': r}:\n    case {'k': x}:\n        x.append(VALUE)",
    "r = []\npd.Series(VALUES).pipe(lambda s, t: t.extend(s), r)",
    "from sklearn.pipeline import Pipeline\nfrom sklearn.preprocessing import OneHotEncoder\nm = OneHotEncoder()\nPipeline([('m', m)]).fit(pd.DataFrame({'x': VALUES}))\nr = m.categories_",
    "from sklearn.pipeline import FeatureUnion\nfrom sklearn.preprocessing import OneHotEncoder\nm = OneHotEncoder()\nFeatureUnion([('m', m)]).fit(pd.DataFrame({'x': VALUES}))\nr = m.categories_",
    "from sklearn.neighbors import KNeighborsRegressor\nm = KNeighborsRegressor(1)\nfor _, one in [('m', m)]:\n    one.fit(np.eye(9), VALUES)\nr = m._y",
];
/// Texts that a library evaluates.
const EVALUATED: &[&str] = &[
    "x = VALUES\nr = pd.eval('x')",
    "x = VALUES\nr = pd.eval('x + 1', engine='python')",
    "x = VALUES\nr = pd.DataFrame({'z': range(99)})\npd.eval('w = x', target=r, inplace=True)",
    "x = VALUES\nr = pd.DataFrame({'z': range(99)}).query('z in @x')",
    "x = VALUES\nr = pd.DataFrame({'z': range(99)}).eval('w = @x')",
    "x = VALUES\nt = ''.join(map(chr, [120]))\nr = pd.eval(t)",
    "x = VALUES\nt = ''.join(map(chr, [122, 61, 61, 64, 120]))\nr = pd.DataFrame({'z': range(99)}).query(t)",
    "import statsmodels.formula.api as smf\nx = VALUES\nr = smf.ols('z ~ x', data=pd.DataFrame({'z': range(9)})).fit().params",
    "import statsmodels.api as sm\nx = VALUES\nr = sm.OLS.from_formula('z ~ x', pd.DataFrame({'z': range(9)})).fit().params",
    "import patsy\nx = VALUES\nr = patsy.dmatrix('x', pd.DataFrame({'z': range(9)}))",
    "z = np.arange(99)\nr = z[np.isin(z, VALUES)]",
    "z = pd.DataFrame({'z': range(99)})\nr = z[z['z'].isin(VALUES)]",
];
/// What modules, libraries and the run's folder keep.
const KEPT: &[&str] = &[
    "import sys\nsys.argv.append(str(VALUE))\nr = sys.argv",
    "import sys\nsys.argv[1:] = VALUES\nr = sys.argv",
    "import sys\na = sys.argv\na.extend(VALUES)\nr = sys.argv",
    "from sys import argv\nargv.append(VALUE)\nimport sys\nr = sys.argv",
    "import sys\nsys.path.insert(0, str(VALUE))\nr = sys.path",
    "import os\nos.environ.update(X=str(VALUE))\nr = os.getenv('X')",
    "import os\ne = os.environ\ne['X'] = str(VALUE)\nr = os.getenv('X')",
    "import decimal\ndecimal.getcontext().prec = VALUE\nr = decimal.Decimal(1) / 3",
    "import decimal\nwith decimal.localcontext() as c:\n    c.prec = VALUE\n    r = decimal.Decimal(1) / 3",
    "import decimal\ndecimal.setcontext(decimal.Context(prec=VALUE))\nr = decimal.Decimal(1) / 3",
    "pd.options.display.width = VALUE\nr = pd.get_option('display.width')",
    "o = pd.options.display\no.width = VALUE\nr = pd.get_option('display.width')",
    "np.random.seed(VALUE)\nr = np.random.rand()",
    "import random\nrandom.seed(VALUE)\nr = random.random()",
    "import logging\nlogging.getLogger().setLevel(VALUE)\nr = logging.getLogger().level",
    "import logging\nr = []\nlog = logging.getLogger('a')\nlog.addFilter(lambda record: r.append(record.msg) or False)\nlog.error(VALUE)",
    "import logging, io\nb = io.StringIO()\nlogging.getLogger('a').addHandler(logging.StreamHandler(b))\nlogging.getLogger('a').error(VALUE)\nr = b.getvalue()",
    "import logging, io\nb = io.StringIO()\nlogging.basicConfig(stream=b)\nlogging.error(VALUE)\nr = b.getvalue()",
    "import sys, io\nb = io.StringIO()\nsys.stdout = b\nprint(VALUE)\nr = b.getvalue()",
    "import warnings\nr = []\nwarnings.showwarning = lambda *a, **k: r.append(a)\nwarnings.warn(str(VALUE))",
    "import os\nos.makedirs(str(VALUE))\nr = os.listdir()",
    "from pathlib import Path\nPath(str(VALUE)).mkdir()\nr = list(Path('.').iterdir())",
    "from pathlib import Path\nPath('a').rename(str(VALUE))\nr = list(Path('.').iterdir())",
];

/// What is changed as often as a value says, and what a loop finds out.
const COUNTED: &[&str] = &[
    "l = []\nfor _ in range(VALUE):\n    l.append(1)\nr = len(l)",
    "l = []\n[l.append(1) for _ in range(VALUE)]\nr = len(l)",
    "l = []\nlist(map(lambda _: l.append(1), range(VALUE)))\nr = len(l)",
    "l = []\nwhile len(l) < VALUE:\n    l.append(1)\nr = len(l)",
    "r = 0\nfor _ in range(VALUE):\n    r += 1",
    "s = ''\nfor _ in range(VALUE):\n    s += 'x'\nr = len(s)",
    "d = {}\nfor i in range(VALUE):\n    d[i] = 0\nr = len(d)",
    "l = list(range(99))\ndel l[:VALUE]\nr = l",
    "l = list(range(99))\nfor _ in range(VALUE):\n    del l[0]\nr = len(l)",
    "l = list(range(99))\nfor _ in range(VALUE):\n    l.pop()\nr = len(l)",
    "l = [0]\nl *= VALUE\nr = len(l)",
    "r = len(pd.DataFrame({'a': [0] * VALUE}))",
    "it = iter(range(99))\nfor _ in range(VALUE):\n    next(it)\nr = next(it)",
    "import itertools\nr = itertools.count()\nfor _ in range(VALUE):\n    next(r)",
    "it = iter(range(99))\nv = VALUE\nfor e in it:\n    if e == v:\n        break\nr = next(it)",
    "r = 0\nit = iter(range(VALUE))\ntry:\n    while True:\n        next(it)\n        r += 1\nexcept StopIteration:\n    pass",
    "r = 0\nv = VALUE\nfor e in range(99):\n    try:\n        assert e < v\n        r += 1\n    except AssertionError:\n        break",
    "v = VALUE\nr = [e for e in range(99) if e == v]",
    "v = VALUE\nr = next(e for e in range(99) if e == v)",
    "r = [e for e in range(99) if e in VALUES]",
    "v = VALUE\nr = 0\nfor e in range(99):\n    if e == v:\n        r = e",
    "s = pd.Series(VALUES)\nr = 0\nfor e in range(99):\n    if (s == e).any():\n        r = e",
    "r = [e for e in range(99) if (staff['age'] == e).any()]  # VALUES",
    "v = VALUE\nr = []\nfor e in range(99):\n    if e == v:\n        r.append(e)",
    "v = VALUE\nfor r in range(99):\n    if r == v:\n        break",
    "v = VALUE\nr = []\nfor e in range(99):\n    if e != v:\n        continue\n    r.append(e)",
    "v = VALUE\nr = 0\nwhile True:\n    if r == v:\n        break\n    r += 1",
    "v = VALUE\nr, top = 0, 99\nwhile r < top:\n    half = (r + top) // 2\n    if half < v:\n        r = half + 1\n    else:\n        top = half",
    "v = VALUE\nr = 0\nfor i in range(9):\n    if v & (1 << i):\n        r += 1 << i",
    "v = VALUE\nr = ''.join('1' if v >> i & 1 else '0' for i in range(9))",
    "v = VALUE\nr = 0\nfor e in range(99):\n    r += 1 if e < v else 0",
    "v = VALUE\nr = []\nfor e in range(99):\n    e < v and r.append(1)",
    "v = VALUE\nr = 0\nfor e in range(99):\n    match v:\n        case x if x == e:\n            r = e",
    "v = VALUE\ndef find(e):\n    return e if e == v else find(e + 1)\nr = find(0)",
    "v = VALUE\ndef find():\n    for e in range(99):\n        if e == v:\n            return e\nr = find()",
];

fn unnamed(routes: &[&str]) -> String {
    let mut wrong = String::new();
    for route in routes {
        for (one, many) in SOURCES {
            for exit in EXITS {
                let code = route.replace("VALUES", many).replace("VALUE", one);
                let code = format!("{code}\n{exit}");
                if !names(&code, "age") {
                    let told = super::tests::leaves(&code);
                    let _ = write!(wrong, "{code}\n  found: {told}\n");
                }
            }
        }
    }
    wrong
}

#[test]
fn what_is_put_into_an_argument_is_named() {
    let wrong = unnamed(GIVEN);
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_is_put_into_a_view_a_cell_or_a_held_model_is_named() {
    let wrong = unnamed(VIEWED);
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_an_evaluated_text_reads_is_named() {
    let wrong = unnamed(EVALUATED);
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_a_module_or_a_folder_keeps_is_named() {
    let wrong = unnamed(KEPT);
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_is_counted_or_found_out_is_named() {
    let wrong = unnamed(COUNTED);
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_condition_outside_of_a_search_names_nothing() {
    let mut wrong = String::new();
    for (code, wanted) in [
        (
            "for c in staff.columns:\n    if staff[c].isna().any():\n        print(c)",
            "",
        ),
        (
            "for c in ['age', 'fte']:\n    if staff[c].isna().any():\n        print(c)",
            "",
        ),
        ("if staff['age'].mean() > 3:\n    print('x')", ""),
    ] {
        let found = super::tests::leaves(code);
        if found != wanted {
            let _ = write!(wrong, "{code}\n  found:  {found}\n  wanted: {wanted}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_a_function_gets_beside_the_values_keeps_them() {
    let mut wrong = String::new();
    for code in [
        "o = []\ndef add(n, acc):\n    acc.append(n)\nstaff['age'].apply(add, args=(o,))\nprint(o)",
        "o = []\nstaff['age'].apply(lambda n, a: a.append(n), args=(o,))\nprint(o)",
        "s = set()\nt = staff.assign(k=staff['age'].apply(lambda n, s: s.add(n), args=(s,)))\nprint(s)",
        "o = []\ndef f(w, acc):\n    acc.append(w.iloc[0])\n    return 0\nstaff['age'].rolling(1).apply(f, args=(o,))\nprint(o)",
        "o = []\ndef add(n, acc):\n    acc.extend(n)\nstaff.groupby('dept')['age'].agg(add, o)\nprint(o)",
        "import functools\no = []\ndef add(n, acc):\n    acc.append(n)\nstaff['age'].apply(functools.partial(add, acc=o))\nprint(o)",
    ] {
        if !names(code, "age") {
            let _ = writeln!(wrong, "{code}\n  {}", super::tests::leaves(code));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
