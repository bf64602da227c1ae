import numpy as np
import matplotlib.pyplot as plt
from scipy import stats

# Error bars and a Q-Q plot for a small lab experiment
rng = np.random.default_rng(61)
doses = np.array([0, 1, 2, 5, 10])
response = {d: 100 / (1 + np.exp(-(d - 3))) + rng.normal(0, 6, 8) for d in doses}

means = np.array([r.mean() for r in response.values()])
sem = np.array([stats.sem(r) for r in response.values()])
residuals = np.concatenate([r - r.mean() for r in response.values()])

fig, (left, right) = plt.subplots(ncols=2, figsize=(11, 4.5))
left.errorbar(doses, means, yerr=1.96 * sem, fmt="o-", capsize=4, color="darkgreen", ecolor="0.5")
left.set_xscale("symlog")
left.set_xlabel("Dose [mg]")
left.set_ylabel("Response [%]")
left.annotate("plateau", xy=(10, means[-1]), xytext=(3, 60), arrowprops={"arrowstyle": "->"})

(osm, osr), (slope, intercept, r) = stats.probplot(residuals)
right.plot(osm, osr, "o", ms=4)
right.plot(osm, slope * osm + intercept, "r-")
right.set_title(f"Normal Q-Q (r = {r:.3f})")
fig.tight_layout()
fig.savefig("dose_response.png", dpi=90)

for d, m, s in zip(doses, means, sem):
    print(f"dose {d:>2} mg: {m:6.1f} ± {1.96 * s:4.1f}")
print(f"Q-Q correlation: {r:.3f}")
