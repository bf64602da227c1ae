import numpy as np
import pandas as pd

rng = np.random.default_rng(1)
idx = pd.date_range("2023-01-01", "2024-06-30", freq="D")
sales = pd.Series(rng.poisson(50, len(idx)) + 10 * (idx.dayofweek >= 5), index=idx, name="sales")

# Resample at different frequencies
monthly = sales.resample("ME").sum()
weekly = sales.resample("W-MON").mean()
quarterly = sales.resample("QE").agg(["sum", "mean", "max"])
print(quarterly.round(1))
print("Weeks:", len(weekly), "first label:", weekly.index[0].date())

# Year on year
yoy = monthly.pct_change(12).dropna().mul(100).round(2)
yoy.index = yoy.index.strftime("%b %Y")
print(yoy)

by_dow = sales.groupby(sales.index.day_name()).mean().reindex(
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
)
print(by_dow.round(1))
print("Partial slicing:", sales.loc["2024-02"].sum(), sales.loc["2023-12-30":"2024-01-02"].tolist())
print("YTD:", sales.groupby(sales.index.year).cumsum().iloc[-1])
print("First/last weekday gap:", sales.asfreq("B").shape[0])
