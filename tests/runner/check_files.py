"""Tests each file of the runner by itself: `python3 check_files.py [site-packages]`.

A test names the files that it covers, and fails if neither the test nor its forks call any of their functions. Every
file has a test here, or is listed with the place that tests it.
"""

import ast
import base64
import gc
import importlib
import io
import json
import os
import resource
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import check_lookups  # noqa: F401 - its tests are of these
import check_quick  # noqa: F401 - the same
import check_reach  # noqa: F401 - the same
import check_told  # noqa: F401 - the same
import check_trusted  # noqa: F401 - the same
import check_written  # noqa: F401 - the same
import child
from harness import LIBRARIES, main, test
from own import FILES, FOLDER, TESTED, forked, module, of, raises

# Files that need the helper, its jail and its descriptors: `src/executor` tests them, cold and warm, with real
# children (`tests/kernel.rs`, `tests/warm.rs`).
ELSEWHERE = set("first boot main slot restrict syscalls task zygote".split())


# -- the source text of the files


@test
def every_file_is_bundled_and_has_a_test() -> None:
    bundle = (FOLDER.parents[1] / "src/executor/python/bundle.rs").read_text()
    listed = {p: f'"{p.relative_to(FOLDER).with_suffix("")}"' for p in FILES.values()}
    missing = [p for p, name in listed.items() if name not in bundle and p.stem != "first"]
    assert not missing, missing
    untested = FILES.keys() - TESTED - ELSEWHERE
    assert not untested, f"no test is of {sorted(untested)}"
    assert not TESTED & ELSEWHERE and TESTED | ELSEWHERE <= FILES.keys()


# -- each file's behaviour


@of("plain")
def values_become_plain_json() -> None:
    plain, errors = module("plain"), module("errors")
    of_ = plain.Plain(None, None).of
    assert of_({1: (2.5, float("inf"), {3}), "b": None}, "x") == {"1": [2.5, None, [3]], "b": None}
    assert of_(2**70, "x") == str(2**70) and of_("a\ud800", "x") == "a?"
    error = raises(errors.Refused, of_, {"a": [object()]}, "x")
    assert "x['a'][0] is a object" in str(error), error
    deep: Any = []
    for _ in range(200):
        deep = [deep]
    raises(errors.Refused, of_, deep, "x")
    assert plain.cut("aé", 2) == ("a", True) and plain.cut("aé", 3) == ("aé", False)


@of("redact")
def hidden_values_are_hidden_in_every_form_and_in_pieces() -> None:
    redact = module("redact")
    secrets = redact.Secrets()
    secrets.add({"name": "hunter2 secret", "n": 12345, "none": None})
    coded = base64.b64encode(b"xhunter2 secrety").decode()
    for text in ("hunter2 secret", "HUNTER2 SECRET", "terces 2retnuh", "12345", coded):
        assert secrets.hides(text) and redact.REDACTED in secrets.clean(text), text
    assert not secrets.hides("hunter 123") and secrets.clean_all([12345, 7]) == [redact.REDACTED, 7]
    under = io.StringIO()
    numbers = redact.Secrets()
    for value in (51234, -7341, 1234.5678, 0.4567, "straße"):
        numbers.add(value)
    for text in (
        f"{51234:,} {51234:_} {51234:x} {51234:#o} {51234:b} {51234:+} {51234:.2f} {51234:.3e}".split()
        + f"{7341} {-7341:,} {7341:+,.1f} {1234.5678:.2f} {1234.5678:,.0f} {1234.5678:.4g}".split()
        + [f"{0.4567:.1%}", f"{0.4567:.3f}", "{!a}".format("straße"), "STRASSE".lower()]
        + [str("straße".encode())]
    ):
        assert numbers.hides(text), text
    assert not any(map(numbers.hides, ("12 rows", "0.5", "7 of 34", "51 of 99", "1e3")))
    stream = redact.Redacting(under, secrets)
    for char in "a hunter2 secret b":
        stream.write(char)
    stream.finish()
    assert under.getvalue() == f"a {redact.REDACTED} b", under.getvalue()


@of("rules", "check")
def syntax_that_is_not_listed_is_refused() -> None:
    rules, check = module("rules"), module("check")
    violation = module("errors").PolicyViolation
    events = module("events").Events(lambda line: None)
    data = FOLDER.parents[1] / "tests/data"
    texts = [(data / "nodes.py").read_text()]
    if sys.version_info >= (3, 12):
        texts.append((data / "nodes_312.py").read_text())
    policy = child.policy("analysis")

    def refused(tree: ast.Module, nodes: set[str]) -> str:
        judged = rules.Rules(policy | {"nodes": sorted(nodes)})
        try:
            check.check(tree, judged, {"ExceptionGroup"}, events)
        except violation as error:
            return f"; {error.message}; "
        return ""

    for text in texts:
        tree = ast.parse(text)
        there = {type(node).__name__ for node in ast.walk(tree)}
        assert not there - set(policy["nodes"]), there
        for kind in there:
            assert f"; {kind} is not allowed; " in refused(tree, there - {kind}), kind
        # `*` has no meaning in this list, and node types of a later Python are on no list.
        assert " more" in refused(tree, {"*"})

    class Later(ast.expr):
        _fields = ("value",)

    later: Any = ast.parse("x = 1")
    later.body[0].value = Later(ast.Constant(1))  # type: ignore[call-arg,arg-type]  # as its `_fields` say
    for nodes in (set(policy["nodes"]), set(policy["nodes"]) | {"*"}):
        assert refused(later, nodes) == "; Later is not allowed; "
    assert not refused(ast.parse("x = 1"), set(policy["nodes"]))


