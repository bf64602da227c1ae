"""Arrays over memory that is not theirs, made safe: sizes, positions and pointers that compiled code takes
at its caller's word are looked at before, and what it would look up in arrays is handed out as copies.

Compiled code has more of it than anybody lists; what a run can do with memory is decided by its tier.
"""

from __future__ import annotations

import functools
import operator
import os
import sys

from _countersign import errors, loaded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from _countersign.gates import Gates

# Arrays in which compiled code looks positions up, by the name of the attribute.
POSITIONS = frozenset(
    "children_left children_right feature idx_array indices indptr node_data node_bounds".split()
)
# Whose objects those are.
COMPILED = ("scipy.sparse", "sklearn.tree", "sklearn.neighbors")
# Attributes that are only set together, by whoever makes the object.
TOGETHER = {
    "scipy.sparse": frozenset("indices indptr row col offsets coords".split()),
    "scipy.interpolate": frozenset("t c k x".split()),
}
# How many numbers a generator of this kind keeps, and the name of its position among them.
KEPT = {"MT19937": ("pos", 624), "Philox": ("buffer_pos", 4)}

# What is called with arguments that compiled code believes.
BELIEVED = frozenset(
    "construct_fast from_arrays from_buffers from_codes get_arrays resize set_state view".split()
)


def home(value: Any) -> str:
    kind = value if isinstance(value, type) else type(value)
    found = type.__dict__["__module__"].__get__(kind)
    return found if type(found) is str else ""


def within(module: str, packages: Any) -> str | None:
    """The package of these that the module lies in."""
    return next((one for one in packages if module == one or module.startswith(one + ".")), None)


def given(value: Any, name: str, found: Any) -> Any:
    """What the snippet gets for an attribute of such a name."""
    if home(value) == "__main__" and not callable(found):
        return found
    if name in POSITIONS:
        return copied(found) if within(home(value), COMPILED) else found
    if not callable(found) or isinstance(found, type):
        return found
    return CALLS[name](value, found) if name in CALLS else found


def copied(found: Any) -> Any:
    """To look at: what is written there is written nowhere else."""
    numpy = sys.modules.get("numpy")
    # Cython has a memory view of its own.
    if numpy is None or not (
        isinstance(found, numpy.ndarray) or "memoryview" in type(found).__name__
    ):
        return found
    copy = numpy.array(found)
    copy.flags.writeable = False
    return copy


def construct_fast(value: Any, found: Any) -> Any:
    return value if isinstance(value, type) else found


def validated(value: Any, found: Any) -> Any:
    """Of pyarrow: what is made of parts is whole, or not made."""
    if not within(home(value), ("pyarrow",)):
        return found

    def make(*args: Any, **kwargs: Any) -> Any:
        if "safe" in kwargs:
            kwargs["safe"] = True
        made = found(*args, **kwargs)
        if hasattr(made, "validate"):
            made.validate(full=True)
        return made

    return make


def get_arrays(value: Any, found: Any) -> Any:
    return lambda: tuple(map(copied, found()))


def from_codes(value: Any, found: Any) -> Any:
    def make(*args: Any, **kwargs: Any) -> Any:
        if "validate" in kwargs:
            kwargs["validate"] = True
        return found(*args, **kwargs)

    return make if within(home(value), ("pandas",)) else found


def resize(value: Any, found: Any) -> Any:
    """Views of an array that moved show what came after it."""
    growing = within(home(value), ("pyarrow",))

    def resize(*args: Any, **kwargs: Any) -> Any:
        if growing:
            raise ValueError("a buffer of pyarrow keeps its size here: arrays may stand on it")
        if "refcheck" in kwargs and not kwargs.pop("refcheck"):
            raise ValueError("resize(refcheck=False) leaves views without their memory: use np.resize")
        return found(*args, **kwargs)

    return resize if growing or within(home(value), ("numpy",)) else found


def view(value: Any, found: Any) -> Any:
    """The class that stands for `ndarray` is none of numpy's."""

    def view(*args: Any, **kwargs: Any) -> Any:
        numpy = sys.modules["numpy"]
        real = [numpy.ndarray if isinstance(one, Guarded) else one for one in args]
        named = {k: numpy.ndarray if isinstance(v, Guarded) else v for k, v in kwargs.items()}
        return found(*real, **named)

    return view if "numpy" in sys.modules else found


def set_state(value: Any, found: Any) -> Any:
    def set_state(state: Any) -> Any:
        return found(checked_state(state))

    return set_state if within(home(value), ("numpy", "builtins")) else found


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "construct_fast": construct_fast,
    "from_arrays": validated,
    "from_buffers": validated,
    "from_codes": from_codes,
    "get_arrays": get_arrays,
    "resize": resize,
    "set_state": set_state,
    "view": view,
}
NAMES = POSITIONS | CALLS.keys()


# -- generators of random numbers


def checked_state(state: Any) -> Any:
    """A copy of the state, whose position lies in it."""
    if isinstance(state, (tuple, list)):
        state = tuple(state)
        if len(state) > 2:
            state = (*state[:2], position(state[2], 624), *state[3:])
        return state
    if not isinstance(state, dict):
        return state
    plain = {key: dict(one) if isinstance(one, dict) else one for key, one in dict.items(state)}
    for at in (plain, plain.get("state")):
        for name, most in KEPT.values():
            if isinstance(at, dict) and name in at:
                at[name] = position(at[name], most)
    return plain


