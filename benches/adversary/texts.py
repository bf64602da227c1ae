"""Text that libraries compile."""

from __future__ import annotations

from draw import INSIDE, Draw, kind


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


@kind("compiled text")
def annotated(d: Draw) -> str:
    """An annotation that a library evaluates for its own purposes."""
    inner, took = d.random.choice(
        [
            ("keep(operator.attrgetter('__class__'))", "'attrgetter' in str(type(got[0]))"),
            ("keep(operator.methodcaller('upper'))", "got"),
            ("keep(functools.update_wrapper)", "got"),
            ("keep(np.ndarray((1,), object, b))", "got[0].base is not None"),
            ("[keep(o.attrgetter) for o in [operator]][0]", "got"),
            ("(lambda o: keep(o.methodcaller))(operator)", "got"),
            ("keep(a.resize(1, refcheck=False)) or int", "len(a) == 1"),
            ("keep(np.frombuffer(x, 'i8')) or int", "got[0].flags.writeable"),
        ]
    )
    how = d.one("f.register(g)", "functools.partial(f.register, g)()", "list(map(f.register, [g]))", "M.f.register(g)")
    return (
        "import functools, operator\nfrom functools import singledispatch, singledispatchmethod\ngot = []\nx = np.array([None], object)\n"
        "def keep(x):\n    got.append(x)\n    return int\nb = bytearray(8)\na = np.zeros(1 << 14)\nv = a[:]\n"
        "@singledispatch\ndef f(x): pass\nclass M:\n    f = f\nspace = [operator, functools]\n"
        f"text = {d.text(inner)}\ndef g(x: text): pass\ntry:\n    {how}\nexcept TypeError as e:\n    print(e)\nif got and {took}: took()"
    )
