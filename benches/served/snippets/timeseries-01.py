import numpy as np
import pandas as pd

np.random.seed(42)
dates = pd.date_range("2023-01-01", "2023-12-31", freq="D")
trend = np.linspace(100, 140, len(dates))
weekly = 8 * np.sin(2 * np.pi * np.arange(len(dates)) / 7)
ts = pd.Series(trend + weekly + np.random.normal(0, 3, len(dates)), index=dates, name="visitors")

# Monthly aggregation
monthly = ts.resample("ME").agg(["mean", "min", "max"]).round(1)
monthly.index = monthly.index.strftime("%b %Y")
print(monthly)

# Rolling statistics
rolling = ts.rolling(window=7).mean()
print(f"\n7-day average on {rolling.index[-1]:%Y-%m-%d}: {rolling.iloc[-1]:.2f}")

# Growth
growth = ts["2023-12"].mean() / ts["2023-01"].mean() - 1
print(f"Growth Jan -> Dec: {growth:+.1%}")
best_day = ts.groupby(ts.index.day_name()).mean().idxmax()
print(f"Best weekday: {best_day}")
