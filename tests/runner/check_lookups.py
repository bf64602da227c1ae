"""Tests what libraries look up for a snippet, and arrays over foreign memory: with stand-ins, and with the real
libraries where they are installed.

Part of `check_files.py`.
"""

import operator
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import child
from own import forked, module, of, raises


class Ends(Exception):
    pass


def refuse(message: str) -> None:
    raise Ends(message)


def made_gates() -> Any:
    gates = module("gates").Gates(module("rules").of(child.policy("analysis")))
    gates.refuse = refuse
    return gates


@of("lookups", "loaded")
def what_a_library_looks_up_is_judged_where_it_was_given_the_name() -> None:
    def inside() -> None:
        lookups, gates = module("lookups"), made_gates()
        own = lookups.names(gates)
        library: dict[str, Any] = {**own}
        exec(
            "def given(x, name): return getattr(x, name)\n"
            "def spelled(x): return getattr(x, '__class__')\n"
            "def sets(x, name): setattr(x, name, 1)\n"
            "def path(x, name): return attrgetter(name)(x)",
            library,
        )
        assert library["given"]("a", "upper")() == "A" and library["spelled"]("a") is str
        assert library["path"](1, "real.imag") == 0
        for name in ("__class__", "__globals__", "f_back", type("T", (str,), {})("__dict__")):
            raises(Ends, library["given"], "a", name)
        raises(Ends, library["sets"], SimpleNamespace(), "__class__")
        raises(Ends, library["path"], "a", "upper.__self__")
        raises(Ends, own["methodcaller"], "__reduce__")
        assert own["methodcaller"]("upper")("a") == "A"
        for text in ("{x.real}", "{x:{y.real}}"):
            assert lookups.reaches(text)
            raises(Ends, lookups.template, text, gates)
        for text in ("{x[0].real}", "{x[a].b[c]}"):
            assert lookups.reaches(text)
        assert lookups.template({"a": "{:.2f} {x[0]} {x[a.b]}"}, gates) == {"a": "{:.2f} {x[0]} {x[a.b]}"}
        # Modules of a registered package are changed, modules of other packages are not.
        module("loaded").under(["sort_of_library"], lambda found: found.__dict__.setdefault("mine", 1))
        assert "mine" not in vars(operator)

    forked(inside)


@of("memory")
def positions_and_pointers_are_looked_at_before_compiled_code_believes_them() -> None:
    memory = module("memory")
    state = {"bit_generator": "MT19937", "state": {"key": 1, "pos": 624}}
    assert memory.checked_state(state) == state and memory.checked_state(("MT19937", 1, 3))[2] == 3
    for wrong in ({"state": {"pos": 700}}, {"buffer_pos": -1}, ("MT19937", 1, 700)):
        raises(ValueError, memory.checked_state, wrong)

    class Lies(int):
        def __le__(self, other: Any) -> bool:
            return True

        def __ge__(self, other: Any) -> bool:
            return True

    raises(ValueError, memory.checked_state, {"buffer_pos": Lies(99)})

    class Array:
        dtype, base = SimpleNamespace(hasobject=True), None

    assert memory.without_pointers(Array()).base is None
    Array.base = 1  # type: ignore[assignment]  # the wrong one
    raises(ValueError, memory.without_pointers, Array())


@of("memory", "arrow", "narrow", "reach", needs="pandas")
def arrays_stay_in_their_memory() -> None:
    def inside() -> None:
        import numpy

        gates = made_gates()
        module("memory").close(gates)
        module("arrow").close(gates)
        array = gates.narrow.give(numpy.ndarray)
        assert isinstance(numpy.zeros(1), array) and issubclass(numpy.matrix, array)
        assert array((2,)).shape == (2,)
        pointer = numpy.array([id(array)])
        raises(ValueError, array, (1,), object, pointer)
        raises(ValueError, numpy.recarray, (1,), [("f", object)], pointer)
        values = numpy.zeros(8)
        resize = gates.read_given(values, "resize")
        raises(ValueError, lambda: resize(2, refcheck=False))
        assert type(gates.read_given(values, "view")(array)) is numpy.ndarray

    forked(inside)


