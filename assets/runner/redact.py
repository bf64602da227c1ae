"""Replaces private values with `[REDACTED]` in everything that leaves a run.

A value is hidden in the forms that programs write: unchanged, escaped, in other case, reversed, in hex, base64 and
percent codes, with or without white space between its characters. This does not stop a snippet that encodes a value
in its own way: the reviewer reads the code for that.
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
# Shorter text is hidden only as a separate word: too many words contain it.
ANYWHERE = 4
# Maximum number of values to search for.
VALUES_MAX = 5000
# With more values, only the plain form of each is searched for: all forms would take too long.
FEW = 300
# How Python writes a finite number.
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?")
# Leading zeros, and characters that are not digits.
SMALLER = re.compile(r"^[0.]+|[.,_]")
SWAPPED = str.maketrans(".,", ",.")
# Characters of one value to search for: text with the whole value also contains its beginning.
LENGTH_MAX = 200


class Secrets:
    """The values to hide. Only ever grows."""

    def __init__(self) -> None:
        self._texts: set[str] = set()
        # Dicts to which values may be added without notice, so they are searched before every use. Beside each, the
        # names of data sets among its values.
        self._watched: list[tuple[dict[str, Any], set[str]]] = []
        self._pattern: re.Pattern[str] | None = None
        # Maximum length of a hidden form in a text, including white space.
        self.reach = 0

    def add(self, value: Any, names: int = 0, depth: int = 0) -> None:
        """Hides everything in a value that could reveal it: texts, numbers and keys, at any depth. `names`: how
        many levels of keys, from the outermost, are names that may be shown."""
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
            # A table: column names and row numbers may be shown.
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
        """Hides the contents of the values, now and again at each use. The values' own names may be shown, and so may
        column names of the data sets among them."""
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
        """As `clean`, for plain JSON: replaces texts, keys, and numbers that are hidden values."""
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
    """The forms in which a program may write a text."""
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
        # Base64 of bytes inside a longer text depends on their offset modulo 3. The digits between the first and
        # last, which neighbouring bytes share, are always the same.
        coded = base64.b64encode(b"\0" * shift + raw).decode().rstrip("=")
        first = (shift * 8 + 5) // 6
        whole = (shift + len(raw)) * 8 // 6
        core = coded[first:whole]
        if len(core) >= ANYWHERE:
            yield core
            yield core.replace("+", "-").replace("/", "_")


def numbers_of(text: str) -> Iterable[str]:
    """The forms that format specifications give a number: without sign, grouped, rounded, with an exponent, as
    a percentage; integers also in other bases. Forms of two digits are too common to be hidden."""
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
    forms += [form.replace(",", "'") for form in forms if "," in form]
    # As many languages write it.
    forms += [form.translate(SWAPPED) for form in forms if "." in form or "," in form]
    forms += (f"{abs(value):.{digits}{kind}}" for digits in range(1, 7) for kind in "eE")
    forms += (f"{abs(value):.{digits}%}"[:-1] for digits in range(3))
    yield from (form for form in forms if len(SMALLER.sub("", form)) > 2)


def spaced(form: str, apart: bool) -> str:
    if len(form) < ANYWHERE:
        return rf"(?<![^\W_]){re.escape(form)}(?![^\W_])"
    return (r"\s?" if apart else "").join(re.escape(char) for char in form)


class Redacting(io.TextIOBase):
    """A stream that redacts private values, even if a value is written in pieces."""

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
        # The end of the text may be the beginning of a value, so it is held back until more text comes.
        keep = self._secrets.reach if self._secrets.pattern() else 0
        out = held[: max(len(held) - keep, 0)]
        self._held = held[len(out) :]
        self._under.write(out)
        return len(text)

    def flush(self) -> None:
        """Flushes only the text already passed on: the snippet cannot flush out half of a value."""
        self._under.flush()

    def finish(self) -> None:
        self._under.write(self._secrets.clean(self._held))
        self._held = ""
        self._under.flush()