@of("scopes", "accesses", "events")
def scopes_keep_apart_what_is_in_them() -> None:
    scopes, secrets = module("scopes"), module("redact").Secrets()
    said: list[str] = []

    def refuse(message: str) -> BaseException:
        said.append(message)
        return KeyError(message)

    told: list[bytes] = []
    seen = module("accesses").Accesses()
    events = module("events").Events(told.append)
    private = scopes.Private({"key": "hunter2"}, set(), refuse, secrets, seen)
    public = scopes.Public({"before": 1}, refuse, secrets, seen)
    assert public.before == 1 and not told
    seen.to(events)
    assert public.before == 1 and public["before"] == 1 and len(told) == 1, told
    assert b'"crossing"' in told[0] and b"public.before" in told[0]
    raises(scopes.SecurityError, getattr, private, "none")
    raises(AttributeError, getattr, private, "none")
    raises(KeyError, private.__getitem__, "none")
    assert len(told) == 3 and b'"scope"' in told[1], told
    assert events.closing()["accesses"]["private"] == {"allowed": 0, "blocked": 3}
    assert seen.counts["public"] == {"allowed": 3, "blocked": 0}
    public.a = [1]
    raises(KeyError, setattr, public, "b", private.key)
    raises(TypeError, setattr, public, "c", {1})
    public.a.append("hunter2")
    raises(KeyError, public._left)
    system = scopes.System({"list": [1]}, refuse, seen)
    system.list.append(2)
    assert system["list"] == [1] and "private" in said[0]
    raises(KeyError, setattr, system, "list", 1)
    raises(AttributeError, getattr, public, "none")
    local = scopes.Local(refuse, seen)
    local.x = 1
    assert "x" in local and list(local) == ["x"]


@of("hooks", "facts")
def code_is_judged_by_the_names_that_stand_by_themselves() -> None:
    hooks, facts = module("hooks"), module("facts")
    far = "\n".join(f"a.b{n}" for n in range(600))
    text = f"{far}\nvars(x)\ncontext.vars = y.eval\nclass A:\n    def f(self): return eval(self.globals)\n"
    loaded = set(hooks.names_loaded(compile(text, "x", "exec")))
    assert {"a", "vars", "x", "context", "y", "eval"} <= loaded, loaded
    assert not loaded & {"b1", "b599", "globals"}, loaded
    # Halves of surrogate pairs differ from each other, and from the characters that stand for them.
    items = {facts.tagged(text) for text in ("\ud800", "\ud801", "\ue800", "\ufffd")}
    assert len(items) == 4, items


@of("events", "limits")
def a_limit_is_told_once_for_each_line_with_what_it_was() -> None:
    def inside() -> None:
        events, limits, errors = module("events"), module("limits"), module("errors")
        told: list[bytes] = []
        limits.met(OSError(27, "x"))
        seen = events.Events(told.append)
        limits.told_to(seen)
        for _ in range(3):
            limits.met(OSError(27, "of the snippet's making"))
        limits.met(OSError(2, "no limit"))
        assert len(told) == 1 and b"File too large" in told[0] and b"making" not in told[0]
        # As the cause of another error, and in a group.
        code = compile("try: raise OSError(24, 'x')\nexcept OSError: {}['a']", errors.SNIPPET, "exec")
        error = raises(KeyError, exec, code, {})
        limits.met(BaseExceptionGroup("g", [error]))
        assert len(told) == 2 and b'"line": 1' in told[1], told
        os.kill(os.getpid(), signal.SIGXFSZ)
        assert len(told) == 2, "the same limit, of no line"
        limits.reached("processes", "so many")
        assert len(told) == 3 and b"so many" in told[2]

    forked(inside)


MODES = [a + b for a in ("r", "w", "a", "x", "r+", "+w", "a+", "x+") for b in ("", "b", "t")]
MODES += ["", "q", "rw", "wbt", "bb", "w b", "U"]


