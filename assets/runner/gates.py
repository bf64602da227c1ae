"""The gates: every attribute read and every attribute target of the snippet goes through one.

The rules judged the name before anything ran; the gates judge the object. A refusal ends the run: see `watch`.
"""

from __future__ import annotations

import string
from types import ModuleType

from _countersign import believed, data, layout, lookups, memory, narrow
from _countersign.errors import PolicyViolation
from _countersign.rules import UNDERSCORED, Rules
from _countersign.watch import Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, NoReturn

MISSING = object()
FORMATS = ("format", "format_map")
# Methods of pandas that look up a function by its name, given as an argument.
NAMED = ("agg", "aggregate", "apply", "transform", "pivot_table", "crosstab")
AGGREGATES = ("agg", "aggregate")
# Modules whose objects no attribute gives: their methods compile texts.
ENGINES = ("jinja2",)
# Position of the function among the arguments, where it is not the first.
FUNCTIONS = {"pivot_table": 3, "crosstab": 5}


class Gates:
    """`watch` and `served` belong to one run; everything else depends on the rules alone."""

    watch: Watch
    # Returns the module that the contract gives in place of the machine's.
    served: Callable[[str], ModuleType | None]
    # Modules that the snippet can do without (`check.optional`).
    optional: frozenset[str] = frozenset()

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.formatter = Formatter(self)
        self.narrow = narrow.Narrow(self)
        # Caches, so that nothing is judged twice: types whose objects are neither modules nor classes, and
        # (module, name) → the member found and what is given for it.
        self.plain: set[type] = set()
        self.owners: set[type] = set()
        self.members: dict[tuple[ModuleType, str], tuple[Any, Any]] = {}

    def refuse(self, message: str) -> NoReturn:
        """Records the refusal and ends the run."""
        self.watch.events.add("refused", message)
        self.watch.end(PolicyViolation(message))

    def read(self, value: Any, name: str) -> Any:
        """`value.name`, for a name that is neither private nor `format`."""
        found = getattr(value, name)
        if type(value) in self.owners and type(found) in self.plain:
            return found
        return self.look(value, name, found)

    def look(self, value: Any, name: str, found: Any) -> Any:
        """As `read`, where the value or what was found may be a module or a class."""
        if isinstance(value, ModuleType):
            hit = self.members.get((value, name))
            if hit is None or hit[0] is not found:
                self.check_member(value, name, found)
                hit = self.members[value, name] = (found, self.narrow.member(found))
            return hit[1]
        if not issubclass(type(value), type):
            self.owners.add(type(value))
        if isinstance(found, ModuleType):
            self.check_module(found)
        elif not issubclass(type(found), type):
            if memory.within(memory.home(found), ENGINES):
                self.refuse(f"{name} is a template engine, which runs what its templates say")
            self.plain.add(type(found))
            return found
        return self.narrow.give(found)

    def read_private(self, value: Any, name: str) -> Any:
        """`value._name` and `value.__name__`."""
        if not name.startswith("__"):
            self.check_private(value, name)
        elif name == "__init__" and is_made(value):
            # Calling `__init__` on a file again can give it any descriptor, the runner's own included.
            self.refuse("making an object of a library anew is not allowed")
        return self.look(value, name, getattr(value, name))

    def read_class(self, value: Any, name: str) -> Any:
        """`value.__class__`, where the static check allows it."""
        return self.narrow.type(value)

    def read_format(self, value: Any, name: str) -> Any:
        """`value.format`: a string's method is replaced by one that cannot reach attributes."""
        if is_text(value):
            inner = value.__self__ if isinstance(value, super) else value  # type: ignore[attr-defined]  # `super` has it
            return self.safe_format(inner, name)
        return self.read(value, name)

    def read_named(self, value: Any, name: str) -> Any:
        """`value.agg` and similar methods, which take names of methods."""
        return self.named(name, self.read(value, name))

    def named(self, name: str, found: Any) -> Any:
        """The method, wrapped so that the method names it is called with are checked."""
        if name not in NAMED or not callable(found) or isinstance(found, type):
            return found
        if getattr(found, "__module__", None) == "__main__":
            return found

        # An unbound method takes the object as its first argument.
        at = FUNCTIONS.get(name, 0) + (0 if hasattr(found, "__self__") or name == "crosstab" else 1)

        def named(*args: Any, **kwargs: Any) -> Any:
            if len(args) > at:
                args = (*args[:at], self.check_named(args[at]), *args[at + 1 :])
            for key, one in kwargs.items():
                # Other arguments are data and are passed on unchanged.
                if key in ("func", "aggfunc") or (name in AGGREGATES and isinstance(one, tuple)):
                    kwargs[key] = self.check_named(one)
                elif name not in FUNCTIONS:
                    self.check_named(one)
            return found(*args, **kwargs)

        return named

    def check_named(self, function: Any) -> Any:
        """Checks one name, or several in a list, in a mapping's values or after their columns. Returns the checked
        copy for pandas: a thread could change a list after the check, and a class of the snippet's own could lie
        about what it holds."""
        if isinstance(function, str):
            text = str.__str__(function)[:]
            if text.startswith("_") or text in self.rules.denied:
                self.refuse(f"the function named {text:.50} is not allowed")
            return text
        if isinstance(function, dict):
            return {key: self.check_named(one) for key, one in dict.copy(function).items()}
        if isinstance(function, tuple):
            parts = tuple.__getitem__(function, slice(None))
            if len(parts) == 2:
                # A column and its function.
                parts = (parts[0], self.check_named(parts[1]))
            else:
                parts = tuple(self.check_named(one) for one in parts)
            own = type(function).__module__ == "__main__" or not hasattr(function, "_make")
            return parts if own else type(function)(*parts)
        if isinstance(function, list):
            return [self.check_named(one) for one in list.copy(function)]
        if isinstance(function, (set, frozenset)):
            kind: Any = set if isinstance(function, set) else frozenset
            return kind(self.check_named(one) for one in tuple(kind.__iter__(function)))
        if type(function).__name__ in ("Index", "Series", "ndarray"):
            if getattr(function, "dtype", None) is not None and function.dtype.kind in "OUT":
                return [self.check_named(one) if isinstance(one, str) else one for one in function.tolist()]
        return function

    def read_given(self, value: Any, name: str) -> Any:
        """Members that compiled code trusts, and registrations that would affect everybody."""
        found = self.read(value, name)
        if isinstance(value, ModuleType) and name in memory.PARTS:
            return found
        if name == "register":
            return narrow.register(value, found, self.refuse)
        return memory.given(value, name, found)

    def of(self, name: str) -> Callable[[Any, str], Any]:
        """The gate for reading this name."""
        if name in memory.NAMES or name == "register":
            return self.read_given
        if name == "__class__":
            return self.read_class
        if name.startswith("_"):
            return self.read_private
        if name in NAMED:
            return self.read_named
        return self.read_format if name in FORMATS else self.read

    def check_private(self, value: Any, name: str) -> None:
        """Allows names with one underscore on the snippet's own objects only. Those of modules are judged as
        members."""
        if name in UNDERSCORED or name[1:].isdecimal() or isinstance(value, ModuleType) or is_own(value, name):
            return
        # The column that pandas itself makes with `merge(indicator=True)`.
        if name == "_merge" and memory.home(value) == "pandas.core.frame" and name in getattr(value, "columns", ()):
            return
        self.refuse(f"the attribute {name} is not allowed")

    def check_member(self, module: ModuleType, name: str, found: Any) -> None:
        if isinstance(found, ModuleType) and not name.startswith("_"):
            problem = self.rules.submodule_problem(module.__name__, name, found.__name__)
        else:
            problem = self.rules.member_problem(module.__name__, name)
        if problem:
            self.refuse(problem)

    def check_module(self, module: ModuleType) -> None:
        problem = self.rules.module_problem(module.__name__)
        if problem:
            self.refuse(problem)

    def target(self, value: Any, name: str) -> Any:
        """Checks the object whose attribute is set or deleted: it must not be a library's own."""
        if name.startswith("_") and not name.startswith("__"):
            self.check_private(value, name)
        if isinstance(value, ModuleType) or (
            isinstance(value, type) and type.__dict__["__module__"].__get__(value) != "__main__"
        ):
            self.refuse("changing a module or a class of a library is not allowed")
        shared = isinstance(value, narrow.SHARED) and getattr(value, "__module__", "") != "__main__"
        # A data class is generated from text that contains its fields' names.
        if shared or memory.home(value) == "dataclasses":
            self.refuse("changing a function or a field of a library is not allowed")
        believed.stored(value, name, self)
        if layout.is_kept(value, name):
            layout.refuse(name)
        return memory.target(value, name, self)

    def augmented(self, value: Any, name: str) -> Any:
        """Checks the object of `value.name += x`: the statement itself reads and sets the attribute."""
        if name in FORMATS and is_text(value):
            self.refuse(f"changing the attribute {name} of a string is not allowed")
        found = getattr(value, name, None)
        if isinstance(found, (ModuleType, type)):
            self.look(value, name, found)
        if is_lent(value, name, found):
            self.refuse(f"changing the attribute {name} in place is not allowed")
        return self.target(value, name)

    def matched(self, value: Any, name: str) -> None:
        """Checks the attribute that a class pattern reads from the object by itself."""
        if name in FORMATS and is_text(value):
            self.refuse(f"matching the attribute {name} of a string is not allowed")
        self.check_name(name, self.rules.read)
        try:
            found = self.of(name)(value, name)
            plain = getattr(value, name)
        except AttributeError:
            return
        # The pattern binds the original member, so members that have a stand-in or are copied are refused.
        looked = name in NAMED or name == "register"
        wrapped = looked and found is not plain and callable(plain)
        if isinstance(found, narrow.StandIn) or wrapped or is_lent(value, name, plain):
            self.refuse(f"matching the attribute {name} is not allowed")
        if not is_own(value, name) and not data.is_data(plain):
            kind = type(plain).__name__
            self.refuse(f"a pattern binds data: read the attribute {name}, a {kind:.50}, with a dot")

    def getattr(self, value: Any, name: str, default: Any = MISSING, /) -> Any:
        self.check_name(name, self.rules.read)
        try:
            return self.of(name)(value, name)
        except AttributeError:
            if default is MISSING:
                raise
            return default

    def hasattr(self, value: Any, name: str, /) -> bool:
        self.check_name(name, self.rules.read)
        try:
            self.of(name)(value, name)
        except AttributeError:
            return False
        return True

    def setattr(self, value: Any, name: str, new: Any, /) -> None:
        self.check_name(name, self.rules.defined)
        setattr(self.target(value, name), name, new)

    def delattr(self, value: Any, name: str, /) -> None:
        self.check_name(name, self.rules.defined)
        delattr(self.target(value, name), name)

    def check_name(self, name: Any, allowed: frozenset[str]) -> None:
        # A subclass of str could be one name when it is checked and another when it is used.
        if type(name) is not str:
            raise TypeError("an attribute's name is a string")
        problem = self.rules.attribute_problem(name, allowed)
        if problem:
            self.refuse(problem)

    def safe_format(self, value: Any, name: str) -> Callable[..., str]:
        """A `str.format` whose fields cannot read attributes."""
        formatter = self.formatter

        def format_(template: str, /, *args: Any, **kwargs: Any) -> str:
            return formatter.vformat(plain_text(template), args, kwargs)

        def format_map(template: str, mapping: Mapping[str, Any], /) -> str:
            return formatter.vformat(plain_text(template), (), mapping)

        function: Callable[..., str] = format_ if name == "format" else format_map
        if isinstance(value, type):
            return function
        return lambda *args, **kwargs: function(value, *args, **kwargs)


