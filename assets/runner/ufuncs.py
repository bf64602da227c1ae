"""Copies the indices of `ufunc.at` and `ufunc.reduceat`.

numpy checks them once and then goes by them, while a function from `frompyfunc` or an object's operator may write to
the array that they came from.
"""

from __future__ import annotations

import functools
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Parts of an index that hold no positions of their own, and lists, of which numpy makes an array itself.
PLAIN = (int, list, slice, type(None), type(...))


def indexed(value: Any, found: Any) -> Any:
    """The method `found` of the ufunc `value`, or of the class `numpy.ufunc`."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return found
    if value is numpy.ufunc:
        at = 2
    elif isinstance(value, numpy.ufunc):
        at = 1
    else:
        return found

    @functools.wraps(found)
    def call(*args: Any, **kwargs: Any) -> Any:
        args = (*args[:at], *map(owned, args[at : at + 1]), *args[at + 1 :])
        if "indices" in kwargs:
            kwargs["indices"] = owned(kwargs["indices"])
        return found(*args, **kwargs)

    return call


def owned(index: Any) -> Any:
    if type(index) is tuple:
        return tuple(map(owned, index))
    return index if type(index) in PLAIN else sys.modules["numpy"].array(index)
