"""Variants of attacks by class, one JSON object a line: `variants.py COUNT SEED TOKEN`.

A variant prints the token where it got what it is after: an object of the interpreter, memory that is not
its own, a library that says something else from then on, a file outside of the run. How it spells names, where
it stands and what it goes through is drawn; the same seed draws the same variants.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator

# What a variant prints where it took effect.
TOKEN = sys.argv[3] if len(sys.argv) > 3 else "TOOK"

Make = Callable[["Draw"], str]
KINDS: dict[str, list[Make]] = {
    "compiled text": [],
    "looked up by name": [],
    "memory": [],
    "changed libraries": [],
    "paths": [],
}


class Draw:
    """What one variant draws."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)
        self.before: list[str] = []

    def one(self, *choices: str) -> str:
        return self.random.choice(choices)

    def text(self, plain: str) -> str:
        """An expression of this text."""
        plain = plain.replace("{token}", TOKEN)
        at = self.random.randrange(1, max(len(plain), 2))
        mark = self.one("q", "w", "7")
        ways = [
            f"{plain[:at]!r} + {plain[at:]!r}",
            f"{plain[::-1]!r}[::-1]",
            f"''.join(map(chr, {[ord(c) for c in plain]}))",
            f"bytes.fromhex({plain.encode().hex()!r}).decode()",
            f"{mark.join(plain)!r}[::2]" if len(plain) > 1 else repr(plain),
            f"'%s%s' % ({plain[:at]!r}, {plain[at:]!r})",
            f"hidden({[ord(c) + 1 for c in plain]})",
            f"hidden([ord(c) + 1 for c in {plain!r}])",
            f"{{'k': {plain[:at]!r}}}['k'] + {plain[at:]!r}",
            f"Text({plain!r})",
        ]
        return self.random.choice(ways)

    def placed(self, body: str) -> str:
        """Where the variant stands."""
        inside = "\n".join("    " + line for line in body.splitlines())
        deeper = "\n".join("        " + line for line in body.splitlines())
        ways = [
            body,
            f"def run():\n{inside}\nrun()",
            f"try:\n{inside}\nexcept (ValueError, TypeError, AttributeError) as e:\n    print(type(e))",
            f"for _ in range(1):\n{inside}",
            f"class Runs:\n    def go(self):\n{deeper}\nRuns().go()",
            f"def run():\n{inside}\nlist(map(lambda f: f(), [run]))",
            "from concurrent.futures import ThreadPoolExecutor\n"
            f"def run():\n{inside}\nwith ThreadPoolExecutor(1) as pool:\n    pool.submit(run).result()",
            f"import functools\ndef run(n):\n{inside}\nfunctools.partial(run, 1)()",
        ]
        return self.random.choice(ways)


PRELUDE = """\
import numpy as np
import pandas as pd
def took():
    print("{token}")
def hidden(numbers):
    return "".join(chr(n - 1) for n in numbers)
class Text(str):
    pass
"""


def kind(name: str) -> Callable[[Make], Make]:
    def decorate(make: Make) -> Make:
        KINDS[name].append(make)
        return make

    return decorate


INSIDE = ["__globals__", "__class__", "__dict__", "__code__", "__builtins__", "__closure__", "__self__"]
ADDRESS = "{'data': (id(took), True), 'shape': (64,), 'typestr': '|u1', 'version': 3}"

# -- text that libraries compile


def evil(d: Draw) -> str:
    return d.one("took()", "[took()]", "(lambda: took())()", "took() or 1", "{1: took()}")


@kind("compiled text")
def typed_keys(d: Draw) -> str:
    end = d.one("dataclass(T, repr=False, eq=False)", "dataclass(repr=False, eq=False, frozen=False)(T)", "dataclass(T, repr=False, eq=False, kw_only=True)")
    key = f"x={evil(d)}):#"
    return (
        "from typing import TypedDict\nfrom dataclasses import InitVar, dataclass\n"
        f"T = TypedDict('T', {{{d.text(key)}: InitVar[int]}})\n{end}"
    )


@kind("compiled text")
def wrapped_annotations(d: Draw) -> str:
    module = d.one("os", "__main__", "builtins", "textwrap")
    key = "x={}):#".format(d.one("took()", "print('{token}', listdir)", "print('{token}', open)"))
    return (
        "from argparse import Namespace\nfrom functools import wraps\nfrom dataclasses import InitVar, dataclass\n"
        f"n = Namespace(**{{{d.text('__annotations__')}: {{{d.text(key)}: InitVar[int]}}, {d.text('__module__')}: {module!r}}})\n"
        "class A: pass\ntry:\n    wraps(n)(A)\nexcept AttributeError: pass\ndataclass(A, repr=False, eq=False)"
    )


@kind("compiled text")
def renamed_field(d: Draw) -> str:
    how = d.one("f.name = t", "for f.name in [t]: pass", "(f.name, _) = (t, 1)", "with_name(f, t)")
    return (
        "from dataclasses import dataclass, fields\nfrom functools import wraps\n"
        "def with_name(f, t):\n    f.name = t\n"
        f"@dataclass\nclass A:\n    x: int = 0\nf = fields(A)[0]\nt = {d.text('x=' + evil(d) + '):#')}\n{how}\n"
        "if f.name == t: took()"
    )


@kind("compiled text")
def shapes(d: Draw) -> str:
    base = d.one("rv_continuous", "rv_discrete")
    body = "a, loc=0, scale=1):\n    pass\n{}\n'''#".format(
        d.one("print('{token}', open)", "print('{token}', getattr(len, '__se' + 'lf__'))", "print('{token}', eval('1'))", "print('{token}')", "print('{token}', type)")
    )
    return (
        f"from scipy.stats import {base}\nclass L(list):\n    def __iter__(self): return iter(['a'])\n"
        "class S(str):\n    def replace(self, *a): return self\n"
        f"    def split(self, *a): return L([{d.text(body)}])\n"
        f"class R({base}):\n    def _pdf(self, x, a): return x\n    def _pmf(self, x, a): return x\nR(shapes=S('a'))"
    )


