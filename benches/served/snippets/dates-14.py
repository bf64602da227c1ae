from datetime import date, timedelta
from functools import lru_cache

# Moving feasts and holiday rules without dependencies
@lru_cache(maxsize=None)
def easter(year: int) -> date:
    """Anonymous Gregorian algorithm."""
    a = year % 19
    b, c = divmod(year, 100)
    d, e = divmod(b, 4)
    f = (b + 8) // 25
    g = (b - f + 1) // 3
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    l = (32 + 2 * e + 2 * i - h - k) % 7
    m = (a + 11 * h + 22 * l) // 451
    month, day = divmod(h + l - 7 * m + 114, 31)
    return date(year, month, day + 1)

def holidays(year):
    e = easter(year)
    yield date(year, 1, 1), "New Year"
    yield from ((e + timedelta(days=off), name) for off, name in [(-2, "Good Friday"), (1, "Easter Monday"), (39, "Ascension"), (50, "Whit Monday")])
    yield date(year, 12, 25), "Christmas"

for d, name in holidays(2024):
    bridge = {1: "Mon off", 3: "Fri off"}.get(d.weekday(), "")
    print(f"{d} {d:%a} {name:<14}{bridge}")

print("Earliest/latest Easter 2000-2050:", min((easter(y) for y in range(2000, 2051)), key=lambda d: (d.month, d.day)), max((easter(y) for y in range(2000, 2051)), key=lambda d: (d.month, d.day)))
off = {d for d, _ in holidays(2024)}
work = sum(1 for n in range(366) if (d := date(2024, 1, 1) + timedelta(n)).weekday() < 5 and d not in off)
print("Working days in 2024:", work)
