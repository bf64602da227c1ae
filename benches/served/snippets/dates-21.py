import pandas as pd
import numpy as np
from statsmodels.tsa.holtwinters import ExponentialSmoothing
import warnings

warnings.filterwarnings("ignore")

# Seasonal forecast with a naive benchmark
rng = np.random.default_rng(37)
idx = pd.date_range("2019-01-01", periods=60, freq="MS")
y = pd.Series(200 + 1.5 * np.arange(60) + 25 * np.cos(2 * np.pi * (idx.month - 7) / 12) + rng.normal(0, 5, 60), index=idx)

train, test = y[:"2022-12"], y["2023-01":]
naive = pd.Series(train[-12:].to_numpy(), index=test.index)
hw = ExponentialSmoothing(train, trend="add", seasonal="add", seasonal_periods=12, initialization_method="estimated").fit()
pred = hw.forecast(len(test))

def scores(actual, forecast):
    err = actual - forecast
    return {"MAE": err.abs().mean(), "MAPE": (err / actual).abs().mean() * 100, "bias": err.mean()}

table = pd.DataFrame({"naive": scores(test, naive), "holt-winters": scores(test, pred)}).T
print(table.round(1))
print("Better:", table["MAE"].idxmin())
quarters = pd.DataFrame({"actual": test, "pred": pred}).groupby(test.index.quarter).sum().round(0).astype(int)
quarters.index = [f"2023Q{q}" for q in quarters.index]
print(quarters)
print("Peak month:", pred.idxmax().month_name(), "| actual:", test.idxmax().month_name())
