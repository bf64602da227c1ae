import numpy as np
import pandas as pd
from scipy import stats

rng = np.random.default_rng(2024)
n = 250
x = rng.normal(size=n)
df = pd.DataFrame({
    "ad_spend": 1000 + 200 * x,
    "visits": 5000 + 800 * x + rng.normal(0, 300, n),
    "bounce_rate": np.clip(0.5 - 0.05 * x + rng.normal(0, 0.05, n), 0, 1),
    "temperature": rng.normal(18, 6, n),
})

corr = df.corr(method="pearson")
print(corr.round(3))

# List strongest pairs
pairs = []
cols = corr.columns
for i in range(len(cols)):
    for j in range(i + 1, len(cols)):
        r, p = stats.pearsonr(df[cols[i]], df[cols[j]])
        pairs.append((cols[i], cols[j], r, p))

print("\nPairs sorted by |r|:")
for a, b, r, p in sorted(pairs, key=lambda t: -abs(t[2])):
    flag = "***" if p < 0.001 else "**" if p < 0.01 else "*" if p < 0.05 else ""
    print(f"  {a:<12} ~ {b:<12} r = {r:+.3f} {flag}")
