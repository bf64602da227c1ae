from datetime import date, timedelta

import matplotlib.dates as mdates
import matplotlib.pyplot as plt

# Gantt chart
tasks = [
    ("Research", date(2024, 3, 4), 10, "done"),
    ("Design", date(2024, 3, 11), 14, "done"),
    ("Development", date(2024, 3, 25), 30, "active"),
    ("Testing", date(2024, 4, 15), 16, "planned"),
    ("Launch", date(2024, 5, 2), 2, "planned"),
]
palette = {"done": "#4caf50", "active": "#ff9800", "planned": "#90a4ae"}

fig, ax = plt.subplots(figsize=(10, 3.5))
for row, (name, start, days, status) in enumerate(tasks):
    ax.barh(row, days, left=mdates.date2num(start), color=palette[status], height=0.6)
    end = start + timedelta(days=days)
    print(f"{name:<12} {start} -> {end}  [{status}]")
ax.set_yticks(range(len(tasks)), labels=[t[0] for t in tasks])
ax.invert_yaxis()
ax.xaxis_date()
ax.xaxis.set_major_locator(mdates.WeekdayLocator(byweekday=mdates.MO))
ax.xaxis.set_major_formatter(mdates.DateFormatter("%d %b"))
ax.axvline(mdates.date2num(date(2024, 4, 10)), color="red", lw=1)
plt.setp(ax.get_xticklabels(), rotation=45, ha="right")
plt.tight_layout()
plt.savefig("gantt.png")

total = (max(s + timedelta(d) for _, s, d, _ in tasks) - min(s for _, s, *_ in tasks)).days
print(f"Project length: {total} days")
