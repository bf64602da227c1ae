"""The builtins of the snippet: a frozen allow-list, some of them guarded."""

import builtins
from typing import Any, NoReturn

from _countersign import files, imports, rewrite
from _countersign.gates import Gates


class Frozen(dict[str, Any]):
    """A dict that cannot be changed."""

    def _refuse(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError("the builtins cannot be changed")

    __setitem__ = __delitem__ = __ior__ = _refuse  # type: ignore[assignment]
    clear = pop = popitem = setdefault = update = _refuse  # type: ignore[assignment]


class TypeMeta(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if len(args) != 1 or kwargs:
            raise TypeError("type() takes 1 argument here: making classes with it is not allowed")
        found = type(args[0])
        if found.__module__ == "builtins" and found.__name__ not in dir(builtins):
            # Functions, code, frames, modules: types that make what the rules keep away.
            raise cls.gates.refuse(  # type: ignore[attr-defined]
                f"the type {found.__name__} is not allowed"
            )
        return found

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, type)


def frozen(gates: Gates, display: Any) -> Frozen:
    """All names the policy lists, and what statements need."""
    type_guard = TypeMeta("type", (), {"gates": gates})
    guarded = {
        "getattr": gates.getattr,
        "hasattr": gates.hasattr,
        "setattr": gates.setattr,
        "delattr": gates.delattr,
        "open": files.open_output,
        "type": type_guard,
    }
    names = {
        name: guarded.get(name, getattr(builtins, name, None))
        for name in gates.rules.builtins
        if hasattr(builtins, name)
    }
    names["__build_class__"] = builtins.__build_class__
    names["__import__"] = imports.guarded(gates)
    names[rewrite.READ] = gates.read
    names[rewrite.TARGET] = gates.target_of
    names[rewrite.EXCEPTION] = Exception
    names[rewrite.DISPLAY] = display
    return Frozen(names)