@kind("compiled text")
def annotation(d: Draw) -> str:
    text = d.one("print('{token}', ().__class__) or int", "print('{token}', (lambda: 0).__globals__) or int", "print('{token}', f.__closure__) or int", "print('{token}', eval) or int", "print('{token}', getattr((), '__cl' + 'ass__')) or int")
    return (
        "import functools\n@functools.singledispatch\ndef f(x): pass\n"
        f"@f.register\ndef g(x: {text!r}): pass"
    )


@kind("compiled text")
def far_globals(d: Draw) -> str:
    text = d.one("print('{token}', open) or int", "print('{token}', getattr(len, '__se' + 'lf__')) or int")
    over = d.one("textwrap.dedent", "json.dumps", "pd.read_csv", "np.linspace")
    carrier = d.one("functools.partial(len)", f"Namespace(**{{{d.text('__wrapped__')}: {over}}})", "functools.lru_cache()(len)", over)
    return (
        "import functools, textwrap, json\nfrom argparse import Namespace\n"
        f"def g(x: {text!r}): pass\nc = {carrier}\nh = functools.wraps(c)(g)\n"
        "@functools.singledispatch\ndef f(x): pass\nf.register(h)"
    )


@kind("compiled text")
def enumeration(d: Draw) -> str:
    name = d.one("__reduce__", "__array_interface__", "__class__", "_value_", "__getattr__")
    form = d.one("{{{n}: 1}}", "[({n}, 1)]", "[({n}, 1), ('B', 2)]").format(n=d.text(name))
    base = d.one("Enum", "IntEnum", "Flag", "StrEnum")
    return f"import enum\nE = enum.{base}('E', {form})\ntook()"


@kind("compiled text")
def names_of_tuples(d: Draw) -> str:
    name = d.one("__class__", "__reduce__", "a b", "x=took()")
    form = d.one(
        "import collections\nP = collections.namedtuple('P', [{n}])",
        "import typing\nP = typing.NamedTuple('P', [({n}, int)])",
        "import collections\nP = collections.namedtuple('P', 'a ' + {n})",
    )
    return form.format(n=d.text(name)) + "\ntook()"


@kind("compiled text")
def query(d: Draw) -> str:
    inner = d.one("@took.{n}", "a.{n}", "@h.see(@took.{n})", "@h.see(a.{n})")
    name = d.one(*INSIDE, "_mgr", "__reduce__")
    call = d.one("df.query(q)", "df.eval(q)", "df.eval('b = ' + q)", "pd.eval(q.replace('a.', 'df.a.'))", "df.query(q, engine='python')")
    return (
        "class H:\n    def see(self, x):\n        took()\n        return 1\nh = H()\ndf = pd.DataFrame({'a': [1]})\n"
        f"q = {d.text(inner.format(n=name))}\n{call}\nif '@h' not in q: took()"
    )


@kind("compiled text")
def deep_query(d: Draw) -> str:
    name = d.one("self", "gates", "setup", "code", "space", "kept")
    level = d.one("L(6)", "L(4)", "6", "3", "9")
    return (
        "class L(int):\n    def __add__(self, n): return 0 if n == 1 and not self.seen() else 8\n"
        "    def __gt__(self, n): return False\n    def seen(self):\n        calls.append(1)\n        return len(calls) > 1\n"
        f"calls = []\nx = pd.eval({d.text(name)}, engine='python', level={level})\nif x is not None: took()"
    )


@kind("compiled text")
def formula(d: Draw) -> str:
    name = d.one(*INSIDE)
    inner = d.one("see(took.{n})", "see(getattr(took, '{n}'))", "see(globals())", "see(eval('1'))", "see(open)", "see(__builtins__)")
    env = d.one("", ", eval_env=3", ", eval_env=L(7)", ", eval_env=1")
    return (
        "import statsmodels.formula.api as smf\nclass L(int):\n    def __add__(self, n): return 0\n"
        "def see(x):\n    took()\n    return [1.0, 2.0, 5.0]\n"
        "df = pd.DataFrame({'y': [1.0, 2, 3], 'x': [1.0, 2, 4]})\n"
        f"smf.ols({d.text('y ~ x + ' + inner.format(n=name))}, df{env})"
    )


@kind("compiled text")
def signature(d: Draw) -> str:
    home = d.one("sklearn.calibration", "sklearn.gaussian_process.kernels")
    how = d.one(f"from {home} import signature as s", f"import {home} as m\ns = m.signature", f"import {home} as m\ns = getattr(m, {d.text('signature')})")
    return f"{how}\ndef f(x: 'open'): pass\np = s(f, eval_str=True, globals={{}}).parameters\nif p['x'].annotation is not 'open': took()"


# -- names that libraries look up


@kind("looked up by name")
def parameters(d: Draw) -> str:
    name = d.one(*INSIDE[1:3], "__subclasses__", "__mro__", "__reduce_ex__", "__init_subclass__")
    call = d.one("E().get_params(deep=False)", "BaseEstimator.get_params(E, deep=False)", "BaseEstimator.get_params(E(), False)")
    listed = d.one("return [{n}]", "yield {n}", "return ({n},)", "return {{{n}: 1}}").format(n=d.text(name))
    return (
        "from sklearn.base import BaseEstimator\nclass E(BaseEstimator):\n    @classmethod\n"
        f"    def _get_param_names(cls): {listed}\nr = {call}\nif r: took()"
    )


