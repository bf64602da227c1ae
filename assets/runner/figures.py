"""Figures that a snippet shows become files of the output folder: names and count of them, and
plotly's `show`, which elsewhere opens a browser. matplotlib's are in `canvas`."""

from __future__ import annotations

import json
import sys
from types import ModuleType

from _countersign import files, limits, loaded
from _countersign.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Where plotly's `show` is; `plotly.io` has the same function under the same name.
HOME = "plotly.io._renderers"

_kept = 0


def next_name(extension: str) -> str:
    """A free name for one more figure, of whichever library.

    Raises `Refused` with `ContractViolation` over as many as the policy collects files.
    """
    global _kept
    _kept += 1
    most = files.most
    if _kept > most:
        limits.reached("files", f"more than {most} figures")
        raise Refused("ContractViolation", f"more than {most} figures; at most {most} are kept")
    taken = {name.partition(".")[0] for name in files.names() if name.endswith((".png", ".json"))}
    number = next(n for n in range(1, len(taken) + 2) if f"fig{n}" not in taken)
    return f"fig{number}{extension}"


def show(figure: Any, *args: Any, **kwargs: Any) -> None:
    """In the place of plotly's: the figure as JSON, as `plotly.io.from_json` reads it."""
    # Takes half a dozen modules along that no other run needs.
    from _countersign.plain import Plain

    plain = Plain(sys.modules.get("numpy"), sys.modules.get("pandas"))
    text = json.dumps(plain.of(figure, "the figure"), allow_nan=False)
    files.leave(next_name(".json"), text.encode())


def watch() -> None:
    """Puts `show` into plotly, loaded or not."""
    loaded.change([HOME], put)
    module = sys.modules.get("plotly.io")
    if module is not None and "show" in vars(module):
        put(module)


def put(module: ModuleType) -> None:
    module.show = show  # type: ignore[attr-defined]
