"""Finds the nearest existing name, for an error about a missing one.

Uses names only, never values: columns of tables, keys of dicts, attributes, names of the namespace. With a private
input, only the inputs' own columns and keys are used, because agents know those. Where no name is near, the columns of
the table that lacks a key are named.
"""

from __future__ import annotations

import builtins
import re
import sys
from itertools import chain
from types import ModuleType, TracebackType

from _countersign import lacking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import FrameType
    from typing import Any

    from _countersign.rules import Rules

# Maximum number of names to compare, and characters of a name.
NAMES = 1000
LENGTH = 40
# Records of a list whose keys are read, and maximum nesting of dicts.
RECORDS = 20
DEPTH = 3

# Some interpreters run these in their own frames, which also see the enclosing function's names.
INNER = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")

# A name in a library's message: `None of ['x'] are in the columns`, `Column not found: x`.
QUOTED = re.compile(r"'([^'\n]+)'|: (.+)$")

_rules: Rules | None = None
# The columns and keys that may appear in a hint; None for all.
_known: frozenset[Any] | None = None
# Inputs that are lists of records, by name.
_lists: dict[str, list[Any]] = {}


def begin(values: dict[str, Any], private: bool, names: list[str]) -> None:
    """Remembers the inputs of the run and the names that the snippet has."""
    global _known, _lists
    _known = None
    _lists = {name: one for name, one in values.items() if name in names and is_records(one)}
    if private:
        _known = frozenset(name for one in values.values() for name in outer(one))


def under(rules: Rules) -> None:
    """From now on hints propose only names that these rules allow."""
    global _rules
    _rules = rules


def outer(value: Any) -> Iterator[Any]:
    """The columns of an input; for JSON, the keys of its records."""
    if isinstance(value, dict):
        yield from value
    elif isinstance(value, list):
        for one in value[:RECORDS]:
            yield from one if isinstance(one, dict) else ()
    else:
        yield from getattr(value, "columns", ())


def is_records(value: Any) -> bool:
    return type(value) is list and any(type(one) is dict for one in value[:RECORDS])


def hint(error: BaseException) -> str:
    """`; did you mean `x`?` or an empty text, to end the error's message with."""
    try:
        if name := listed(error):
            return f"; `{name}` is a list of records: `pd.DataFrame({name})` makes a table of it"
        found = next((name for name in meant(error) if name is not None), None)
        return existing(error) if found is None else f"; did you mean `{found}`?"
    except BaseException:  # noqa: BLE001 - classes of the snippet may raise in any of this
        return ""


def existing(error: BaseException) -> str:
    """The columns of the table, or the row of one, that lacks the key, if all of them may be named."""
    own, beyond = frames_of(error.__traceback__)
    if isinstance(error, AttributeError):
        names = lacking.row(AttributeError.obj.__get__(error), own)  # type: ignore[attr-defined]  # the descriptor
    elif isinstance(error, KeyError):
        names = lacking.of(beyond, own)
        if any(key in (names or ()) for key in asked_keys(error)):
            return ""
    else:
        return ""
    if not names or len(list(told(names))) < len(names):
        return ""
    return lacking.listed(names)


def listed(error: BaseException) -> str | None:
    """The name of an input that is a list of records, if the snippet used it like the table in its description."""
    if not isinstance(error, AttributeError) or _rules is None or "pandas" not in _rules.imports:
        return None
    value = AttributeError.obj.__get__(error)  # type: ignore[attr-defined]  # the descriptor
    return next((name for name, one in _lists.items() if one is value), None)


def meant(error: BaseException) -> Iterator[str | None]:
    """Proposals for the missing name, the most likely first."""
    own, beyond = frames_of(error.__traceback__)
    tables = [one for frame in beyond for one in frame.f_locals.values() if is_table(one)]
    columns = list(told(name for one in tables for name in one.columns))
    if isinstance(error, KeyError):
        for name in asked_keys(error):
            yield nearest(name, columns)
        for name in asked_keys(error):
            yield nearest(name, told(held(own)))
    elif isinstance(error, AttributeError):
        name = AttributeError.name.__get__(error)  # type: ignore[union-attr]  # the descriptor
        value = AttributeError.obj.__get__(error)  # type: ignore[attr-defined]  # the same
        if type(name) is str and home(value) != "_countersign":
            if (row := lacking.row(value, own)) is not None:
                yield nearest(name, told(row))
            named = told(value.columns) if is_table(value) else ()
            yield nearest(name, chain(named, attributes(value)))
    elif isinstance(error, NameError) and not isinstance(error, UnboundLocalError):
        for name in quoted(error):
            yield nearest(name, columns)
            yield nearest(name, bound(own))


