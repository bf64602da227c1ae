"""Arrays that compiled code lends a function of the snippet for the time of a call: over memory that it frees or
fills anew afterwards. The snippet gets copies, which it may keep.
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


def own(value: Any) -> Any:
    numpy = sys.modules["numpy"]
    return numpy.array(value) if isinstance(value, numpy.ndarray) else value


def lending(function: Any) -> Any:
    """The function, with copies of the arrays that it is called with."""
    if not callable(function):
        return function

    @functools.wraps(function, updated=())
    def called(*args: Any) -> Any:
        return function(*map(own, args))

    return called


def odeint(module: Any) -> None:
    """`y` lies in the work array of LSODA, as does that of the Jacobian."""
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


def iterators(numpy: Any, gates: Gates) -> None:
    """The chunks of a buffered iterator lie in its buffer, which it frees."""

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
