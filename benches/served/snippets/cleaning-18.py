from collections import Counter, OrderedDict, namedtuple
from itertools import groupby
import csv
import io

Row = namedtuple("Row", "date,item,qty,price")
text = """date,item,qty,price
2024-01-03,Pen,10,1.20
2024-01-03,Book,two,15.00
2024-01-04,Pen,5,1.25
2024-01-04,,3,2.00
2024-01-05,Lamp,1,
2024-01-05,pen,4,1.20
"""

CONVERTERS = OrderedDict(date=str, item=lambda s: s.strip().lower() or "unknown", qty=int, price=float)
ok, errors = [], Counter()
for rec in csv.DictReader(io.StringIO(text)):
    out = {}
    for field, conv in CONVERTERS.items():
        try:
            out[field] = conv(rec[field])
        except ValueError:
            errors[field] += 1
            break
    else:
        ok.append(Row(**out))

print(f"{len(ok)} good rows, errors: {dict(errors)}")
for date, rows in groupby(ok, key=lambda r: r.date):
    rows = list(rows)
    print(date, "revenue", sum(r.qty * r.price for r in rows), [r.item for r in rows])

prices = {}
for r in ok:
    prices.setdefault(r.item, set()).add(r.price)
inconsistent = {k: sorted(v) for k, v in prices.items() if len(v) > 1}
print("Inconsistent prices:", inconsistent)
print(max(ok, key=lambda r: r.qty)._replace(item="PEN"))