@of("opened")
def open_is_the_built_in_but_tells_of_limits() -> None:
    def outcome(opener: Callable[..., Any], mode: str, name: str, **others: Any) -> Any:
        try:
            with opener(name, mode, **others) as file:
                told = [file.mode, file.name == name, file.readable(), file.writable(), file.seekable()]
                told += [getattr(file, "encoding", 0), getattr(file, "line_buffering", 0)]
                if file.writable():
                    told.append(file.write(b"a\nb" if "b" in mode else "a\nb"))
            return type(file), told, Path(name).read_bytes()
        except (OSError, ValueError, LookupError) as error:
            return type(error), str(error).replace(name, "")

    def same() -> None:
        import warnings

        warnings.simplefilter("ignore", RuntimeWarning)
        opened = module("opened")
        cases: list[tuple[str, dict[str, Any]]] = [(mode, {}) for mode in MODES]
        cases += [(mode, {"buffering": n}) for mode in ("w", "wb", "r+b") for n in (0, 1, 2, 100)]
        cases += [("w", {"encoding": "utf-16"}), ("w", {"newline": "\r\n"}), ("wb", {"newline": ""})]
        cases += [("w", {"encoding": "none"}), ("wb", {"errors": "strict"}), ("w", {"errors": "none"})]
        for at, (mode, others) in enumerate(cases):
            for there in (False, True):
                names = f"ours{at}{there}", f"other{at}{there}"
                for name in names if there else ():
                    Path(name).write_bytes(b"12345")
                ours, other = (
                    outcome(opener, mode, name, **others) for opener, name in zip((opened.open_, io.open), names)
                )
                # The only difference: a raw file has our class.
                fits = ours[0] is other[0] or issubclass(ours[0], io.FileIO)
                assert fits and ours[1:] == other[1:], (mode, others, there, ours, other)
        raises(FileNotFoundError, opened.open_, "none/x", "w")
        raises(TypeError, opened.open_, "x", 7)

    def telling() -> None:
        opened, limits, events = module("opened"), module("limits"), module("events")
        told: list[bytes] = []
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
        for way in range(5):
            told.clear()
            limits.told_to(events.Events(told.append))
            if way == 0:
                opened.open_("a", "w").write("x" * 6000)
                gc.collect()
            elif way == 1:
                with opened.open_("a", "wb", 0) as raw:
                    raises(OSError, raw.truncate, 6000)
            elif way == 2:
                file = opened.open_("a", "w+b")
                file.write(b"x" * 6000)
                for _ in range(3):
                    raises(OSError, file.flush)
                raises(OSError, file.close)
            elif way == 3:
                # Writes as compiled code would.
                fd = os.open("a", os.O_WRONLY)
                os.lseek(fd, 5000, os.SEEK_SET)
                raises(OSError, os.write, fd, b"x")
            else:
                resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
                raises(OSError, opened.open_, "b", "w")
            assert len(told) == 1 and b"files limit" in told[0], (way, told)

    forked(same)
    forked(telling)


@of("files", "zone")
def files_are_those_of_the_folder() -> None:
    def inside() -> None:
        files, zone = module("files"), module("zone")
        told: list[str] = []
        files.told_to(SimpleNamespace(add=lambda kind, text: told.append(f"{kind} {text}")))
        with files.open_output("a.txt", "w") as file:
            file.write("é")
        assert Path("a.txt").read_bytes() == "é".encode()
        for name in ("/etc/passwd", "../a", "..", "a\nb", "", 0):
            raises(PermissionError, files.open_output, name)
        os.symlink("/etc/passwd", "link")
        raises(OSError, files.open_output, "link")
        files.leave("b", b"12")
        files.keep_list(3)
        assert files.manifest() == [{"name": "a.txt", "bytes": 2}, {"name": "b", "bytes": 2}]
        zone.close([])
        with open("c", "w") as file:
            file.write("c")
        with open("c") as file:
            assert file.read() == "c"
        assert "files the file '/etc/passwd' was refused" in told
        raises(PermissionError, open, "/etc/passwd")
        raises(PermissionError, os.remove, "/etc/passwd")
        raises(PermissionError, os.chdir, "/")
        assert told[-1] == "system os.chdir by a library was refused", told

    forked(inside)


@of("loaded")
def modules_are_changed_now_or_when_they_are_loaded() -> None:
    def inside() -> None:
        loaded = module("loaded")
        import colorsys

        def mark(one: ModuleType) -> None:
            one.marked = getattr(one, "marked", 0) + 1  # type: ignore[attr-defined]  # a mark on the module

        loaded.change(["colorsys", "nturl2path"], mark)
        loaded.change(["nturl2path"], mark)
        import nturl2path

        assert (colorsys.marked, nturl2path.marked) == (1, 2)  # type: ignore[attr-defined]  # the marks
        assert not hasattr(importlib.import_module("stringprep"), "marked")

    forked(inside)


