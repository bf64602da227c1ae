"""Tests that the last value's JSON is made without the snippet's code, and of the same look as its text.

Part of `check_files.py`.
"""

import sys
from types import FrameType
from typing import Any, NamedTuple

import child
from harness import LIBRARIES
from own import module, of, raises

ANALYSIS = child.policy("analysis")
LEFT = "[{} left out]"

# Classes that inherit from Python's own and answer otherwise: the definition's body, its base, an object, and its JSON.
PLAIN: list[tuple[str, str, str, Any]] = [
    ("def encode(self, *a): return b'b'\n    def __str__(self): return 'b'", "str", "C('a')", "a"),
    ("def __getitem__(self, at): return 'b'\n    def __len__(self): return 1", "str", "C('abc')", "abc"),
    ("def __ge__(self, o): return False\n    def __index__(self): return 7", "int", "C(3)", 3),
    ("def __lt__(self, o): return True\n    def __repr__(self): return '7'", "int", "C(2 ** 70)", str(2**70)),
    ("def __float__(self): return 7.0\n    def is_integer(self): return True", "float", "C(0.5)", 0.5),
    ("def __float__(self): return 7.0\n    def is_nan(self): return True", "decimal.Decimal", "C('1.5')", 1.5),
    ("def __float__(self): return 7.0", "decimal.Decimal", "C('sNaN')", None),
    ("numerator = 7\n    def __float__(self): return 7.0", "fractions.Fraction", "C(1, 2)", 0.5),
    ("denominator = property(lambda self: 7)", "fractions.Fraction", "C(1, 2)", 0.5),
    ("def isoformat(self, *a): return '7'", "datetime.datetime", "C(2020, 1, 2)", "2020-01-02T00:00:00"),
    ("tzinfo = property(lambda self: 7)", "datetime.datetime", "C(2020, 1, 2)", "2020-01-02T00:00:00"),
    ("def isoformat(self, *a): return '7'", "datetime.date", "C(2020, 1, 2)", "2020-01-02"),
    ("def isoformat(self, *a): return '7'", "datetime.time", "C(1, 2)", "01:02:00"),
    ("def __str__(self): return '7'\n    days = 7", "datetime.timedelta", "C(1)", "1 day, 0:00:00"),
    ("def utcoffset(self, d): return None", "datetime.tzinfo", "datetime.datetime(2020, 1, 1, tzinfo=C())", "datetime"),
    ("def utcoffset(self, d): return None", "datetime.tzinfo", "datetime.time(1, tzinfo=C())", "time"),
    ("value = property(lambda self: 7)\n    A = 1", "enum.Enum", "C.A", 1),
    ("value = property(lambda self: 7)\n    A = 1", "enum.IntEnum", "C.A", 1),
    ("def __str__(self): return '7'\n    A = 'a'", "enum.StrEnum", "[C.A, {C.A: 1}]", ["a", {"a": 1}]),
    ("def __iter__(self): return iter([7])", "list", "C([1, 2])", [1, 2]),
    ("def __iter__(self): return iter([7])\n    def __len__(self): return 1", "tuple", "C([1, 2])", [1, 2]),
    ("def __iter__(self): return iter([7])", "set", "C([1])", [1]),
    ("def __iter__(self): return iter([7])", "frozenset", "C([1])", [1]),
    ("def __iter__(self): return iter([7])", "collections.deque", "C([1])", [1]),
    ("def items(self): return [('b', 7)]", "dict", "C(a=1)", {"a": 1}),
    ("def items(self): return [('b', 7)]\n    def keys(self): return ['b']", "collections.OrderedDict", "C(a=1)",
     {"a": 1}),
    ("def items(self): return [('b', 7)]", "collections.Counter", "C('aa')", {"a": 2}),
    ("def __missing__(self, key): return 7\n    def __iter__(self): return iter('b')", "collections.defaultdict",
     "C(int, a=1)", {"a": 1}),
    ("def items(self): return [('b', 7)]", "dict", "C(a=1).keys().mapping", "mappingproxy"),
    ("def __iter__(self): return iter('b')", "dict", "[C(a=1).keys(), C(a=1).values()]", [["a"], [1]]),
    ("def __iter__(self): return iter('b')", "collections.UserDict", "C(a=1)", "C"),
    ("def items(self): return [('b', 7)]", "dict", "collections.ChainMap(C(a=1), {})", {"a": 1}),
    ("def __getitem__(self, k): return 7\n    def __iter__(self): return iter('b')\n    def __len__(self): return 1",
     "collections.abc.Mapping", "C()", "C"),
    ("def __getitem__(self, k): return 7\n    def __iter__(self): return iter('b')\n    def __len__(self): return 1",
     "collections.abc.Mapping", "collections.ChainMap(C())", "ChainMap"),
    ("def __iter__(self): return iter([7])\n    def __len__(self): return 1\n    def __contains__(self, k): return 1",
     "collections.abc.Set", "C()", "C"),
    ("def __repr__(self): return 'b'\n    __str__ = __repr__", "object", "C()", "C"),
    ("def __repr__(self): return 'b'\n    __str__ = __repr__", "object", "{C(): 1}", {LEFT.format("C"): 1}),
    ("def __repr__(self): return 'b'\n    __str__ = __repr__", "object", "{(C(), 1): 1}",
     {f"('{LEFT.format('C')}', 1)": 1}),
    ("def __repr__(self): return 'b'\n    __str__ = __repr__", "complex", "C(1)", "C"),
    ("def __repr__(self): return '7'\n    __str__ = __repr__", "float", "{C(0.5): 1}", {"0.5": 1}),
]  # fmt: skip

