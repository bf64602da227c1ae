import numpy as np
import pandas as pd

# Fix gaps, duplicates and spikes in a time series
idx = pd.date_range("2024-06-01 00:00", periods=24, freq="h")
rng = np.random.default_rng(8)
s = pd.Series(20 + 5 * np.sin(np.arange(24) / 24 * 2 * np.pi) + rng.normal(0, 0.2, 24), index=idx)
s.iloc[5] = 99.9
s.iloc[17] = -40
s = s.drop(s.index[[9, 10, 20]])
s = pd.concat([s, s.iloc[[3, 3]] + 0.5]).sample(frac=1, random_state=0)
print("Monotonic:", s.index.is_monotonic_increasing, "| duplicated stamps:", s.index.duplicated().sum())

clean = s.sort_index().groupby(level=0).median()
med = clean.rolling(5, center=True, min_periods=3).median()
spike = (clean - med).abs() > 5
print("Spikes:", {t.strftime("%H:%M"): round(v, 1) for t, v in clean[spike].items()})

clean = clean.mask(spike).asfreq("h")
n_gap = int(clean.isna().sum())
clean = clean.interpolate(method="time", limit=3)
print(f"Filled {n_gap} points; remaining NaN: {clean.isna().sum()}")
print(clean.resample("6h").agg(["mean", "min", "max"]).round(2))
np.testing.assert_array_equal(clean.index, idx)
