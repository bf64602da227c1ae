"""The four scopes of a `scoped` run: what each takes, and what is refused with its name."""

from __future__ import annotations

import sys
from types import FrameType

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


class Scope:
    """Values under names, as attributes and as items. The name of the scope is in every error."""

    def __init__(self, name: str, values: dict[str, Any], refuse: Refuse) -> None:
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_values", values)
        object.__setattr__(self, "_refuse", refuse)

    def _here(self) -> dict[str, Any]:
        found: dict[str, Any] = self._values
        return found

    def _get(self, key: str) -> Any:
        return self._here()[key]

    def _set(self, key: str, value: Any) -> None:
        self._here()[key] = value

    def _drop(self, key: str) -> None:
        del self._here()[key]

    def __getattr__(self, name: str) -> Any:
        try:
            return self._get(name)
        except KeyError:
            raise AttributeError(f"the scope `{self._name}` has no `{name}`") from None

    def __setattr__(self, name: str, value: Any) -> None:
        self._set(name, value)

    def __delattr__(self, name: str) -> None:
        try:
            self._drop(name)
        except KeyError:
            raise AttributeError(f"the scope `{self._name}` has no `{name}`") from None

    def __getitem__(self, name: str) -> Any:
        try:
            return self._get(name)
        except KeyError:
            raise KeyError(f"the scope `{self._name}` has no {name!r}") from None

    def __setitem__(self, name: str, value: Any) -> None:
        if type(name) is not str:
            raise TypeError(f"the names of the scope `{self._name}` are strings")
        self._set(name, value)

    def __delitem__(self, name: str) -> None:
        try:
            self._drop(name)
        except KeyError:
            raise KeyError(f"the scope `{self._name}` has no {name!r}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._here()

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._here()))

    def __len__(self) -> int:
        return len(self._here())

    def __repr__(self) -> str:
        return f"<scope {self._name}>"


class Private(Scope):
    """Isolated: gone with the run, and what is in it leaves nowhere."""

    def __init__(self, values: dict[str, Any], refuse: Refuse, secrets: Secrets) -> None:
        super().__init__("private", values, refuse)
        object.__setattr__(self, "_secrets", secrets)
        secrets.watch(values)

    def _set(self, key: str, value: Any) -> None:
        self._secrets.add(value)
        super()._set(key, value)

    def _drop(self, key: str) -> None:
        # It was private, and what is known of it stays hidden.
        self._secrets.add(self._here().get(key))
        super()._drop(key)


class Public(Scope):
    """Lives on for the agent's session: plain JSON only, and nothing of `private`."""

    def __init__(self, values: dict[str, Any], refuse: Refuse, secrets: Secrets) -> None:
        super().__init__("public", values, refuse)
        object.__setattr__(self, "_secrets", secrets)

    def _set(self, key: str, value: Any) -> None:
        super()._set(key, self._checked(key, value))

    def _checked(self, key: str, value: Any) -> Any:
        copied = plain(value, f"public.{key}")
        if self._secrets.hides(key) or self._secrets.clean_all(copied) != copied:
            raise self._refuse(
                f"the scope `private` does not go into the scope `public`: public.{key}"
            )
        return copied

    def _left(self) -> dict[str, Any]:
        """What lives on, looked at again: a list in it may have been changed since."""
        return {key: self._checked(key, value) for key, value in self._values.items()}


class System(Scope):
    """What the run is; read only."""

    def __init__(self, values: dict[str, Any], refuse: Refuse) -> None:
        super().__init__("system", values, refuse)

    def _set(self, key: str, value: Any) -> None:
        raise self._refuse(f"the scope `system` is read only: system.{key}")

    def _drop(self, key: str) -> None:
        raise self._refuse(f"the scope `system` is read only: system.{key}")

    def _get(self, key: str) -> Any:
        # A copy: what is read can be changed without changing what is read next.
        return copied(super()._get(key))


class Local(Scope):
    """Each function call's own, gone when it returns."""

    def __init__(self, refuse: Refuse) -> None:
        super().__init__("local", {}, refuse)
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
    raise TypeError(
        f"the scope `public` takes plain JSON, and {where} is a {kind.__name__} that is none"
    )


def copied(value: Any) -> Any:
    if type(value) is dict:
        return {key: copied(one) for key, one in value.items()}
    if type(value) is list:
        return [copied(one) for one in value]
    return value
