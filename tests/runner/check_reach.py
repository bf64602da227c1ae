"""Tests what the runner closes in libraries, with stand-ins for libraries that the managed environment lacks.

Part of `check_files.py`.
"""

import copy
import csv
import mmap
import os
import sys
import tempfile
from types import SimpleNamespace
from typing import Any

import child
from own import forked, module, of, raises


@of("reach")
def what_libraries_would_reach_is_closed() -> None:
    reach = module("reach")

    class Labels:
        def __getattr__(self, name: str) -> str:
            return f"the label {name}"

    Labels.__getattr__ = reach.without_dunders(Labels.__getattr__)  # type: ignore[method-assign]  # as the guard does
    assert Labels().a == "the label a" and not hasattr(Labels(), "__array_interface__")

    class Filled:
        __array_struct__ = "its own"

    reach.without_address(Filled)
    filled = Filled()
    filled.__dict__["__array_interface__"] = {"data": (1, False)}
    assert not hasattr(filled, "__array_interface__") and filled.__array_struct__ == "its own"

    class Ends(Exception):
        pass

    def refuse(message: str) -> None:
        raise Ends(message)

    gates = SimpleNamespace(refuse=refuse, getattr=getattr)
    registered: list[str] = []
    accessors = SimpleNamespace(_register_accessor=registered.append)
    reach.accessors(accessors, gates)
    accessors._register_accessor("mine")
    for name in ("_mgr", type("Text", (str,), {})("mine")):
        raises(Ends, accessors._register_accessor, name)
    assert registered == ["mine"]

    def depth(levels: int) -> int:
        found: int = reach.depth_of(levels, gates)
        return found

    names: dict[str, Any] = {"depth": depth}
    snippet = "def inner(n): return depth(n)\ndef outer(n): return inner(n)"
    exec(compile(snippet, module("errors").SNIPPET, "exec"), names)
    for levels in (0, 1, 2):
        assert names["outer"](levels) == levels
    for levels in (3, -1):
        raises(Ends, names["outer"], levels)
    # An evaluator's own frame does not count: it gets the nearest frame of the snippet.
    exec(compile("def predict(n): return depth(n)", "statsmodels/base/model.py", "exec"), names)
    exec(compile("def outer(n): return predict(n)", module("errors").SNIPPET, "exec"), names)
    assert [names["outer"](levels) for levels in (0, 1, 2)] == [0, 2, 2]

    # As in `formulaic.utils.context`, whose function other modules have imported by then.
    names = {"sys": sys}
    exec("def capture(level): return sys._getframe(level + 1).f_code.co_name", names)
    reach.contexts(Module(names), gates)
    exec(compile("def outer(n): return capture(n)", module("errors").SNIPPET, "exec"), names)
    assert names["outer"](0) == "outer"
    raises(Ends, names["outer"], 1)


class Module:
    """A module with these names."""

    def __init__(self, names: dict[str, Any]) -> None:
        object.__setattr__(self, "__dict__", names)


@of("reach")
def a_formula_has_the_builtins_of_the_snippet() -> None:
    reach, rules = module("reach"), module("rules").of(child.policy("analysis"))

    def inside() -> None:
        class Ends(Exception):
            pass

        gates = module("gates").Gates(rules)

        def refuse(message: str) -> None:
            raise Ends(message)

        gates.refuse = refuse
        # As patsy and formulaic evaluate a term: no globals, and a mapping with the reachable names.
        names: dict[str, Any] = {}
        exec("def term(text, found): return eval(compile(text, '', 'eval'), {}, found)", names)
        assert names["term"]("globals() is not None and open is not None", {})
        reach.formulas(Module(names), gates)
        assert names["term"]("abs(x) + len('ab')", {"x": -1}) == 3
        for text in ("globals()", "open('/etc/passwd')", "eval('1')", "__builtins__['open']"):
            raises((NameError, KeyError), names["term"], text, {})
        raises(Ends, names["term"], "getattr(x, '__cl' + 'ass__')", {"x": 1})

    forked(inside)