# The same with libraries.
TABLED: list[tuple[str, str, str, Any]] = [
    ("def __iter__(self): return iter([7])", "np.ndarray", "np.array([1, 2]).view(C)", [1, 2]),
    ("def __iter__(self): return iter([7])", "np.ndarray", "np.array([[1], [2]]).view(C)", [[1], [2]]),
    ("def item(self): return 7", "np.float64", "C(0.5)", 0.5),
    ("def item(self): return 7", "np.int64", "C(3)", 3),
    ("def __str__(self): return '7'", "np.datetime64", "C('2020-01-02T00:00:00.50')", "2020-01-02T00:00:00.5"),
    ("def __iter__(self): return iter([7])", "np.ma.MaskedArray", "C([1, 2])", "C"),
    ("def isoformat(self, *a): return '7'", "pd.Timestamp", "pd.Series([C('2020')]).dtype.kind", "M"),
    ("def utcoffset(self, d): return None", "datetime.tzinfo",
     "pd.Series([datetime.datetime(2020, 1, 1, tzinfo=C())], dtype=object)", [[LEFT.format("datetime")]]),
    ("iloc = index = columns = shape = property(lambda self: 7)", "pd.DataFrame", "C({'a': [1]})", [[1]]),
    ("def itertuples(self, **k): return [(7,)]", "pd.DataFrame", "C({'a': [1]})", [[1]]),
    ("iloc = property(lambda self: 7)", "pd.Series", "C([1])", [[1]]),
    ("def __repr__(self): return '7'", "object", "pd.DataFrame({'a': [C()]})", [[LEFT.format("C")]]),
    ("def __repr__(self): return '7'", "str", "pd.DataFrame({'a': [C('x')]}, dtype=object)", [["x"]]),
    ("def __float__(self): return 7.0", "decimal.Decimal", "pd.Series([C('1.5')])", [[1.5]]),
    ("def items(self): return [('b', 7)]", "dict", "pd.Series([C(a=1)])", [[{"a": 1}]]),
    ("def __str__(self): return '7'", "int", "pd.Interval(C(1), C(2))", "Interval"),
]  # fmt: skip

NAMES = "import collections, collections.abc, datetime, decimal, enum, fractions\n"


def object_of(body: str, base: str, last: str) -> Any:
    """The object, made by code that is a snippet's as far as anybody can tell."""
    space: dict[str, Any] = {"__name__": "__main__"}
    if LIBRARIES:
        space |= {"np": LIBRARIES["numpy"], "pd": LIBRARIES["pandas"]}
    text = f"{NAMES}class C({base}):\n    {body}\nlast = {last}\n"
    exec(compile(text, module("errors").SNIPPET, "exec"), space)
    return space["last"]


def told(value: Any) -> tuple[Any, list[str]]:
    """The JSON, and the functions of snippets that ran meanwhile."""
    ran: list[str] = []

    def profile(frame: FrameType, event: Any, arg: Any) -> None:
        if event == "call" and frame.f_code.co_filename == module("errors").SNIPPET:
            ran.append(frame.f_code.co_name)
        if before is not None:
            before(frame, event, arg)

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        result = module("shown").result(value, False)["value"]
    finally:
        sys.setprofile(before)
    return result.get("rows", result) if isinstance(result, dict) else result, ran


def holds(rows: list[tuple[str, str, str, Any]]) -> None:
    wrong = []
    for body, base, last, plain in rows:
        got = told(object_of(body, base, last))
        if got not in ((plain, []), (LEFT.format(plain), [])):
            wrong.append(f"{base}: {body}: {last}\n  {got}")
    assert not wrong, "\n".join(wrong)


@of("shown")
def a_values_json_is_made_without_what_its_class_replaced() -> None:
    holds(PLAIN)


@of("shown", needs="pandas")
def a_tables_json_is_made_without_what_a_class_replaced() -> None:
    holds(TABLED)


@of("kinds")
def what_a_value_is_is_asked_of_its_type() -> None:
    kinds = module("kinds")
    own = object_of("def __init__(self): self.x = 1", "object", "C()")
    assert kinds.is_own(type(own)) and not kinds.is_own(dict), own
    assert kinds.attributes(own) == {"x": 1} and kinds.attributes(1) == {}
    assert kinds.has_attributes(type(own)) and not kinds.has_attributes(tuple)
    assert kinds.name_of(own) == "C" and kinds.found("no.such", "x") == ()


