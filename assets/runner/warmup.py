"""Triggers one-time work of libraries before there is a run: makes, groups, shows and reads a table."""

import io
import sys
from typing import Any

from _countersign import quick


def warm(names: list[str]) -> None:
    """Imports the libraries, some of which may be missing, and uses them a little."""
    quick.load(names)
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        use(pandas)


def use(pandas: Any) -> None:
    table = pandas.read_csv(io.BytesIO(b"g,n,v\na,1,0.5\nb,2,1.5\na,3,2.5\n"))
    groups = table.groupby("g")
    for made in (groups["v"].sum(), groups.agg({"n": "mean", "v": "max"}), table.describe()):
        str(made)
    table.merge(table, on="g").sort_values("n_x").reset_index().to_dict()
    table[table["v"] > 1].assign(w=table["v"] * 2).to_csv(io.StringIO())
