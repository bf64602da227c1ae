"""Protects memory from arrays that do not own it: checks sizes, positions and pointers that compiled code trusts
its caller for, and hands out copies of the arrays in which compiled code looks positions up.

Nobody can list all such places in compiled code; the run's tier decides what a run can do with memory.
"""

from __future__ import annotations

import functools
import io
import operator
import os
import sys

from _countersign import loaded, streams, ufuncs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from _countersign.gates import Gates

# Package → attributes of its objects that hold arrays in which compiled code looks positions up.
HELD = {
    "matplotlib.tri": frozenset("edges neighbors triangles".split()),
    "pandas._libs": frozenset("blengths blocs indices".split()),
    "pandas.core.arrays": frozenset(("codes",)),
    "pandas.core.groupby": frozenset(
        "binlabels bins codes codes_info group_arraylike group_index group_info grouping_vector ids indexer indices "
        "result_ilocs".split()
    ),
    "pandas.core.indexes": frozenset(("codes",)),
    "scipy.sparse": frozenset("col coords indices indptr offsets row rows".split()),
    "scipy.spatial": frozenset("indices neighbors simplices vertex_neighbor_vertices vertex_to_simplex".split()),
    "sklearn.neighbors": frozenset("idx_array node_bounds node_data".split()),
    "sklearn.tree": frozenset("children_left children_right feature".split()),
}
# Attributes of SuperLU objects, whose class names no module.
ANYWHERE = frozenset(("perm_c", "perm_r"))
POSITIONS = ANYWHERE.union(*HELD.values())
# Package → attributes that must match each other and are set only when the object is made.
TOGETHER = {
    "matplotlib.tri": frozenset("edges mask neighbors triangles x y".split()),
    "scipy.sparse": frozenset("indices indptr row col offsets coords rows dtype".split()),
    "scipy.spatial": HELD["scipy.spatial"],
    "scipy.interpolate": frozenset("c grad grid k points t tri values x".split()),
    "scipy.stats": frozenset("cho_cov d dataset n".split()),
    "statsmodels.tsa": frozenset(
        "endog exog k_endog k_exog k_posdef k_regimes k_states nobs order period seasonal_periods".split()
    ),
}
# A class whose bases all come from these modules holds nothing of a library.
PLAIN = ("__main__", "builtins")
# Generator → the name of its position in its buffer, and the buffer's length.
KEPT = {"MT19937": ("pos", 624), "Philox": ("buffer_pos", 4)}


def home(value: Any) -> str:
    kind = value if isinstance(value, type) else type(value)
    found = type.__dict__["__module__"].__get__(kind)
    return found if type(found) is str else ""


def homes(value: Any) -> tuple[str, ...]:
    """Modules of the value's class; for a class of the snippet's, those of all its bases too."""
    if isinstance(value, super):
        value = super.__dict__["__self_class__"].__get__(value)
    if (found := home(value)) != "__main__":
        return (found,)
    kind = value if isinstance(value, type) else type(value)
    return tuple(home(one) for one in type.__dict__["__mro__"].__get__(kind))


def of(value: Any, packages: Any) -> str | None:
    """The one of `packages` that the object's class, or the class itself, comes from."""
    return next((place for one in homes(value) if (place := within(one, packages))), None)


def within(module: str, packages: Any) -> str | None:
    """The one of `packages` that the module lies in."""
    return next((one for one in packages if module == one or module.startswith(one + ".")), None)


def given(value: Any, name: str, found: Any) -> Any:
    """What the snippet gets for an attribute with one of these names."""
    # Before the look at modules: the class names none, as the builtins.
    if name in ANYWHERE:
        return copied(found)
    if not callable(found) and all(one in PLAIN for one in homes(value)):
        return found
    if name in POSITIONS:
        place = of(value, HELD)
        return copied(found) if place and name in HELD[place] else found
    if name in PARTS:
        return part(value, name, found)
    if not callable(found) or isinstance(found, type):
        return found
    return CALLS[name](value, found) if name in CALLS else found


