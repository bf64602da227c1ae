"""The guard's own tests, without a framework: `python3 check_guard.py [site-packages]`.

Prints one line for each test and exits with 1 if one failed. With a folder of installed packages, snippets get pandas
and numpy as from the runner.
"""

import copy
import json
import os
import signal
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import child
import escapes
from harness import LIBRARIES, main, test

ANALYSIS = child.policy("analysis")
WALLED = child.policy("walled")


def escape_rows(rows: list[str], refused: bool, given: dict[str, Any]) -> None:
    wrong = []
    for row in rows:
        ran = child.run(escapes.PRELUDE + row, ANALYSIS, libraries=given)
        out = any(line.startswith("OUT") for line in ran.stdout.splitlines())
        if out or ran.kind in ("none", "SandboxError"):
            wrong.append(f"{row!r}: {ran}")
        elif refused and (ran.kind != "PolicyViolation" or not ran.events):
            wrong.append(f"not refused: {row!r}: {ran}")
    assert not wrong, "\n".join(wrong)


@test
def no_way_out_is_open() -> None:
    escape_rows(escapes.REFUSED, True, {})
    escape_rows(escapes.HARMLESS, False, {})


@test
def no_way_out_leads_through_pandas() -> None:
    if LIBRARIES:
        escape_rows(escapes.PANDAS_REFUSED, True, LIBRARIES)
        escape_rows(escapes.PANDAS_HARMLESS, False, LIBRARIES)


@test
def what_a_snippet_can_do_without_raises_and_is_never_loaded() -> None:
    # Message and attributes of the error are the same for installed, loaded and missing modules.
    for name in ("lifelines", "wave", "socket", "sys.nothing", "tomli_w.more", "pandas.core.missing"):
        code = f"""
for _ in range(3):
    try:
        import {name} as found
    except ImportError as error:
        found = error
print(type(found).__name__, found.msg, found.name, found.path)
try:
    from {name} import anything
except:
    print('none')
"""
        ran = child.run(code, ANALYSIS)
        top = name.partition(".")[0]
        lacks = name if top in ("sys", "pandas") else top
        said = f"ModuleNotFoundError No module named '{lacks}' {lacks} None\nnone\n"
        assert ran.stdout == said and ran.error is None and not ran.events, f"{name}: {ran}"


@test
def an_import_whose_error_nothing_takes_ends_the_run() -> None:
    for code in [
        "import lifelines",
        "try:\n    import lifelines\nexcept KeyError: pass",
        "try: pass\nexcept ImportError:\n    import lifelines",
        "try:\n    import lifelines\nexcept ImportError: pass\nimport lifelines",
        "try:\n    import _socket\nexcept ImportError: pass",
        "try:\n    import json, _socket\nexcept ImportError: pass",
        "try:\n    from json import decoder\nexcept ImportError: pass",
        "try:\n    from . import json\nexcept ImportError: pass",
        "try:\n    import lifelines as __x__\nexcept ImportError: pass",
    ]:
        ran = child.run(code, ANALYSIS)
        assert ran.kind == "PolicyViolation" and ran.events, f"{code!r}: {ran}"


def ticking(ticks: int) -> dict[str, Any]:
    rules = copy.deepcopy(WALLED)
    rules["limits"]["ticks"] = ticks
    return rules


def one_tick_a_time(code: str, least: int) -> None:
    """Asserts that the snippet passes with exactly `least` ticks and fails with one less."""
    ran = child.run(code, ticking(least))
    assert ran.error is None, f"{code!r} with {least}: {ran}"
    ran = child.run(code, ticking(least - 1))
    assert ran.kind == "TickLimit" and ran.error["limit"] == "ticks", f"{code!r}: {ran}"
    assert [event["kind"] for event in ran.events] == ["limit"], f"{code!r}: {ran}"