@of("memory", "arrow", needs="pandas")
def a_file_gives_pyarrow_no_more_than_it_asks_for() -> None:
    def inside() -> None:
        import io

        import pyarrow
        import pyarrow.orc

        gates = made_gates()
        module("arrow").close(gates)
        file = gates.narrow.give(pyarrow.PythonFile)
        read = file(io.BytesIO(b"abcdef"), mode="r")
        into = bytearray(2)
        assert read.read(3) == b"abc" and read.readinto(into) == 2 and into == b"de" and read.tell() == 5
        assert read.size() == 6 and read.seek(1) == 1 and read.read() == b"bcdef"
        sink = io.BytesIO()
        with file(sink) as write:
            write.write(b"xyz")
            assert sink.getvalue() == b"xyz"
        raises(TypeError, lambda: file(io.StringIO("a"), mode="r"))
        assert pyarrow.input_stream(io.BytesIO(b"abc"), buffer_size=2).read() == b"abc"

        class More(io.BytesIO):
            def read(self, size: Any = -1) -> Any:
                return memoryview(b"x" * 99)

        raises(ValueError, file(More(b"abc"), mode="r").read, 4)
        raises(ValueError, pyarrow.input_stream(source=More(b"abc"), buffer_size=16).read, 4)
        raises(ValueError, pyarrow.RecordBatchStreamReader, More(b"abc"))
        raises(OSError, pyarrow.orc.ORCFile, More(b"abc"))
        # A file opened as text returns str, which pyarrow must not take for bytes.
        read = file(SimpleNamespace(read=lambda size: "abc", closed=False), mode="r")
        raises(TypeError, read.read, 3)

    forked(inside)


@of("narrow")
def only_what_is_the_snippets_own_is_registered_or_wrapped() -> None:
    import numbers
    import textwrap

    narrow, gates = module("narrow"), made_gates()
    register = narrow.register(numbers.Number, numbers.Number.register, refuse)
    raises(Ends, register, str)
    raises(Ends, narrow.wraps(gates)(lambda: 0), textwrap.dedent)

    def own() -> None:
        "What it does."

    own.__module__ = "__main__"
    wrapped = narrow.wraps(gates)(SimpleNamespace(__annotations__={"x=1": int}, __doc__="Mine."))(own)
    assert wrapped.__doc__ == "Mine." and wrapped.__annotations__.keys() == {"return"}


@of("narrow")
def a_function_that_wraps_another_gets_its_annotations() -> None:
    narrow = module("narrow")

    def own(x: int) -> str:
        return str(x)

    def wrapper(*args: Any) -> Any:
        return own(*args)

    own.__module__ = wrapper.__module__ = "__main__"
    # Built at run time, so that the annotations are values, not texts.
    own.__annotations__ = {"x": int}
    assert narrow.wraps(made_gates())(own)(wrapper).__annotations__ == {"x": int}
    # A function of Python 3.14 carries the function that makes its annotations; nothing here may call it.
    lazy, target = SimpleNamespace(__annotate__=refuse), SimpleNamespace()
    narrow.annotate(lazy, target)
    assert vars(target) == {"__annotate__": refuse}


@of("narrow")
def no_field_of_a_data_class_is_more_than_a_name() -> None:
    def inside() -> None:
        import dataclasses

        narrow = module("narrow")
        narrow.dataclasses_of_names(dataclasses, refuse)
        narrow.importing = lambda: False

        def own(name: Any) -> Any:
            return type("Own", (), {"__annotations__": {name: int}, "__module__": "__main__"})

        for name in ("x=print(1)", "x y", "class", "", 3):
            raises(Ends, dataclasses.dataclass, own(name))
        named = dataclasses.dataclass(own("x"))
        assert named(1) == named(1) != named(2)
        raises(Ends, dataclasses.dataclass, type("Theirs", (), {"__module__": "json"}))
        # Libraries do so while they are imported.
        narrow.importing = lambda: True
        dataclasses.dataclass(type("Theirs", (), {"__module__": "json"}))

    forked(inside)


@of("narrow")
def only_the_library_evaluates_a_forward_reference() -> None:
    class ForwardRef:
        def evaluate(self, *, owner: Any = None) -> Any:
            return owner

    library = ModuleType("annotationlib")
    library.ForwardRef = ForwardRef  # type: ignore[attr-defined]  # as the module of Python 3.14 has it

    def inside() -> None:
        narrow = module("narrow")
        narrow.importing = lambda: False
        narrow.Narrow.references(SimpleNamespace(gates=SimpleNamespace(refuse=refuse)), library)
        raises(Ends, ForwardRef().evaluate)
        for name in ("annotationlib", "typing"):
            within: dict[str, Any] = {"__name__": name}
            exec("def ask(reference): return reference.evaluate(owner=3)", within)
            assert within["ask"](ForwardRef()) == 3

    forked(inside)