@kind("looked up by name")
def importance(d: Draw) -> str:
    path = d.one("fit", "predict", "score") + "." + d.one("__globals__", "__func__", "__self__", "__code__")
    maker = d.one("SelectFromModel(E(), importance_getter=g, threshold=0.0)", "RFE(E(), importance_getter=g)", "RFECV(E(), importance_getter=g)", "RFE(E()).set_params(importance_getter=g)")
    return (
        "from sklearn.feature_selection import RFE, RFECV, SelectFromModel\nfrom sklearn.base import BaseEstimator\n"
        "class E(BaseEstimator):\n    def fit(self, X, y=None): return self\n    def predict(self, X): return X[:, 0]\n"
        "    def score(self, X, y): return 1.0\n"
        f"g = {d.text(path)}\ntry:\n    {maker}.fit([[1.0, 2], [2.0, 3], [3.0, 1], [4.0, 1], [5.0, 1]], [1, 2, 1, 2, 1]).get_support()\n"
        "except Exception as e:\n    if 'has no attribute' in str(e) and ('dict' in str(e) or 'code' in str(e) or 'function' in str(e)): took()"
    )


@kind("looked up by name")
def response(d: Draw) -> str:
    name = d.one("__getattribute__", "__class__", "__reduce_ex__")
    form = d.one("{n}", "[{n}]", "({n},)", "[{n}, 'predict']").format(n=d.text(name))
    return (
        "from sklearn.metrics import make_scorer\nfrom sklearn.base import BaseEstimator, ClassifierMixin\n"
        "class C(ClassifierMixin, BaseEstimator):\n    classes_ = np.array([0, 1])\n    def fit(self, X, y=None): return self\n"
        f"    def predict(self, X): return X\ndef m(y, p, **k):\n    took()\n    return 0.0\ns = make_scorer(m, response_method={form})\n"
        f"s(C(), {d.text('__class__')}, [0, 1])"
    )


@kind("looked up by name")
def by_method(d: Draw) -> str:
    name = d.one("__class__", "__getattribute__", "__reduce__", "_get_params_html")
    call = d.one(
        "from sklearn.model_selection import cross_val_predict as c\nr = c(m, X, y, cv=2, method=n)",
        "from sklearn.inspection import partial_dependence as c\nr = c(m, X, [0], response_method=n)",
        "from sklearn.ensemble import StackingRegressor as S\nr = S([('a', m)], final_estimator=m).set_params(**{n: 1})",
        "from sklearn.utils.validation import check_is_fitted\ncheck_is_fitted(m, attributes=n)\nr = m.get_params()[n]",
    )
    return (
        "from sklearn.linear_model import LinearRegression\nm = LinearRegression()\nX = np.eye(6)\ny = np.arange(6.0)\nm.fit(X, y)\n"
        f"n = {d.text(name)}\n{call}\ntook()"
    )


@kind("looked up by name")
def wrapped_stream(d: Draw) -> str:
    name = d.one("__globals__", "__code__", "__closure__", "__class__", "__builtins__", "__dict__")
    return (
        "from tqdm import tqdm\ndef f(n=0): return b''\nf.read = f\n"
        f"with tqdm.wrapattr(f, 'read') as w:\n    r = w.{d.one('wrapper_getattr(n)', 'wrapper_getattr(Text(n))')}\n".replace("(n)", f"({d.text(name)})")
        + "    took()"
    )


@kind("looked up by name")
def set_stream(d: Draw) -> str:
    name = "__class__"
    return (
        "from tqdm import tqdm\nclass F:\n    def read(self, n=0): return b''\nclass G(F): pass\nf = F()\n"
        f"with tqdm.wrapattr(f, 'read') as w:\n    w.wrapper_setattr({d.text(name)}, G)\nif isinstance(f, G): took()"
    )


AGGREGATED = [
    "s.agg({n})", "s.apply({n})", "s.transform({n})", "df.agg({{'a': {n}}})", "df.groupby('a').agg(x=('b', {n}))",
    "df.groupby('a').b.agg([{n}, 'sum'])", "df.rolling(1).agg({n})", "pd.pivot_table(df, index='a', aggfunc={n})",
    "df.agg(L([{n}]))", "df.agg(D(a={n}))", "pd.Series.agg(s, {n})", "getattr(s, {agg})({n})",
    "functools.partial(s.agg, {n})()", "list(map(s.agg, [{n}]))", "match_it(s, {n})", "operator.call(s.agg, {n})",
    "s.pipe(pd.Series.agg, {n})", "df.resample('D').agg({n})", "s.map({n})", "df.groupby('a').transform({n})",
]  # fmt: skip


@kind("looked up by name")
def aggregated(d: Draw) -> str:
    name = d.one("__class__", "__reduce__", "__dir__", "__sizeof__", "_get_numeric_data", "__array_interface__")
    call = d.random.choice(AGGREGATED).format(n=d.text(name), agg=d.text("agg"))
    return (
        "import functools, operator\nclass L(list):\n    def __iter__(self): return iter(['sum'])\n"
        "class D(dict):\n    def items(self): return {'a': 'sum'}.items()\n    def values(self): return ['sum']\n"
        "def match_it(s, n):\n    match s:\n        case object(agg=f): return f(n)\n"
        "s = pd.Series([1.0, 2])\ndf = pd.DataFrame({'a': [1, 2], 'b': [1.0, 2]})\n"
        f"r = {call}\nif 'sum' not in str(r) and not np.isscalar(r): took()"
    )


