import numpy as np
import pandas as pd
from tqdm import trange

# Bootstrap confidence interval for a regression slope
rng = np.random.default_rng(2023)
x = rng.uniform(0, 10, 60)
y = 2 + 0.8 * x + rng.standard_t(3, 60)

slope, intercept = np.polyfit(x, y, 1)
print(f"Slope: {slope:.3f}, intercept: {intercept:.3f}")

B = 1000
boot = np.empty(B)
for b in trange(B, desc="bootstrap", leave=False):
    idx = rng.integers(0, len(x), len(x))
    boot[b] = np.polyfit(x[idx], y[idx], 1)[0]

lo, hi = np.percentile(boot, [2.5, 97.5])
print(f"95% percentile CI: [{lo:.3f}, {hi:.3f}]")
print(f"Bootstrap SE: {boot.std(ddof=1):.3f}")
print(f"True slope inside: {lo <= 0.8 <= hi}")

hist, edges = np.histogram(boot, bins=8)
for h, left, right in zip(hist, edges, edges[1:]):
    print(f"{left:.2f}-{right:.2f} {'=' * (h // 8)}")
pd.Series(boot, name="slope").to_csv("bootstrap.csv", index=False)
