import time
from datetime import datetime, timezone, timedelta
import email.utils

# Conversions between representations of an instant
ts = 1_700_000_000
dt = datetime.fromtimestamp(ts, tz=timezone.utc)
print(dt, dt.timestamp() == ts)
print("ISO     :", dt.isoformat(timespec="milliseconds"))
print("RFC 2822:", email.utils.format_datetime(dt))
print("parsed  :", email.utils.parsedate_to_datetime("Tue, 14 Nov 2023 22:13:20 +0000") == dt)
print("struct  :", time.strftime("%Y/%j %H:%M", time.gmtime(ts)))
print("round   :", datetime.fromisoformat("2023-11-14T23:13:20+01:00") == dt)

def excel_serial(d: datetime) -> float:
    return (d - datetime(1899, 12, 30, tzinfo=timezone.utc)) / timedelta(days=1)

def julian_day(d: datetime) -> float:
    return d.timestamp() / 86400 + 2440587.5

def humanise(delta: timedelta) -> str:
    secs = int(delta.total_seconds())
    for name, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if secs >= size:
            n = secs // size
            return f"{n} {name}{'s' * (n != 1)} ago"
    return "just now"

print(round(excel_serial(dt), 5), round(julian_day(dt), 5))
for s in (5, 61, 7300, 90000, 900000):
    print(humanise(timedelta(seconds=s)))
tz = timezone(timedelta(hours=5, minutes=45), "NPT")
print(dt.astimezone(tz).strftime("%c %Z (%z)"))
