import io
import pandas as pd

log = """2024-03-30 22:15:00+00:00,login
2024-03-30 23:50:00+00:00,login
2024-03-31 00:30:00+00:00,purchase
2024-03-31 01:10:00+00:00,login
2024-03-31 08:05:00+00:00,purchase
"""
df = pd.read_csv(io.StringIO(log), names=["ts", "event"])
df["ts"] = pd.to_datetime(df["ts"], utc=True)

# Convert to local times (daylight saving starts on 2024-03-31 in Europe)
for tz in ("Europe/Vienna", "America/New_York", "Asia/Tokyo"):
    local = df["ts"].dt.tz_convert(tz)
    per_day = df.groupby(local.dt.date)["event"].count()
    print(tz)
    for day, n in per_day.items():
        print(f"   {day}: {n} event(s)")

df["vienna"] = df["ts"].dt.tz_convert("Europe/Vienna").dt.strftime("%d.%m.%Y %H:%M %Z")
print(df[["vienna", "event"]].to_string(index=False))
gaps = df["ts"].diff().dropna()
print("Longest gap:", gaps.max())
