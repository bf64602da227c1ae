import csv
import os
import tempfile
from collections import defaultdict

rows = [
    {"region": "North", "rep": "Ana", "amount": 1200.50},
    {"region": "South", "rep": "Ben", "amount": 845.00},
    {"region": "North", "rep": "Cid", "amount": 310.25},
    {"region": "East", "rep": "Dee", "amount": 990.10},
    {"region": "South", "rep": "Eve", "amount": 1540.75},
]

# Split the rows into one CSV per region, then read them all back
with tempfile.TemporaryDirectory() as tmpdir:
    grouped = defaultdict(list)
    for row in rows:
        grouped[row["region"]].append(row)

    for region, items in grouped.items():
        path = os.path.join(tmpdir, f"sales_{region.lower()}.csv")
        with open(path, "w", newline="", encoding="utf-8") as fh:
            writer = csv.DictWriter(fh, fieldnames=["region", "rep", "amount"])
            writer.writeheader()
            writer.writerows(items)

    total = 0.0
    for name in sorted(os.listdir(tmpdir)):
        with open(os.path.join(tmpdir, name), newline="", encoding="utf-8") as fh:
            reader = csv.DictReader(fh)
            subtotal = sum(float(r["amount"]) for r in reader)
        print(f"{name:<20} {subtotal:>10,.2f}")
        total += subtotal

print(f"{'TOTAL':<20} {total:>10,.2f}")
print("Temp dir removed:", not os.path.exists(tmpdir))
