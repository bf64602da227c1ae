import csv
import io
from collections import defaultdict
from statistics import mean, median, stdev

text = """product,month,units
Widget,Jan,120
Widget,Feb,135
Widget,Mar,128
Gadget,Jan,80
Gadget,Feb,95
Gadget,Mar,70
Gizmo,Jan,200
Gizmo,Feb,180
Gizmo,Mar,
"""

data = defaultdict(list)
skipped = 0
for row in csv.DictReader(io.StringIO(text)):
    try:
        data[row["product"]].append(int(row["units"]))
    except ValueError:
        skipped += 1
        print(f"Skipping row with bad units: {dict(row)}")

print(f"{'product':<10}{'n':>4}{'mean':>10}{'median':>10}{'stdev':>10}")
for product, units in sorted(data.items()):
    print(f"{product:<10}{len(units):>4}{mean(units):>10.2f}{median(units):>10.2f}{stdev(units):>10.2f}")

best = max(data, key=lambda p: sum(data[p]))
print(f"Best seller: {best} with {sum(data[best])} units ({skipped} row skipped)")
