from collections import namedtuple
from textwrap import dedent

import pandas as pd

body = dedent("""
    {title}: {n:,} rows
""").strip().format(title="Q1", n=3)
print(body)
d = {"k": 1, "a.b": 2}
print("{0[0]}|{a[k]}|{a[a.b]:>4}".format([5], a=d))
row = pd.Series({"price": 2.5})
print("{r[price]:.2f}".format(r=row))
Url = namedtuple("Url", ["host", "query"])
print([u.query for u in [Url("h", "a=1"), Url("g", "b=2")]])
df = pd.DataFrame({"a": [1, 2, 3]})
print(df.query("""
    a > 1
    and a < 3
""".replace("\n", " ").strip()))