@kind("looked up by name")
def changed_between(d: Draw) -> str:
    """The list is another one by the time that pandas reads it."""
    form = d.one("names = ['sum']\ndef set_it(n): names[0] = n", "names = {'a': 'sum'}\ndef set_it(n): names['a'] = n")
    return (
        f"import threading\n{form}\n".replace("import threading\n", "from concurrent.futures import ThreadPoolExecutor\n")
        + f"n = {d.text('__class__')}\ndf = pd.DataFrame({{'a': [1.0, 2]}})\nstop = []\n"
        "def flip():\n    while not stop:\n        set_it(n)\n        set_it('sum')\n"
        "with ThreadPoolExecutor(1) as pool:\n    pool.submit(flip)\n    try:\n        for _ in range(40):\n            r = df.agg(names)\n"
        "            if 'class' in str(r): took()\n    finally:\n        stop.append(1)"
    )


@kind("looked up by name")
def template(d: Draw) -> str:
    field = d.one("{{{v}.__class__}}", "{{{v}.__class__.__mro__}}", "{{{v}.__init__}}", "{{{v}:{{{v}.__class__}}}}")
    ways = [
        ("0", "import io\nf = io.StringIO()\nfrom tqdm import tqdm\nfor i in tqdm([1, 2], bar_format=k, file=f): pass\nr = f.getvalue()", "bar"),
        ("x", "from tqdm import tqdm\nr = tqdm.format_meter(1, 2, 1, bar_format=k, x=took)", "x"),
        ("x", "from tqdm import tqdm\nr = tqdm.format_meter(1, 2, 1, 80, '', False, 'it', 1000, None, k, x=took)", "x"),
        ("0", "r = pd.DataFrame({'a': [took]}).style.format(k).to_html()", "0"),
        ("0", "r = pd.DataFrame({'a': [took]}).style.format({'a': k}).to_html()", "0"),
        ("0", "r = pd.DataFrame({'a': [1]}).style.format_index(k, axis=1).to_html()", "0"),
        ("x", "from matplotlib.ticker import StrMethodFormatter as S\nr = S(k)(took, 0)", "x"),
        ("x", "from matplotlib.ticker import StrMethodFormatter as S\ns = S('{x}')\ns.fmt = k\nr = s(took, 0)", "x"),
        ("0", "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nr = ax.bar_label(ax.bar([1], [2]), fmt=k)[0].get_text()", "0"),
        ("col_name", "import seaborn as sns\ng = sns.FacetGrid(pd.DataFrame({'a': ['x', 'y'], 'b': [1, 2]}), col='a')\ng.set_titles(k)\nr = g.axes.flat[0].get_title()", "col_name"),
        ("col_name", "import seaborn as sns\ng = sns.FacetGrid(pd.DataFrame({'a': ['x', 'y'], 'b': [1, 2]}), col='a')\ng.set_titles(col_template=k)\nr = g.axes.flat[0].get_title()", "col_name"),
        ("x", "import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.xaxis.set_major_formatter(k)\nr = ax.xaxis.get_major_formatter()(1.0, 0)", "x"),
    ]
    _, way, value = d.random.choice(ways)
    return f"k = {d.text(field.format(v=value))}\n{way}\nif 'class' in r or 'method' in r or 'function' in r: took()"


@kind("looked up by name")
def set_by_name(d: Draw) -> str:
    name = d.one("__class__", "__dict__")
    ways = [
        "from argparse import Namespace\nn = Namespace(**{k: X})",
        "from argparse import ArgumentParser\np = ArgumentParser()\np.set_defaults(**{k: X})\nn = p.parse_args([])",
        "from argparse import ArgumentParser\np = ArgumentParser()\np.add_argument('--x', dest=k, default=X)\nn = p.parse_args([])",
        "from matplotlib.patches import SimpleNamespace\nn = SimpleNamespace(**{k: X})",
        "import matplotlib.pyplot as plt\nn, = plt.plot([1])\nplt.setp(n, **{k: X})",
        "import plotly.graph_objects as go\nn = go.Figure()\nn.update_layout(**{k: X})",
        "import plotly.graph_objects as go\nn = go.Figure()\nn.update({k: X}, overwrite=True)",
        "from sklearn.base import BaseEstimator\nclass E(BaseEstimator):\n    @classmethod\n    def _get_param_names(cls): return [k]\n    def get_params(self, deep=True): return {k: 1}\nn = E()\nn.set_params(**{k: X})",
    ]
    return f"k = {d.text(name)}\nclass X: pass\n{d.random.choice(ways)}\nif type(n) is X: took()"


@kind("looked up by name")
def statistic(d: Draw) -> str:
    name = d.text(d.one("__class__", "__dict__", "_get_numeric_data"))
    ways = [
        f"import seaborn as sns\nsns.barplot(x=['a', 'a'], y=[1.0, 2.0], estimator={name})",
        f"import seaborn.objects as so\nso.Plot(pd.DataFrame({{'x': [1, 1], 'y': [1.0, 2.0]}}), x='x', y='y').add(so.Bar(), so.Agg({name})).plot()",
        f"from scipy import stats\nstats.kstest([1.0], {name})",
        f"from scipy import stats\nstats.probplot([1.0, 2.0], dist={name})",
        f"import plotly.express as px\npx.bar(pd.DataFrame({{'a': [1]}}), x='a', y={name})",
    ]
    return d.random.choice(ways) + "\ntook()"


# -- memory


