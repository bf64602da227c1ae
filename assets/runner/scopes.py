"""The four scopes of a `scoped` run: what each accepts, what it refuses, and which accesses it reports as crossing
into another context."""

from __future__ import annotations

import sys
from types import FrameType

from _countersign.accesses import Accesses
from _countersign.errors import SNIPPET
from _countersign.redact import Secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Refuse = Callable[[str], BaseException]

# Bytes that the broker keeps for a session.
PUBLIC_BYTES = 64 * 1024
# A comprehension's frame counts as the enclosing function's.
INNER = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
GENERATES = 0x20 | 0x80 | 0x200


class SecurityError(Exception):
    """The snippet may not do this. Where the guard ends the run, no handler of the snippet sees this error."""

    __module__ = "builtins"


class NoAttribute(SecurityError, AttributeError):
    """A missing name of another context, read as an attribute. Also the AttributeError that Python code expects."""

    __module__ = "builtins"


class NoItem(SecurityError, KeyError):
    """A missing name of another context, read as an item."""

    __module__ = "builtins"


# Snippets see one class name for all of them.
NoAttribute.__name__ = NoItem.__name__ = SecurityError.__name__


class Scope:
    """Named values, read as attributes or items. Every error names the scope."""

    # For an isolated scope, the context whose names alone it holds.
    _own: str | None = None

    def __init__(self, name: str, values: dict[str, Any], refuse: Refuse, seen: Accesses) -> None:
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_values", values)
        object.__setattr__(self, "_end", refuse)
        object.__setattr__(self, "_seen", seen)

    def _here(self) -> dict[str, Any]:
        found: dict[str, Any] = self._values
        return found

    def _get(self, key: str) -> Any:
        return self._here()[key]

    def _set(self, key: str, value: Any) -> None:
        self._here()[key] = value

    def _drop(self, key: str) -> None:
        del self._here()[key]

    def _refuse(self, message: str) -> BaseException:
        """The error for a value or action that the scope refuses; it ends the run."""
        self._seen.blocked(self._name)
        error: BaseException = self._end(message)
        return error

    def _absent(self, shown: str, usual: type[Exception], crossing: type[Exception]) -> Exception:
        """The error for a missing name. In an isolated scope such a name belongs to another context."""
        message = f"the scope `{self._name}` has no {shown}"
        if self._own is None:
            self._seen.allowed(self._name)
            return usual(message)
        message += f": it holds this {self._own}'s own names, and no other's is reached"
        self._seen.blocked(self._name)
        self._seen.tell("scope", self._name, message)
        return crossing(message)

    def __getattr__(self, name: str) -> Any:
        try:
            value = self._get(name)
        except KeyError:
            raise self._absent(f"`{name}`", AttributeError, NoAttribute) from None
        self._seen.allowed(self._name)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        self._set(name, value)
        self._seen.allowed(self._name)

    def __delattr__(self, name: str) -> None:
        try:
            self._drop(name)
        except KeyError:
            raise self._absent(f"`{name}`", AttributeError, NoAttribute) from None
        self._seen.allowed(self._name)

    def __getitem__(self, name: str) -> Any:
        try:
            value = self._get(name)
        except KeyError:
            raise self._absent(repr(name), KeyError, NoItem) from None
        self._seen.allowed(self._name)
        return value

    def __setitem__(self, name: str, value: Any) -> None:
        if type(name) is not str:
            raise TypeError(f"the names of the scope `{self._name}` are strings")
        self._set(name, value)
        self._seen.allowed(self._name)

    def __delitem__(self, name: str) -> None:
        try:
            self._drop(name)
        except KeyError:
            raise self._absent(repr(name), KeyError, NoItem) from None
        self._seen.allowed(self._name)

    def __contains__(self, name: object) -> bool:
        self._seen.allowed(self._name)
        return name in self._here()

    def __iter__(self) -> Iterator[str]:
        self._seen.allowed(self._name)
        return iter(list(self._here()))

    def __len__(self) -> int:
        self._seen.allowed(self._name)
        return len(self._here())

    def __repr__(self) -> str:
        return f"<scope {self._name}>"


