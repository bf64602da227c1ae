"""Tests what compiled code would trust: numbers converted late, positions in files and in fitted objects.

Part of `check_files.py`. Runs under the whole guard, with the real libraries where they are installed.
"""

import array
import tempfile
from typing import Any

import child
from harness import LIBRARIES
from own import module, of, raises

ANALYSIS = child.policy("analysis")


def prints(code: str, told: str) -> None:
    """Asserts that the snippet succeeds and prints exactly this."""
    ran = child.run(code, ANALYSIS, libraries=LIBRARIES)
    assert ran.error is None and ran.stdout == told, f"{code}\n{ran}"


def ends(code: str, message: str) -> None:
    """Asserts that the snippet ends with a Python error with this message, and prints nothing."""
    ran = child.run(code, ANALYSIS, libraries=LIBRARIES)
    assert ran.kind == "SnippetError" and not ran.stdout, f"{code}\n{ran}"
    assert message in ran.error["message"], f"{code}\n{ran}"


# An object that shrinks the array when it is asked for its number or any other attribute.
SHRINKING = """
from array import array
import bisect, copy, operator
keep = []
class Late:
    def __init__(self, a): self.a = a
    def hit(self):
        del self.a[1:]
        for _ in range(20): keep.append((None,) * 2400)
    def __index__(self):
        self.hit()
        return 0
    def __float__(self):
        self.hit()
        return 0.0
    def write(self, data): self.hit()
    def __gt__(self, other): return False
    def __lt__(self, other): return False
def store(a):
    try:
        do(a, Late(a))
    except (IndexError, TypeError, ValueError): pass
    if any([some.count(None) < 2400 for some in keep]): print('TOOK')
    keep.clear()
for kind in 'bIqfd':
    store(array(kind, [7]) * 60000)
print('done')
"""

STORES = (
    "a[4000] = late",
    "a[4000:4001] = array(a.typecode, [late])",
    "a.append(late)",
    "a.insert(3000, late)",
    "a.insert(late, 1)",
    "a.extend([1, late])",
    "a.extend(iter([late] * 3))",
    "a.fromlist([1, late, late])",
    "a += [late]",
    "a.tofile(late)",
    "operator.setitem(a, 4000, late)",
    "list(map(a.append, [late]))",
    "array.append(a, late)",
    "bisect.insort(a, late)",
    "a.pop(late)",
    "a.index(late)",
    "a[late] = 1",
    "b = a[:]; b[4000] = Late(b)",
    "b = copy.copy(a); b[4000] = Late(b)",
    "b = copy.deepcopy(a); b[4000] = Late(b)",
    "b = a + a; b[4000] = Late(b)",
    "b = a * 2; b[4000] = Late(b)",
    "b = 2 * a; b[4000] = Late(b)",
    "b = type(a)(a.typecode, [7] * 7000); b[4000] = Late(b)",
)


@of("layout")
def an_object_that_one_variable_names_is_told_from_others() -> None:
    layout = module("layout")

    def counts() -> tuple[int, int]:
        value = object()
        alone = layout.counted(None, value, "")
        other = value
        return alone, layout.counted(None, other, "")

    assert counts() == (layout.ALONE, layout.ALONE + 1)
    # At the top of a snippet a dict holds the variable.
    space = {"counted": layout.counted}
    exec(compile("value = object()\nfound = counted(None, value, '')", "<test>", "exec"), space)
    assert space["found"] == layout.ALONE


# What is set → the layout of `a` afterwards, and that of `b`, which may name the same array.
LAYOUTS = {
    "a.shape = 2, 3": "(2, 3)",
    "a.shape = (3, -1)": "(3, 2)",
    "a.dtype = 'u1'": "(48,)",
    "a.strides = (8,)": "(6,)",
    "b = a; a.shape = (2, 3)": "refused",
    "b = [a]; b[0].shape = (2, 3)": "refused",
    "b = memoryview(a); a.shape = (2, 3)": "refused",
    "a.shape += (1,)": "refused",
    "[a][0].dtype = 'u1'": "refused",
    "a = np.ma.array(a); a.shape = (2, 3)": "refused",
}
LAID = """import numpy as np
def made():
    return np.arange(6, dtype='i8')
def local():
    a = made()
    {store}
    return a.shape
def given(a):
    {store}
    return a.shape
def shown(f, *args):
    try:
        return f(*args)
    except ValueError as error:
        return 'refused' if 'others may hold it' in str(error) else error
def top():
    global a
    a = made()
    {store}
    return a.shape
print(shown(local), shown(lambda: given(made())), shown(top))
"""