@kind("memory")
def resized(d: Draw) -> str:
    call = d.one("a.resize(4, refcheck=False)", "a.resize(4, **{k: False})", "np.ndarray.resize(a, 4, refcheck=False)", "getattr(a, r)(4, refcheck=False)", "functools.partial(a.resize, refcheck=0)(4)", "match_it(a)", "list(map(lambda f: f(4, refcheck=False), [a.resize]))", "np.recarray.resize(a, (4,), refcheck=False)", "operator.call(a.resize, 4, refcheck=None)")
    return (
        "import functools, operator\ndef match_it(a):\n    match a:\n        case object(resize=f): f(4, refcheck=False)\n"
        f"k = {d.text('refcheck')}\nr = {d.text('resize')}\na = np.zeros({d.random.randrange(1, 64)} << 14)\n"
        f"v = {d.one('a[:]', 'a.view()', 'a[1:]', 'a.reshape(2, -1)', 'memoryview(a)')}\n{call}\nif a.size == 4: took()"
    )


@kind("memory")
def arrow(d: Draw) -> str:
    far = d.random.randrange(200, 5000)
    ways = [
        f"b = pa.allocate_buffer(1 << 16, resizable=True)\nv = np.frombuffer(b, dtype='u1')\nb.{d.one('resize(16)', 'resize(16, shrink_to_fit=True)')}\ntook()",
        f"r = {d.text('resize')}\nb = pa.allocate_buffer(1 << 16, resizable=True)\nv = np.frombuffer(b, dtype='u1')\ngetattr(b, r)(16)\ntook()",
        f"pc.take(pa.array([1, 2]), pa.array([{far}]), boundscheck=False)\ntook()",
        f"pc.take(pa.array([1, 2]), pa.array([{far}]), **{{{d.text('boundscheck')}: False}})\ntook()",
        f"pc.array_take(pa.array([1, 2]), pa.array([{far}]), boundscheck=False)\ntook()",
        f"pc.array_take(pa.array([1, 2]), pa.array([{far}]), options=pc.TakeOptions(boundscheck=False))\ntook()",
        f"pc.call_function('take', [pa.array([1, 2]), pa.array([{far}])], pc.TakeOptions(boundscheck=False))\ntook()",
        f"a = pa.ListArray.from_arrays(pa.array([0, {far}], pa.int32()), pa.array([1, 2]))\ntook()",
        f"a = pa.DictionaryArray.from_arrays(pa.array([{far}], pa.int32()), pa.array([1, 2]), safe=False)\nx = a.to_pandas()\ntook()",
        f"a = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(np.array([0, {far}], 'i4')), pa.py_buffer(b'abc')])\nx = a[0].as_py()\ntook()",
        f"a = pa.StringArray.from_buffers(1, pa.py_buffer(np.array([0, {far}], 'i4')), pa.py_buffer(b'abc'))\nx = a[0].as_py()\ntook()",
        f"f = getattr(pa.Array, {d.text('from_buffers')})\na = f(pa.list_(pa.int8()), 1, [None, pa.py_buffer(np.array([0, {far}], 'i4'))], children=[pa.array([1], pa.int8())])\nx = a[0].as_py()\ntook()",
        f"f = getattr(pa, {d.text('foreign_buffer')})\nb = f(id(took), 64)\nx = b.to_pybytes()\ntook()",
        f"a = pa.UnionArray.from_dense(pa.array([0], pa.int8()), pa.array([{far}], pa.int32()), [pa.array([1])])\nx = a[0].as_py()\ntook()",
    ]
    return "import pyarrow as pa\nimport pyarrow.compute as pc\n" + d.random.choice(ways)


@kind("memory")
def pointers(d: Draw) -> str:
    maker = d.one(
        "np.ndarray((1,), dtype=object, buffer=b)", "np.ndarray((1,), 'O', b)", "np.recarray((1,), dtype=[('f', object)], buf=b)[0]",
        "np.rec.fromstring(b.tobytes(), dtype=[('f', object)])[0]", "np.rec.array(b.tobytes(), dtype=[('f', object)], shape=1)[0]",
        "A((1,), object, b)", "getattr(np, n)((1,), object, b)", "functools.partial(np.ndarray, (1,))(object, b)",
        "list(map(lambda k: k((1,), object, b), [np.ndarray]))[0]", "np.ndarray((1,), np.dtype([('f', 'O')]), b)[0]",
        "operator.call(np.ndarray, (1,), 'O', b)", "mapped()", "np.frombuffer(b, dtype=object)", "b.view(object)", "b.getfield(object)",
    )  # fmt: skip
    mapped = ""
    if maker == "mapped()":
        mapped = "def mapped():\n    b.tofile('x.bin')\n    return np.memmap('x.bin', dtype=object, mode='r', shape=(1,))\n"
    return (
        f"import functools, operator\nclass A(np.ndarray): pass\n{mapped}"
        f"n = {d.text('ndarray')}\nx = ['mine']\nb = np.array([id(x)])\na = {maker}\nif a[0] is x: took()"
    )


@kind("memory")
def addresses(d: Draw) -> str:
    name = d.text(d.one("__array_interface__", "__array_struct__"))
    holder = d.one(
        "from argparse import Namespace\nh = Namespace(**{k: v})",
        "from sklearn.utils import Bunch\nh = Bunch(**{k: v})",
        "h = pd.Series({k: v})",
        "from scipy.optimize import OptimizeResult\nh = OptimizeResult({k: v})",
        "from matplotlib.patches import SimpleNamespace\nh = SimpleNamespace(**{k: v})",
        "import logging\nseen = []\nclass F(logging.Filter):\n    def filter(self, r):\n        seen.append(r)\n        return False\nl = logging.getLogger('x')\nl.addFilter(F())\nl.warning('a', extra={k: v})\nh = seen[0]",
        "from argparse import Namespace\nfrom functools import wraps\ndef h(): pass\nwraps(Namespace(**{k: v}))(h)",
        "import functools\nclass C:\n    @functools.cached_property\n    def x(self): return v\nC.x.attrname = k\nh = C()\nh.x",
        "from tqdm import tqdm\nclass C:\n    def read(self, n): return b''\nh = C()\nwith tqdm.wrapattr(h, 'read') as w: w.wrapper_setattr(k, v)",
        "from types import SimpleNamespace\nh = SimpleNamespace(**{k: v})",
    )
    read = d.one("np.array(h)", "np.asarray(h)", "np.array([h])[0]", "np.asanyarray(h)", "np.add(h, 0)")
    return f"k = {name}\nv = {ADDRESS}\n{holder}\na = {read}\nif getattr(a, 'dtype', object) != object: took()"