class Private(Scope):
    """Isolated: gone with the run, and its values never leave the run."""

    _own = "run"

    def __init__(
        self,
        values: dict[str, Any],
        datasets: set[str],
        refuse: Refuse,
        secrets: Secrets,
        seen: Accesses,
    ) -> None:
        """`datasets`: the names of the data sets among the values."""
        super().__init__("private", values, refuse, seen)
        object.__setattr__(self, "_secrets", secrets)
        object.__setattr__(self, "_datasets", datasets)
        secrets.watch(values, datasets)

    def _set(self, key: str, value: Any) -> None:
        self._leave(key)
        self._secrets.add(value)
        super()._set(key, value)

    def _drop(self, key: str) -> None:
        self._leave(key)
        super()._drop(key)

    def _leave(self, key: str) -> None:
        """Keeps a removed value hidden. A later value under the same name is not a data set."""
        self._secrets.add(self._here().get(key), 1 if key in self._datasets else 0)
        self._datasets.discard(key)


class Public(Scope):
    """Kept for the agent's session: plain JSON only, without private values. Values from before this run belong to
    another context: each use of them is reported."""

    def __init__(self, values: dict[str, Any], refuse: Refuse, secrets: Secrets, seen: Accesses) -> None:
        super().__init__("public", values, refuse, seen)
        object.__setattr__(self, "_secrets", secrets)
        object.__setattr__(self, "_before", set(values))

    def _get(self, key: str) -> Any:
        value = super()._get(key)
        self._crossed(key, "read")
        return value

    def _set(self, key: str, value: Any) -> None:
        super()._set(key, self._checked(key, value))
        self._crossed(key, "replaced")
        self._before.discard(key)

    def _drop(self, key: str) -> None:
        super()._drop(key)
        self._crossed(key, "removed")
        self._before.discard(key)

    def _crossed(self, key: str, done: str) -> None:
        if key in self._before:
            self._seen.tell("crossing", "public", f"public.{key} from before this run: {done}")

    def _checked(self, key: str, value: Any) -> Any:
        try:
            copied = plain(value, f"public.{key}")
        except TypeError as error:
            self._seen.blocked("public")
            self._seen.tell("scope", "public", str(error))
            raise
        if self._secrets.hides(key) or self._secrets.clean_all(copied) != copied:
            raise self._refuse(f"the scope `private` does not go into the scope `public`: public.{key}")
        return copied

    def _left(self) -> dict[str, Any]:
        """The values to keep, checked again: a list among them may have changed since."""
        return {key: self._checked(key, value) for key, value in self._values.items()}


class System(Scope):
    """Facts about the run and its inputs; read-only."""

    def __init__(self, values: dict[str, Any], refuse: Refuse, seen: Accesses) -> None:
        super().__init__("system", values, refuse, seen)

    def _set(self, key: str, value: Any) -> None:
        raise self._refuse(f"the scope `system` is read only: system.{key}")

    def _drop(self, key: str) -> None:
        raise self._refuse(f"the scope `system` is read only: system.{key}")

    def _get(self, key: str) -> Any:
        # A copy, so that changing it does not affect the next read.
        return copied(super()._get(key))


class Local(Scope):
    """Values of one function call, gone when it returns."""

    _own = "call"

    def __init__(self, refuse: Refuse, seen: Accesses) -> None:
        super().__init__("local", {}, refuse, seen)
        object.__setattr__(self, "_frames", {})

    def _here(self) -> dict[str, Any]:
        frame: FrameType | None = sys._getframe(1)
        owner = None
        running = set()
        while frame is not None:
            if frame.f_code.co_filename == SNIPPET:
                running.add(frame)
                if owner is None and frame.f_code.co_name not in INNER:
                    owner = frame
            frame = frame.f_back
        frames: dict[Any, dict[str, Any]] = self._frames
        for known in list(frames):
            # A call that is not on the stack is over, unless it is a generator, which may resume. None: not in
            # any call of the snippet.
            if known is not None and known not in running and not known.f_code.co_flags & GENERATES:
                del frames[known]
        return frames.setdefault(owner, {})


def plain(value: Any, where: str, depth: int = 0) -> Any:
    """A copy of plain JSON. Raises a `TypeError` that names what is not."""
    kind = type(value)
    if kind in (str, bool, type(None)) or (kind is int and abs(value) < 2**63):
        return value
    if kind is float and value - value == 0:
        return value
    if depth < 50:
        if kind is list:
            return [plain(one, f"{where}[{at}]", depth + 1) for at, one in enumerate(value)]
        if kind is dict and all(type(key) is str for key in value):
            return {k: plain(one, f"{where}[{k!r}]", depth + 1) for k, one in value.items()}
    raise TypeError(f"the scope `public` takes plain JSON, and {where} is a {kind.__name__} that is none")


def copied(value: Any) -> Any:
    if type(value) is dict:
        return {key: copied(one) for key, one in value.items()}
    if type(value) is list:
        return [copied(one) for one in value]
    return value
