import re
import pandas as pd

LOG = """\
192.168.0.12 - - [12/Mar/2024:10:15:32 +0000] "GET /index.html HTTP/1.1" 200 5120
192.168.0.15 - - [12/Mar/2024:10:15:40 +0000] "GET /missing.png HTTP/1.1" 404 320
10.0.0.7 - - [12/Mar/2024:10:16:02 +0000] "POST /api/login HTTP/1.1" 500 87
10.0.0.7 - - [12/Mar/2024:10:16:09 +0000] "POST /api/login HTTP/1.1" 200 640
this line is broken
192.168.0.12 - - [12/Mar/2024:11:01:55 +0000] "GET /data.json HTTP/1.1" 200 20480
"""

PATTERN = re.compile(
    r'(?P<ip>\S+) - - \[(?P<time>[^\]]+)\] "(?P<method>\w+) (?P<path>\S+) [^"]*" (?P<status>\d{3}) (?P<size>\d+)'
)

records, bad = [], []
for lineno, line in enumerate(LOG.splitlines(), start=1):
    if m := PATTERN.match(line):
        records.append(m.groupdict())
    else:
        bad.append(lineno)

df = pd.DataFrame(records).astype({"status": int, "size": int})
df["time"] = pd.to_datetime(df["time"], format="%d/%b/%Y:%H:%M:%S %z")
print(df[["ip", "method", "path", "status"]])
print("\nRequests per hour:", df.groupby(df["time"].dt.hour).size().to_dict())
print(f"Error rate: {(df['status'] >= 400).mean():.0%}")
print(f"Traffic per IP:\n{df.groupby('ip')['size'].sum().sort_values(ascending=False)}")
print(f"Unparsed lines: {bad}")