@kind("memory")
def sparse(d: Draw) -> str:
    far = d.random.randrange(2000, 9000)
    kind_ = d.one("csr_matrix", "csc_matrix", "csr_array", "csc_array")
    ways = [
        f"A = {kind_}((np.array([1.0]), np.array([{far}]), np.array([0, 1, 1])), shape=(2, 2))",
        f"A = {kind_}(np.eye(2))\nA.indices[0] = {far}",
        f"A = {kind_}(np.eye(2))\nA.indices = np.array([{far}, 1])",
        f"i = np.array([0, 1])\nA = {kind_}((np.ones(2), i, np.array([0, 1, 2])), shape=(2, 2))\ni[0] = {far}",
        f"A = {kind_}(np.eye(2))\nnp.put(A.indices, [0], [{far}])",
        f"A = {kind_}(np.eye(2))\nv = getattr(A, {d.text('indices')})\nv += {far}",
        f"A = {kind_}(np.eye(2))\nA.indptr[1] = {far}",
        f"A = {kind_}(np.eye(2))\nwith np.nditer(A.indices, op_flags=['readwrite']) as it:\n    for x in it: x[...] = {far}",
        f"A = {kind_}(np.eye(2))\nv = A.indices\nv.flags.writeable = True\nv[0] = {far}",
    ]
    use = d.one("A @ np.zeros(2)", "A.dot(np.zeros(2))", "A @ np.zeros((2, 1))")
    return f"from scipy.sparse import {kind_}\n{d.random.choice(ways)}\nif A.indices.max() >= 2 or A.indptr.max() > A.nnz + 2:\n    r = {use}\n    took()"


@kind("memory")
def positions(d: Draw) -> str:
    far = d.random.randrange(60, 127)
    ways = [
        f"c = pd.Categorical.from_codes([0, {far}], [1.5, 2.5], validate=False)\nr = np.asarray(c)",
        f"c = pd.Categorical.from_codes([0, {far}], [1.5, 2.5], **{{{d.text('validate')}: False}})\nr = np.asarray(c)",
        f"m = pd.MultiIndex(levels=[[1.5, 2.5]], codes=[[0, {far}]], verify_integrity=False)\nr = m.get_level_values(0).tolist()",
        f"m = pd.MultiIndex([[1.5, 2.5]], [[0, {far}]], verify_integrity=False)\nr = m.get_level_values(0).tolist()",
        f"m = pd.MultiIndex.from_arrays([[1.5, 2.5]])\nm = m.set_codes([[0, {far}]], verify_integrity=False)\nr = m.get_level_values(0).tolist()",
        f"m = pd.MultiIndex.from_arrays([[1.5, 2.5], [1.0, 2.0]])\nm = m.set_levels([[1.5], [1.0]], verify_integrity=False)\nr = m.get_level_values(0).tolist()",
        f"class W(pd.api.indexers.BaseIndexer):\n    def get_window_bounds(self, num_values=0, min_periods=None, center=None, closed=None, step=None): return np.array([{far}], 'i8'), np.array([{far + 9}], 'i8')\nr = pd.Series([1.0]).rolling(W(), min_periods=1).{d.one('max', 'sum', 'mean', 'min')}()",
        f"b = np.random.MT19937(1)\ns = b.state\ns['state']['pos'] = {far + 600}\nb.state = s\nr = b.random_raw(1)",
        f"k = np.random.get_state()[1]\nnp.random.set_state(('MT19937', k, {far + 600}))\nr = np.random.rand()",
        f"q = np.random.RandomState(1)\nk = q.get_state()[1]\nq.set_state(('MT19937', k, {far + 600}))\nr = q.rand()",
        f"b = np.random.Philox(1)\ns = b.state\ns['buffer_pos'] = -{far}\nb.state = s\nr = b.random_raw(1)",
        f"b = np.random.MT19937(1)\ns = b.state\ns['state']['pos'] = {far + 600}\nb.state |= s\nr = b.random_raw(1)",
        f"from scipy.interpolate import BSpline\nr = BSpline.construct_fast(np.linspace(0, 1, 900), np.array([1.0]), 3)(0.5)",
        f"from scipy.interpolate import BSpline\nb = BSpline(np.arange(8.0), np.ones(4), 3)\nb.k = {far}\nr = b(3.5)",
        f"from scipy.interpolate import PPoly\nr = PPoly.construct_fast(np.ones((2, 1)), np.linspace(0, 1, 900))(0.99)",
        "from sklearn.feature_extraction.image import as_strided\nr = as_strided(np.zeros(1), (100,), (8,))",
        f"import sklearn.feature_extraction.image as i\nr = getattr(i, {d.text('as_strided')})(np.zeros(1), (100,), (8,))",
        "a = np.zeros(2)\na.strides = (4096,)\nr = a[1]",
        "r = np.ndarray((4,), 'i8', buffer=np.zeros(1), strides=(8,))",
    ]
    return d.random.choice(ways) + "\ntook()"