@of("figures")
def figures_have_free_names_and_are_as_many_as_are_collected() -> None:
    def inside() -> None:
        files, figures = module("files"), module("figures")
        sys.modules["plotly.io"] = shown = ModuleType("plotly.io")
        shown.show = None  # type: ignore[attr-defined]  # a module's own name
        files.most = 2
        Path("fig1.json").touch()
        figures.watch("agg")
        shown.show({"data": [{"y": [1]}], "layout": {}})
        assert Path("fig2.json").read_text() == '{"data": [{"y": [1]}], "layout": {}}'
        assert figures.next_name(".png") == "fig3.png"
        assert figures.next_name(".png") is None
        shown.show({"data": [], "layout": {}})
        assert not Path("fig4.json").exists() and not figures.is_shown(1)

    forked(inside)


@of("canvas", needs="matplotlib")
def figures_that_are_shown_become_files() -> None:
    def inside() -> None:
        os.environ["MPLBACKEND"] = "module://_countersign.canvas"
        os.environ["MPLCONFIGDIR"] = os.getcwd()
        module("files").most = 5
        import matplotlib.pyplot as plt

        plt.plot([1, 2])
        plt.show()
        plt.plot([2, 1])
        plt.savefig("mine.png")
        plt.figure()

        class Own(plt.Figure):  # type: ignore[misc]  # matplotlib has no types here
            def savefig(self, *args: Any, **kwargs: Any) -> None:
                """Saves nothing."""

        plt.figure(FigureClass=Own)
        module("canvas").finish()
        assert {n for n in os.listdir() if n.endswith("png")} == {"fig1.png", "mine.png", "fig2.png", "fig3.png"}

    forked(inside)


@of("channel")
def messages_come_whole_with_their_descriptors() -> None:
    channel = module("channel")
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with one, other, tempfile.TemporaryFile() as file:
        file.write(b"content")
        file.flush()
        channel.send(one.fileno(), b"abc", file.fileno())
        text, fds = channel.receive(other.fileno(), 3, 2)
        assert text == b"abc" and os.pread(fds[0], 9, 0) == b"content" and len(fds) == 1
        os.close(fds[0])
        for sent in (b"ab", b"abcd"):
            channel.send(one.fileno(), sent)
            raises(OSError, channel.receive, other.fileno(), 3, 2)
        one.close()
        assert channel.receive(other.fileno(), 3, 2) == (b"", [])


@of("display")
def a_value_is_shown_and_remembered() -> None:
    import contextlib

    show, out = module("display").Display(), io.StringIO()
    with contextlib.redirect_stdout(out):
        show(None)
        show("a")
    assert (out.getvalue(), show.told) == ("'a'\n", {"value": "a"})
    for whole in (False, True):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            module("display").Display(whole)("a" * 200_000)
        assert (len(out.getvalue()) > 200_000) is whole, len(out.getvalue())


@of("shown")
def a_value_comes_back_as_far_as_it_fits() -> None:
    result = module("shown").result
    for value, plain in [
        ({(1, "x"): {2.5}, None: [float("nan"), True]}, {"(1, 'x')": [2.5], "None": [None, True]}),
        ((range(2), {"a": 1}.keys(), 2**70), [[0, 1], ["a"], str(2**70)]),
        ("a\ud800", "a?"),
    ]:
        assert result(value, False) == {"value": plain}, value

    class Lists(list[int]):
        def __iter__(self) -> Any:
            return iter(["forged"])

    class Named(dict[str, int]):
        def items(self) -> Any:
            return [("forged", 1)]

    assert result([Lists([1, 2]), Named(a=1)], False) == {"value": [[1, 2], {"a": 1}]}
    cut = result([object(), "x" * 20_000], False)
    assert cut["value"] == ["[object left out]", "x" * 10_000 + "…"], cut
    assert cut["value_left_out"][0] == "object, which has no plain JSON form", cut
    # The text may begin with a private value, which is recognised only whole, so the text is not cut.
    assert result("x" * 20_000, True)["value"] == "[text left out]"
    # A list that contains itself twice: without the size limit it would grow at each of a hundred levels.
    twice: list[Any] = []
    twice += [twice, twice]
    assert len(json.dumps(result(twice, False))) < 300_000
    long = result(["\0" * 9000] * 1000, False)
    assert 200_000 < len(json.dumps(long)) < 300_000
    assert long["value_left_out"] == ["what is beyond 200000 bytes of JSON"], long["value_left_out"]


@of("files")
def names_made_of_private_values_are_not_given_back_in_other_words() -> None:
    files = module("files")
    assert "such as 'ann_mail.txt'" in files.fault("ann\tmail.txt")
    files.hide()
    try:
        assert "such as 'out.csv'" in files.fault("ann\tmail.txt")
    finally:
        files._private = False