@of("kinds", needs="pandas")
def a_table_of_parts_that_the_snippet_computes_is_not_copied() -> None:
    kinds, pandas = module("kinds"), LIBRARIES["pandas"]
    sound = pandas.DataFrame({"a": ["x"], "b": [[1]]}, index=pandas.Index(["i"]))
    copy = kinds.table(sound, "DataFrame", pandas)
    sound.loc["i", "a"] = "y"
    assert copy.loc["i", "a"] == "x" and [list(one) for one in kinds.object_cells(copy, 5)] == [["x"], [[1]]]
    for index in (pandas.Index(["a"]), pandas.CategoricalIndex(["a"]), pandas.MultiIndex.from_arrays([["a"], [1]])):
        assert kinds.is_sound(index, pandas), index
        index.take = lambda *a, **k: None
        assert not kinds.is_sound(index, pandas), index
        raises(ValueError, kinds.table, pandas.DataFrame({"a": [1]}, index=index), "DataFrame", pandas)


class Pair(NamedTuple):
    one: Any
    other: Any


@of("once")
def a_copy_keeps_what_the_original_loses() -> None:
    from collections import Counter, OrderedDict, defaultdict, deque

    copied = module("once").copied
    inner = [1]
    pair = Pair(inner, 2)
    last: Any = [
        {"a": inner}, (inner,), pair, deque([inner], 3), {1}, Counter("a"), defaultdict(int, a=inner),
        OrderedDict(a=inner), {"a": inner}.values(), {"a": inner}.items(), {"a": 1}.keys(),
    ]  # fmt: skip
    last.append(last)
    was, copy = repr(last), copied(last)
    assert repr(copy) == was
    inner.append(9)
    last[4].add(9)
    last[5]["b"] = 9
    assert repr(last) != was and repr(copy) == was, copy
    # A key that is somewhere else each time it is asked stays where it was.
    odd = object_of(
        "def __hash__(self): C.n = getattr(C, 'n', 0) + 1; return C.n", "object", "{C(): [1], (C(), 1): [2]}"
    )
    assert len(copied(odd)) == 2
    long = [[0] for _ in range(200_000)]
    assert copied(long)[0] is not long[0] and copied(long)[-1] is long[-1]


# Each of these changes the last value while it is printed. The text begins with the same number as the value.
CHANGED = [
    """
df = pd.DataFrame({'a': [1, 2]})
class R:
    def __repr__(self):
        df.loc[0, 'a'] = 99
        return 'R'
df['r'] = [R(), 1]
df""",
    """
s = pd.Series([1, None], dtype=object)
class R:
    def __repr__(self):
        s.iloc[0] = 99
        return 'R'
s.iloc[1] = R()
s""",
    """
cell = [1]
class R:
    def __repr__(self):
        cell[0] = 99
        return 'R'
pd.DataFrame({'r': [R()], 'a': [cell]})""",
    """
last = [[1]]
class R:
    def __repr__(self):
        last[1][0] = 99
        last.append(1)
        return 'R'
last.insert(0, R())
last""",
    """
last = {'a': 1}
class R:
    def __repr__(self):
        last['b'] = 99
        return 'R'
last['r'] = R()
last['b'] = 1
last""",
    """
last = np.array([None, 1], dtype=object)
class R:
    def __repr__(self):
        last[1] = 99
        return 'R'
last[0] = R()
last""",
]
# The same by a thread that goes on.
THREAD = """
from concurrent.futures import ThreadPoolExecutor
import time
def change():
    end = time.monotonic() + 1
    n = 0
    while time.monotonic() < end:
        n += 1
        {change}
last = {last}
ThreadPoolExecutor(1).submit(change)
time.sleep(0.05)
last"""
THREADS = [
    ("[[0], [0]]", "last[0][0] = last[1][0] = n"),
    ("{'a': {'b': [0]}}", "last['a']['b'][0] = n"),
    ("pd.DataFrame({'a': [0, 0]})", "last.iloc[0, 0] = n"),
    ("pd.Series([0, 0])", "last.iloc[0] = n"),
    ("np.zeros(3, dtype=int)", "last[0] = n"),
]


def numbers(text: str) -> list[str]:
    import re

    return re.findall(r"\d+", text)


@of("once", "display", needs="pandas")
def the_text_and_the_json_are_of_one_look() -> None:
    codes = [*CHANGED, *(THREAD.format(last=last, change=change) for last, change in THREADS)]
    for code in codes:
        ran = child.run(code, ANALYSIS, libraries=LIBRARIES)
        assert ran.error is None, f"{code}\n{ran}"
        value = ran.report["result"]["value"]
        if isinstance(value, dict) and "rows" in value:
            value = value["rows"]
        first = next(line for line in ran.stdout.splitlines() if numbers(line))
        shown = set(numbers(ran.stdout))
        assert set(numbers(str(value))) <= shown and "99" not in numbers(first), f"{code}\n{ran}"