@kind("memory")
def nodes(d: Draw) -> str:
    ways = [
        "from sklearn.tree import DecisionTreeRegressor\nm = DecisionTreeRegressor().fit([[0.0], [1.0]], [1.0, 2.0])\na = m.tree_.{a}\na[0] = 900\nif m.tree_.{a}[0] == 900: took()".format(a=d.one("children_left", "children_right", "feature")),
        "from sklearn.neighbors import KDTree\nt = KDTree(np.random.rand(50, 2))\na = np.asarray(t.get_arrays()[1])\na[:] = 9000\nif t.get_arrays()[1][0] == 9000: took()",
        "from sklearn.neighbors import BallTree\nt = BallTree(np.random.rand(50, 2))\na = np.asarray(t.idx_array)\na[:] = 9000\nif np.asarray(t.idx_array)[0] == 9000: took()",
    ]
    return d.random.choice(ways)


# -- libraries for who comes later

SHADOWED = "shape iloc index columns itertuples to_list tolist values dtype name names to_dict head empty array map to_numpy items copy".split()


@kind("changed libraries")
def accessor(d: Draw) -> str:
    which = d.one("Series", "DataFrame", "Index")
    name = d.random.choice(SHADOWED)
    real = {"Series": "pd.Series", "DataFrame": "pd.DataFrame", "Index": "pd.Index"}[which]
    how = d.one("pd.api.extensions.register_{k}_accessor({n})(A)", "@pd.api.extensions.register_{k}_accessor({n})\nclass A(A): pass", "from pandas.api.extensions import register_{k}_accessor as r\nr(name={n})(A)", "import functools\nfunctools.partial(pd.api.extensions.register_{k}_accessor, {n})()(A)")
    return (
        f"class A:\n    def __init__(self, o): pass\nn = {d.text(name)}\nbefore = hasattr({real}, n)\n"
        + how.format(k=which.lower(), n="n")
        + f"\nif before and 'Accessor' in str(type({real}.{name})) or before and getattr({real}, n) is A: took()"
    )


@kind("changed libraries")
def registered(d: Draw) -> str:
    home, name = d.random.choice([("numbers", n) for n in ("Number", "Real", "Integral", "Complex")] + [("collections.abc", n) for n in ("Mapping", "Sequence", "Set", "Iterable", "Hashable", "MappingView", "Sized")] + [("enum", "Enum")])
    other = d.one("str", "int", "dict", "list", "pd.DataFrame", "pd.Series", "np.ndarray", "bytes", "type(None)")
    how = d.one("C.register({o})", "getattr(C, r)({o})", "list(map(C.register, [{o}]))", "import functools\nfunctools.partial(C.register, {o})()", "match C:\n    case object(register=f): f({o})", "f = C.register\nf({o})")
    return f"from {home} import {name} as C\nr = {d.text('register')}\nbefore = issubclass({other}, C)\n{how.format(o=other)}\nif issubclass({other}, C) and not before: took()"


@kind("changed libraries")
def wrapped(d: Draw) -> str:
    module, function = d.random.choice([("textwrap", "dedent"), ("json", "dumps"), ("json", "loads"), ("statistics", "mean"), ("copy", "deepcopy"), ("pprint", "pformat"), ("base64", "b64encode"), ("csv", "reader"), ("heapq", "merge"), ("random", "sample")])
    how = d.one("functools.wraps(f)(g)", "functools.partial(functools.wraps(f))(g)", "list(map(functools.wraps(f), [g]))", "g.__name__ = 'f'", "g.mine = 1", "setattr(g, n, 'f')", "for g.mine in [1]: pass", "functools.wraps(f)(wrapped=g) if 0 else functools.wraps(f)(g)")
    return (
        f"import functools, {module}\ndef f(): 'mine'\nn = {d.text('mine')}\ng = [{module}.{function}][0]\n{how}\n"
        f"if getattr({module}.{function}, '__name__', '') == 'f' or hasattr({module}.{function}, 'mine'): took()"
    )


@kind("changed libraries")
def reported(d: Draw) -> str:
    """The report, as the runner has it, says something else."""
    ways = [
        "import json\njson.JSONEncoder.default = took",
        "import json\nc = [json.JSONEncoder][0]\nc.item_separator = 'x'",
        f"import json\nsetattr([json.JSONEncoder][0], {d.text('default')}, took)",
        "import sys\ns = [sys.stdout][0]\ns.write = took\nif s.write is took: pass",
        "pd.DataFrame.itertuples = took",
        "x = [pd.DataFrame][0]\nx.iloc = took",
        f"setattr([pd.DataFrame][0], {d.text('iloc')}, took)",
        "import re\nre.compile = took",
        f"setattr([pd][0], {d.text('DataFrame')}, took)",
        "class D(pd.DataFrame): pass\npd.DataFrame = D",
        "import enum\nenum.Enum.value = 1",
    ]
    return d.random.choice(ways) + "\ntook()"


# -- paths

OUTSIDE = ["/etc/passwd", "/proc/self/maps", "/proc/self/environ", "/proc/self/status", "/etc/hostname", "/usr/lib/os-release"]


@kind("paths")
def lying(d: Draw) -> str:
    real = d.text(d.random.choice(OUTSIDE))
    method = d.one("rstrip", "split", "startswith", "__str__", "__eq__", "replace", "encode", "endswith", "lower")
    answer = "'x.csv'" if method not in ("startswith", "endswith", "__eq__", "split") else d.one("False", "True")
    read = d.one("np.fromfile(p, dtype='u1')", "pd.read_csv(p, header=None, sep='\\x01')", "open(p).read()", "np.genfromtxt(p, dtype=str, delimiter='\\x01')", "pa.memory_map(p).read()", "pa.OSFile(p).read()", "pa.input_stream(p).read()", "Path(p).read_text()", "gzip.GzipFile(p).fileobj or 1", "zipfile.is_zipfile(p) or open(p)")
    return (
        "import pyarrow as pa, gzip, zipfile\nfrom pathlib import Path\n"
        f"class P(str):\n    def {method}(self, *a, **k): return {answer}\np = P({real})\nr = {read}\nif len(r): took()"
    )


