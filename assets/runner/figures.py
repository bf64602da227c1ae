"""Turns figures that a snippet shows into files of the output folder: names and counts the files, replaces plotly's
`show`, which would open a browser, and sets matplotlib's one backend, `canvas`."""

from __future__ import annotations

import json
import sys
from types import ModuleType

from _countersign import files, limits, loaded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The module that defines plotly's `show`; `plotly.io` exports the same function.
HOME = "plotly.io._renderers"

_kept = 0


def next_name(extension: str) -> str | None:
    """A free file name for one more figure of any library. None once there are as many figures as the policy collects
    files: later figures are only named on stderr."""
    global _kept
    _kept += 1
    if _kept > files.most:
        limits.lost_figure(f"more than {files.most} figures")
        say(f"figure {_kept} is not kept: at most {files.most} files are")
        return None
    taken = {name.partition(".")[0] for name in files.names() if name.endswith((".png", ".json"))}
    number = next(n for n in range(1, len(taken) + 2) if f"fig{n}" not in taken)
    return f"fig{number}{extension}"


def say(text: str) -> None:
    try:
        print(text, file=sys.stderr)  # noqa: T201 - the snippet asked for the figure
    except (OSError, ValueError, AttributeError, TypeError):
        # The snippet closed or replaced stderr; the event says the same.
        pass


def show(figure: Any, *args: Any, **kwargs: Any) -> None:
    """Replaces plotly's `show`: writes the figure as JSON that `plotly.io.from_json` can read."""
    # Imported here: it loads half a dozen modules that no other run needs.
    from _countersign.plain import Plain

    plain = Plain(sys.modules.get("numpy"), sys.modules.get("pandas"))
    text = json.dumps(plain.of(figure, "the figure"), allow_nan=False)
    if (name := next_name(".json")) is not None:
        files.leave(name, text.encode())


def is_shown(value: Any) -> bool:
    """Shows the value if it is a figure. Whether it was one."""
    plotly = sys.modules.get("plotly.basedatatypes")
    if plotly is not None and isinstance(value, plotly.BaseFigure):
        show(value)
        return True
    matplotlib = sys.modules.get("matplotlib.figure")
    if matplotlib is not None and isinstance(value, matplotlib.Figure):
        from _countersign import canvas

        canvas.keep(value)
        return True
    return False


def watch(backend: str) -> None:
    """Puts `show` into plotly and the backend into matplotlib, now or when they are loaded."""
    loaded.change([HOME], put)
    module = sys.modules.get("plotly.io")
    if module is not None and "show" in vars(module):
        put(module)
    loaded.change(["matplotlib"], lambda matplotlib: one_backend(matplotlib, backend))
    loaded.change(["matplotlib.pyplot"], lambda pyplot: no_other(pyplot, backend))


def one_backend(matplotlib: ModuleType, backend: str) -> None:
    """Uses our backend whichever one is asked for (usually `matplotlib.use("Agg")`): it draws as Agg does and keeps
    what is shown."""
    use = matplotlib.use

    def only(asked: Any, *, force: bool = True) -> None:
        use(backend, force=force)

    matplotlib.use = only  # type: ignore[attr-defined]  # a module's own name
    use(backend)


def no_other(pyplot: ModuleType, backend: str) -> None:
    switch = pyplot.switch_backend
    pyplot.switch_backend = lambda asked: switch(backend)  # type: ignore[attr-defined]  # a module's own name


def put(module: ModuleType) -> None:
    module.show = show  # type: ignore[attr-defined]  # a module's own name


def unpacked() -> None:
    """Makes plotly write the numbers of arrays as numbers: nothing recognises a private value packed into base64."""

    def plain(module: ModuleType) -> None:
        if hasattr(module, "convert_to_base64"):
            module.convert_to_base64 = lambda figure: None  # type: ignore[attr-defined]  # a module's own name

    loaded.change(["plotly.basedatatypes"], plain)
