"""Guards what libraries look up, or write into texts, by names that their caller chose.

A library's `getattr(x, name)` goes through no gate, so each of its modules gets a guarded `getattr`: names that the
library's code spells out are its own; names that it was given may not lead into the interpreter. Templates that
libraries fill with `str.format` may not read attributes.
"""

from __future__ import annotations

import _string  # type: ignore[import-not-found]  # CPython's own reader of templates
import functools
import operator
import string
import sys
from types import FrameType, ModuleType

from _countersign import computes, loaded, memory
from _countersign.rules import ADDRESSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from _countersign.gates import Gates

# Packages whose modules look names up for a snippet.
PACKAGES = frozenset(
    "argparse formulaic joblib matplotlib mpl_toolkits narwhals pandas patsy plotly _plotly_utils scipy seaborn "
    "sklearn statsmodels tqdm".split()
)

# These modules look nothing up, and plot every name in their namespace, so nothing may be added.
PALETTES = "_plotly_utils.colors."

# Special names that lead into the interpreter or to memory, or change what an object is.
REACHING = frozenset(ADDRESSES) | frozenset(
    "__annotations__ __base__ __bases__ __buffer__ __builtins__ __class__ __closure__ __code__ __defaults__ __del__ "
    "__delattr__ __dict__ __dlpack__ __func__ __getattr__ __getattribute__ __getstate__ __globals__ __import__ "
    "__init_subclass__ __kwdefaults__ __loader__ __module__ __mro__ __new__ __reduce__ __reduce_ex__ __self__ "
    "__setattr__ __setstate__ __spec__ __subclasses__ __subclasshook__ __traceback__ __wrapped__".split()
)
# Prefixes of attributes of frames, code objects, generators and functions.
INSIDE = ("ag_", "co_", "cr_", "f_", "func_", "gi_", "tb_")

# Names for which the snippet gets a stand-in, even when a library looks them up for it.
GIVEN = (memory.NAMES | {"format", "format_map", "register"}) - {"head"}

# Module → functions that fill a template: position of the template among the arguments, and its names.
TEMPLATES: dict[str, dict[str, tuple[int, tuple[str, ...]]]] = {
    "matplotlib.cbook": {"_auto_format_str": (0, ("fmt",))},
    "pandas.io.formats.style_render": {"_maybe_wrap_formatter": (0, ("formatter",))},
    "seaborn.axisgrid": {"FacetGrid.set_titles": (1, ("template", "row_template", "col_template"))},
    "tqdm.std": {"tqdm.format_meter": (9, ("bar_format",))},
}


def close(gates: Gates) -> None:
    """Guards the modules that are loaded now and those that will be."""
    own = names(gates)
    for name, found in own.items():
        gates.narrow.instead[id(found)] = getattr(gates, name, None) or gates.narrow.refused(name)

    def change(module: ModuleType) -> None:
        if module.__name__.startswith(PALETTES):
            return
        for name in ("getattr", "setattr", "delattr"):
            module.__dict__.setdefault(name, own[name])
        for name in ("attrgetter", "methodcaller"):
            if module.__dict__.get(name) is getattr(operator, name):
                module.__dict__[name] = own[name]

    loaded.under(PACKAGES, change)
    loaded.change(TEMPLATES, lambda module: templates(module, gates))
    loaded.change(["matplotlib.ticker"], lambda module: fields(module, gates))
    loaded.change(["scipy.stats._distn_infrastructure"], shapes)
    loaded.change(["pandas.plotting._core"], lambda module: backends(module, gates))


def names(gates: Gates) -> dict[str, Callable[..., Any]]:
    """The guarded functions by the names under which libraries call them."""

    def judged(name: Any, sets: bool = False) -> Any:
        if not isinstance(name, str):
            return name
        text = str.__str__(name)[:]
        reaching = text in REACHING or (text in gates.rules.denied and text.startswith(INSIDE))
        if sets and text.startswith("__"):
            reaching = True
        if reaching or text in ("mro", "fget", "fset", "fdel", "capsule", "cffi", "ctypes"):
            if text not in spelled(sys._getframe(2)):
                gates.refuse(f"the attribute {text} is not allowed")
        return text

    def getattr_(value: Any, name: str, *default: Any) -> Any:
        name = judged(name)
        if isinstance(name, str) and computes.leaves(name) and is_asked(sys._getframe(1), name):
            gates.refuse(f"the function named {name:.50} is not allowed")
        if name in GIVEN and name not in spelled(sys._getframe(1)) and hasattr(value, name):
            return gates.of(name)(value, name)
        return getattr(value, name, *default)

    def setattr_(value: Any, name: str, new: Any) -> None:
        setattr(value, judged(name, sets=True), new)

    def delattr_(value: Any, name: str) -> None:
        delattr(value, judged(name, sets=True))

    def attrgetter(*paths: str) -> Any:
        plain = [str.__str__(path)[:] if isinstance(path, str) else path for path in paths]
        for path in plain:
            for part in path.split(".") if type(path) is str else ():
                if path not in spelled(sys._getframe(1)):
                    judged(part)
        return operator.attrgetter(*plain)

    def methodcaller(name: str, /, *args: Any, **kwargs: Any) -> Any:
        return operator.methodcaller(judged(name), *args, **kwargs)

    return {
        "getattr": getattr_,
        "setattr": setattr_,
        "delattr": delattr_,
        "attrgetter": attrgetter,
        "methodcaller": methodcaller,
    }