def copied(found: Any) -> Any:
    """Copies to read: writing to them changes nothing else."""
    numpy = sys.modules.get("numpy")
    if isinstance(found, (tuple, list)):
        # Arrays, one for each axis or level, or the rows of a matrix of lists.
        parts = [copied(one) for one in found]
        kind = type(found)
        return kind(parts) if kind in (tuple, list) or not hasattr(found, "_make") else found
    if type(found).__name__ == "Series":
        return found.copy()
    # Cython has its own memory view class.
    if numpy is None or not (isinstance(found, numpy.ndarray) or "memoryview" in type(found).__name__):
        return found
    copy = numpy.array(found)
    if copy.dtype == object and copy.ndim == 1:
        copy[:] = [list(one) if isinstance(one, list) else one for one in copy]
    copy.flags.writeable = False
    return copy


def part(value: Any, name: str, found: Any) -> Any:
    if name == "capsule" and type(found).__name__ == "PyCapsule":
        raise ValueError("the pointers of a generator are its own")
    if name == "tree_" and of(found, ("sklearn.tree",)):
        return Tree(found)
    if name == "data" and type(found) is memoryview:
        return seen(found)
    if name == "data" and type(value).__name__.startswith("lil_"):
        return copied(found)
    if name in ("flags", "traps") and home(value) == "decimal":
        # CPython's mapping of signals points into its context without holding it.
        _contexts[id(value)] = value
    return found


# Contexts of `decimal` whose signals the snippet has.
_contexts: dict[int, Any] = {}


class Tree:
    """Stands for a fitted tree and checks the number of columns: its compiled functions read as many as it
    was fitted with."""

    def __init__(self, real: Any) -> None:
        object.__setattr__(self, "_real", real)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._real, name)
        if name in ("apply", "decision_path", "predict"):
            return self._sized(found)
        return given(self._real, name, found)

    def __setattr__(self, name: str, new: Any) -> None:
        raise AttributeError(f"the {name} of a fitted tree stays as it is")

    def _sized(self, found: Any) -> Any:
        def call(X: Any) -> Any:  # noqa: N803 - its name there
            if X.ndim != 2 or X.shape[1] != self._real.n_features:
                raise ValueError(f"the tree was fitted with {self._real.n_features} features")
            return found(X)

        return call


def construct_fast(value: Any, found: Any) -> Any:
    return value if isinstance(value, type) else found


def validated(value: Any, found: Any) -> Any:
    """For pyarrow: validates what is made of parts."""
    if not of(value, ("pyarrow",)):
        return found

    def make(*args: Any, **kwargs: Any) -> Any:
        if "safe" in kwargs:
            kwargs["safe"] = True
        made = found(*args, **kwargs)
        if hasattr(made, "validate"):
            if hasattr(made, "buffers"):
                # Copied: the buffers it was made of may be written to later.
                made = whole_copy(made)
            made.validate(full=True)
        return made

    return make


def whole_copy(array: Any) -> Any:
    arrow = sys.modules["pyarrow"]
    array.validate(full=True)
    sink = arrow.BufferOutputStream()
    batch = arrow.RecordBatch.from_arrays([array], names=["x"])
    with arrow.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return arrow.ipc.open_stream(sink.getvalue()).read_next_batch().column(0)


def buffers(value: Any, found: Any) -> Any:
    """The buffers of an Arrow array, as read-only copies."""
    if not of(value, ("pyarrow",)):
        return found
    constant = sys.modules["pyarrow"].py_buffer
    return lambda: [one and constant(one.to_pybytes()) for one in found()]


def get_arrays(value: Any, found: Any) -> Any:
    return lambda: tuple(map(copied, found()))


def ngroup(value: Any, found: Any) -> Any:
    """The numbers of the groups, as a copy: compiled code adds up by the array that this method returns."""
    return functools.wraps(found)(lambda *args, **kwargs: found(*args, **kwargs).copy())


def from_codes(value: Any, found: Any) -> Any:
    def make(*args: Any, **kwargs: Any) -> Any:
        if "validate" in kwargs:
            kwargs["validate"] = True
        # Copied, so that nobody changes the codes after they were validated.
        args = tuple(map(copied, args[:1])) + args[1:]
        if "codes" in kwargs:
            kwargs["codes"] = copied(kwargs["codes"])
        return found(*args, **kwargs)

    return make if of(value, ("pandas",)) else found


