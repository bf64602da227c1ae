import warnings
import numpy as np
import pandas as pd
from statsmodels.tsa.stattools import adfuller, acf
from statsmodels.tsa.seasonal import seasonal_decompose
from statsmodels.stats.diagnostic import acorr_ljungbox

warnings.simplefilter("ignore")
rng = np.random.default_rng(12345)

idx = pd.date_range("2018-01-01", periods=72, freq="MS")
trend = np.linspace(100, 160, 72)
season = 12 * np.sin(2 * np.pi * np.arange(72) / 12)
y = pd.Series(trend + season + rng.normal(0, 3, 72), index=idx, name="sales")

dec = seasonal_decompose(y, model="additive", period=12)
print("Seasonal pattern:")
print(dec.seasonal.groupby(dec.seasonal.index.month).first().round(2).to_dict())

def stationarity(series, label):
    stat, p, lags, nobs, crit, _ = adfuller(series.dropna(), autolag="AIC")
    verdict = "stationary" if p < 0.05 else "non-stationary"
    print(f"{label:<12} ADF={stat:7.3f} p={p:.4f} -> {verdict}")

stationarity(y, "level")
stationarity(y.diff(), "diff")
stationarity(y.diff(12), "seasonal")

resid = dec.resid.dropna()
print("ACF:", acf(resid, nlags=4).round(3))
print(acorr_ljungbox(resid, lags=[6, 12]).round(3))