@of("shown", needs="pandas")
def a_table_of_a_class_of_its_own_is_told_as_it_is() -> None:
    import pandas

    class Lying(pandas.DataFrame):  # type: ignore[misc]  # pandas has no types here
        shape = (999, 999)

        @property
        def index(self) -> Any:
            return pandas.RangeIndex(999)

        def itertuples(self, *_: Any, **__: Any) -> Any:
            return iter([(999,)])

    class Named(pandas.Series):  # type: ignore[misc]  # pandas has no types here
        name = "other"

    told = module("shown").result(Lying({"a": [1]}), False)["value"]
    assert (told["shape"], told["rows"], told["index"]) == ([1, 1], [[1]], [0]), told
    assert module("shown").result(Named([1], name="own"), False)["value"]["shape"] == [1]


@of("nearest")
def a_name_that_is_not_there_has_a_near_one() -> None:
    nearest, errors = module("nearest"), module("errors")

    def hint(code: str) -> str:
        try:
            exec(compile(code, errors.SNIPPET, "exec"), {"__name__": "__main__", "given": {"Pay": 1}})
        except Exception as error:  # noqa: BLE001 - whatever the code raises
            found: str = nearest.hint(error)
            return found
        raise AssertionError(code)

    rows = [
        ("given['pai']", "Pay", "Pay"),
        ("own = {'Total': 1}\nown['totl']", "Total", None),
        ("own = {'1': 1}\nown[1]", "'1'", None),
        ("total = 1\ntotla", "total", "total"),
        ("def f():\n    amount = 1\n    return [amuont for _ in '1']\nf()", "amount", "amount"),
        ("'a'.uper()", "upper", "upper"),
        ("class Own: pass\none = Own()\none.size = 1\none.sise", "size", None),
        ("given['entirely']", None, None),
        ("given['Pay'], {}['Pay']", None, None),
        ("class Odd(dict):\n    keys = None\n    def __dir__(self): raise SystemExit\nOdd().itms", "items", "items"),
        ("raise KeyError([])", None, None),
        ("raise AttributeError", None, None),
        ("raise ValueError('Pai')", None, None),
    ]
    for private in (False, True):
        nearest.begin({"given": {"Pay": 1}}, private, ["given"])
        for code, public, told in rows:
            name = told if private else public
            assert hint(code) == (f"; did you mean `{name}`?" if name else ""), (code, hint(code))
    nearest.begin({}, False, [])
    for one, other, changes in [("", "ab", 2), ("pay", "pya", 1), ("total", "totals", 1), ("a", "a", 0)]:
        assert nearest.distance(one, other) == changes == nearest.distance(other, one)


@of("lacking", "nearest", needs="pandas")
def a_table_without_the_column_names_its_columns() -> None:
    import pandas

    nearest, errors = module("nearest"), module("errors")

    def hint(code: str) -> str:
        table = pandas.DataFrame({"who": ["Ann", "Bo"], "pay": [1, 2]})
        try:
            exec(compile(code, errors.SNIPPET, "exec"), {"__name__": "__main__", "table": table})
        except KeyError as error:
            found: str = nearest.hint(error)
            return found
        raise AssertionError(code)

    columns = "; the columns are `who`, `pay`"
    rows = [
        ("table['entirely']", columns, columns),
        ("table.groupby('who')['entirely']", columns, columns),
        ("table.apply(lambda row: row['entirely'], axis=1)", columns, columns),
        # Labels of rows are sought elsewhere.
        ("table.loc['entirely']", "", ""),
        ("{'who': 1}['entirely']", "", ""),
        # Columns that were values before.
        ("table.pivot_table(columns='who', values='pay')['entirely']", "; the columns are `Ann`, `Bo`", ""),
    ]
    for private in (False, True):
        nearest.begin({"table": pandas.DataFrame({"who": [], "pay": []})}, private, ["table"])
        for code, public, told in rows:
            assert hint(code) == (told if private else public), (private, code, hint(code))
    nearest.begin({}, False, [])
    long = module("lacking").listed([7, "x" * 99, *range(30)])
    assert long.startswith(f"; the columns are `7`, `{'x' * 60}`, `0`") and long.endswith("`17` and 12 more"), long


@of("lacking", "nearest", needs="pandas")
def a_row_without_the_attribute_names_its_tables_columns() -> None:
    import pandas

    nearest, errors = module("nearest"), module("errors")

    def hint(code: str) -> str:
        table = pandas.DataFrame({"who": ["Ann", "Bo"], "unit_pay": [1, 2], "mad": [1, 2]})
        try:
            exec(compile(code, errors.SNIPPET, "exec"), {"__name__": "__main__", "table": table})
        except AttributeError as error:
            found: str = nearest.hint(error)
            return found
        raise AssertionError(code)

    nearest.begin({}, False, [])
    columns = "; the columns are `who`, `unit_pay`, `mad`"
    rows = [
        ("table.iloc[0].whoo", "; did you mean `who`?"),
        ("for _, row in table.iterrows(): row.unit_pya", "; did you mean `unit_pay`?"),
        ("table.iloc[0].maxd", "; did you mean `mad`?"),
        ("table.iloc[0].entirely", columns),
        ("table.iloc[0].value_count", "; did you mean `value_counts`?"),
        ("table['who'].entirely", ""),
    ]
    for code, told in rows:
        assert hint(code) == told, (code, hint(code))


