from datetime import datetime, time, timedelta
from itertools import groupby, takewhile
from typing import Generator, Optional


def cron_like(start: datetime, *, hours: set, minutes: set, weekdays: Optional[set] = None) -> Generator[datetime, None, None]:
    """Yield the matching minutes after start."""
    t = start.replace(second=0, microsecond=0)
    while True:
        t += timedelta(minutes=1)
        if weekdays is not None and t.weekday() not in weekdays:
            t = datetime.combine(t.date(), time(23, 59))
            continue
        if t.hour in hours and t.minute in minutes:
            yield t


start = datetime(2024, 8, 2, 15, 50)
runs = cron_like(start, hours={9, 16}, minutes={0, 30}, weekdays={0, 2, 4})
limit = start + timedelta(days=7)
week = list(takewhile(lambda t: t < limit, runs))

for day, items in groupby(week, key=datetime.date):
    print(f"{day:%a %d %b}:", ", ".join(f"{t:%H:%M}" for t in items))
print("Runs:", len(week))

deltas = [b - a for a, b in zip(week, week[1:])]
print("Shortest gap:", min(deltas), "Longest gap:", max(deltas))
total = sum(deltas, timedelta())
print("Average gap (h): %.2f" % (total / len(deltas) / timedelta(hours=1)))