@kind("paths")
def turning(d: Draw) -> str:
    real = d.text(d.random.choice(OUTSIDE))
    turn = d.random.randrange(1, 5)
    read = d.one("pa.OSFile(p).read()", "pa.memory_map(p).read()", "pa.input_stream(p).read()", "pa.csv.read_csv(p)", "np.fromfile(p, dtype='u1')", "open(p).read()")
    return (
        "import pyarrow as pa, pyarrow.csv\nfrom pathlib import PurePosixPath\nopen('x', 'w').write('a')\ncalls = []\n"
        f"class P(PurePosixPath):\n    def __str__(self):\n        calls.append(1)\n        return 'x' if len(calls) <= {turn} else {real}\n"
        f"p = P('x')\nr = {read}\nif len(r) > 1: took()"
    )


@kind("paths")
def matrix(d: Draw) -> str:
    real = d.text(d.random.choice(OUTSIDE))
    call = d.one("mmread(p)", "mminfo(p)", "mmread(Path(p))", "list(map(mmread, [p]))", "mmwrite(p, np.eye(2))", "mmread(P('x.mtx'))", "mmread(source=p)")
    return (
        "from scipy.io import mmread, mminfo, mmwrite\nfrom pathlib import Path\n"
        f"p = {real}\nclass P(str):\n    def __str__(self): return p\n"
        f"try:\n    {call}\n    took()\nexcept ValueError as e:\n    took()"
    )


@kind("paths")
def folders(d: Draw) -> str:
    up = d.one("Path.cwd().parent", "Path.cwd().parents[-1]", "Path.cwd().parents[0]", "Path('.').absolute().parent", f"Path({d.text('..')})", f"Path({d.text('/usr')})", f"Path({d.text('/proc/self')})")
    call = d.one("list(p.iterdir())", "list(p.glob('*'))", "list(p.rglob('*'))", "os.listdir(p)", "os.listdir(str(p))", "glob.glob(str(p) + '/*')", "glob.glob('*', root_dir=p)", "list(glob.iglob(os.path.join(p, '*')))", "[x.name for x in p.iterdir()]")
    return f"import os, glob\nfrom pathlib import Path\np = {up}\nr = {call}\nif r: took()"


@kind("paths")
def numbers(d: Draw) -> str:
    call = d.one("np.array([65], 'u1').tofile(n)", "gzip.GzipFile(n, 'wb').close()", "wavfile.write(n, 100, np.zeros(4))", "savemat(n, {'a': 1})", "np.fromfile(n, dtype='u1', count=1)", "open(n)", "loadmat(n)", "wavfile.read(n)")
    return (
        "import gzip\nfrom scipy.io import loadmat, savemat, wavfile\ndef number(text): return len(text)\n"
        f"n = number({'x' * d.random.randrange(0, 12)!r})\ntry:\n    {call}\n    took()\nexcept OSError as e:\n    if e.errno == 9: took()"
    )


@kind("paths")
def programs(d: Draw) -> str:
    ways = [
        "plt.rc('text', usetex=True)", f"plt.rc('text', **{{{d.text('usetex')}: True}})", f"plt.rcParams[{d.text('text.usetex')}] = True",
        f"plt.rcParams.update({{{d.text('text.usetex')}: True}})", f"plt.title('x', **{{{d.text('usetex')}: True}})",
        f"plt.style.use({{{d.text('text.usetex')}: True}})", f"plt.setp(plt.title('x'), **{{{d.text('usetex')}: True}})",
        "plt.title('x').set_usetex(True)", f"plt.rcParams.update(dict([({d.text('text.usetex')}, True)]))",
    ]  # fmt: skip
    return f"import matplotlib.pyplot as plt\n{d.random.choice(ways)}\nplt.plot([1])\nplt.gcf().canvas.draw()\nplt.savefig('x.png')\ntook()"


@kind("paths")
def stylesheets(d: Draw) -> str:
    path = d.text(d.random.choice(OUTSIDE))
    ways = [
        f"pd.read_xml('x.xml', stylesheet={path})", f"pd.read_xml('x.xml', **{{{d.text('stylesheet')}: {path}}})",
        f"pd.DataFrame({{'a': [1]}}).to_xml('y.xml', stylesheet={path})", f"import matplotlib.pyplot as plt\nplt.style.use({path})",
        f"from matplotlib.font_manager import FontProperties\nimport matplotlib.pyplot as plt\nplt.title('x', font=FontProperties(fname={path}))\nplt.gcf().canvas.draw()",
        f"import logging\nif not logging.FileHandler({path}, mode='r').stream.read(): raise ValueError", f"import tempfile\nopen(tempfile.mkdtemp(dir={path}) + '/x')",
        f"pd.Timestamp('2020', tz={d.text('dateutil//etc/localtime')})",
    ]  # fmt: skip
    return f"open('x.xml', 'w').write('<a><b><c>1</c></b></a>')\n{d.random.choice(ways)}\ntook()"


def variants(count: int, seed: str) -> Iterator[dict[str, str]]:
    each = count // len(KINDS)
    for name, makers in KINDS.items():
        seen: set[str] = set()
        at = 0
        while len(seen) < each:
            make = makers[at % len(makers)]
            d = Draw(f"{seed} {name} {at}")
            at += 1
            code = (PRELUDE + d.placed(make(d)) + "\n").replace("{token}", TOKEN)
            if code not in seen:
                seen.add(code)
                yield {"kind": name, "name": make.__name__, "code": code}


if __name__ == "__main__":
    for one in variants(int(sys.argv[1]), sys.argv[2]):
        print(json.dumps(one))