@of("layout", needs="numpy")
def the_layout_of_an_array_is_set_only_where_nobody_else_holds_it() -> None:
    for store, layout in LAYOUTS.items():
        prints(LAID.format(store=store), f"{layout} {layout} {layout}\n")


@of("sequences")
def an_array_asks_for_its_numbers_before_it_stores_them() -> None:
    for store in STORES:
        prints(f"def do(a, late):\n    {store}\n{SHRINKING}", "done\n")


@of("sequences")
def an_array_is_what_it_was_otherwise() -> None:
    made = module("sequences").array_of(array.array)
    cases: list[tuple[Any, Any]] = [("d", 2), ("i", 7), ("u", "x"), ("b", -3), ("f", 1.5)]
    for code, value in cases:
        mine, real = made(code, [value] * 3), array.array(code, [value] * 3)
        for one in (mine, real):
            one.append(value)
            one.insert(1, value)
            one.extend([value, value])
            one.fromlist([value])
            one[0] = value
            one[2:4] = one[:1]
            del one[-1]
            one += one[1:]
        assert mine == real and repr(mine) == repr(real) and mine.tobytes() == real.tobytes()
        assert all(type(one) is made for one in (mine[:], mine + mine, mine * 2, 2 * mine, mine.__copy__()))
        assert memoryview(mine).tolist() == memoryview(real).tolist() if code != "u" else True
    for code, value in (("i", 1.5), ("i", "a"), ("d", "1"), ("b", 1000), ("u", "ab"), ("B", -1)):
        for one in (made(code), array.array(code)):
            raises((TypeError, OverflowError), one.append, value)
    raises(TypeError, made("i", [1]).extend, made("d", [1]))


@of("sequences")
def a_bytearray_is_searched_in_the_memory_that_it_has() -> None:
    late = "b = bytearray(b'x' * 5000)\nclass Late:\n    def __index__(self):\n        b.clear()\n        return N\n"
    for search in (
        "b.count(b'x', Late(), 5000)",
        "b[:].count(b'x', Late(), 5000) - 5000",
        "b.find(b'x', Late(), 5000) + 1",
        "b.rfind(b'x', Late(), 5000) + 1",
        "b.startswith(b'x', Late())",
        "b.endswith(b'x', Late(), 5000)",
        "bytearray.count(b, b'x', Late(), 5000)",
    ):
        prints(late.replace("N", "0") + f"print(int({search}))", "0\n")
    prints(late.replace("N", "120") + "print(Late() in b)", "False\n")
    prints(
        "b = bytearray(b'x%c' * 2000)[:]\nclass Late:\n    def __index__(self):\n        b.clear()\n"
        "        return 65\nprint((b % ((Late(),) * 2000)) == b'xA' * 2000, b)",
        "True bytearray(b'')\n",
    )


@of("sequences")
def a_bytearray_is_what_it_was_otherwise() -> None:
    made = module("sequences").Bytes
    first: list[Any] = []
    for one in (made(b"a b,c"), bytearray(b"a b,c")):
        found: list[Any] = [
            one[1:3], one + b"x", one * 2, one.split(b","), one.partition(b" "), one.upper(), one.find(b"b"),
            one.count(b"b", 1), b"b" in one, 97 in one, one.hex(), one == b"a b,c", repr(one),
            one.replace(b"b", b"zz"), b"-".join([one]), bytes(one), len(one), one % (),
        ]  # fmt: skip
        first = found if type(one) is made else first
        assert found == first
        assert all(isinstance(part, made) for part in (one[1:], one.split()[0], one.upper()))
    assert isinstance(bytearray(b""), made) and issubclass(bytearray, made) and not isinstance(b"", made)
    prints(
        "b = bytearray(3)\nb[0] = 65\nb.append(66)\nb += b'c'\n"
        "match b:\n    case bytearray(x): print(x, type(b) is bytearray)",
        "bytearray(b'A\\x00\\x00Bc') True\n",
    )


