from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

# Plan a meeting across time zones
zones = ["America/New_York", "Europe/London", "Asia/Kolkata", "Australia/Sydney"]
meeting = datetime(2024, 3, 20, 14, 0, tzinfo=ZoneInfo("Europe/London"))

for z in zones:
    local = meeting.astimezone(ZoneInfo(z))
    offset = local.utcoffset().total_seconds() / 3600
    print(f"{z:<20} {local:%a %Y-%m-%d %H:%M} UTC{offset:+.1f} {local.tzname()}")

# Hours that suit everybody (08:00 to 20:00 local)
base = datetime(2024, 3, 20, tzinfo=timezone.utc)
good = [h for h in range(24) if all(8 <= (base + timedelta(hours=h)).astimezone(ZoneInfo(z)).hour < 20 for z in zones[:3])]
print("Overlap hours UTC:", good)

# Daylight saving: the ambiguous and the missing hour
ny = ZoneInfo("America/New_York")
ambiguous = datetime(2024, 11, 3, 1, 30, tzinfo=ny)
print(ambiguous.utcoffset(), ambiguous.replace(fold=1).utcoffset())
before = datetime(2024, 3, 9, 12, tzinfo=ny)
after = before + timedelta(days=1)
print("wall clock:", after - before, "| elapsed:", after.astimezone(timezone.utc) - before.astimezone(timezone.utc))