@of("display", needs="pandas")
def a_width_that_the_snippet_sets_wraps_tables() -> None:
    def inside() -> None:
        import pandas

        keys = ("display.width", "display.expand_frame_repr", "display.max_columns")

        def now() -> tuple[object, ...]:
            return tuple(map(pandas.get_option, keys))

        plain, wide = now(), (160, False, 50)
        module("display").widen(pandas)
        assert now() == wide
        with pandas.option_context("display.width", 60):
            assert now() == (60, *plain[1:])
        assert now() == wide
        pandas.set_option("display.max_columns", 7)
        assert now() == (160, False, 7)
        pandas.options.display.width = 120
        assert now() == (120, True, 7)

    forked(inside)


@of("fresh")
def forks_draw_other_numbers() -> None:
    import random

    random.seed(1)
    was = random.random()
    random.seed(1)
    module("fresh").start()
    assert random.random() != was


@of("warmup", needs="pandas")
def libraries_are_used_once() -> None:
    module("warmup").warm(["pandas", "json"])


@of("spec", "inputs")
def inputs_are_read_once_and_only_as_they_were_shown() -> None:
    spec, inputs = module("spec"), module("inputs")
    digest = spec.digest_of(child.memfd(b'{"a": [1, null]}'))

    def bound(name: str, text: bytes) -> Any:
        return spec.Input(name=name, kind="data", format="json", fd=child.memfd(text), sha256=digest, private=False)

    values = inputs.load([bound("x", b'{"a": [1, null]}')], None)
    assert values == {"x": {"a": [1, None]}}, values
    raises(spec.Mismatch, inputs.load, [bound("x", b'{"a": [1, 2]}')], None)
    shown = spec.digest_of(child.memfd(b"print(1)"))
    assert spec.read_code(spec.Setup(code=shown, fd_code=child.memfd(b"print(1)"))) == "print(1)"
    raises(spec.Mismatch, spec.read_code, spec.Setup(code=shown, fd_code=child.memfd(b"print(2)")))


@of("threads")
def processes_become_threads() -> None:
    def inside() -> None:
        threads = module("threads")
        sys.modules["joblib.parallel"] = made = ModuleType("joblib.parallel")
        made.BACKENDS = {"threading": int, "loky": str}  # type: ignore[attr-defined]  # a module's own name
        threads.instead()
        assert made.BACKENDS == {"threading": int, "loky": int, "multiprocessing": int}
        assert made.DEFAULT_BACKEND == made.DEFAULT_PROCESS_BACKEND == "threading"

    forked(inside)


@of("modules")
def modules_are_given_without_what_reaches_further() -> None:
    def inside() -> None:
        modules, errors = module("modules"), module("errors")

        class Gates:
            rules = module("rules").of(child.policy("analysis"))
            formatter: Any = None

            def refuse(self, message: str) -> None:
                raise errors.PolicyViolation(message)

            def check_name(self, name: str, allowed: Any) -> None:
                if name.startswith("__"):
                    self.refuse(name)

        class Narrow:
            gates = Gates()
            instead: dict[int, Any] = {}

        Narrow.gates.formatter = module("gates").Formatter(Narrow.gates)

        import argparse
        import logging
        import tempfile

        modules.give(Narrow)
        kept = Narrow.instead[id(os.environ)]
        assert kept == dict(os.environ) and kept is not os.environ
        parser = Narrow.instead[id(argparse.ArgumentParser)]()
        parser.add_argument("--n", type=int, default=3)
        assert parser.parse_args(["--n", "4"]).n == 4
        raises(errors.PolicyViolation, parser.parse_args, [], object())
        parser.set_defaults(__class__=1)
        raises(errors.PolicyViolation, parser.parse_args, [])
        record = logging.LogRecord("a", 20, "p", 1, "m", (), None)
        assert logging.Formatter("{levelname}", style="{").format(record) == "INFO"
        reaching = logging.Formatter("{args.__class__}", style="{", validate=False)
        raises(errors.PolicyViolation, reaching.format, record)
        try:
            raise KeyError("x")
        except KeyError as error:
            told = logging.Formatter().formatException((KeyError, error, error.__traceback__))
        assert "KeyError: 'x'" in told and "check_files" not in told, told
        assert tempfile.gettempdir() == os.environ["HOME"]
        notebook = modules.notebook()
        assert repr(notebook.HTML("<b>")) == "<b>" and sys.modules["IPython"].get_ipython() is None

    forked(inside)


