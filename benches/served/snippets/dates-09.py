import numpy as np
from datetime import datetime

# numpy datetime64 arithmetic
d = np.arange("2024-02-25", "2024-03-06", dtype="datetime64[D]")
print(d)
print("is busday:", np.is_busday(d).astype(int))
print("busdays in March 2024:", np.busday_count("2024-03", "2024-04"))
print("with holidays:", np.busday_count("2024-03", "2024-04", holidays=["2024-03-29"], weekmask="1111100"))
print("10 busdays later:", np.busday_offset("2024-02-28", 10, roll="forward"))

t = np.datetime64("2024-02-28T23:59:30")
delta = np.timedelta64(45, "s")
print(t + delta, (t + delta).astype("datetime64[M]"))
print(np.diff(d[::3]).astype(int), (d[-1] - d[0]) / np.timedelta64(1, "W"))

months = d.astype("datetime64[M]")
uniq, counts = np.unique(months, return_counts=True)
print(dict(zip(uniq.astype(str).tolist(), counts.tolist())))
dow = (d.astype("datetime64[D]").view("int64") - 4) % 7
print("day of week:", dow.tolist())
nat = np.array(["2024-01-01", "NaT"], dtype="datetime64[s]")
print(np.isnat(nat), nat.max(), t.astype(datetime).strftime("%H:%M:%S"))