def resize(value: Any, found: Any) -> Any:
    """Refuses to resize arrays: views would show freed memory, and holders of the array would use its old length."""

    def resize(*args: Any, **kwargs: Any) -> NoReturn:
        if of(value, ("pyarrow",)):
            raise ValueError("a buffer of pyarrow keeps its size here: arrays may stand on it")
        raise ValueError("an array keeps its size here: use np.resize, which makes a new one")

    numpy = sys.modules.get("numpy")
    return resize if value is not numpy and of(value, ("numpy", "pyarrow")) else found


def query(value: Any, found: Any) -> Any:
    """For trees of scipy: `k` starts at 1, the nearest neighbour."""
    if not of(value, ("scipy.spatial",)):
        return found

    def query(x: Any, k: Any = 1, *args: Any, **kwargs: Any) -> Any:
        numpy = sys.modules["numpy"]
        wanted = numpy.array(k)
        if wanted.size and wanted.min() < 1:
            raise ValueError(f"the nearest neighbour is number 1: there is no number {wanted.min()}")
        return found(x, wanted if wanted.ndim else int(wanted), *args, **kwargs)

    return query


def is_coded(value: Any) -> bool:
    """Whether the values are categories of pandas."""
    return type(getattr(value, "dtype", None)).__name__ == "CategoricalDtype"


def view(value: Any, found: Any) -> Any:
    """Unwraps the stand-in for `ndarray` in `view`: numpy does not know that class."""

    def view(*args: Any, **kwargs: Any) -> Any:
        numpy = sys.modules["numpy"]
        real = [numpy.ndarray if isinstance(one, Guarded) else one for one in args]
        named = {k: numpy.ndarray if isinstance(v, Guarded) else v for k, v in kwargs.items()}
        made = found(*real, **named)
        # The codes of categories, as numbers.
        coded = any(map(is_coded, (value, *args[:1])))
        if not coded or is_coded(made):
            return made
        return copied(made) if isinstance(made, numpy.ndarray) else made.copy()

    return view if "numpy" in sys.modules else found


def byteswap(value: Any, found: Any) -> Any:
    """Refuses to swap the bytes of numpy's strings, which are lengths and positions in the memory of their texts."""

    @functools.wraps(found)
    def byteswap(*args: Any, **kwargs: Any) -> Any:
        for one in (getattr(found, "__self__", None), *args[:1]):
            if getattr(getattr(one, "dtype", None), "kind", None) == "T":
                raise ValueError("texts keep the order of their bytes")
        return found(*args, **kwargs)

    return byteswap


def set_state(value: Any, found: Any) -> Any:
    def set_state(state: Any) -> Any:
        return found(checked_state(state))

    return set_state if of(value, ("numpy", "builtins")) else found


def readinto(value: Any, found: Any) -> Any:
    def readinto(buffer: Any, *args: Any) -> Any:
        return found(written(buffer), *args)

    return readinto


def deserialize(value: Any, found: Any) -> Any:
    """Refuses deserialised options of pyarrow: they skip the checks of the constructor."""
    if not of(value, ("pyarrow",)):
        return found

    def deserialize(*args: Any, **kwargs: Any) -> NoReturn:
        raise ValueError("options of pyarrow are made by their classes here")

    return deserialize


class Source:
    """A file for pyarrow, which copies what `read` returns into a buffer of the requested size: more is an error."""

    def __init__(self, real: Any) -> None:
        if isinstance(real, io.TextIOBase):
            raise TypeError("binary file expected, got text file")
        self._real = real

    def read(self, size: int = -1) -> bytes:
        found = self._real.read(size)
        # Copied, so that nobody changes it while it is read.
        plain = found if type(found) is bytes else bytes(memoryview(found))
        if 0 <= size < len(plain):
            raise ValueError(f"read({size}) gave {len(plain)} bytes: it gives no more than it is asked for")
        return plain

    def __getattr__(self, name: str) -> Any:
        # `read_buffer` is missing on purpose: without it pyarrow uses `read`.
        if name in STREAM:
            return getattr(self._real, name)
        raise AttributeError(name)


# Other methods that pyarrow uses on a file.
STREAM = frozenset("close closed flush mode readable seek seekable tell truncate writable write".split())
# Names that pyarrow's functions give to the argument with the file.
SOURCES = frozenset("file handle input_file path_or_paths source stream where".split())


