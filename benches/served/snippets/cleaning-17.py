import warnings
import numpy as np
import pandas as pd

# Profile a dataset before cleaning it
rng = np.random.default_rng(101)
n = 120
df = pd.DataFrame({
    "constant": ["x"] * n,
    "id": [f"ID{i:04d}" for i in range(n)],
    "amount": np.where(rng.random(n) < 0.2, np.nan, rng.lognormal(3, 1, n).round(2)),
    "state": rng.choice(["NY", "CA", "TX", "ny "], n),
    "empty": np.nan,
    "score": rng.integers(0, 5, n),
})
df["score_copy"] = df["score"]

with warnings.catch_warnings():
    warnings.simplefilter("error")
    profile = pd.DataFrame({
        "dtype": df.dtypes.astype(str),
        "nulls": df.isna().mean().mul(100).round(1),
        "unique": df.nunique(),
        "example": df.apply(lambda s: s.dropna().iloc[0] if s.notna().any() else None),
    })

issues = []
for col in df:
    s = df[col]
    if s.isna().all():
        issues.append((col, "all missing"))
    elif s.nunique() == 1:
        issues.append((col, "constant"))
    elif s.nunique() == len(s):
        issues.append((col, "looks like an id"))
    if s.dtype == object and (s.dropna().astype(str) != s.dropna().astype(str).str.strip()).any():
        issues.append((col, "stray whitespace"))
dups = df.T.duplicated()
issues += [(c, "duplicate column") for c in dups[dups].index]
print(profile)
print(*[f"- {c}: {what}" for c, what in issues], sep="\n")