def is_asked(frame: FrameType, name: str) -> bool:
    """Whether pandas looks up a method whose name it was given: those of its own code it spells out."""
    package: Any = frame.f_globals.get("__name__")
    return str(package).startswith("pandas.") and name not in spelled(frame)


def spelled(frame: FrameType) -> set[str]:
    """The string constants in the code of this frame."""

    def texts(values: tuple[Any, ...]) -> Iterator[str]:
        for one in values:
            if type(one) is str:
                yield one
            elif type(one) in (tuple, frozenset):
                yield from texts(tuple(one))

    return set(texts(frame.f_code.co_consts))


# -- templates


def templates(module: ModuleType, gates: Gates) -> None:
    for path, (at, called) in TEMPLATES[module.__name__].items():
        owner: Any = module
        *parents, last = path.split(".")
        for parent in parents:
            owner = getattr(owner, parent, None)
        if (found := vars(owner).get(last) if owner is not None else None) is not None:
            setattr(owner, last, filling(found, at, called, gates))


def filling(found: Any, at: int, called: tuple[str, ...], gates: Gates) -> Any:
    """The function, called only after its templates were checked."""
    is_static = isinstance(found, staticmethod)
    inner = found.__func__ if is_static else found

    @functools.wraps(inner)
    def fill(*args: Any, **kwargs: Any) -> Any:
        for place in range(at, min(at + len(called), len(args))):
            args = (*args[:place], template(args[place], gates), *args[place + 1 :])
        for name in called:
            if name in kwargs:
                kwargs[name] = template(kwargs[name], gates)
        return inner(*args, **kwargs)

    return staticmethod(fill) if is_static else fill


def template(text: Any, gates: Gates) -> Any:
    """The template, if it reads no attributes; anything but text is returned unchanged."""
    if isinstance(text, dict):
        return {key: template(one, gates) for key, one in dict.items(text)}
    if not isinstance(text, str):
        return text
    plain = str.__str__(text)[:]
    if reaches(plain):
        gates.refuse("format fields may not reach into attributes")
    return plain


def reaches(text: str, depth: int = 0) -> bool:
    """Whether a field of the template reads an attribute."""
    try:
        parts = list(string.Formatter().parse(text))
    except ValueError:
        # Not a valid template: filling it raises an error.
        return False
    return any(walks(field or "") or (spec and depth < 3 and reaches(spec, depth + 1)) for _, field, spec, _ in parts)


def walks(field: str) -> bool:
    """Whether the field reads an attribute: `0.real`, but not `0[a.b]`, which is one key."""
    try:
        return "." in field and any(is_attribute for is_attribute, _ in _string.formatter_field_name_split(field)[1])
    except ValueError:
        # Not a valid field: reading it raises an error.
        return False


def fields(module: Any, gates: Gates) -> None:
    """Checks at fill time in the formatter of `StrMethodFormatter`, whose template can be changed after it
    was made."""
    kind = module._UnicodeMinusFormat
    plain = kind.get_field

    def get_field(self: Any, field_name: str, args: Any, kwargs: Any) -> Any:
        if walks(field_name):
            gates.refuse("format fields may not reach into attributes")
        return plain(self, field_name, args, kwargs)

    kind.get_field = get_field


def shapes(module: Any) -> None:
    """Checks parameter names of distributions: scipy generates functions from text that contains them."""
    construct = module.rv_generic._construct_argparser

    @functools.wraps(construct)
    def plainly(self: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(self.shapes, str):
            self.shapes = str.__str__(self.shapes)[:]
        return construct(self, *args, **kwargs)

    module.rv_generic._construct_argparser = plainly


# The plotting backends of pandas that draw here; any other name is a module that pandas imports.
BACKENDS = ("matplotlib", "plotly")


def backends(module: Any, gates: Gates) -> None:
    plain = module._load_backend

    @functools.wraps(plain)
    def load(backend: Any) -> Any:
        backend = str.__str__(backend)[:] if isinstance(backend, str) else backend
        if backend not in BACKENDS:
            gates.refuse(f"{backend!r:.60} is no plotting backend here: matplotlib and plotly are")
        return plain(backend)

    module._load_backend = load
