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
