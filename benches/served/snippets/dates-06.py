from datetime import datetime
import pandas as pd

raw = [
    "2024-01-15", "15/01/2024", "Jan 15, 2024", "15 January 2024",
    "20240115", "2024-01-15T10:30:00Z", "01-15-24", "tomorrow", "2024-13-45",
]

FORMATS = ["%Y-%m-%d", "%d/%m/%Y", "%b %d, %Y", "%d %B %Y", "%Y%m%d", "%Y-%m-%dT%H:%M:%SZ", "%m-%d-%y"]

def parse_date(text):
    for fmt in FORMATS:
        try:
            return datetime.strptime(text, fmt), fmt
        except ValueError:
            continue
    return None, None

ok = 0
for text in raw:
    dt, fmt = parse_date(text)
    if dt:
        ok += 1
        print(f"{text:<22} {dt.isoformat(sep=' ')}  via {fmt}")
    else:
        print(f"{text:<22} could not be parsed")
print(f"Parsed {ok} of {len(raw)}")

s = pd.to_datetime(pd.Series(raw), format="%Y-%m-%d", errors="coerce")
print("pandas strict:", s.notna().sum())
print(pd.to_datetime([1705314600, 1705401000], unit="s", utc=True).tz_convert("Europe/Paris").strftime("%F %T %Z").tolist())
print(pd.to_datetime(pd.DataFrame({"year": [2024, 2023], "month": [2, 12], "day": [29, 31]})).dt.strftime("%d.%m.%y").tolist())
