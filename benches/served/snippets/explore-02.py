import numpy as np
import pandas as pd

rng = np.random.default_rng(42)
n = 500
df = pd.DataFrame({
    "age": rng.integers(18, 80, n),
    "income": rng.lognormal(10.5, 0.4, n).round(2),
    "segment": rng.choice(["A", "B", "C"], n, p=[0.5, 0.3, 0.2]),
    "churned": rng.random(n) < 0.23,
})


def profile(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a one-row-per-column data profile."""
    rows = []
    for col in frame.columns:
        s = frame[col]
        rows.append({
            "column": col,
            "dtype": str(s.dtype),
            "n_unique": s.nunique(),
            "pct_missing": s.isna().mean() * 100,
            "min": s.min() if pd.api.types.is_numeric_dtype(s) else None,
            "max": s.max() if pd.api.types.is_numeric_dtype(s) else None,
        })
    return pd.DataFrame(rows).set_index("column")


print(profile(df).to_string())
churn_rate = df.groupby("segment")["churned"].mean().sort_values(ascending=False)
for seg, rate in churn_rate.items():
    print(f"Segment {seg}: {rate:.1%} churn")
