"""Keeps what a run must not tell out of everything that leaves it: `[REDACTED]` stands in its place.

What is hidden is a value, in the forms a program writes it in: as it is, escaped, in other case,
reversed, in hex, base64 and percent codes, with or without white space between its characters.
It is no proof against a snippet that encodes it in a way of its own: the reviewer reads that.
"""

from __future__ import annotations

import base64
import io
import json
import re
from urllib.parse import quote

from _countersign.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

REDACTED = "[REDACTED]"
# Text shorter than this is hidden only where it stands alone: it is in too many words.
ANYWHERE = 4
# Whole values are looked for, so many of them at most.
VALUES_MAX = 5000
# Of more values only the plain form is looked for: every form of each would take too long.
FEW = 300
# How Python writes a number that is finite.
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?")
# What is no digit, and the zeros before the first that counts.
SMALLER = re.compile(r"^[0.]+|[.,_]")
# Characters of one value that are looked for; what contains it contains its beginning.
LENGTH_MAX = 200


class Secrets:
    """The values to hide. Only ever grows."""

    def __init__(self) -> None:
        self._texts: set[str] = set()
        # Where values may be put without this being told: looked through before every use. Beside each,
        # the data sets among its values.
        self._watched: list[tuple[dict[str, Any], set[str]]] = []
        self._pattern: re.Pattern[str] | None = None
        # The longest that a hidden form can be in a text, with white space in it.
        self.reach = 0

    def add(self, value: Any, names: int = 0, depth: int = 0) -> None:
        """Everything in a value that could tell it: texts, numbers and keys, at any depth. `names`: levels
        of keys, from the outermost, that are names and may be told."""
        if depth > 50:
            raise Refused("ContractViolation", "a private value is nested too deeply to be hidden")
        if isinstance(value, str):
            self._add(value)
        elif isinstance(value, (bytes, bytearray)):
            self._add(bytes(value).decode("utf-8", "replace"))
        elif isinstance(value, bool) or value is None:
            return
        elif isinstance(value, (int, float)):
            self._add(repr(value))
        elif isinstance(value, dict):
            for key, one in value.items():
                if not names:
                    self.add(key, 0, depth + 1)
                self.add(one, max(names - 1, 0), depth + 1)
        elif isinstance(value, (list, tuple, set, frozenset)):
            for one in value:
                self.add(one, names, depth + 1)
        elif hasattr(value, "to_dict"):
            # A table: its columns and the numbers of its rows are names.
            self.add([label for label in value.index if not isinstance(label, int)], 0, depth + 1)
            self.add(value.to_dict("list") if value.ndim > 1 else list(value), 1, depth + 1)

    def _add(self, text: str) -> None:
        text = text.strip()[:LENGTH_MAX]
        if len(text) > 1 and text not in self._texts:
            if len(self._texts) >= VALUES_MAX:
                raise Refused("ContractViolation", f"more than {VALUES_MAX} private values cannot be hidden")
            self._texts.add(text)
            self._pattern = None

    def watch(self, values: dict[str, Any], datasets: set[str]) -> None:
        """Hides what is in the values, now and whenever something is hidden. The values' own names may be
        told, and so may the columns' of the data sets among them."""
        self._watched.append((values, datasets))
        self._look()

    def _look(self) -> None:
        for values, datasets in self._watched:
            for name, value in values.items():
                self.add(value, 1 if name in datasets else 0)

    def pattern(self) -> re.Pattern[str] | None:
        self._look()
        if self._pattern is None and self._texts:
            few = len(self._texts) <= FEW
            forms = {f for text in self._texts for f in (forms_of(text) if few else [text])}
            ordered = sorted(forms, key=len, reverse=True)
            self._pattern = re.compile("|".join(spaced(form, few) for form in ordered))
            self.reach = 2 * max(len(form) for form in ordered) + 2
        return self._pattern

    def clean(self, text: str) -> str:
        pattern = self.pattern()
        return pattern.sub(REDACTED, text) if pattern else text

    def hides(self, text: str) -> bool:
        pattern = self.pattern()
        return bool(pattern and pattern.search(text))

    def clean_all(self, value: Any) -> Any:
        """The same of plain JSON: texts, keys, and numbers that are hidden values."""
        if isinstance(value, str):
            return self.clean(value)
        if isinstance(value, dict):
            return {self.clean(str(key)): self.clean_all(one) for key, one in value.items()}
        if isinstance(value, list):
            return [self.clean_all(one) for one in value]
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return REDACTED if self.hides(repr(value)) else value
        return value


