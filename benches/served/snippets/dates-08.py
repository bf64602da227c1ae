import pandas as pd
import numpy as np

rng = np.random.default_rng(66)

# Employee shifts: split hours into day, evening and overtime
shifts = pd.DataFrame({
    "emp": rng.choice(["amy", "bo", "cat"], 10),
    "start": pd.Timestamp("2024-04-01") + pd.to_timedelta(rng.integers(0, 14, 10), unit="D") + pd.to_timedelta(rng.integers(6, 15, 10), unit="h"),
})
shifts["end"] = shifts["start"] + pd.to_timedelta(rng.integers(300, 700, 10), unit="min")
shifts = shifts.sort_values("start", ignore_index=True)

evening = shifts["start"].dt.normalize() + pd.Timedelta(hours=18)
shifts["total"] = shifts["end"] - shifts["start"]
shifts["evening"] = (shifts["end"] - evening).clip(lower=pd.Timedelta(0))
shifts["overtime"] = (shifts["total"] - pd.Timedelta("8h")).clip(lower=pd.Timedelta(0))
hours = shifts[["total", "evening", "overtime"]].apply(lambda s: s.dt.total_seconds() / 3600)

out = pd.concat([shifts[["emp", "start"]], hours.round(2)], axis=1)
out["weekend"] = out["start"].dt.weekday.ge(5)
print(out.to_string(index=False))

pay = hours["total"] * 15 + hours["evening"] * 3 + hours["overtime"] * 7.5
print(pay.groupby(shifts["emp"]).sum().round(2))
gap = shifts.groupby("emp")["start"].shift(-1) - shifts["end"]
print("Shortest rest:", gap.min(), "| longest shift:", shifts["total"].max().components.hours, "h")
