import numpy as np
import pandas as pd

rng = np.random.default_rng(13)
df = pd.DataFrame({
    "group": np.repeat(["a", "b", "c"], 6),
    "t": np.tile(np.arange(6), 3),
    "x": rng.normal(10, 2, 18).round(2),
})
df.loc[rng.choice(18, 5, replace=False), "x"] = np.nan
print("Missing per group:", df.groupby("group")["x"].apply(lambda s: s.isna().sum()).to_dict())

# Compare imputation strategies
strategies = {
    "zero": lambda s: s.fillna(0),
    "mean": lambda s: s.fillna(s.mean()),
    "ffill": lambda s: s.ffill().bfill(),
    "interp": lambda s: s.interpolate(limit_direction="both"),
    "rolling": lambda s: s.fillna(s.rolling(3, min_periods=1, center=True).mean()).fillna(s.mean()),
}
for name, fn in strategies.items():
    df[name] = df.groupby("group")["x"].transform(fn)

print(df[df["x"].isna()].round(2).to_string(index=False))
summary = df[list(strategies)].agg(["mean", "std"]).T.round(3)
print(summary)
assert not df[list(strategies)].isna().any().any()
df["was_missing"] = df["x"].isna().astype(int)
print("Flagged:", df["was_missing"].sum())
