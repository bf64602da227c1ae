"""Wraps functions of the snippet that compiled code calls.

Compiled code passes arrays over memory that it frees or overwrites after the call: the snippet gets copies, which it
may keep. Where compiled code relies on the length of the returned array, that length is checked.
"""

from __future__ import annotations

import functools
import sys

from _countersign import loaded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from _countersign.gates import Gates


def close(gates: Gates) -> None:
    loaded.change(["numpy"], lambda module: iterators(module, gates))
    loaded.change(["scipy.integrate._odepack_py"], odeint)
    loaded.change(["scipy.integrate._ode"], integrators)
    loaded.change(["scipy.optimize._minpack_py"], solvers)
    loaded.change(["scipy.odr._odrpack"], regressions)
    loaded.change(["scipy.sparse.linalg._svdp"], products)
    loaded.change(["sklearn.metrics._dist_metrics"], lambda module: metrics(module, gates))
    loaded.change(["sklearn.neighbors._ball_tree"], lambda module: balls(module, gates))
    loaded.change(BALLS, usual)


def own(value: Any) -> Any:
    numpy = sys.modules["numpy"]
    return numpy.array(value) if isinstance(value, numpy.ndarray) else value


def lending(function: Any) -> Any:
    """The function, called with copies of its array arguments."""
    if not callable(function):
        return function

    @functools.wraps(function, updated=())
    def called(*args: Any) -> Any:
        return function(*map(own, args))

    return called


def odeint(module: Any) -> None:
    """LSODA passes `y` to the function and the Jacobian as a view of its work array."""
    plain = module._odepack.odeint

    @functools.wraps(plain)
    def odeint(func: Any, y0: Any, t: Any, args: Any, derivative: Any, *rest: Any) -> Any:
        return plain(lending(func), y0, t, args, lending(derivative), *rest)

    module._odepack.odeint = odeint


