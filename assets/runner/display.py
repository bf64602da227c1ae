"""Shows the bare last expression as a notebook would."""

from __future__ import annotations

import sys

from _countersign import figures, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


# Maximum bytes of one value: half of what a run may print, so that a long value does not end the run.
MOST = 100_000


class Display:
    """Shows a value, and makes the result of the same copy. `whole`: never cuts a value, which may contain private
    ones. `own` puts the run's own streams back: a redirection that is left open shows nothing else than the result
    has."""

    def __init__(self, whole: bool = False, own: Callable[[], None] = lambda: None) -> None:
        self.told: dict[str, Any] | None = None
        self.whole = whole
        self.own = own

    def __call__(self, value: Any) -> None:
        self.own()
        if value is None or figures.is_shown(value):
            # The figure has become a file.
            return
        value, self.told = shown.taken(value, self.whole)
        text = repr(value)
        if len(text) > MOST // 4 and not self.whole:
            from _countersign.plain import cut

            text, was_cut = cut(text, MOST)
            text += " … (cut)" if was_cut else ""
        # Once more: to show itself, a value may have run code of the snippet.
        self.own()
        sys.stdout.write(text + "\n")


WIDTH = "display.width"
COLUMN_WIDTH = "display.max_colwidth"
# What is set for each run; where the snippet chooses a width, the others are as pandas has them.
WIDE: dict[str, Any] = {WIDTH: 160, "display.expand_frame_repr": False, "display.max_columns": 50}


def widen(pandas: Any) -> None:
    """Prints tables for wide windows and programs instead of 80 columns: each row is one line, and long cells
    are cut."""
    if pandas is None:
        return
    for key, value in WIDE.items():
        pandas.set_option(key, value)
    pandas.set_option(COLUMN_WIDTH, 50)
    config: Any = sys.modules.get("pandas._config.config")
    known = getattr(config, "_registered_options", {})
    # Options that the snippet set itself, which stay as they are.
    own: set[str] = set()
    changing = False

    def follows(key: str) -> None:
        nonlocal changing
        if changing:
            return
        own.add(key)
        if key != WIDTH:
            return
        # A width that the snippet chose wraps tables as pandas does by itself.
        wide = pandas.get_option(WIDTH) == WIDE[WIDTH]
        changing = True
        try:
            for other in WIDE.keys() - own:
                pandas.set_option(other, WIDE[other] if wide else known[other].defval)
        finally:
            changing = False

    for key in WIDE:
        if key in known and known[key].cb is None:
            known[key] = known[key]._replace(cb=follows)


def uncut(pandas: Any) -> None:
    """Stops pandas from cutting texts, whatever the snippet asks for: redaction recognises whole private values only,
    so it would miss the beginning of one."""
    if pandas is None:
        return
    pandas.set_option(COLUMN_WIDTH, None)
    config: Any = sys.modules.get("pandas._config.config")
    known = getattr(config, "_registered_options", {})
    if COLUMN_WIDTH not in known:
        return

    def stays(key: str) -> None:
        section, name = config._get_root(COLUMN_WIDTH)
        section[name] = None

    # Called after each change of the option.
    known[COLUMN_WIDTH] = known[COLUMN_WIDTH]._replace(cb=stays)
