import numpy as np
import pandas as pd
import io

csv_text = """dept,salary
ops,42000
ops,45500
ops,39900
ops,120000
eng,88000
eng,91500
eng,79900
hr,51000
hr,49500
hr,
"""
df = pd.read_csv(io.StringIO(csv_text))

def mad(s: pd.Series) -> float:
    """Median absolute deviation scaled to the normal."""
    return 1.4826 * (s - s.median()).abs().median()

def iqr(s):
    return s.quantile(0.75) - s.quantile(0.25)

stats_table = df.groupby("dept")["salary"].agg(["count", "mean", "median", "std", ("mad", mad), ("iqr", iqr), ("range", lambda s: s.max() - s.min())])
print(stats_table.round(1).to_string())

df["robust_z"] = df.groupby("dept")["salary"].transform(lambda s: (s - s.median()) / mad(s))
df["outlier"] = df["robust_z"].abs() > 3.5
print(df.loc[df["outlier"], ["dept", "salary"]].to_string(index=False))

clean = df.loc[~df["outlier"] & df["salary"].notna()]
desc = clean["salary"].describe()
print(desc.apply("{:,.1f}".format))
weights = clean["dept"].map(clean["dept"].value_counts(normalize=True))
print("Weighted mean:", round(np.average(clean["salary"], weights=weights), 2))
print("Skew/kurt:", round(df["salary"].skew(), 3), round(df["salary"].kurt(), 3))