def forms_of(text: str) -> Iterable[str]:
    """How a program may write a text down."""
    yield text
    yield from numbers_of(text)
    if len(text) < ANYWHERE:
        return
    yield from (text.lower(), text.upper(), text.swapcase(), text[::-1])
    yield from (text.title(), text.capitalize(), text.casefold())
    yield json.dumps(text)[1:-1]
    yield repr(text)[1:-1]
    yield ascii(text)[1:-1]
    yield repr(text.encode("utf-8", "replace"))[2:-1]
    yield text.replace("\\", "\\\\").replace('"', '\\"').replace("/", "\\/")
    yield json.dumps(text)[1:-1].replace("/", "\\/")
    yield text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    yield quote(text, safe="")
    raw = text.encode("utf-8", "replace")
    yield from (raw.hex(), raw.hex().upper(), raw.hex(" "))
    for shift in range(3):
        # In the middle of other bytes base64 looks different by where it begins: what stands
        # between the neighbours' share of the first and last digits is the same.
        coded = base64.b64encode(b"\0" * shift + raw).decode().rstrip("=")
        first = (shift * 8 + 5) // 6
        whole = (shift + len(raw)) * 8 // 6
        core = coded[first:whole]
        if len(core) >= ANYWHERE:
            yield core
            yield core.replace("+", "-").replace("/", "_")


def numbers_of(text: str) -> Iterable[str]:
    """The forms that format specifications give a number: without its sign, grouped, rounded, in powers of
    ten, as a share, and a whole one in other bases. Forms of two digits are too common to be hidden."""
    if not NUMBER.fullmatch(text):
        return
    value = float(text) if any(mark in text for mark in ".enai") else int(text)
    if len(text.lstrip("-")) > 1:
        yield text.lstrip("-")
    forms: list[str] = []
    if isinstance(value, int):
        forms += (f"{abs(value):{spec}}" for spec in (",", "_", "x", "X", "o", "b", "d"))
        value = float(value) if abs(value) < 2**1000 else 0.0
    forms += (f"{abs(value):{mark}.{digits}f}" for mark in ("", ",") for digits in range(5))
    forms += (f"{abs(value):.{digits}{kind}}" for digits in range(1, 7) for kind in "eE")
    forms += (f"{abs(value):.{digits}%}"[:-1] for digits in range(3))
    yield from (form for form in forms if len(SMALLER.sub("", form)) > 2)


def spaced(form: str, apart: bool) -> str:
    if len(form) < ANYWHERE:
        return rf"(?<![^\W_]){re.escape(form)}(?![^\W_])"
    return (r"\s?" if apart else "").join(re.escape(char) for char in form)


class Redacting(io.TextIOBase):
    """A stream without what is hidden, also where a value comes in pieces."""

    def __init__(self, under: Any, secrets: Secrets) -> None:
        self._under = under
        self._secrets = secrets
        self._held = ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError("write() argument must be str")
        held = self._secrets.clean(self._held + text)
        # What may be the beginning of a value waits for what comes after it.
        keep = self._secrets.reach if self._secrets.pattern() else 0
        out = held[: max(len(held) - keep, 0)]
        self._held = held[len(out) :]
        self._under.write(out)
        return len(text)

    def flush(self) -> None:
        """Passes on what is certain. The snippet cannot flush half of a value out."""
        self._under.flush()

    def finish(self) -> None:
        self._under.write(self._secrets.clean(self._held))
        self._held = ""
        self._under.flush()
