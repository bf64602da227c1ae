"""What every attribute read and every attribute target of the snippet goes through."""

import string
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from _countersign.errors import PolicyViolation
from _countersign.rules import UNDERSCORED, Rules

MISSING = object()


class Gates:
    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        # The first violation counts even if the snippet kept it from ending the run.
        self.violation: PolicyViolation | None = None
        self.formatter = Formatter(self)

    def refuse(self, message: str) -> PolicyViolation:
        error = PolicyViolation(message)
        if self.violation is None:
            self.violation = error
        return error

    def read(self, value: Any, name: str) -> Any:
        """`value.name`. The name itself was judged before anything ran; here it is the object."""
        if name.startswith("_") and not name.startswith("__"):
            self.check_private(value, name)
        found = getattr(value, name)
        if isinstance(value, ModuleType):
            self.check_member(value, name, found)
        elif isinstance(found, ModuleType):
            self.check_module(found)
        elif name in ("format", "format_map") and (
            isinstance(value, str) or (isinstance(value, type) and issubclass(value, str))
        ):
            return self.safe_format(value, name)
        return found

    def check_private(self, value: Any, name: str) -> None:
        """One underscore: the snippet's own objects only. A module's are judged as its members."""
        if name in UNDERSCORED or isinstance(value, ModuleType) or is_own(value, name):
            return
        raise self.refuse(f"the attribute {name} is not allowed")

    def check_member(self, module: ModuleType, name: str, found: Any) -> None:
        if isinstance(found, ModuleType):
            problem = self.rules.submodule_problem(module.__name__, name, found.__name__)
        else:
            problem = self.rules.member_problem(module.__name__, name)
        if problem:
            raise self.refuse(problem)

    def check_module(self, module: ModuleType) -> None:
        problem = self.rules.module_problem(module.__name__)
        if problem:
            raise self.refuse(problem)

    def target(self, value: Any) -> Any:
        """The object an attribute of which is set or deleted: never a library's own."""
        if isinstance(value, ModuleType) or (
            isinstance(value, type) and value.__module__ != "__main__"
        ):
            raise self.refuse("changing a module or a class of a library is not allowed")
        return value

    def target_of(self, value: Any, name: str) -> Any:
        """The same where the name is known; one underscore is for the snippet's own objects."""
        if name.startswith("_") and not name.startswith("__"):
            self.check_private(value, name)
        return self.target(value)

    def getattr(self, value: Any, name: str, default: Any = MISSING, /) -> Any:
        self.check_name(name, self.rules.read)
        try:
            return self.read(value, name)
        except AttributeError:
            if default is MISSING:
                raise
            return default

    def hasattr(self, value: Any, name: str, /) -> bool:
        self.check_name(name, self.rules.read)
        try:
            self.read(value, name)
        except AttributeError:
            return False
        return True

    def setattr(self, value: Any, name: str, new: Any, /) -> None:
        self.check_name(name, self.rules.defined)
        setattr(self.target_of(value, name), name, new)

    def delattr(self, value: Any, name: str, /) -> None:
        self.check_name(name, self.rules.defined)
        delattr(self.target_of(value, name), name)

    def check_name(self, name: Any, allowed: frozenset[str]) -> None:
        # A subclass of str could be one name when it is looked at and another when it is used.
        if type(name) is not str:
            raise TypeError("an attribute's name is a string")
        problem = self.rules.attribute_problem(name, allowed)
        if problem:
            raise self.refuse(problem)

    def safe_format(self, value: Any, name: str) -> Callable[..., str]:
        """`str.format` whose fields cannot reach into attributes."""
        formatter = self.formatter

        def format_(template: str, /, *args: Any, **kwargs: Any) -> str:
            return formatter.vformat(str(template), args, kwargs)

        def format_map(template: str, mapping: Mapping[str, Any], /) -> str:
            return formatter.vformat(str(template), (), mapping)

        function: Callable[..., str] = format_ if name == "format" else format_map
        if isinstance(value, type):
            return function
        return lambda *args, **kwargs: function(value, *args, **kwargs)


# Classes that a snippet's own may build on without bringing a library's insides with them.
PLAIN = frozenset("__main__ builtins abc enum typing".split())


def is_own(value: Any, name: str) -> bool:
    """Whether the attribute is one that the snippet itself gave to an object of its own class."""
    if isinstance(value, super):
        classes = type.mro(value.__thisclass__)[1:]
    else:
        classes = type.mro(value if isinstance(value, type) else type(value))
    for one in classes:
        if name in one.__dict__:
            return one.__module__ == "__main__"
    # Of the object itself: a library's base class keeps its insides there too.
    plain = all(one.__module__ in PLAIN for one in classes)
    return plain and any(one.__module__ == "__main__" for one in classes)


class Formatter(string.Formatter):
    def __init__(self, gates: Gates) -> None:
        self.gates = gates

    def get_field(
        self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Any, int | str]:
        if "." in field_name:
            raise self.gates.refuse("format fields may not reach into attributes")
        found: tuple[Any, int | str] = super().get_field(field_name, args, kwargs)
        return found
