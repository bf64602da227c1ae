"""Turns values of libraries into plain JSON that every program can read."""

from __future__ import annotations

import base64
import binascii
import datetime
import decimal
import enum
import fractions
import math
from collections import deque
from collections.abc import Mapping
from types import ModuleType

from _countersign.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# JSON readers, including ours, refuse deeper nesting.
DEPTH = 100


class Plain:
    """Turns values into plain JSON, without importing a library that is not loaded."""

    def __init__(self, numpy: ModuleType | None, pandas: ModuleType | None) -> None:
        self.numpy = numpy
        self.pandas = pandas

    def of(self, value: Any, where: str, depth: int = 0) -> Any:
        """The value as plain JSON. `where` names it in an error: `result["chart"]`.

        Missing values and numbers that are not finite become null. Raises `Refused` with `ContractViolation`
        for values
        that JSON cannot express.
        """
        if depth > DEPTH:
            raise Refused("ContractViolation", f"{where} is nested deeper than {DEPTH}")
        value = self.unwrapped(value)
        match value:
            case None | bool():
                return value
            case str():
                return text(value)
            case enum.Enum():
                return self.of(value.value, where, depth + 1)
            case int():
                return int(value) if -(2**63) <= value < 2**64 else str(int(value))
            case float() | decimal.Decimal() | fractions.Fraction():
                number = float(value)
                return number if math.isfinite(number) else None
            case datetime.datetime() | datetime.date() | datetime.time():
                return value.isoformat()
            case datetime.timedelta():
                return str(value)
            case Mapping():
                if (array := self.typed_array(value)) is not None:
                    return self.of(array, where, depth + 1)
                return {
                    self.key(key, where): self.of(one, f"{where}[{key!r}]", depth + 1) for key, one in value.items()
                }
            case list() | tuple() | set() | frozenset() | range() | deque():
                return [self.of(one, f"{where}[{at}]", depth + 1) for at, one in enumerate(value)]
        raise Refused(
            "ContractViolation",
            f"{where} is a {type(value).__name__}, which has no plain JSON form",
        )

    def unwrapped(self, value: Any) -> Any:
        """A library's value as an equal builtin value."""
        home = type(value).__module__.partition(".")[0]
        if home == "plotly":
            return figure(value)
        if home == "numpy" and (np := self.numpy) is not None:
            if isinstance(value, (np.datetime64, np.timedelta64)):
                return None if np.isnat(value) else brief(str(value))
            if value is np.ma.masked:
                return None
            if isinstance(value, np.ndarray):
                # A list of numpy scalars, because `tolist` turns nanosecond times into integers.
                return list(value) if value.ndim else self.unwrapped(value[()])
            if isinstance(value, np.generic):
                return value.item()
        if home == "pandas" and (pd := self.pandas) is not None:
            if value is pd.NA or value is pd.NaT:
                return None
            if isinstance(value, pd.DataFrame):
                names = [self.key(name, "a column") for name in value.columns]
                rows = value.itertuples(index=False, name=None)
                return [dict(zip(names, row)) for row in rows]
            if isinstance(value, (pd.Timestamp, pd.Timedelta)):
                return value.isoformat()
            if isinstance(value, (pd.Period, pd.Interval)):
                return str(value)
            if isinstance(value, (pd.Series, pd.Index, pd.api.extensions.ExtensionArray)):
                return list(value)
        return value

    def key(self, key: Any, where: str) -> str:
        plain = self.of(key, f"a key of {where}")
        if isinstance(plain, (list, dict)):
            plain = str(key)
        return plain if isinstance(plain, str) else str(plain)

    def typed_array(self, value: Mapping[Any, Any]) -> Any:
        """The numbers that plotly packed into base64."""
        if self.numpy is None or not {"dtype", "bdata"} <= value.keys() <= {"dtype", "bdata", "shape"}:
            return None
        try:
            raw = base64.b64decode(value["bdata"], validate=True)
            array = self.numpy.frombuffer(raw, dtype=value["dtype"])
            if "shape" in value:
                array = array.reshape([int(n) for n in str(value["shape"]).split(",")])
        except (TypeError, ValueError, binascii.Error):
            return None
        return array


def figure(value: Any) -> Any:
    """A plotly object's own properties; of a figure, the traces one by one, so that nothing is packed into base64."""
    import sys

    shapes = sys.modules.get("plotly.basedatatypes")
    if shapes is None:
        return value
    if isinstance(value, shapes.BaseFigure):
        plain = {"data": list(value.data), "layout": value.layout}
        if value.frames:
            plain["frames"] = list(value.frames)
        return plain
    if isinstance(value, shapes.BasePlotlyType):
        return value.to_plotly_json()
    return value


def brief(time: str) -> str:
    """The time without the trailing zeros that numpy always writes."""
    return time.rstrip("0").rstrip(".") if "." in time else time


def text(value: str) -> str:
    """The text with halves of surrogate pairs replaced, because UTF-8 cannot encode them."""
    return str(value).encode("utf-8", "replace").decode()


def cut(value: str, most: int) -> tuple[str, bool]:
    """At most `most` bytes of UTF-8, cut between characters, and whether anything was cut off."""
    raw = value.encode("utf-8", "replace")
    if len(raw) <= most:
        return raw.decode(), False
    return raw[:most].decode("utf-8", "ignore"), True
