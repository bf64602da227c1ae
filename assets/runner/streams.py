"""Keeps what a run prints in UTF-8: private values are looked for in that encoding."""

from __future__ import annotations

import codecs
import functools
import io

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The descriptors of stdout and stderr.
PRINTED = (1, 2)


def reconfigure(value: Any, found: Any) -> Any:
    """The method `found` of the stream `value`, or of its class."""
    if not issubclass(value if isinstance(value, type) else type(value), io.TextIOWrapper):
        return found

    @functools.wraps(found)
    def call(*args: Any, **kwargs: Any) -> Any:
        stream = args[0] if args else value
        encoding = kwargs.get("encoding")
        if encoding is not None and is_printed(stream) and codecs.lookup(encoding).name != "utf-8":
            raise ValueError("what a run prints is UTF-8")
        return found(*args, **kwargs)

    return call


def is_printed(stream: Any) -> bool:
    try:
        return io.TextIOWrapper.fileno(stream) in PRINTED
    except (OSError, TypeError, ValueError):
        return False