def source(real: Any) -> Any:
    """A path or a buffer unchanged; a file object wrapped in `Source`."""
    if isinstance(real, str):
        return str.__str__(real)[:]
    if issubclass(type(real), os.PathLike):
        return os.fspath(real)
    return real if within(home(real), ("builtins", "pyarrow", "_countersign")) else Source(real)


def sourced(found: Any, at: int = 0) -> Any:
    """The function, with the file at argument `at` wrapped by `source`."""

    def read(*args: Any, **kwargs: Any) -> Any:
        args = (*args[:at], *map(source, args[at : at + 1]), *args[at + 1 :])
        named = {name: source(one) if name in SOURCES else one for name, one in kwargs.items()}
        return found(*args, **named)

    return read if isinstance(found, type) else functools.wraps(found)(read)


def reading(value: Any, found: Any) -> Any:
    return sourced(found) if of(value, ("pyarrow",)) else found


def fromfile(value: Any, found: Any) -> Any:
    """For numpy's records: refuses object types, since a file holds no pointers."""

    def fromfile(fd: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
        numpy = sys.modules["numpy"]
        real = numpy.dtype(dtype) if dtype is not None else None
        if (real is not None and real.hasobject) or "O" in str([args[1:2], kwargs.get("formats", "")]):
            raise ValueError("a file holds no Python objects")
        return found(fd, real, *args, **kwargs)

    return fromfile if value is sys.modules.get("numpy.rec") else found


def from_file(value: Any, found: Any) -> Any:
    """Refuses zones from bytes: CPython follows the numbers of types in them without a check."""

    def from_file(*args: Any, **kwargs: Any) -> NoReturn:
        raise ValueError("time zones are those of the system: use ZoneInfo(name)")

    return from_file if of(value, ("zoneinfo",)) else found


CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "at": ufuncs.indexed,
    "buffers": buffers,
    "byteswap": byteswap,
    "deserialize": deserialize,
    "fromfile": fromfile,
    "from_dense": validated,
    "from_sparse": validated,
    "get_batch": validated,
    "get_record_batch": validated,
    "head": validated,
    "inspect": reading,
    "ngroup": ngroup,
    "open_stream": reading,
    "query": query,
    "read_all": validated,
    "read_next_batch": validated,
    "read_pandas": validated,
    "readinto": readinto,
    "readinto1": readinto,
    "reconfigure": streams.reconfigure,
    "reduceat": ufuncs.indexed,
    "to_table": validated,
    "construct_fast": construct_fast,
    "from_arrays": validated,
    "from_buffers": validated,
    "from_codes": from_codes,
    "from_file": from_file,
    "get_arrays": get_arrays,
    "resize": resize,
    "set_state": set_state,
    "view": view,
}
# Attributes that are judged by themselves: memory of arrays, trees, pointers of a generator, signals of a context.
PARTS = frozenset(("capsule", "data", "flags", "traps", "tree_"))
NAMES = POSITIONS | CALLS.keys() | PARTS


# -- generators of random numbers


def checked_state(state: Any) -> Any:
    """A copy of the state, with its position checked to lie in the buffer."""
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
    """Stands for a generator while its state is set, and checks the state."""

    def __init__(self, generator: Any) -> None:
        object.__setattr__(self, "_generator", generator)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)

    def __setattr__(self, name: str, new: Any) -> None:
        setattr(self._generator, name, checked_state(new))


def target(value: Any, name: str, gates: Gates) -> Any:
    """The object on which the snippet may set the attribute; a stand-in where the value needs a check."""
    place = of(value, TOGETHER)
    if place is not None and name in TOGETHER[place]:
        gates.refuse(f"changing the attribute {name} of an object of {place} is not allowed")
    if name == "state" and of(value, ("numpy.random",)):
        return State(value)
    if of(value, SIZED) and (name == "data" or name.endswith("_")):
        return Sized(value)
    return value


# Packages whose compiled code takes the length of an array from other attributes.
SIZED = ("scipy.sparse", "sklearn")


