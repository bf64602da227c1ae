"""The four scopes of a `scoped` run: what each takes, what is refused with its name, and what is told of
an access that crosses into another context."""

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

# What the broker keeps for a session.
PUBLIC_BYTES = 64 * 1024
# Frames of a function that the interpreter makes for a comprehension are the function's.
INNER = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
GENERATES = 0x20 | 0x80 | 0x200


class SecurityError(Exception):
    """What is asked for is not for a snippet. What the guard ends is ended all the same: no handler
    of the snippet's runs then."""

    __module__ = "builtins"


class NoAttribute(SecurityError, AttributeError):
    """Another context's name, asked for as an attribute: what Python calls it, it is too."""

    __module__ = "builtins"


class NoItem(SecurityError, KeyError):
    """The same as an item."""

    __module__ = "builtins"


# What a snippet names is the one error.
NoAttribute.__name__ = NoItem.__name__ = SecurityError.__name__


class Scope:
    """Values under names, as attributes and as items. The name of the scope is in every error."""

    # Whose names alone are in it, where no other context's can be reached.
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
        """The error of what the scope does not take; it ends the run."""
        self._seen.blocked(self._name)
        error: BaseException = self._end(message)
        return error

    def _absent(self, shown: str, usual: type[Exception], crossing: type[Exception]) -> Exception:
        """The error for a name that is not there. In a scope that is isolated it would be another
        context's."""
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
    """Isolated: gone with the run, and what is in it leaves nowhere."""

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
        """It was private, and what is known of it stays hidden. What comes under its name is no data set."""
        self._secrets.add(self._here().get(key), 1 if key in self._datasets else 0)
        self._datasets.discard(key)


class Public(Scope):
    """Lives on for the agent's session: plain JSON only, and nothing of `private`. What was there before
    this run is another context's: each use of it is told."""

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
        """What lives on, looked at again: a list in it may have been changed since."""
        return {key: self._checked(key, value) for key, value in self._values.items()}


class System(Scope):
    """What the run is; read only."""

    def __init__(self, values: dict[str, Any], refuse: Refuse, seen: Accesses) -> None:
        super().__init__("system", values, refuse, seen)

    def _set(self, key: str, value: Any) -> None:
        raise self._refuse(f"the scope `system` is read only: system.{key}")

    def _drop(self, key: str) -> None:
        raise self._refuse(f"the scope `system` is read only: system.{key}")

    def _get(self, key: str) -> Any:
        # A copy: what is read can be changed without changing what is read next.
        return copied(super()._get(key))


class Local(Scope):
    """Each function call's own, gone when it returns."""

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
            # A generator may go on; any other call that is not on the stack is over. None: no call of
            # the snippet's asks.
            if known is not None and known not in running and not known.f_code.co_flags & GENERATES:
                del frames[known]
        return frames.setdefault(owner, {})


def plain(value: Any, where: str, depth: int = 0) -> Any:
    """A copy of plain JSON, or a `TypeError` that names what is none."""
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