def position(at: Any, most: int) -> int:
    exact = int.__add__(operator.index(at), 0)
    if not 0 <= exact <= most:
        raise ValueError(f"the position of a generator lies between 0 and {most}")
    return exact


class State:
    """Stands for a generator while its state is set."""

    def __init__(self, generator: Any) -> None:
        object.__setattr__(self, "_generator", generator)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)

    def __setattr__(self, name: str, new: Any) -> None:
        setattr(self._generator, name, checked_state(new))


def target(value: Any, name: str, gates: Gates) -> Any:
    """The object on which the snippet sets the attribute."""
    place = within(home(value), TOGETHER)
    if place is not None and name in TOGETHER[place]:
        gates.refuse(f"changing the attribute {name} of an object of {place} is not allowed")
    if name == "state" and within(home(value), ("numpy.random",)):
        return State(value)
    return value


# -- in the libraries


def close(gates: Gates) -> None:
    loaded.change(["numpy"], lambda module: pointers(module, gates))
    loaded.change(["pyarrow.compute"], bounds)
    loaded.change(["pandas.core.window.rolling"], windows)
    loaded.change(["pandas.core.indexes.multi"], levels)
    loaded.change(["scipy.sparse._compressed"], sparse)


class Guarded(type):
    """`ndarray` as the snippet has it: what it makes over given memory holds no objects."""

    # A name that no snippet may read.
    __real__: type

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = cls.__real__(*args, **kwargs) if "__real__" in vars(cls) else super().__call__(*args, **kwargs)
        return without_pointers(made)

    def __instancecheck__(cls, instance: Any) -> bool:
        real = vars(cls).get("__real__")
        return isinstance(instance, real) if real else super().__instancecheck__(instance)

    def __subclasscheck__(cls, subclass: Any) -> bool:
        real = vars(cls).get("__real__")
        return issubclass(subclass, real) if real else super().__subclasscheck__(subclass)


def without_pointers(made: Any) -> Any:
    if made.dtype.hasobject and made.base is not None:
        raise ValueError("an array over given memory holds no Python objects")
    return made


def pointers(numpy: Any, gates: Gates) -> None:
    inside = {"__real__": numpy.ndarray, "__module__": "numpy", "__doc__": numpy.ndarray.__doc__}
    gates.narrow.instead[id(numpy.ndarray)] = Guarded("ndarray", (numpy.ndarray,), inside)
    for kind in (numpy.recarray, numpy.memmap):
        kind.__new__ = staticmethod(over_memory(kind.__new__))


def over_memory(plain: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(plain)
    def __new__(cls: type, *args: Any, **kwargs: Any) -> Any:
        return without_pointers(plain(cls, *args, **kwargs))

    return __new__


def bounds(compute: Any) -> None:
    """pyarrow takes what it is told to, or looks whether it is there: here it looks."""
    found = compute.TakeOptions

    class TakeOptions(found):  # type: ignore[misc,valid-type]
        def __init__(self, *, boundscheck: bool = True) -> None:
            super().__init__(boundscheck=True)

    handle = compute._handle_options

    @functools.wraps(handle)
    def handled(name: Any, options_class: Any, options: Any, args: Any, kwargs: Any) -> Any:
        made = handle(name, options_class, options, args, kwargs)
        return TakeOptions() if isinstance(made, found) else made

    compute.TakeOptions, compute._handle_options = TakeOptions, handled


def windows(rolling: Any) -> None:
    """A window lies in the table."""
    plain = rolling.BaseWindow._check_window_bounds

    @functools.wraps(plain)
    def check(self: Any, start: Any, end: Any, num_vals: int) -> None:
        plain(self, start, end, num_vals)
        if len(start) and (min(start) < 0 or max(end) > num_vals or max(start) > num_vals):
            raise ValueError("the bounds of a window lie outside the table")

    rolling.BaseWindow._check_window_bounds = check


def levels(multi: Any) -> None:
    """What pandas calls for itself is as pandas made it; for others codes are looked at."""
    own = os.path.dirname(os.path.dirname(os.path.dirname(multi.__file__))) + os.sep

    def looked(plain: Any) -> Any:
        @functools.wraps(plain)
        def call(*args: Any, **kwargs: Any) -> Any:
            if "verify_integrity" in kwargs and not called_by(own):
                kwargs["verify_integrity"] = True
            return plain(*args, **kwargs)

        return call

    multi.MultiIndex.__new__ = staticmethod(looked(multi.MultiIndex.__new__))
    for name in ("set_codes", "set_levels"):
        setattr(multi.MultiIndex, name, looked(getattr(multi.MultiIndex, name)))


# Where pandas calls what it is handed.
HANDED = ("common.py", "apply.py", "generic.py")


def called_by(folder: str) -> bool:
    """Whether the caller's caller is a library's own code, which calls it for itself."""
    file = sys._getframe(2).f_code.co_filename
    return file.startswith(folder) and not file.endswith(HANDED)


def sparse(compressed: Any) -> None:
    """A matrix that the snippet makes of arrays has its own, and they fit."""
    plain = compressed._cs_matrix.__init__

    @functools.wraps(plain)
    def __init__(self: Any, arg1: Any, *args: Any, **kwargs: Any) -> None:
        parts = isinstance(arg1, tuple) and sys._getframe(1).f_code.co_filename == errors.SNIPPET
        if parts and len(args) < 3:
            kwargs["copy"] = True
        plain(self, arg1, *args, **kwargs)
        if parts:
            self.check_format(full_check=True)

    compressed._cs_matrix.__init__ = __init__
