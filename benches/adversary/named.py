"""Names that libraries look up."""

from __future__ import annotations

from draw import INSIDE, Draw, kind


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


@kind("looked up by name")
def cached(d: Draw) -> str:
    """Fields of a data class that stand in the object, under a name that a cached property was given."""
    name = d.random.choice(["__reduce_ex__", "__class__", "__dict__", "__init_subclass__", "__subclasshook__"])
    give = d.one("k.attrname = n", "setattr(k, 'attrname', n)", "for k.attrname in [n]: pass", "[k.attrname, z] = n, 1")
    base = d.one("", "(Exception)", "(dict)", "(list)")
    return (
        "import functools\nfrom dataclasses import dataclass, replace\ngot = []\nclass F:\n    _field_type = None\n    init = True\n    default = 1\n"
        f"    def __init__(self, name): self.name = name\nn = {d.text('__dataclass_fields__')}\n"
        f"k = functools.cached_property(lambda s: {{'x': F({d.text(name)})}})\n"
        f"@dataclass(init=False)\nclass A{base}:\n    x: int = 0\n    def __init__(self, **kw): got.append(kw)\n    p = k\n"
        f"{give}\na = A()\na.p\nreplace(a)\nif len(got) > 1 and got[-1]: took()"
    )


@kind("looked up by name")
def linked(d: Draw) -> str:
    """The template of the link in an estimator's picture."""
    field = d.one("x.__globals__", "x.__class__.__mro__", "x.__code__", "x.__dict__", "x.__builtins__")
    mark = {"x.__globals__": "builtins", "x.__class__.__mro__": "<class", "x.__code__": "code object", "x.__dict__": "{", "x.__builtins__": "function"}
    show = d.one("e._repr_html_()", "str(e._repr_html_())", "[e][0]._repr_html_()")
    return (
        f"from sklearn.base import BaseEstimator\nclass E(BaseEstimator):\n    _doc_link_module = '__main__'\n    _doc_link_template = 'got:' + {d.text('{' + field + '}')}\n"
        f"    def _doc_link_url_param_generator(self): return {{'x': took}}\ne = E()\nt = {show}\nif 'got:' in t and {mark[field]!r} in t.split('got:')[1][:200].replace('&lt;', '<'): took()"
    )
