"""Explore a small sales table with binning and crosstabs."""
import numpy as np
import pandas as pd
from scipy.stats import chi2_contingency

rng = np.random.default_rng(5)
df = pd.DataFrame({
    "age": rng.integers(18, 75, 400),
    "channel": rng.choice(["web", "store", "phone"], 400, p=[0.55, 0.35, 0.10]),
    "basket": rng.gamma(2.0, 25.0, 400),
})

df["age_band"] = pd.cut(df["age"], bins=[17, 25, 40, 60, 100],
                        labels=["18-25", "26-40", "41-60", "60+"])
df["basket_q"] = pd.qcut(df["basket"], 4, labels=["Q1", "Q2", "Q3", "Q4"])

ct = pd.crosstab(df["age_band"], df["channel"])
print(ct)
print(pd.crosstab(df["age_band"], df["basket_q"], normalize="index").round(2))

chi2, p, dof, expected = chi2_contingency(ct)
print(f"chi2={chi2:.3f}, dof={dof}, p={p:.4f}")
if p < 0.05:
    print("Channel depends on age band (p < 0.05)")
else:
    print("No evidence that channel depends on age band")
print(df.groupby("age_band", observed=True)["basket"].agg(["count", "mean", "std"]).round(2))
