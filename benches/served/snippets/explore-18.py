import numpy as np
import pandas as pd
from scipy import stats

np.random.seed(12)
a = np.random.normal(10.0, 2.0, 80)
b = np.random.normal(10.9, 2.2, 75)
c = np.random.normal(10.1, 1.9, 90)

samples = {"A": a, "B": b, "C": c}

print("Descriptive statistics")
for name, arr in samples.items():
    ci = stats.t.interval(0.95, len(arr) - 1, loc=arr.mean(), scale=stats.sem(arr))
    print(f"  {name}: n={len(arr)}, mean={arr.mean():.3f}, sd={arr.std(ddof=1):.3f}, 95% CI=({ci[0]:.3f}, {ci[1]:.3f})")

# Normality
for name, arr in samples.items():
    w, p = stats.shapiro(arr)
    print(f"  Shapiro {name}: W={w:.4f} p={p:.4f} -> {'normal' if p > 0.05 else 'not normal'}")

# Overall difference
f, p = stats.f_oneway(*samples.values())
print(f"ANOVA: F={f:.3f}, p={p:.5f}")

# Pairwise Welch tests with Bonferroni
from itertools import combinations
m = len(list(combinations(samples, 2)))
for x, y in combinations(samples, 2):
    t, p = stats.ttest_ind(samples[x], samples[y], equal_var=False)
    print(f"  {x} vs {y}: t={t:+.3f}, p_adj={min(p * m, 1):.4f}")