@of("lent", needs="pandas")
def what_compiled_code_lends_may_be_kept() -> None:
    import numpy

    seen: list[Any] = []
    lent = numpy.zeros(2)
    for call in (module("lent").lending(seen.append), lambda y: seen.append(module("lent").own(y))):
        call(lent)
    lent[:] = 1
    assert [one.tolist() for one in seen] == [[0.0, 0.0]] * 2
    own = "import numpy as np\nclass F(str):\n    pass\n"
    for flags in ("['external_loop', 'buffered']", "('buffered',)", "[F('buffered')]"):
        ends(f"{own}np.nditer(np.arange(3), {flags})", "lends its buffer")
    ends("import numpy as np\nnp.nested_iters(np.zeros((2, 2)), [[0], [1]], ['buffered'])", "lends its buffer")


@of("ufuncs", needs="numpy")
def indices_of_a_ufunc_are_copied() -> None:
    import numpy as np

    indexed = module("ufuncs").indexed
    at, rows = np.array([0, 1]), np.zeros(4)

    def late(x: Any, y: Any) -> Any:
        at[:] = 3
        return y

    summed = np.frompyfunc(late, 2, 1)
    objects = np.zeros(4, dtype=object)
    for method, args in ((summed.at, (objects, at, 1)), (np.ufunc.at, (summed, objects, (at,), 1))):
        at[:], objects[:] = (0, 1), 0
        indexed(np.ufunc if method is np.ufunc.at else summed, method)(*args)
        assert objects.tolist() == [1, 1, 0, 0], method
    at[:] = 0, 1
    assert indexed(summed, summed.reduceat)(np.arange(4.0), indices=at).tolist() == [0.0, 3.0]
    indexed(np.add, np.add.at)(rows, (slice(1, 3),), 2)
    assert rows.tolist() == [0, 2, 2, 0]
    table = object()
    assert indexed(table, len) is len


@of("data", needs="pandas")
def data_are_scalars_tables_and_collections_of_these() -> None:
    import datetime
    import decimal
    import enum
    import io
    import pathlib

    import numpy as np
    import pandas as pd

    is_data = module("data").is_data
    colour = enum.Enum("colour", "RED")
    frame = pd.DataFrame({"a": [1]})
    for value in (
        1, "a", b"a", None, 2.5, (1, ["a", {"b": 2}]), frozenset([1]), datetime.date(2024, 1, 1), pd.NaT,
        datetime.UTC, decimal.Decimal(1), colour.RED, np.int8(1), np.eye(2), np.dtype("i4"), frame, frame.a,
        frame.columns, pd.Timestamp(0), pd.Period("2024"), frame.a.astype("category").dtype,
    ):  # fmt: skip
        assert is_data(value), value
    deep: Any = 1
    for _ in range(9):
        deep = [deep]
    for value in (len, "a".upper, io.StringIO(), pathlib.Path(), pd, type, frame.style, [len], {"a": len}, deep):
        assert not is_data(value), value


def refuses(code: str, message: str) -> None:
    """Asserts that the guard ends the run with this message."""
    ran = child.run(code, ANALYSIS, libraries=LIBRARIES)
    assert ran.kind == "PolicyViolation" and message in ran.error["message"], f"{code}\n{ran}"


@of("patterns", "gates", needs="pandas")
def class_patterns_bind_data_of_library_objects_and_anything_of_the_snippets_own() -> None:
    prints(
        """
import dataclasses, datetime
@dataclasses.dataclass
class Job:
    run: object
match Job(len):
    case Job(run=f): print(f('abc'))
match Job(len):
    case Job(f): print(f('ab'))
match datetime.date(2024, 5, 1):
    case datetime.date(year=y): print(y)
match 5:
    case object(nothing=_): print('wrong')
    case int(n): print(n)
""",
        "3\n2\n2024\n5\n",
    )
    refuses("match [1]:\n    case object(append=f): f(2)", "a pattern binds data")
    refuses("import sys\nmatch sys.stdout:\n    case object(buffer=b): pass", "a pattern binds data")


@of("streams")
def what_a_run_prints_stays_in_utf_8() -> None:
    refused = "import sys\n{}sys.stdout.reconfigure(encoding={!r}, errors='replace')\nprint('wrong')"
    for encoding in ("utf-16-le", "cp500", "latin-1", "UTF-7"):
        ends(refused.format("", encoding), "what a run prints is UTF-8")
    prints("import sys\nsys.stdout.reconfigure(encoding='UTF8', line_buffering=True)\nprint('ü')", "ü\n")
    prints("import sys\nsys.stderr.reconfigure(errors='replace')\nprint(1)", "1\n")
    with tempfile.TemporaryFile("w+") as file:
        module("streams").reconfigure(file, file.reconfigure)(encoding="utf-16")
        assert file.encoding == "utf-16"
