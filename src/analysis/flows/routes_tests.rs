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
