"""A matplotlib backend that saves figures as files when they are shown, or left open at the end.

Loaded by matplotlib itself, by the name in `MPLBACKEND`; the runner needs only the standard library.
"""

import os
import sys
from typing import Any

from matplotlib._pylab_helpers import Gcf
from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from _countersign import figures


class FigureManager(FigureManagerBase):  # type: ignore[misc]  # matplotlib has no types here
    @classmethod
    def pyplot_show(cls, *, block: bool | None = None) -> None:
        keep_open()

    def show(self) -> None:
        keep(self.canvas.figure)


class FigureCanvas(FigureCanvasAgg):  # type: ignore[misc]  # matplotlib has no types here
    manager_class = FigureManager

    def print_figure(self, filename: Any, *args: Any, **kwargs: Any) -> Any:
        done = super().print_figure(filename, *args, **kwargs)
        if isinstance(filename, (str, os.PathLike)):
            # The snippet saved the figure itself: no second file under another name.
            self.figure._countersign_kept = True
        return done


def keep_open() -> None:
    """Saves every open figure and closes it, as closing its window would."""
    for manager in Gcf.get_all_fig_managers():
        keep(manager.canvas.figure)
    Gcf.destroy_all()


def keep(figure: Any) -> None:
    """Saves a figure under the next free name, unless it is saved already."""
    if getattr(figure, "_countersign_kept", False):
        return
    figure._countersign_kept = True
    if (name := figures.next_name(".png")) is not None:
        # matplotlib's own: a class of the snippet may save, or not, in its own way.
        Figure.savefig(figure, name)


def finish() -> None:
    """Keeps the figures that are still open when the snippet ends."""
    if "matplotlib.pyplot" in sys.modules:
        keep_open()