def is_lent(value: Any, name: str, found: Any) -> bool:
    """Whether the snippet gets a copy of this attribute, or something that stands for it."""
    return name in memory.NAMES and memory.given(value, name, found) is not found


def is_made(value: Any) -> bool:
    """Whether it is an object of a class that is not the snippet's."""
    return not isinstance(value, (type, super)) and type(value).__module__ != "__main__"


def is_text(value: Any) -> bool:
    """Whether it is a string, a class of strings, or `super()` of one."""
    if isinstance(value, super):
        value = value.__self__  # type: ignore[attr-defined]  # `super` has it
    return isinstance(value, str) or (isinstance(value, type) and issubclass(value, str))


def plain_text(template: Any) -> str:
    """The characters of a string, even if its class overrides methods."""
    if not isinstance(template, str):
        raise TypeError("the template of a format is a string")
    return str.__str__(template)[:]


# Modules whose classes a snippet's class may inherit from without getting a library's internals.
PLAIN = frozenset("__main__ builtins abc enum typing".split())


# Library module → base classes whose objects have no private attributes of their own; None: all of its classes. A
# private name on such an object is the snippet's.
BASES: dict[str, frozenset[str] | None] = {
    "collections.abc": None,
    "contextlib": frozenset(
        "AbstractAsyncContextManager AbstractContextManager AsyncContextDecorator ContextDecorator".split()
    ),
    "json.encoder": None,
    "numbers": None,
    "sklearn.base": None,
    "sklearn.utils._metadata_requests": frozenset(["_MetadataRequester"]),
    "sklearn.utils._repr_html.base": None,
    "sklearn.utils._set_output": frozenset(["_SetOutputMixin"]),
}
# Prefixes of private names that scikit-learn's base classes do use.
KEPT = ("_metadata", "_sklearn")


def is_own(value: Any, name: str) -> bool:
    """Whether the snippet itself set the attribute, on an object of its own class."""
    if isinstance(value, super):
        classes = type.mro(value.__thisclass__)[1:]  # type: ignore[attr-defined]  # `super` has it
    else:
        classes = type.mro(value if isinstance(value, type) else type(value))
    for one in classes:
        if name in one.__dict__:
            return one.__module__ == "__main__"
    # The object's own attributes: a library's base class may keep its internals there too.
    plain = all(one.__module__ in PLAIN or is_base(one) for one in classes)
    if name.startswith(KEPT):
        plain = all(one.__module__ in PLAIN for one in classes)
    return plain and any(one.__module__ == "__main__" for one in classes)


def is_base(one: type) -> bool:
    """Whether a library's class keeps no private attributes in its objects."""
    known = BASES.get(one.__module__, frozenset())
    return known is None or one.__name__ in known


class Formatter(string.Formatter):
    def __init__(self, gates: Gates) -> None:
        self.gates = gates

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, int | str]:
        if lookups.walks(field_name):
            self.gates.refuse("format fields may not reach into attributes")
        found: tuple[Any, int | str] = super().get_field(field_name, args, kwargs)
        return found
