"""Counts a snippet's accesses to its scopes and core functions as allowed or blocked, and reports an access
that crosses into another context as an event."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _countersign.events import Events

COUNTED = ("private", "public", "system", "local", "functions")
# Names of one scope that get an event each. The bound keeps a snippet with many names from using up the run's events.
NAMES_MAX = 15


class Accesses:
    def __init__(self) -> None:
        self.counts = {of: {"allowed": 0, "blocked": 0} for of in COUNTED}
        self._events: Events | None = None
        self._told: dict[tuple[str, str], set[str]] = {}

    def to(self, events: Events) -> None:
        """From now on crossings are reported to `events`, whose closing line carries the counts."""
        self._events = events
        events.accesses = self.counts

    def allowed(self, of: str) -> None:
        self.counts[of]["allowed"] += 1

    def blocked(self, of: str) -> None:
        self.counts[of]["blocked"] += 1

    def tell(self, kind: str, of: str, message: str) -> None:
        """Adds an event, once for each message. `kind`: as in `Events.add`."""
        told = self._told.setdefault((kind, of), set())
        if self._events is None or message in told or len(told) > NAMES_MAX:
            return
        told.add(message)
        if len(told) > NAMES_MAX:
            message = f"{of}: more of the same, in the counts only"
        self._events.add(kind, message)