def frames_of(trace: TracebackType | None) -> tuple[list[FrameType], list[FrameType]]:
    """The snippet's frames, the innermost first, and those of the libraries that the innermost called."""
    from _countersign.errors import SNIPPET

    own: list[FrameType] = []
    beyond: list[FrameType] = []
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == SNIPPET:
            own.insert(0, trace.tb_frame)
            beyond = []
        else:
            beyond.append(trace.tb_frame)
        trace = trace.tb_next
    return own, beyond


def asked_keys(error: KeyError) -> Iterator[Any]:
    """The missing key, and the names that a library's message quotes."""
    asked = error.args[0] if error.args else None
    if type(asked) in (str, int):
        yield asked
    yield from quoted(error)


def quoted(error: BaseException) -> Iterator[str]:
    words = error.args[0] if error.args else None
    if type(words) is str:
        yield from (one or other for one, other in QUOTED.findall(words[:1000]))


def held(frames: list[FrameType]) -> Iterator[Any]:
    """The keys of dicts and the columns of tables in the snippet's variables."""
    for frame in frames:
        for name, value in frame.f_locals.items():
            if not name.startswith("_"):
                yield from keys(value, 0)
    for name, value in frames[0].f_globals.items() if frames else ():
        if not name.startswith("_"):
            yield from keys(value, 0)


def keys(value: Any, depth: int) -> Iterator[Any]:
    if is_table(value):
        yield from value.columns
    elif depth < DEPTH and isinstance(value, dict):
        yield from dict.keys(value)
        for one in dict.values(value):
            yield from keys(one, depth + 1)
    elif depth < DEPTH and isinstance(value, list):
        for one in list.__getitem__(value, slice(RECORDS)):
            yield from keys(one, depth + 1)


def told(names: Iterable[Any]) -> Iterator[Any]:
    return (name for name in names if _known is None or name in _known)


def attributes(value: Any) -> Iterator[str]:
    """The public attributes of this object that the snippet may read."""
    if isinstance(value, ModuleType):
        yield from (name for name in vars(value) if is_open(value, name))
        return
    denied: Iterable[str] = () if _rules is None else _rules.denied
    names = dir(value if isinstance(value, type) else type(value))
    # Names of instance attributes may come from the data, so they are used only without private inputs.
    given = list(getattr(value, "__dict__", ())) if _known is None else []
    yield from (name for name in [*names, *given] if is_public(name) and name not in denied)


def is_open(module: ModuleType, name: str) -> bool:
    if not is_public(name):
        return False
    if _rules is None:
        return True
    found = vars(module)[name]
    if isinstance(found, ModuleType):
        return not _rules.submodule_problem(module.__name__, name, found.__name__)
    return not _rules.member_problem(module.__name__, name)


def bound(frames: list[FrameType]) -> Iterator[str]:
    """The names that the snippet could have read."""
    for frame in frames:
        yield from frame.f_locals
        if frame.f_code.co_name not in INNER:
            break
    for frame in frames[:1]:
        yield from frame.f_globals
    names = dir(builtins) if _rules is None else _rules.builtins
    yield from filter(is_public, names)


def is_public(name: Any) -> bool:
    return type(name) is str and not name.startswith("_")


def is_table(value: Any) -> bool:
    return isinstance(value, getattr(sys.modules.get("pandas"), "DataFrame", ()))


def home(value: Any) -> str:
    return str(type(value).__module__).partition(".")[0]


def nearest(asked: Any, names: Iterable[Any]) -> str | None:
    """The name that differs by the fewest edits, if they are few for its length. A number and its text are near
    each other."""
    wanted = str(asked)
    if len(wanted) > LENGTH:
        return None
    best, found = (2 * len(wanted) + 3) // 6 + 1, None
    for _, name in zip(range(NAMES), names):
        if type(name) not in (str, int):
            continue
        if name == asked:
            # The name exists, so something else is wrong.
            return None
        shown = str(name)
        if len(shown) > LENGTH or abs(len(shown) - len(wanted)) >= best:
            continue
        changes = distance(wanted.casefold(), shown.casefold())
        if changes < best:
            best = changes
            found = shown if type(name) is type(asked) else repr(name)
    return found


def distance(one: str, other: str) -> int:
    """Number of letters inserted, deleted, changed or swapped with the next one (restricted
    Damerau-Levenshtein distance)."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for at, letter in enumerate(one):
        row = [at + 1]
        for to, against in enumerate(other):
            changes = min(last[to + 1] + 1, row[to] + 1, last[to] + (letter != against))
            if at and to and letter == other[to - 1] and one[at - 1] == against:
                changes = min(changes, before[to - 1] + 1)
            row.append(changes)
        before, last = last, row
    return last[-1]