@test
def s3_checkpoints_stand_at_loops_functions_steps_and_builtin_calls() -> None:
    for code, ticks in [
        ("for i in 1, 2, 3: pass", 3),
        ("i = 4\nwhile i: i -= 1", 4),
        ("[i for i in (1, 2, 3)]", 3),
        ("{i: j for i in (1, 2) for j in (3, 4)}", 6),
        ("def f(): pass\nf()\nf()", 2),
        ("f = lambda: 1\nf()\nf()", 2),
        ("len('a')\nlen('b')", 2),
        ("class A:\n    def __enter__(s): pass\n    def __exit__(s, *a): pass\nwith A(): pass", 2),
        ("def g():\n    yield 1\n    yield 2\nfor i in g(): pass", 3),
        ("async def f():\n    return len('a')\nc = f()\ntry: c.send(None)\nexcept: pass", 2),
        ("def f(n):\n    'text'\n    return n and f(n - 1)\nf(9)", 10),
    ]:
        one_tick_a_time(code, ticks)


@test
def a_policy_without_a_tick_limit_counts_nothing() -> None:
    ran = child.run("for i in (1,) * 100_000: pass\nprint('done')", ticking(0))
    assert ran.stdout == "done\n", ran


@test
def what_ends_a_run_cannot_be_caught() -> None:
    for code in [
        "try:\n    while True: pass\nexcept Exception: print('caught')",
        "try:\n    while True: pass\nexcept: print('caught')",
        "try:\n    while True: pass\nfinally: print('caught')",
        "def f():\n    try:\n        while True: pass\n    finally: return 1\nf()\nprint('caught')",
        (
            "class A:\n    def __enter__(s): pass\n    def __exit__(s, *a):\n        print('caught')\n"
            "        return True\nwith A():\n    while True: pass"
        ),
        "def g():\n    try:\n        while True: yield\n    finally: print('caught')\nfor i in g(): pass",
        "def f(x):\n    while True: pass\nmax([1, 2], key=f)\nprint('caught')",
        "class A:\n    def __eq__(s, o):\n        while True: pass\nA() in [A()]\nprint('caught')",
        "class A:\n    def __repr__(s):\n        while True: pass\nprint([A()])",
    ]:
        ran = child.run(code, ticking(1000))
        assert ran.kind == "TickLimit" and "caught" not in ran.stdout, f"{code!r}: {ran}"


@test
def the_memory_limit_cannot_be_caught() -> None:
    grow = "x = 'a'\ntry:\n    while True: x += x\n"
    for rest in [
        "except MemoryError: print('caught')",
        "except Exception: print('caught')",
        "except: print('caught')",
        "finally: print('caught')",
    ]:
        ran = child.run(grow + rest, ANALYSIS)
        assert ran.kind == "MemoryLimit" and "caught" not in ran.stdout, f"{rest}: {ran}"
    ran = child.run(
        "import contextlib\nx = 'a'\nwith contextlib.suppress(MemoryError):\n    while True: x += x\nprint('caught')",
        ANALYSIS,
    )
    assert ran.kind == "MemoryLimit" and not ran.stdout, ran


@test
def a_memory_error_that_the_snippet_raises_is_no_limit() -> None:
    for code, said in [
        ("raise MemoryError('mine')", "mine"),
        ("def f(n):\n    raise MemoryError\nlist(map(f, [1]))", ""),
    ]:
        ran = child.run(code, ANALYSIS)
        assert (ran.kind, ran.error["limit"], ran.error["message"]) == ("SnippetError", None, said), ran
    ran = child.run("try:\n    raise MemoryError('mine')\nexcept MemoryError as e:\n    print(e)", ANALYSIS)
    assert ran.stdout == "mine\n" and ran.error is None, ran
    assert child.run("bytearray(10**12)", ANALYSIS).kind == "MemoryLimit"


