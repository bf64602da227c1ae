from statsmodels.tsa.holtwinters import ExponentialSmoothing
import numpy as np
import pandas as pd

np.random.seed(2)
index = pd.period_range("2017Q1", "2023Q4", freq="Q").to_timestamp()
level = np.linspace(200, 320, len(index))
quarter_effect = np.array([0.9, 1.0, 1.15, 0.95])[np.arange(len(index)) % 4]
revenue = pd.Series(level * quarter_effect + np.random.normal(0, 4, len(index)), index=index)
revenue.index.freq = "QS-OCT"

h = 4
train, test = revenue[:-h], revenue[-h:]
model = ExponentialSmoothing(train, trend="add", seasonal="mul", seasonal_periods=4).fit()
pred = model.forecast(h)

result = pd.DataFrame({"actual": test, "forecast": pred})
result["error_pct"] = (result["forecast"] / result["actual"] - 1) * 100
result.index = result.index.to_period("Q")
print(result.round(0).astype(int))
print(f"MAPE: {result['error_pct'].abs().mean():.1f}%")

annual = revenue.groupby(revenue.index.year).sum()
print("\nAnnual revenue and growth")
for year, total in annual.items():
    g = "" if year == annual.index[0] else f"{total / annual[year - 1] - 1:+.1%}"
    print(f"{year}: {total:8.1f} {g}")
