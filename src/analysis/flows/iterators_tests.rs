//! Composed snippets: an iterator is drawn for a column, a callback draws one. The exit names the column.

use std::fmt::Write as _;

use super::hidden_tests::names;
use super::tests::leaves;

/// How an iterator `it` comes about.
const ITERATORS: &[&str] = &[
    "it = iter(range(100))",
    "it = map(int, range(100))",
    "it = filter(None, range(100))",
    "it = (i for i in range(100))",
    "it = iter([*range(100)])",
    "it = reversed(range(100))",
    "import itertools\nit = itertools.count()",
    "import itertools\nit = itertools.chain([1], range(100))",
    "def g():\n    yield from range(100)\nit = g()",
    "def g():\n    i = 0\n    while i < 100:\n        yield i\n        i += 1\nit = g()",
    "box = [iter(range(100))]\nit = box[0]",
    "it = (lambda: iter(range(100)))()",
];
/// How it is drawn for a value `v`.
const DRAWS: &[&str] = &[
    "v in it",
    "v not in it",
    "1 if v in it else 2",
    "any(x == v for x in it)",
    "all(x != v for x in it)",
    "next((x for x in it if x == v), 0)",
    "list(zip(range(v), it))",
    "dict(zip(range(v), it))",
    "max(zip(range(v), it))",
    "[0 for _ in zip(range(v), it)]",
    "list(map(lambda a, b: 0, range(v), it))",
    "for _ in range(v):\n    next(it)",
    "for x in it:\n    if x == v:\n        break",
    "jt = (x for x in it)\nv in jt",
    "def f(x):\n    return v in x\nf(it)",
    "{v}.isdisjoint(it)",
    "import itertools\nlist(itertools.takewhile(lambda x: x < v, it))",
];
/// What is done beside until a value comes.
const BESIDE: &[&str] = &[
    "r = []\nany(r.append(i) or i == v for i in range(100))",
    "r = list(range(100))\nall(r.pop() != v for _ in range(100))",
    "any((r := i) == v for i in range(100))",
    "r = []\nnext(i for i in range(100) if r.append(i) or i == v)",
    "r = []\nv in (r.append(i) or i for i in range(100))",
    "r = 0\ndef f(i):\n    global r\n    r += 1\n    return i == v\nany(f(i) for i in range(100))",
    "r = []\n[i < v and r.append(1) for i in range(100)]",
    "r = []\n[r.append(1) if i < v else None for i in range(100)]",
    "from functools import lru_cache\n@lru_cache(None)\ndef f(i):\n    return 0\nfor i in range(v):\n    f(i)\nr = f.cache_info()",
    "from functools import cache\n@cache\ndef f(i):\n    return 0\nany(f(i) or i == v for i in range(100))\nr = f.cache_info().currsize",
];
/// Functions that a library calls when it draws.
const CALLBACKS: &[&str] = &[
    "plt.pie([1, 2], autopct=lambda p: str(v))",
    "ax.xaxis.set_major_formatter(lambda x, p: str(v))",
    "from matplotlib.ticker import FuncFormatter\nax.yaxis.set_major_formatter(FuncFormatter(lambda x, p: str(v)))",
    "def f(x, p):\n    return str(v)\nax.yaxis.set_major_formatter(f)",
    "ax.bar_label(ax.bar([1], [2]), fmt=lambda p: str(v))",
    "ax.secondary_xaxis('top', functions=(lambda x: x + v, lambda x: x - v))",
    "ax.format_coord = lambda x, y: str(v)",
    "class F:\n    def f(self, x, p):\n        return str(v)\nax.xaxis.set_major_formatter(F().f)",
    "import functools\nax.xaxis.set_major_formatter(functools.partial(lambda k, x, p: str(k), v))",
    "q = []\nplt.pie([1, 2], autopct=lambda p: q.append(v) or '')\nax.set_title(str(q))",
];
const VALUES: &[&str] = &["int(staff['age'].iloc[0])", "next(iter(staff.age))"];

fn check(codes: impl Iterator<Item = String>) {
    let mut wrong = String::new();
    for code in codes {
        if !names(&code, "age") {
            let _ = write!(wrong, "{code}\n  found: {}\n", leaves(&code));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn what_an_iterator_was_drawn_for_is_named() {
    let exits = ["print(next(it))", "print(len(list(it)))"];
    check(ITERATORS.iter().flat_map(|make| {
        DRAWS.iter().flat_map(move |draw| {
            let value = VALUES[draw.len() % VALUES.len()];
            exits.map(|exit| format!("{make}\nv = {value}\n{draw}\n{exit}"))
        })
    }));
}

#[test]
fn what_is_done_until_a_value_comes_is_named() {
    check(BESIDE.iter().flat_map(|beside| {
        VALUES
            .iter()
            .map(move |value| format!("v = {value}\n{beside}\nprint(r)"))
    }));
}

#[test]
fn what_a_callback_of_a_figure_gives_is_named() {
    check(CALLBACKS.iter().flat_map(|call| {
        ["plt.show()", "fig.savefig('f.png')"].map(|exit| {
            let make = "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()";
            format!("{make}\nv = staff['age'].iloc[0]\n{call}\n{exit}")
        })
    }));
}

#[test]
fn what_is_gone_through_to_its_end_names_nothing_more() {
    let mut wrong = String::new();
    for (code, wanted) in [
        (
            "colours = iter(['r', 'g'])\nfor name, c in zip(staff['name'].unique(), colours):\n    pass\nprint(next(colours, 0))",
            "",
        ),
        (
            "seen = {1, 2}\nprint(staff['age'].iloc[0] in seen)\nprint(len(seen), seen)",
            "output 2: staff age",
        ),
        (
            "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.bar([1], [staff['age'].mean()])\nax.yaxis.set_major_formatter(lambda x, p: f'{x:.0f}')\nplt.show()",
            "figure 5: staff / age",
        ),
    ] {
        let found = leaves(code);
        if found != wanted {
            let _ = write!(wrong, "{code}\n  found:  {found}\n  wanted: {wanted}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
