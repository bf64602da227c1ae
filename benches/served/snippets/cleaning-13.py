import re
import pandas as pd

log = """
2024-03-01 10:15:02 INFO  [auth] user=alice action=login ip=10.0.0.5
2024-03-01 10:15:09 ERROR [db] user=bob action=query ms=1520 msg="timeout on table orders"
garbage line
2024-03-01 10:16:44 WARN  [auth] user=carol action=login ip=10.0.0.9 attempts=3
2024-03-01 10:17:00 INFO  [db] user=alice action=query ms=35
""".strip()

LINE = re.compile(r"^(?P<ts>\S+ \S+) (?P<level>[A-Z]+)\s+\[(?P<module>\w+)\] (?P<rest>.*)$")
PAIR = re.compile(r'(\w+)=("[^"]*"|\S+)')

records, rejected = [], []
for n, line in enumerate(log.splitlines(), 1):
    m = LINE.match(line)
    if not m:
        rejected.append(n)
        continue
    rec = m.groupdict()
    rec.update({k: v.strip('"') for k, v in PAIR.findall(rec.pop("rest"))})
    records.append(rec)

df = pd.DataFrame(records).assign(ts=lambda d: pd.to_datetime(d["ts"]))
df[["ms", "attempts"]] = df[["ms", "attempts"]].apply(pd.to_numeric).astype("Int64")
df["level"] = df["level"].astype("category")
print(df.drop(columns="msg").to_string(index=False))
print("Rejected lines:", rejected)
print(df.groupby("module")["ms"].agg(["count", "max"]))
octets = df["ip"].dropna().str.split(".", expand=True).astype(int)
print(octets.values.tolist())
masked = df["ip"].str.replace(r"\d+$", "xxx", regex=True)
print(masked.dropna().tolist())
