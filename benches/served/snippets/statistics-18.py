import numpy as np
from scipy import stats
from scipy.optimize import brentq

# Sample-size planning
def n_per_group_means(delta, sd, alpha=0.05, power=0.8):
    z = stats.norm.ppf(1 - alpha / 2) + stats.norm.ppf(power)
    return int(np.ceil(2 * (z * sd / delta) ** 2))

def power_t(n, d, alpha=0.05):
    """Exact power of the two-sample t test through the noncentral t."""
    df = 2 * n - 2
    nc = d * np.sqrt(n / 2)
    crit = stats.t.ppf(1 - alpha / 2, df)
    return stats.nct.sf(crit, df, nc)  # the other tail is negligible

print("d     approx  exact  power")
for d in (0.2, 0.5, 0.8, 1.2):
    approx = n_per_group_means(d, 1.0)
    exact = int(np.ceil(brentq(lambda n: power_t(n, d) - 0.8, 4, 500)))
    print(f"{d:<5} {approx:>6} {exact:>6}  {power_t(exact, d):.4f}")

mde = brentq(lambda d: power_t(50, d) - 0.9, 0.01, 3)
print(f"Minimum detectable effect with n=50, power 90%: d={mde:.3f}")

from statsmodels.stats.power import TTestIndPower
solver = TTestIndPower()
print("statsmodels:", round(float(solver.solve_power(effect_size=0.5, alpha=0.05, power=0.8)), 2))