@of("mangle", "facts", "rules", "check")
def names_are_judged_as_the_interpreter_reads_them() -> None:
    mangle, facts, check = module("mangle"), module("facts"), module("check")
    rules, errors, events = module("rules"), module("errors"), module("events")
    tree = ast.parse("class _A:\n    def f(self): return self.__x, __y")
    assert "self._A__x" in ast.unparse(mangle.mangle(tree)) and "_A__y" in ast.unparse(tree)
    assert facts.seen(ast.parse("x = 0x10")) == facts.seen(ast.parse("x = 16"))
    assert facts.seen(ast.parse("x = 1")) != facts.seen(ast.parse("x = 1.0"))
    allowed, silent = rules.of(child.policy("analysis")), events.Events(lambda line: None)
    code = "class A:\n    def __add__(self, o): pass\n    __radd__ = __add__"
    check.check(ast.parse(code), allowed, [], silent)
    for code in ("__add__", "__loader__: int", "f(__class__=1)", "global __spec__", "import subprocess"):
        raises(errors.PolicyViolation, check.check, ast.parse(code), allowed, ["f"], silent)


@of(
    *("rewrite", "patterns", "gates", "narrow", "names", "imports", "guard", "hooks", "watch"),
    *("job", "report", "errors", "failure", "contracts.__init__", "contracts.base", "contracts.analysis"),
)
def code_runs_under_its_gates() -> None:
    code = (
        "import math\nclass P:\n    def __init__(s, x): s.x = x\nmatch P(2):\n    case P(x=n): pass\n"
        "try: 1 / 0\nexcept ZeroDivisionError: print(math.sqrt(n * 2), '{}'.format(n))\n"
    )
    ran = child.run(code, child.policy("analysis"))
    assert ran.stdout == "2.0 2\n" and ran.error is None, ran
    for wrong in ("getattr(1, '__cl' + 'ass__')", "'{0.x}'.format(1)", "import json\njson.decoder"):
        ran = child.run(wrong, child.policy("analysis"))
        assert ran.kind == "PolicyViolation" and ran.events[0]["kind"] == "refused", ran
    assert child.run("1 / 0", child.policy("analysis")).error["exception"] == "ZeroDivisionError"


@of("contracts.chart", "contracts.scoped", "contracts.walled", "contracts.script", "virtual", "served")
def each_contract_has_its_names_and_its_result() -> None:
    said = child.run("result = {'output': 'x', 'chart': {'data': [1.5]}}", child.policy("chart"))
    assert said.report["result"] == {"output": "x", "chart": {"data": [1.5]}}, said
    assert child.run("result = 1", child.policy("chart")).kind == "ContractViolation"
    told = {"private": ("data", "json", '{"k": "hunter2"}')}
    said = child.run("public.a = 1\nprint(private.k)\nlog('x')", child.policy("scoped"), told)
    assert said.report["result"]["public"] == {"a": 1} and said.stdout == "[REDACTED]\n", said
    rules = child.policy("walled")
    rules["builtins"] = [*rules["builtins"], "open"]
    said = child.run("open('a', 'w').write('b')\nprint(open('a').read())", rules)
    assert said.stdout == "b\n", said
    rules["imports"]["os"], rules["imports"]["pathlib"] = ["listdir", "makedirs"], ["Path"]
    said = child.run(
        "import os\nfrom pathlib import Path\nos.makedirs('a/b')\nPath('a/c').touch()\nprint(os.listdir('a/b/..'))",
        rules,
    )
    assert said.stdout == "['b', 'c']\n", said
    said = child.run("import os\nprint(os.sep)", child.policy("script"))
    assert said.stdout == "/\n", said


@of("hold", "stop")
def a_run_stops_where_it_is_told_to() -> None:
    hold, stop, events = module("hold"), module("stop"), module("events")
    assert hold.count() > 1 << 20
    sys.stdout.flush()
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        setup = SimpleNamespace(policy={"limits": {"wall_s": 600}}, report=1 << 20, fd_report=write)
        stop.ready()
        stop.arm(setup, events.Events(lambda line: None), time.monotonic())
        signal.raise_signal(stop.CANCEL)
        os._exit(3)
    _, status = os.waitpid(pid, os.WUNTRACED)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(write)
    with open(read, "rb") as file:
        assert os.WIFSTOPPED(status) and b"Cancelled" in file.read()


@of("errors")
def errors_are_shown_without_frames_of_libraries() -> None:
    import contextlib

    errors, err = module("errors"), io.StringIO()
    code = compile("import json\ndef f(): json.loads('{')\nf()", errors.SNIPPET, "exec")
    error = raises(ValueError, exec, code, {})
    with contextlib.redirect_stderr(err):
        errors.show(error)
        errors.show_unraisable(SimpleNamespace(exc_value=error, exc_type=ValueError))
        errors.show_unraisable(SimpleNamespace(exc_value=None, exc_type=KeyError))
        errors.show_warning("old", UserWarning, "/usr/lib/x.py", 7)
    said = err.getvalue()
    assert said.count("<snippet>") == 4 and "/" not in said and "json.py" not in said, said
    assert said.endswith("KeyError\nUserWarning: old\n"), said


