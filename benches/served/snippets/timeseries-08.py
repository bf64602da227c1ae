import numpy as np
import pandas as pd
from statsmodels.tsa.stattools import adfuller, kpss, acf
import warnings
warnings.simplefilter("ignore")

rng = np.random.default_rng(88)
walk = pd.Series(rng.normal(size=300).cumsum())
noise = pd.Series(rng.normal(size=300))


def stationarity_report(s, name):
    adf_stat, adf_p, *_ = adfuller(s.dropna())
    kpss_stat, kpss_p, *_ = kpss(s.dropna(), nlags="auto")
    verdict = {
        (True, True): "stationary",
        (True, False): "difference stationary",
        (False, True): "trend stationary",
        (False, False): "non-stationary",
    }[(adf_p < 0.05, kpss_p > 0.05)]
    print(f"{name:<16} ADF={adf_stat:7.3f} (p={adf_p:.3f})  KPSS={kpss_stat:6.3f} (p={kpss_p:.3f}) -> {verdict}")


stationarity_report(walk, "random walk")
stationarity_report(walk.diff(), "diff(walk)")
stationarity_report(noise, "white noise")

print("\nACF of the walk:")
print(pd.Series(acf(walk, nlags=5)).round(3).to_string())
