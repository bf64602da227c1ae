import numpy as np
import pandas as pd
from scipy import stats

rng = np.random.default_rng(33)
groups = {
    "morning": rng.exponential(5, 25) + 2,
    "noon": rng.exponential(5, 28) + 4,
    "evening": rng.exponential(5, 22) + 3,
}

# Non-parametric comparison of several groups
H, p = stats.kruskal(*groups.values())
print(f"Kruskal-Wallis H={H:.3f}, p={p:.4f}")

long = pd.DataFrame([(g, v) for g, vals in groups.items() for v in vals], columns=["group", "value"])
long["rank"] = long["value"].rank()
print(long.groupby("group", sort=False).agg(n=("value", "size"), median=("value", "median"), mean_rank=("rank", "mean")).round(2))

# Dunn-style pairwise z with Bonferroni
N = len(long)
mr = long.groupby("group")["rank"].mean()
sizes = long["group"].value_counts()
names = list(groups)
pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1:]]
for a, b in pairs:
    se = np.sqrt(N * (N + 1) / 12 * (1 / sizes[a] + 1 / sizes[b]))
    z = (mr[a] - mr[b]) / se
    p_adj = min(1.0, 2 * stats.norm.sf(abs(z)) * len(pairs))
    print(f"{a:>8} vs {b:<8} z={z:+.2f} p_adj={p_adj:.4f}")

mat = np.column_stack([v[:20] for v in groups.values()])
print("Friedman p: %.4f" % stats.friedmanchisquare(*mat.T).pvalue)
