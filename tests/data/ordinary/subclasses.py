# leaves: numbers.bin
"""Classes made from those of libraries, as their documents describe."""
import copy
import csv
import io
from decimal import Context, Decimal, Inexact, getcontext, localcontext

import numpy as np
import pandas as pd


class Sales(pd.DataFrame):
    _metadata = ["currency"]

    @property
    def _constructor(self):
        return Sales

    @property
    def period(self):
        return "2026"

    def total(self):
        return self["amount"].sum()


sales = Sales({"region": ["n", "s"], "amount": [1.5, 2.5]})
sales.currency = "EUR"
sales.columns = ["region", "amount"]
sales.index.name = "row"
print(type(sales[sales["amount"] > 1]).__name__, sales.total(), sales.currency, sales.period)


reader = csv.reader(line for line in "a,b\n1,2\n".splitlines())
print(next(reader), reader.line_num, list(reader), reader.dialect.delimiter)
print([row["a"] for row in csv.DictReader(io.StringIO("a,b\n1,2\n"))])
with localcontext() as context:
    context.prec = 5
    print(Decimal(1) / Decimal(3), context.flags[Inexact])
getcontext().clear_flags()
print(Context(prec=3).divide(Decimal(1), Decimal(3)))

mapped = np.memmap("numbers.bin", dtype="f8", mode="w+", shape=(3,))
mapped[:] = [1, 2, 3]
mapped.flush()
print(np.memmap("numbers.bin", dtype="f8", mode="r").sum())


class Node:
    def __init__(self, value, parts=()):
        self.value, self.parts = value, list(parts)


tree = Node(1, [Node({"a": [1]})])
twin = copy.deepcopy(tree)
twin.parts[0].value["a"].append(2)
print(tree.parts[0].value, twin.parts[0].value, copy.copy(tree).parts is tree.parts)
print(copy.deepcopy({"f": sales, "d": Decimal("1.5"), "n": np.arange(2), "k": Node})["f"].total())