@test
def the_last_value_goes_to_the_runs_own_stream() -> None:
    other = "import sys, contextlib, io\nreal = sys.stdout\nclass W:\n    def write(self, t): {}\n    flush = write\n"
    suspended = (
        "import contextlib, io\ndef g():\n    with contextlib.redirect_stdout(io.StringIO()):\n        yield\n"
        "x = g()\nnext(x)\n8"
    )
    while_shown = (
        "import contextlib, io\ns = contextlib.ExitStack()\nclass A(list):\n    def __repr__(self):\n"
        "        s.enter_context(contextlib.redirect_stdout(io.StringIO()))\n        return '8'\nA()"
    )
    left = "s = contextlib.ExitStack()\ns.enter_context(contextlib.redirect_stdout(W()))\n"
    for code, said in [
        (other.format("real.write(t.replace('8', '9'))") + left + "8", "8\n"),
        (other.format("raise SystemExit(0)") + left + "8", "8\n"),
        (suspended, "8\n"),
        (while_shown, "8\n"),
        (
            "import contextlib, io\nb = io.StringIO()\nwith contextlib.redirect_stdout(b): print(7)\nb.getvalue()",
            "'7\\n'\n",
        ),
    ]:
        ran = child.run(code, ANALYSIS)
        assert ran.stdout == said and ran.error is None and ran.status == 0, (code, ran)
    ran = child.run(other.format("raise SystemExit(0)") + left.replace("stdout", "stderr") + "1 / 0", ANALYSIS)
    assert ran.error["exception"] == "ZeroDivisionError", ran


@test
def cancel_goes_before_the_wall_clock_and_both_are_said_once() -> None:
    from _countersign import events, stop

    for raised, kind in [
        ([stop.WALL, stop.CANCEL], "Cancelled"),
        ([stop.WALL], "Timeout"),
        ([stop.CANCEL], "Cancelled"),
    ]:
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            limits = {"limits": {"wall_s": 600}}
            setup: Any = SimpleNamespace(policy=limits, report=1 << 20, fd_report=write)
            stop.arm(setup, events.Events(lambda line: None), time.monotonic())
            signal.pthread_sigmask(signal.SIG_BLOCK, raised)
            for number in raised:
                signal.raise_signal(number)
            # Both signals are pending before either is handled.
            signal.pthread_sigmask(signal.SIG_UNBLOCK, raised)
            os._exit(3)
        os.close(write)
        _, status = os.waitpid(pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status), (kind, status)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        [report] = map(json.loads, os.read(read, 65536).splitlines())
        os.close(read)
        assert report["error"]["type"] == kind, report


@test
def what_compiled_code_imports_for_itself_is_not_the_snippets_import() -> None:
    ran = child.run("import datetime\nprint(datetime.datetime.strptime('2020', '%Y').year)", ANALYSIS)
    assert ran.stdout == "2020\n", ran
    if LIBRARIES:
        ran = child.run("print(np.array([1.5]), np.dtype([('a', 'i4'), ('b', 'f4', 2)]))", ANALYSIS,
                        libraries=LIBRARIES)  # fmt: skip
        assert ran.error is None, ran


@test
def every_violation_is_an_event_and_they_are_bounded() -> None:
    ran = child.run("x = eval\n" * 200, ANALYSIS)
    assert ran.kind == "PolicyViolation" and len(ran.events) == 50, ran
    assert ran.report["more"] == 150 and ran.events[7]["line"] == 8, ran


@test
def a_disagreement_of_the_two_parsers_stops_the_run() -> None:
    import ast

    from _countersign import facts

    code = "x = 'a'\nprint(x, 0x10, 2.5, 3j, b'q')\n"
    tree = ast.parse(code)
    right = facts.seen(tree)
    assert child.run(code, ANALYSIS, facts=right).error is None
    for name in right:
        ran = child.run(code, ANALYSIS, facts=right | {name: "sha256:" + "0" * 64})
        assert ran.kind == "PolicyViolation" and not ran.stdout, ran
        assert [event["kind"] for event in ran.events] == ["facts"], ran


