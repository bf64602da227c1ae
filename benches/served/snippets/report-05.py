"""Weekly KPI report in plain text."""
import random
from collections import defaultdict
from datetime import date, timedelta

random.seed(11)
start = date(2024, 1, 1)
records = [
    {"day": start + timedelta(days=i), "signups": random.randint(20, 60), "cancels": random.randint(0, 15)}
    for i in range(35)
]

weeks = defaultdict(lambda: {"signups": 0, "cancels": 0})
for r in records:
    key = r["day"].isocalendar()[:2]
    for metric in ("signups", "cancels"):
        weeks[key][metric] += r[metric]

WIDTH = 52
out = ["=" * WIDTH, "WEEKLY KPI REPORT".center(WIDTH), "=" * WIDTH,
       f"{'Week':<10}{'Sign-ups':>10}{'Cancels':>10}{'Net':>8}{'Change':>12}"]
prev = None
for (year, week), m in sorted(weeks.items()):
    net = m["signups"] - m["cancels"]
    change = "-" if prev is None else f"{(net - prev) / prev:+.1%}"
    out.append(f"{year}-W{week:02d}  {m['signups']:>10}{m['cancels']:>10}{net:>8}{change:>12}")
    prev = net
out.append("-" * WIDTH)
total = sum(r["signups"] - r["cancels"] for r in records)
out.append(f"{'Total net':<30}{total:>8}")

text = "\n".join(out)
with open("weekly.txt", "w") as fh:
    fh.write(text + "\n")
print(text)
