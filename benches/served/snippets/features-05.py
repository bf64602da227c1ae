import numpy as np
import pandas as pd
from sklearn.model_selection import KFold

np.random.seed(3)
n = 300
df = pd.DataFrame({"zip": np.random.choice(["10001", "20002", "30003", "40004", "50005"], n, p=[.4, .3, .2, .08, .02])})
base = df["zip"].map({"10001": 1.0, "20002": 2.0, "30003": 3.0, "40004": 4.0, "50005": 10.0})
df["y"] = base + np.random.randn(n)


def target_encode(df, col, target, n_splits=5, smoothing=10.0, seed=0):
    """Out-of-fold smoothed target encoding."""
    encoded = pd.Series(np.nan, index=df.index, name=f"{col}_te")
    kf = KFold(n_splits=n_splits, shuffle=True, random_state=seed)
    for train_idx, valid_idx in kf.split(df):
        train = df.iloc[train_idx]
        prior = train[target].mean()
        stats = train.groupby(col)[target].agg(["mean", "count"])
        w = stats["count"] / (stats["count"] + smoothing)
        mapping = w * stats["mean"] + (1 - w) * prior
        encoded.iloc[valid_idx] = df[col].iloc[valid_idx].map(mapping).fillna(prior)
    return encoded


df["zip_te"] = target_encode(df, "zip", "y")
print(df.groupby("zip").agg(n=("y", "size"), y_mean=("y", "mean"), te_mean=("zip_te", "mean"), te_std=("zip_te", "std")).round(3))
print("Correlation with target:", round(df["y"].corr(df["zip_te"]), 3))
print("Any missing?", df["zip_te"].isna().any())