@test
def s5_virtual_files_are_in_memory_only() -> None:
    rules = copy.deepcopy(WALLED)
    rules["builtins"].append("open")
    rules["limits"]["file_size_mb"] = 1
    given = {
        "notes": ("data", "json", '["é"]'),
        "rows": ("table", "csv", 'a,b\n1,"x\ny"\n'),
    }

    def said(code: str) -> child.Ran:
        return child.run(code, rules, given)

    ran = said(
        "with open('a.txt', 'w') as f: print('one', file=f)\n"
        "with open('a.txt', 'a') as f: f.write('two')\n"
        "print(open('a.txt').read().split(), open('notes').read(), notes, rows)\n"
        "print(open('a.txt', 'rb').read(3), [line for line in open('rows', newline='')])"
    )
    assert ran.stdout.splitlines() == [
        "['one', 'two'] [\"é\"] ['é'] [{'a': '1', 'b': 'x\\ny'}]",
        "b'one' ['a,b\\n', '1,\"x\\n', 'y\"\\n']",
    ], ran
    for code, exception in [
        ("open('/etc/passwd')", "PermissionError"),
        ("open('../x', 'w')", "PermissionError"),
        ("open(0)", "PermissionError"),
        ("open('missing')", "FileNotFoundError"),
        ("open('notes', 'w')", "PermissionError"),
        ("open('notes', 'r+')", "PermissionError"),
        ("open('x', 'rw')", "ValueError"),
        ("open('x', 'w').read()", "UnsupportedOperation"),
        ("open('notes').write('x')", "UnsupportedOperation"),
        ("with open('x', 'w') as f: f.write('a' * 2_000_000)", "OSError"),
        ("for i in range(100): open(str(i), 'w')", "PermissionError"),
    ]:
        ran = said(code)
        assert ran.error and ran.error["exception"] == exception, f"{code!r}: {ran}"
    for code in [
        "try:\n    with open('x', 'wb') as f: f.write(b'a' * 2_000_000)\nexcept OSError: print('on')",
        "if True:\n    open('x', 'w').write('a' * 2_000_000)\nprint('on')",
        "try:\n    for i in range(100): open(str(i), 'w')\nexcept OSError: print('on')",
    ]:
        ran = said(code)
        [event] = ran.events
        assert (ran.stdout, event["kind"], event["line"]) == ("on\n", "limit", 2), ran
    ran = child.run("open('notes')", WALLED, given)
    assert ran.kind == "PolicyViolation", ran


FOLDERS = """
import os
import os.path
from os import makedirs
from pathlib import Path

os.mkdir("a")
makedirs("a/b/c", exist_ok=True)
with open("a/b/c/x.txt", "w") as f:
    f.write("deep")
print(open("a/./b/../b/c/x.txt").read(), open(Path("a") / "b" / "c" / "x.txt").read())
Path("a/y.txt").write_text("why")
print(os.listdir(), os.listdir("a"), sorted(p.name for p in Path("a").iterdir()))
print(os.path.exists("a/b"), os.path.isdir("a/y.txt"), os.path.isfile("a/y.txt"), os.path.exists("../a"))
print(os.path.getsize("a/y.txt"), os.path.relpath("a/b", "a"), os.path.abspath("a/../a"), os.getcwd())
print([(at, folders, files) for at, folders, files in os.walk("a")])
open_one = open("a/y.txt", "a")
open_one.write("!")
os.rename("a/y.txt", "a/b/z.txt")
os.rename("a/b", "d")
open_one.close()
print(Path("d/z.txt").read_text(), os.listdir("a"), Path("d").is_dir(), Path("none").exists())
os.remove("d/z.txt")
os.rmdir("a")
print(list(os.walk(".")), os.listdir("d/.."))
os.makedirs("out/2024")
last = open("out/2024/left.txt", "w")
last.write("open at the end")
"""


def with_folders() -> dict[str, Any]:
    rules = copy.deepcopy(WALLED)
    rules["builtins"].append("open")
    rules["imports"]["os"] = "getcwd listdir makedirs mkdir remove rename rmdir sep walk path environ system".split()
    rules["imports"]["os.path"] = "abspath exists getsize isdir isfile join relpath".split()
    rules["imports"]["pathlib"] = ["Path"]
    rules["attributes"]["deny"] = [n for n in rules["attributes"]["deny"] if n not in ("environ", "os")]
    return rules