@of("gates")
def pandas_gets_the_names_that_were_looked_at() -> None:
    gates = made_gates()
    names = ["sum", "mean"]
    seen = gates.check_named(names)
    names[0] = "__class__"
    assert seen == ["sum", "mean"]

    class Text(str):
        def startswith(self, *args: Any) -> bool:
            return False

    for wrong in (Text("__class__"), ["sum", "_mgr"], {"a": "__class__"}, ("a", "__class__")):
        raises(Ends, gates.check_named, wrong)
    assert type(gates.check_named(Text("sum"))) is str

    # Data arguments, and arguments for the function, are passed on unchanged.
    def apply(*args: Any, **kwargs: Any) -> Any:
        return args, kwargs

    data = ["_private"]
    given = gates.named("crosstab", apply)(data, data, None, None, None, "sum", margins=data)
    assert given[0][0] is data and given[1]["margins"] is data
    raises(Ends, gates.named("crosstab", apply), data, data, None, None, None, "__class__")
    raises(Ends, lambda: gates.named("pivot_table", apply)(data, aggfunc=["__class__"]))
    arguments = ([1],)
    assert gates.named("apply", apply)(data, len, args=arguments)[1]["args"] is arguments


@of("zone")
def a_path_is_what_it_holds_and_a_descriptor_of_the_runner_is_no_file() -> None:
    import os

    zone = module("zone")

    class Path(str):
        def rstrip(self, *args: Any) -> str:
            return "x.csv"

        def __str__(self) -> str:
            return "x.csv"

    assert zone.plain(Path("/etc/passwd")) == "/etc/passwd" == zone.plain(b"/etc/passwd")
    raises(PermissionError, zone.paths, ["x.csv", Path("/etc/passwd")])

    def inside() -> None:
        os.environ["HOME"] = os.path.join(os.getcwd(), "home")
        there = zone.Zone([])
        fd = os.open("/dev/null", os.O_RDONLY)
        zone.hold()
        assert not there.may(fd, False) and not there.may(1, True)
        os.close(fd)
        read, write = os.pipe()
        assert there.may(read, False) and there.may(write, True)
        assert not there.may(Path("/etc/passwd"), False)
        assert there.lists(".") and not there.lists("/etc") and not there.lists("..")

    forked(inside)


@of("computes")
def a_text_calls_what_computes_and_what_is_the_snippets() -> None:
    def inside() -> None:
        import datetime
        import functools
        import math
        import pathlib

        computes = module("computes")

        def given(value: Any) -> Any:
            return computes.checked(value, refuse)

        own: dict[str, Any] = {"__name__": "__main__"}
        snippet = "def f(x): return x\nclass A:\n    def m(self): pass\na = A()"
        exec(compile(snippet, module("errors").SNIPPET, "exec"), own)
        for value in (1, "to_csv", own["f"], own["A"], own["a"].m, math.sqrt, datetime.date.today, "a".upper, len, int):
            assert given(value) is value
        library: dict[str, Any] = {"__name__": "pandas.core.frame"}
        exec("def to_csv(x): pass\ndef mean(x): pass\ndef apply(f, *fs, **kw): return f(fs)", library)
        assert given(library["mean"]) is library["mean"] and given(library["apply"])(own["f"], [3]) == ([3],)
        writes = library["to_csv"]
        for value in (
            writes,
            functools.partial(writes),
            operator.methodcaller("to_csv"),
            open,
            eval,
            pathlib.Path.touch,
        ):
            raises(Ends, given, value)
        for held in (writes, [writes], {"a": (writes,)}):
            raises(Ends, given(library["apply"]), own["f"], held)
            raises(Ends, computes.spread, [held], refuse)
        assert computes.spread({"a": len}, refuse) == {"a": len}
        names = ("to_csv", "to_numpy", "save", "tofile", "mean", "to_list")
        assert [computes.leaves(name) for name in names] == [True, False, True, True, False, False]

    forked(inside)


