import warnings

import numpy as np
import pandas as pd
from statsmodels.tsa.seasonal import seasonal_decompose

warnings.filterwarnings("ignore", category=FutureWarning)

rng = np.random.default_rng(1)
idx = pd.date_range("2019-01-01", periods=60, freq="MS")
season = np.tile([5, 3, 0, -2, -4, -5, -4, -2, 0, 2, 3, 4], 5)
y = pd.Series(50 + 0.5 * np.arange(60) + season + rng.normal(0, 0.8, 60), index=idx)

decomposition = seasonal_decompose(y, model="additive", period=12)

print("Seasonal component by month:")
for month, value in decomposition.seasonal.groupby(idx.month).first().items():
    bar = "#" * int(abs(round(value)))
    print(f"  {month:02d} {value:+6.2f} {bar}")

trend = decomposition.trend.dropna()
slope = np.polyfit(range(len(trend)), trend.values, 1)[0]
print(f"Trend slope per month: {slope:.3f}")
resid = decomposition.resid.dropna()
strength = max(0, 1 - resid.var() / (resid + decomposition.seasonal).dropna().var())
print(f"Seasonal strength: {strength:.3f}")