@test
def s5_virtual_files_have_folders() -> None:
    ran = child.run(FOLDERS, with_folders(), {"notes": ("data", "json", "[]")})
    assert ran.error is None and ran.stdout.splitlines() == [
        "deep deep",
        "['a', 'notes'] ['b', 'y.txt'] ['b', 'y.txt']",
        "True False True False",
        "3 b a .",
        "[('a', ['b'], ['y.txt']), ('a/b', ['c'], []), ('a/b/c', [], ['x.txt'])]",
        "why! [] True False",
        "[('.', ['d'], ['notes']), ('./d', ['c'], []), ('./d/c', [], ['x.txt'])] ['d', 'notes']",
    ], ran


@test
def s5_no_path_leads_out_of_the_virtual_files() -> None:
    given = {"notes": ("data", "json", "[]")}
    for code, exception in [
        ("open('a/../../x', 'w')", "PermissionError"),
        ("os.mkdir('..')", "PermissionError"),
        ("os.listdir('/')", "PermissionError"),
        ("os.listdir('a/../..')", "PermissionError"),
        ("os.makedirs('a/b/c/d/e')", "PermissionError"),
        ("os.makedirs('a//b')", "PermissionError"),
        ("os.makedirs('/etc/x')", "PermissionError"),
        ("os.rename('notes', '../notes')", "PermissionError"),
        ("(Path('a') / '..' / '..').mkdir()", "PermissionError"),
        ("Path('/etc/passwd').read_text()", "PermissionError"),
        ("os.mkdir('notes')", "FileExistsError"),
        ("os.makedirs('notes/a')", "NotADirectoryError"),
        ("os.makedirs('a/b')\nos.makedirs('a/b')", "FileExistsError"),
        ("os.mkdir('a/b')", "FileNotFoundError"),
        ("os.mkdir('')", "FileNotFoundError"),
        ("open('a/b', 'w')", "FileNotFoundError"),
        ("os.mkdir('a')\nopen('a')", "IsADirectoryError"),
        ("os.mkdir('a')\nopen('a/x', 'w')\nos.rmdir('a')", "OSError"),
        ("os.mkdir('a')\nos.rename('a', 'a/b')", "OSError"),
        ("os.remove('notes')", "PermissionError"),
        ("os.rename('notes', 'b')", "PermissionError"),
        ("open('x', 'w')\nos.rename('x', 'notes')", "PermissionError"),
        ("for i in range(100): os.mkdir(str(i))", "PermissionError"),
        # Listed names that make no sense there do not fall back to the machine's.
        ("os.environ", "AttributeError"),
        ("os.system('true')", "AttributeError"),
        ("from os import system", "ImportError"),
    ]:
        ran = child.run(f"import os\nfrom pathlib import Path\n{code}", with_folders(), given)
        assert ran.error and ran.error["exception"] == exception, f"{code!r}: {ran}"


@test
def s5_folders_come_back_whole_where_the_policy_collects_files() -> None:
    rules = with_folders()
    with tempfile.TemporaryDirectory() as folder:
        ran = child.run_in(folder, FOLDERS, rules, None, None, None)
        assert ran.error is None and not os.listdir(folder), ran
        rules["limits"]["artifacts"] = 5
        ran = child.run_in(folder, FOLDERS, rules, {"notes": ("data", "json", "[]")}, None, None)
        assert ran.error is None, ran
        kept = {str(p.relative_to(folder)): p.read_text() for p in Path(folder).rglob("*") if p.is_file()}
        assert kept == {"d/c/x.txt": "deep", "out/2024/left.txt": "open at the end"}, kept


@test
def plain_python_is_not_refused() -> None:
    ran = child.run(PLAIN, ANALYSIS)
    assert ran.error is None and ran.stdout == "ok\n", ran