@of("rehearse")
def a_rehearsal_leaves_nothing_wrong() -> None:
    printed, wrong = child.rehearsed(child.policy("walled"), {})
    assert printed.startswith("42\n") and not wrong, (printed, wrong)


@of("summary")
def a_summary_is_short_and_has_no_private_value() -> None:
    summary = module("summary")
    records = [{"a": 5, "b": [1, 2], "c": "x" * 60}, {"a": None, "c": "a\ud800"}, 3, {"a": -3}]
    said = summary.of_records(records, ["a", "b", "c"], False)
    first, second, third = said["columns"]
    assert first == {"missing": 1, "distinct": 2, "least": "-3", "greatest": "5"}, first
    assert second == {"missing": 2, "distinct": None, "least": None, "greatest": None}, second
    assert third["distinct"] == 2 and third["missing"] == 1, third
    assert said["head"][0][:2] == ["5", "list of 2"] and len(said["head"][0][2]) == 40
    assert said["head"][1] == [None, None, "a?"] and len(said["head"]) == 3
    hidden = summary.of_records(records, ["a", "b", "c"], True)
    assert hidden["head"] == [] and hidden["columns"][0] == {**first, "least": None, "greatest": None}
    assert len(summary.of_records([{}], [str(n) for n in range(99)], False)["columns"]) == summary.COLUMNS


@of("convert")
def plain_data_is_described() -> None:
    plain = module("convert").plain
    assert plain([{"a": 1, "b": None}, {"a": 2.5, "b": True}]) == (
        [("a", "float64"), ("b", "object")],
        2,
    )


@of("rounded")
def a_rounded_number_is_hidden_where_it_tells_values_apart() -> None:
    rounded = module("rounded")
    assert 51234.6 in set(rounded.of_numbers({51234.567: 1, 48010.253: 4}))
    assert not set(rounded.of_numbers({51234.567: 5, 48010.253: 9}))


@of("values")
def values_are_counted_by_rows() -> None:
    values = module("values")
    found = dict(values.of_plain([{"n": "ada", "t": ["x", "x"]}, {"n": "ada", "t": [7]}]))
    assert found == {"ada": 2, "x": 1, "7": 1}, found
    if LIBRARIES:
        frame = LIBRARIES["pandas"].DataFrame({"g": ["a", "a", "b"], "n": [1.0, 2.0, 9.0]})
        assert dict(values.of_table(frame, LIBRARIES["pandas"]))["a"] == 2
        assert ("3.0", values.SMALL) in set(values.aggregates([frame], LIBRARIES["pandas"], []))


@of("columns", "frames", "lift", "contracts.feature", "certify", needs="pandas")
def new_columns_are_handed_over_certified_and_measured() -> None:
    import numpy
    import pandas
    import pyarrow

    columns, frames, lift = module("columns"), module("frames"), module("lift")
    spec, errors, contracts = module("spec"), module("errors"), module("contracts")
    frame = pandas.DataFrame({"a": range(40), "t": [i % 3 + i for i in range(40)]})
    wide = frame.assign(b=[float("inf"), *range(39)])
    raw = columns.to_arrow(wide, ["a", "t"], pandas, pyarrow)
    table = columns.certified(raw, ["a", "t"], numpy, pyarrow)
    assert columns.described(table) == [{"name": "b", "dtype": "double", "missing": 1}]
    for bad in (frame, wide.assign(c="x"), 7):
        raises(errors.Refused, columns.to_arrow, bad, ["a", "t"], pandas, pyarrow)
    raises(errors.Refused, columns.certified, b"none", [], numpy, pyarrow)
    assert frames.is_same(frames.from_arrow(frames.to_arrow(wide, pandas, False), None), wide)
    raises(errors.Refused, lift.Lift, {"target": "none"}, frame)
    measured = lift.Lift({"target": "t"}, frame).measured(frame, table.to_pandas())
    assert measured["metric"] == "r2" and measured["before"] > 0.9, measured

    def certified() -> None:
        handed, given = child.memfd(raw), child.memfd(frame.to_csv(index=False).encode())
        inputs = [
            {
                "name": name,
                "kind": "table",
                "format": "csv",
                "fd": fd,
                "sha256": spec.digest_of(fd),
                "private": False,
            }
            for name, fd in (("df", given), ("handed", handed))
        ]
        told = child.memfd(json.dumps({"inputs": inputs, "facts": None}).encode())
        setup = SimpleNamespace(policy=child.policy("feature"), fd_job=told)
        contract = contracts.of("feature")(setup, {**LIBRARIES, "pyarrow": pyarrow})
        result = module("certify").run(setup, LIBRARIES, contract)
        assert result["rows"] == 40 and result["columns"][0]["name"] == "b", result
        assert Path(columns.FILE).stat().st_size > 100

    forked(certified)


main()
