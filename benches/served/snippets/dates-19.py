import pandas as pd
import numpy as np
import warnings

warnings.simplefilter(action="ignore", category=FutureWarning)

# Employees' overlapping date intervals -> daily head count
staff = pd.DataFrame({
    "name": list("ABCDE"),
    "start": pd.to_datetime(["2023-01-15", "2023-03-01", "2023-03-20", "2023-06-10", "2023-02-01"]),
    "end": pd.to_datetime(["2023-06-30", None, "2023-09-01", None, "2023-02-28"]),
})
horizon = pd.Timestamp("2023-12-31")
staff["end"] = staff["end"].fillna(horizon)

events = pd.concat([
    pd.Series(1, index=staff["start"]),
    pd.Series(-1, index=staff["end"] + pd.Timedelta(days=1)),
])
daily = events.groupby(level=0).sum().cumsum().reindex(pd.date_range("2023-01-01", horizon), method="ffill").fillna(0).astype(int)
print(daily.resample("MS").agg(["min", "max", "mean"]).round(2).to_string())

iv = pd.IntervalIndex.from_arrays(staff["start"], staff["end"], closed="both")
day = pd.Timestamp("2023-03-25")
print("Active on", day.date(), staff.loc[iv.contains(day), "name"].tolist())
pairs = [(a, b) for i, a in enumerate(staff["name"]) for j, b in enumerate(staff["name"]) if i < j and iv[i].overlaps(iv[j])]
print("Overlaps:", pairs)
staff["tenure_months"] = ((staff["end"] - staff["start"]) / np.timedelta64(1, "D") / 30.4375).round(1)
print(staff.set_index("name")["tenure_months"].to_dict())