def integrators(module: Any) -> None:
    def lent(plain: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(plain)
        def run(self: Any, f: Any, jac: Any, *rest: Any) -> Any:
            return plain(self, lending(f), lending(jac), *rest)

        return run

    for kind in (module.vode, module.zvode, module.dopri5, module.lsoda):
        kind.run = lent(kind.run)
    solout = module.dopri5._solout

    @functools.wraps(solout)
    def _solout(self: Any, x: Any, y: Any) -> Any:
        return solout(self, own(x), own(y))

    module.dopri5._solout = _solout


def solvers(module: Any) -> None:
    """MINPACK passes points in its work arrays, or in arrays that it frees."""
    minpack = module._minpack
    for name, lent in (("_hybrd", 1), ("_lmdif", 1), ("_hybrj", 2), ("_lmder", 2)):
        setattr(minpack, name, asking(getattr(minpack, name), lent))


def asking(plain: Any, lent: int) -> Any:
    """The function, whose first `lent` arguments are called with copies of their arrays."""

    @functools.wraps(plain)
    def solve(*args: Any) -> Any:
        return plain(*map(lending, args[:lent]), *args[lent:])

    return solve


def products(module: Any) -> None:
    """PROPACK passes vectors in its work arrays to the product functions."""
    kind = module._AProd
    plain = kind.__call__

    @functools.wraps(plain)
    def __call__(self: Any, transa: Any, m: Any, n: Any, x: Any, *rest: Any) -> Any:
        return plain(self, transa, m, n, own(x), *rest)

    kind.__call__ = __call__


def regressions(module: Any) -> None:
    """ODRPACK copies a fixed count of numbers from each returned array, given by observations, parameters and
    dimensions."""
    plain = module.odr

    @functools.wraps(plain)
    def odr(fcn: Any, beta0: Any, y: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        x = module.np.array(x, dtype=float)
        dimensions, observations = x.shape if x.ndim == 2 else (1, x.size)
        if not isinstance(y, int):
            y = module.np.array(y, dtype=float)
        responses = y if isinstance(y, int) else y.shape[0] if y.ndim == 2 else 1
        size = responses * observations
        for name, each in (("fjacb", module.np.size(beta0)), ("fjacd", dimensions)):
            if kwargs.get(name) is not None:
                kwargs[name] = returning(kwargs[name], size * each, name)
        return plain(returning(fcn, size, "fcn"), beta0, y, x, *args, **kwargs)

    module.odr = odr


def returning(function: Any, size: int, name: str) -> Any:
    """The function, whose result is copied and must have `size` numbers.

    Raises ValueError otherwise.
    """
    import numpy

    @functools.wraps(function, updated=())
    def call(*args: Any) -> Any:
        found = numpy.array(function(*map(own, args)), dtype=float)
        if found.size != size:
            raise ValueError(f"{name} returned {found.size} numbers, not {size}")
        return found

    return call


# Modules of scikit-learn that import the tree classes by name.
BALLS = tuple(f"sklearn.{name}" for name in ("neighbors._base", "neighbors._kde", "cluster._hdbscan.hdbscan"))
_trees: dict[str, Any] = {}


def metrics(module: Any, gates: Gates) -> None:
    """Metrics of the snippet get copies: trees pass arrays over their own memory."""
    for kind in (module.DistanceMetric, module.DistanceMetric64, module.DistanceMetric32):
        # Attributes of an extension type cannot be set, so a subclass carries the replaced static method.
        plain = kind.get_metric

        def get_metric(metric: Any, *args: Any, plain: Any = plain, **kwargs: Any) -> Any:
            return plain(measuring(metric), *args, **kwargs)

        gates.narrow.instead[id(kind)] = type(
            kind.__name__, (kind,), {"get_metric": staticmethod(get_metric), "__module__": kind.__module__}
        )


def measuring(metric: Any) -> Any:
    return metric if isinstance(metric, (str, type)) else lending(metric)


def balls(module: Any, gates: Gates) -> None:
    for plain in (module.BallTree, module.BallTree64, module.BallTree32):

        class Ball(plain):  # type: ignore[misc, valid-type]  # a class of the library, known at run time
            def __new__(cls, data: Any, leaf_size: Any = 40, metric: Any = "minkowski", **kwargs: Any) -> Any:
                return super().__new__(cls, data, leaf_size, measuring(metric), **kwargs)

            def __init__(self, data: Any, leaf_size: Any = 40, metric: Any = "minkowski", **kwargs: Any) -> None:
                super().__init__(data, leaf_size, measuring(metric), **kwargs)

        Ball.__name__ = Ball.__qualname__ = plain.__name__
        Ball.__module__ = plain.__module__
        gates.narrow.instead[id(plain)] = _trees[plain.__name__] = Ball


def usual(module: Any) -> None:
    """Makes the library use the same tree classes as the snippet."""
    module.BallTree = _trees["BallTree"]


def iterators(numpy: Any, gates: Gates) -> None:
    """Refuses buffered iterators: their chunks lie in a buffer that the iterator frees."""

    def checked(plain: Any, before: int) -> Any:
        @functools.wraps(plain, updated=())
        def made(*args: Any, **kwargs: Any) -> Any:
            given = args[before] if len(args) > before else kwargs.get("flags")
            flags = None if given is None else list(given)
            for flag in flags or ():
                if type(flag) is not str or flag in ("buffered", "delay_bufalloc", "growinner"):
                    raise ValueError(
                        f"an iterator with the flag {flag!r} lends its buffer: copy with astype, then iterate"
                    )
            if len(args) > before:
                args = (*args[:before], flags, *args[before + 1 :])
            elif "flags" in kwargs:
                kwargs["flags"] = flags
            return plain(*args, **kwargs)

        return made

    gates.narrow.instead[id(numpy.nditer)] = checked(numpy.nditer, 1)
    gates.narrow.instead[id(numpy.nested_iters)] = checked(numpy.nested_iters, 2)
