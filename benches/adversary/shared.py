"""Libraries, changed for who comes later."""

from __future__ import annotations

from draw import Draw, kind


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


@kind("changed libraries")
def redirected(d: Draw) -> str:
    """A redirection of another attribute of `sys`."""
    name = d.random.choice(["modules", "_getframe", "excepthook", "displayhook", "path", "meta_path", "setrecursionlimit"])
    base = d.one("redirect_stdout", "redirect_stderr")
    body = d.one(f"    _stream = {d.text(name)}", f"    @property\n    def _stream(self): return {d.text(name)}")
    return (
        f"import contextlib\nL = []\nclass R(contextlib.{base}):\n{body}\n    _old_targets = L\n    _new_target = print\n    def __init__(self): pass\n"
        "r = R()\nclass Z: pass\nwith r:\n    if L and L[0] is not print: took()"
    )


@kind("changed libraries")
def stored(d: Draw) -> str:
    """An action of a command line that stores on a library."""
    owner, name = d.random.choice([("pd.DataFrame", "shape"), ("pd.Series", "to_list"), ("json.JSONEncoder", "item_separator"), ("np.ma.MaskedArray", "mask"), ("plt.Figure", "savefig"), ("decimal", "ROUND_UP")])
    call = d.one("a(p, o, 5)", "a(None, o, 5)", "list(map(a, [p], [o], [5]))", "functools.partial(a, p)(o, 5)", "a(p, values=5, namespace=o)")
    option = d.one("", ", nargs='?'", ", type=int", ", required=False")
    return (
        f"import argparse, decimal, functools, json\nimport matplotlib.pyplot as plt\np = argparse.ArgumentParser()\na = p.add_argument('--x', dest={d.text(name)}{option})\n"
        f"o = [{owner}][0]\n{call}\nif getattr(o, {name!r}) == 5: took()"
    )


@kind("changed libraries")
def data_classes(d: Draw) -> str:
    """A decorator that writes on the class or function of a library."""
    owner = d.random.choice(["json.JSONEncoder", "json.JSONDecoder", "textwrap.TextWrapper", "string.Template", "decimal.Context", "statistics.NormalDist"])
    how = d.one("dataclass(o)", "dataclass(order=True)(o)", "dataclass(eq=True, unsafe_hash=True)(o)", "list(map(dataclass, [o]))", "functools.partial(dataclass, repr=True)(o)")
    return (
        f"import decimal, functools, json, statistics, string, textwrap\nfrom dataclasses import dataclass, is_dataclass\no = [{owner}][0]\n"
        f"{how}\nif is_dataclass(o): took()"
    )


@kind("changed libraries")
def found_by_name(d: Draw) -> str:
    """A type, a converter or a table that everybody looks up."""
    name = d.random.choice(["float64", "int64", "object", "category", "string", "datetime64[ns]", "bool"])
    ways = [
        "from pandas.api.extensions import ExtensionDtype, register_extension_dtype\n"
        f"n = {d.text(name)}\nbefore = pd.api.types.pandas_dtype(n)\nclass D(ExtensionDtype):\n    name = n\n    type = float\n    @classmethod\n    def construct_from_string(cls, s):\n        if s == n: return cls()\n        raise TypeError(s)\n"
        f"{d.one('register_extension_dtype(D)', 'list(map(register_extension_dtype, [D]))', 'pd.api.extensions.register_extension_dtype(D)')}\nif type(pd.api.types.pandas_dtype(n)) is D and type(before) is not D: took()",
        "import matplotlib.units as u\nfrom matplotlib.units import registry\nclass C(u.ConversionInterface): pass\n"
        f"r = {d.one('u.registry', 'registry', '[u.registry][0]')}\nk = {d.one('float', 'int', 'np.float64', 'np.ndarray', 'str')}\nr[k] = C()\nif k in u.registry: took()",
        f"n = {d.text(name)}\nt = np.sctypeDict\nfor k in list(t): t[k] = np.int8\nif np.dtype('float64') != np.float64: took()",
        "from sklearn.metrics import pairwise as p\nfrom sklearn.metrics.pairwise import PAIRWISE_DISTANCE_FUNCTIONS as t\n"
        f"t['euclidean'] = lambda *a, **k: 7\nif p.pairwise_distances([[1.0]], [[2.0]]) == 7: took()",
    ]
    return d.random.choice(ways)