PLAIN = """
from __future__ import annotations
import abc, collections, contextlib, dataclasses, enum, functools, json, typing
from abc import ABC, ABCMeta, abstractmethod
from dataclasses import dataclass, field
from enum import Enum, Flag, auto
from typing import Generic, NamedTuple, Protocol, TypedDict, TypeVar

class Shape(metaclass=ABCMeta):
    @abstractmethod
    def area(self): ...

class Square(Shape):
    def __init__(self, side): self._side = side
    def area(self): return self._side ** 2

class Colour(Enum):
    RED = auto()
    BLUE = auto()

class Point(NamedTuple):
    x: int
    y: int = 2

class Movie(TypedDict):
    name: str

T = TypeVar('T')
class Box(Generic[T]):
    def __init__(self, item: T): self.item = item

@dataclass(frozen=True, order=True)
class Row:
    n: int
    tags: list[str] = field(default_factory=list)

@functools.singledispatch
def show(x): return 'any'
@show.register
def _(x: int): return 'int'
@functools.lru_cache(maxsize=None)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def logged(f):
    @functools.wraps(f)
    def inner(*a, **k): return f(*a, **k)
    return inner
@logged
def named(): "text"

assert Square(3).area() == 9 and Colour.RED.value == 1 and Colour['BLUE'] is Colour.BLUE
assert list(Enum('E', 'A B')) and Enum('F', {'a': 1}).a.name == 'a'
assert Point(1)._replace(y=3) == (1, 3) and Movie(name='x')['name'] == 'x' and Box(1).item == 1
assert Row(1) < Row(2) and dataclasses.replace(Row(1), n=2).n == 2 and show(1) == 'int'
assert fib(50) == 12586269025 and named.__name__ == 'named' and named.__doc__ == 'text'
assert type(1) is int and isinstance(int, type) and type('').__name__ == 'str' and type(type) is type
assert issubclass(Square, Shape) and type(Square(1)) is Square
x: type[int] = int
match {'kind': 'p', 'at': Point(1, 2), 'row': Row(4, ['a'])}:
    case {'kind': 'p', 'at': Point(x=1, y=b), 'row': Row(n, [first])}:
        assert (b, n, first) == (2, 4, 'a')
for value, want in [(1, 'int'), ('s', 'str'), (True, 'bool'), ([1, 2], 'pair'), (Colour.RED, 'red'), (None, 'none')]:
    match value:
        case bool(): got = 'bool'
        case int(n): got = 'int'
        case str(s): got = 'str'
        case [a, b]: got = 'pair'
        case Colour.RED: got = 'red'
        case _: got = 'none'
    assert got == want, (value, got)
class MyInt(int): pass
match MyInt(3):
    case MyInt(n): assert n == 3
match 2.5:
    case float(real=r): assert r == 2.5
@contextlib.contextmanager
def managed():
    try: yield 1
    finally: pass
with managed() as m, contextlib.suppress(KeyError): {}['x']
class Counter2:
    def __init__(self): self.n = 0
c = Counter2()
c.n += 1
c.n -= 3
assert c.n == -2 and '{0:>4}|{x!r}|{0}'.format('a', x='b') == '   a|\\'b\\'|a'
assert '{a[k]}'.format_map({'a': {'k': 1}}) == '1'
assert collections.namedtuple('P', 'a b', defaults=[2])(1).b == 2
assert json.JSONEncoder().encode([1]) == '[1]'
try: raise ExceptionGroup('g', [ValueError(1)])
except* ValueError as group: assert len(group.exceptions) == 1
async def co(): return 5
run = co()
try: run.send(None)
except StopIteration as stop: assert stop.value == 5
print('ok')
"""


@test
def every_profile_can_be_rehearsed() -> None:
    for name in ("analysis", "chart", "feature", "scoped", "script", "walled"):
        printed, wrong = child.rehearsed(child.policy(name), LIBRARIES)
        assert not wrong, (name, printed, wrong)
        if name == "feature":
            assert printed == "", (name, printed)
            continue
        assert printed.startswith("42\n"), (name, printed)
        assert "north" in printed or not LIBRARIES, (name, printed)


main()
