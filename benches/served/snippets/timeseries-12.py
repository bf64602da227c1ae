import numpy as np
import pandas as pd

rng = np.random.default_rng(27)
idx = pd.date_range("2024-01-01", periods=24 * 14, freq="h")
load = 300 + 80 * np.sin((idx.hour.to_numpy() - 6) / 24 * 2 * np.pi) + rng.normal(0, 10, len(idx))
load[[50, 170, 260]] += [150, -170, 200]
s = pd.Series(load, index=idx, name="load_kw")


class AnomalyDetector:
    """Flags points far away from the typical value for that hour."""

    def __init__(self, n_mad: float = 5.0):
        self.n_mad = n_mad

    def fit(self, s):
        g = s.groupby(s.index.hour)
        self.center_ = g.median()
        self.mad_ = g.apply(lambda v: (v - v.median()).abs().median())
        return self

    def predict(self, s):
        hours = s.index.hour
        score = np.abs(s.values - self.center_.loc[hours].values) / self.mad_.loc[hours].values
        return pd.DataFrame({"value": s, "score": score, "anomaly": score > self.n_mad})


result = AnomalyDetector(n_mad=8).fit(s).predict(s)
print(result[result["anomaly"]].round(1))
print(f"{result['anomaly'].sum()} anomalies in {len(result)} hours")