class Sized:
    """Stands for an object while an array of it is set, and checks the array."""

    def __init__(self, real: Any) -> None:
        object.__setattr__(self, "_real", real)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def __setattr__(self, name: str, new: Any) -> None:
        shape = getattr(vars(self._real).get(name), "shape", None)
        if name == "n_features_in_" and name in vars(self._real) and new != getattr(self._real, name):
            raise ValueError(f"{name} stays what it was fitted with")
        if shape and type(new).__name__ != "ndarray" and hasattr(type(new), "__array__"):
            # Compiled code asks it for its array, whatever its `shape` says.
            new = sys.modules["numpy"].array(new)
        if shape and getattr(new, "shape", None) != shape:
            raise ValueError(f"{name} keeps its shape {shape}: other attributes go by it")
        setattr(self._real, name, new)

    def __delattr__(self, name: str) -> None:
        if name == "n_features_in_":
            raise ValueError(f"{name} stays what it was fitted with")
        delattr(self._real, name)


# -- in the libraries


def close(gates: Gates) -> None:
    loaded.change(["numpy"], lambda module: pointers(module, gates))


class Guarded(type):
    """The snippet's `ndarray`: arrays over given memory may not hold objects."""

    # No snippet may read this name.
    __real__: type

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = tuple(map(seen, args)), {name: seen(one) for name, one in kwargs.items()}
        made = cls.__real__(*args, **kwargs) if "__real__" in vars(cls) else super().__call__(*args, **kwargs)
        return without_pointers(made)

    def __instancecheck__(cls, instance: Any) -> bool:
        real = vars(cls).get("__real__")
        return isinstance(instance, real) if real else super().__instancecheck__(instance)

    def __subclasscheck__(cls, subclass: Any) -> bool:
        real = vars(cls).get("__real__")
        return issubclass(subclass, real) if real else super().__subclasscheck__(subclass)


def is_pointers(buffer: Any) -> bool:
    """Whether the memory belongs to an array of objects."""
    if type(buffer) is memoryview:
        return "O" in buffer.format or is_pointers(buffer.obj)
    dtype = getattr(buffer, "dtype", None)
    return dtype is not None and bool(getattr(dtype, "hasobject", False))


def seen(buffer: Any) -> Any:
    """The buffer, read-only where it holds pointers or belongs to Arrow, which treats it as constant."""
    numpy = sys.modules.get("numpy")
    arrays = () if numpy is None else (numpy.ndarray,)
    if isinstance(buffer, (memoryview, *arrays)) and is_pointers(buffer):
        return memoryview(buffer).toreadonly()  # type: ignore[arg-type]  # numpy's arrays are buffers
    if type(buffer).__name__.endswith("Buffer") and of(buffer, ("pyarrow",)):
        return memoryview(buffer).toreadonly()
    return buffer


def written(buffer: Any) -> Any:
    """The buffer, if a file may be read into it."""
    if seen(buffer) is not buffer:
        raise ValueError("a file holds no Python objects, and a buffer of pyarrow stays what it is")
    return buffer


class Views(type):
    """The snippet's `memoryview`."""

    def __call__(cls, buffer: Any) -> memoryview:
        return memoryview(seen(buffer))

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, memoryview)

    def __subclasscheck__(cls, subclass: Any) -> bool:
        return subclass is cls or issubclass(subclass, memoryview)


def without_pointers(made: Any) -> Any:
    if made.dtype.hasobject and made.base is not None:
        raise ValueError("an array over given memory holds no Python objects")
    return made


def pointers(numpy: Any, gates: Gates) -> None:
    inside = {"__real__": numpy.ndarray, "__module__": "numpy", "__doc__": numpy.ndarray.__doc__}
    gates.narrow.instead[id(numpy.ndarray)] = Guarded("ndarray", (numpy.ndarray,), inside)
    for kind in (numpy.recarray, numpy.memmap, numpy.char.chararray):
        kind.__new__ = staticmethod(over_memory(kind.__new__))
    for plain in (numpy.frombuffer, numpy.ma.frombuffer):
        gates.narrow.instead[id(plain)] = over(plain)


def over(plain: Any) -> Any:
    """The function, with its first argument, a buffer, guarded by `seen`."""

    @functools.wraps(plain)
    def call(buffer: Any, *args: Any, **kwargs: Any) -> Any:
        return plain(seen(buffer), *args, **kwargs)

    return call


def over_memory(plain: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(plain)
    def __new__(cls: type, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = tuple(map(seen, args)), {name: seen(one) for name, one in kwargs.items()}
        return without_pointers(plain(cls, *args, **kwargs))

    return __new__
