import pandas as pd
import numpy as np

rng = np.random.default_rng(5)
ts = pd.DataFrame(
    {"demand": 100 + 10 * np.sin(np.arange(90) / 7 * 2 * np.pi) + rng.normal(0, 3, 90)},
    index=pd.date_range("2024-03-01", periods=90, freq="D", name="day"),
)

def add_features(df: pd.DataFrame, target: str, lags=(1, 7, 14), windows=(7, 28)) -> pd.DataFrame:
    out = df.copy()
    for lag in lags:
        out[f"lag_{lag}"] = out[target].shift(lag)
    for w in windows:
        shifted = out[target].shift(1)
        out[f"roll_mean_{w}"] = shifted.rolling(w).mean()
        out[f"roll_std_{w}"] = shifted.rolling(w).std()
    out["ewm_3"] = out[target].shift(1).ewm(span=3).mean()
    out["diff_1"] = out[target].diff()
    out["dow"] = out.index.dayofweek
    out["is_weekend"] = out["dow"].isin([5, 6]).astype("int8")
    out["sin_dow"] = np.sin(2 * np.pi * out["dow"] / 7)
    out["cos_dow"] = np.cos(2 * np.pi * out["dow"] / 7)
    return out

feats = add_features(ts, "demand")
print("NaN rows:", int(feats.isna().any(axis=1).sum()))
clean = feats.dropna()
print(clean.shape)
print(clean.iloc[:3].T.round(3))
corr = clean.corr()["demand"].drop("demand").sort_values(key=abs, ascending=False)
print(corr.head(5).round(3))
