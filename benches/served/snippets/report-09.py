import numpy as np
import pandas as pd
from scipy import stats

# A/B test report
np.random.seed(101)
groups = {"control": (5000, 0.100), "variant": (5050, 0.115)}
data = {g: np.random.binomial(1, p, n) for g, (n, p) in groups.items()}


def proportion_ci(x, conf=0.95):
    """Wilson score interval."""
    z = stats.norm.ppf(1 - (1 - conf) / 2)
    n, p = len(x), x.mean()
    centre = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return centre - half, centre + half


rows = []
for g, x in data.items():
    lo, hi = proportion_ci(x)
    rows.append({"group": g, "n": len(x), "conversions": x.sum(), "rate": x.mean(), "ci_low": lo, "ci_high": hi})
print(pd.DataFrame(rows).set_index("group").round(4).to_markdown())

c, v = data["control"], data["variant"]
pooled = np.concatenate([c, v]).mean()
z = (v.mean() - c.mean()) / np.sqrt(pooled * (1 - pooled) * (1 / len(c) + 1 / len(v)))
p_value = 2 * stats.norm.sf(abs(z))

print(f"\nUplift: {v.mean() / c.mean() - 1:+.1%}")
print(f"z = {z:.3f}, p = {p_value:.4f}")
print("Recommendation:", "ship the variant" if p_value < 0.05 and z > 0 else "keep testing")
