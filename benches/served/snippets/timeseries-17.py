import pandas as pd
import numpy as np

# Year-over-year comparison, with a leap year in the data
rng = np.random.default_rng(2020)
idx = pd.date_range("2022-01-01", "2024-12-31", freq="D")
df = pd.DataFrame({"date": idx, "sales": rng.normal(1000, 120, len(idx)) * (1 + 0.08 * (idx.year - 2022))})

df = df.assign(
    year=df["date"].dt.year,
    quarter=df["date"].dt.quarter,
    is_weekend=df["date"].dt.dayofweek >= 5,
)

q = df.groupby(["year", "quarter"])["sales"].sum().unstack("year")
for y in (2023, 2024):
    q[f"yoy_{y}"] = (q[y] / q[y - 1] - 1).mul(100).round(1)
print(q.round(0).astype({2022: int, 2023: int, 2024: int}).to_string())

# Year to date through the 29th of February
ytd = df[(df["date"].dt.month * 100 + df["date"].dt.day) <= 229].groupby("year")["sales"].agg(["sum", "count"])
print(ytd.round(0))

weekend = df.groupby("is_weekend")["sales"].mean()
print(f"Weekend vs weekday: {weekend[True]:.1f} vs {weekend[False]:.1f}")
