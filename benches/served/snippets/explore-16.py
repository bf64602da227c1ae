import numpy as np
import pandas as pd

rng = np.random.default_rng(314)
df = pd.DataFrame({
    "patient": [f"P{i:03d}" for i in range(60)],
    "group": np.repeat(["control", "drug_a", "drug_b"], 20),
    "baseline": rng.normal(140, 12, 60),
})
effect = df["group"].map({"control": 0, "drug_a": -6, "drug_b": -11})
df["followup"] = df["baseline"] + effect + rng.normal(0, 5, 60)
df.loc[[3, 25, 44], "followup"] = np.nan

# Missing data by group
print(df["followup"].isna().groupby(df["group"]).sum())

# Fill missing with the group's mean
df["followup"] = df.groupby("group")["followup"].transform(lambda s: s.fillna(s.mean()))
df["delta"] = df["followup"] - df["baseline"]

stats = df.groupby("group")["delta"].agg(
    n="size", mean="mean", sd="std",
    p10=lambda s: s.quantile(0.1),
    p90=lambda s: s.quantile(0.9),
).round(2)
print(stats)

# rank inside the group
df["rank"] = df.groupby("group")["delta"].rank(method="dense").astype(int)
print(df.query("rank <= 2").sort_values(["group", "rank"])[["patient", "group", "delta", "rank"]].round(2).to_string(index=False))