@of("computes", needs="pandas")
def the_list_of_what_computes_names_nothing_that_takes_a_file() -> None:
    import inspect

    import numpy
    import pandas

    taking = {"path", "path_or_buf", "buf", "buffer", "excel_writer", "con", "file", "fid", "fname", "filename"}
    owners: tuple[Any, ...] = (numpy, pandas, pandas.DataFrame, pandas.Series, pandas.Index, pandas.Categorical)
    computing = module("computes").COMPUTING
    assert module("computes").leaves("to_csv") and len(computing) > 300
    for owner in owners:
        for name in computing & set(dir(owner)):
            try:
                parameters = inspect.signature(getattr(owner, name)).parameters
            except (TypeError, ValueError):
                continue
            assert not taking & set(parameters), (owner, name)


@of("evaluated")
def text_that_a_library_evaluates_goes_through_the_gates() -> None:
    def inside() -> None:
        evaluated, gates = module("evaluated"), made_gates()
        space = {"operator": operator, "x": 1 + 2j, "compiled": evaluated.compiler(gates), "eval": eval}
        # `given` is compiled under the snippet's file name: text is judged only if the snippet is on the stack.
        asks = "def given(text): return eval(compiled(text, '', 'eval'))"
        exec(compile(asks, module("errors").SNIPPET, "exec"), space)
        assert space["given"]("x.real + 1") == 2
        assert space["given"]("[y.imag for y in [x]]") == [2]
        for text in ("operator.attrgetter", "(lambda o: o.methodcaller)(operator)"):
            raises(Ends, space["given"], text)
        assert eval(space["compiled"]("operator.attrgetter", "", "eval"), space) is operator.attrgetter

    forked(inside)


@of("shared")
def what_is_everybodys_is_not_written_through_a_library() -> None:
    def inside() -> None:
        import argparse
        import contextlib
        import functools
        import io

        shared, gates = module("shared"), made_gates()
        shared.close(gates)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            print("x")
        assert out.getvalue() == "x\n"

        class Modules(contextlib.redirect_stdout[Any]):
            _stream = "modules"

        raises(Ends, Modules({}).__enter__)
        action: Any = argparse.ArgumentParser().add_argument("--x", dest="real")
        raises(Ends, action, None, SimpleNamespace(), 5)
        space = argparse.Namespace()
        action(None, space, 5)
        assert space.real == 5

        class Own:
            @functools.cached_property
            def plain(self) -> int:
                return 1

        assert Own().plain == 1
        vars(Own)["plain"].attrname = "__dataclass_fields__"
        raises(Ends, getattr, Own(), "plain")
        converters = shared.Converters({float: 1}, gates)
        assert converters[float] == 1 and float in converters and len(converters) == 1
        Own.__module__ = "__main__"
        converters[Own] = 2
        Own.__module__ = "library"
        raises(Ends, converters.__setitem__, Own, 2)
        raises(Ends, converters.__setitem__, float, 2)

    forked(inside)


@of("positions", needs="numpy")
def positions_lie_in_what_they_are_positions_of() -> None:
    def inside() -> None:
        import numpy
        from scipy.sparse import bsr_matrix, coo_matrix

        positions, gates = module("positions"), made_gates()
        positions.close(gates)
        square = numpy.eye(2)
        positions.within([square, numpy.array([1, 0])])
        raises(ValueError, positions.within, [square, numpy.array([3, 0])])
        raises(ValueError, positions.within, [square, [-9]])
        rows = numpy.array([0], "i4")
        made = coo_matrix((numpy.ones(1), (rows, rows)), shape=(1, 1))
        rows[0] = 9
        assert made.toarray()[0, 0] == 1
        parts = (numpy.ones((1, 1, 1)), numpy.array([9]), numpy.array([0, 1]))
        raises(ValueError, bsr_matrix, parts, (1, 1))

    forked(inside)


@of("lookups", needs="pandas")
def pandas_imports_no_module_as_a_plotting_backend() -> None:
    def inside() -> None:
        import pandas

        lookups, gates = module("lookups"), made_gates()
        from pandas.plotting import _core

        lookups.backends(_core, gates)
        for name in ("this", "pandas.io", "__main__", type("T", (str,), {})("this")):
            raises(Ends, pandas.set_option, "plotting.backend", name)
        assert "this" not in sys.modules
        pandas.set_option("plotting.backend", "matplotlib")

    forked(inside)