@of("believed")
def methods_that_compiled_code_relies_on_are_not_replaced() -> None:
    believed = module("believed")

    class Ends(Exception):
        pass

    def refuse(message: str) -> None:
        raise Ends(message)

    gates = SimpleNamespace(refuse=refuse)
    place = {"__module__": "pandas.core.indexes.base"}
    name = property(lambda self: 1, lambda self, new: None)
    above = type("Index", (), {**place, "get_indexer": lambda self: 1, "name": name, "_constructor": 1})
    own = {"__module__": "__main__"}
    believed.built(type("Mine", (above,), {**own, "total": 1, "_constructor": 2, "__init__": None}), gates)
    believed.built(type("Other", (), {**own, "get_indexer": 1}), gates)
    # Names that hold positions in classes of other packages.
    believed.built(type("Mine", (above,), {**own, "period": 1, "simplices": 1}), gates)
    for names in ({"get_indexer": 1}, {"__len__": lambda self: 9}, {"codes": 1}):
        raises(Ends, believed.built, type("Mine", (above,), {**own, **names}), gates)
    shape = type("Delaunay", (), {"__module__": "scipy.spatial._qhull"})
    raises(Ends, believed.built, type("Mine", (shape,), {**own, "simplices": 1}), gates)
    mixed_in = type("Mixed", (), {**own, "get_indexer": 1})
    raises(Ends, believed.built, type("Mine", (mixed_in, above), dict(own)), gates)

    empty = type("Empty", (), dict(own))
    mine = type("Mine", (empty, above), dict(own))
    believed.built(mine, gates)
    for target in (above(), mine(), mine, empty):
        raises(Ends, believed.stored, target, "get_indexer", gates)
        believed.stored(target, "added", gates)
    # The property sets what the library keeps.
    believed.stored(above(), "name", gates)
    believed.stored(SimpleNamespace(), "get_indexer", gates)


@of("copies")
def an_object_does_not_choose_how_it_is_copied() -> None:
    module("copies").close()

    class Record:
        pass

    record = Record()
    seen: list[str] = []
    for name in ("__reduce_ex__", "__deepcopy__", "__copy__"):
        record.__dict__[name] = lambda *args: seen.append("called")
    copy.copy(record), copy.deepcopy([record])
    assert not seen

    class Own:
        def __deepcopy__(self, memo: Any) -> Any:
            return "its own"

        def __copy__(self) -> Any:
            return "its own too"

    deep: Any = copy.deepcopy([Own()])
    shallow: Any = copy.copy(Own())
    assert deep == ["its own"] and shallow == "its own too"
    assert copy.deepcopy({"a": [1, (2,)]}) == {"a": [1, (2,)]}


@of("records")
def a_reader_is_not_entered_while_it_reads() -> None:
    module("records").close()
    assert list(csv.reader(["a,b"])) == [["a", "b"]]

    class Lines:
        """An iterator, which a generator could not be: it refuses to be entered by itself."""

        def __init__(self) -> None:
            self.given = 0

        def __iter__(self) -> "Lines":
            return self

        def __next__(self) -> str:
            self.given += 1
            if self.given == 2:
                next(reader)
            return "a,b"

    reader = csv.reader(Lines(), delimiter=",")
    assert next(reader) == ["a", "b"] and reader.line_num == 1 and reader.dialect.delimiter == ","
    raises(ValueError, next, reader)


@of("mapped", "opened")
def a_mapped_file_keeps_its_length() -> None:
    mapped, opened = module("mapped"), module("opened")
    with tempfile.TemporaryFile() as file:
        file.write(b"x" * 5000)
        file.flush()
        mapped.keep(os.fstat(file.fileno()))
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ):
            raises(PermissionError, mapped.keep, os.fstat(file.fileno()))
            with opened.open_(os.dup(file.fileno()), "r+b") as other:
                raises(PermissionError, other.truncate, 0)
        mapped.keep(os.fstat(file.fileno()))
