import numpy as np
from scipy import stats
from sklearn.mixture import GaussianMixture
import matplotlib.pyplot as plt

rng = np.random.default_rng(18)
x = np.concatenate([rng.normal(0, 1, 300), rng.normal(5, 0.8, 200)])

# Kernel density estimate and its modes
kde = stats.gaussian_kde(x, bw_method="silverman")
grid = np.linspace(x.min() - 1, x.max() + 1, 400)
dens = kde(grid)
is_mode = np.r_[False, (dens[1:-1] > dens[:-2]) & (dens[1:-1] > dens[2:]), False]
print("Modes:", grid[is_mode].round(2).tolist())
print("Area:", round(float(np.trapezoid(dens, grid)), 3))
print("P(2 < X < 3):", round(kde.integrate_box_1d(2, 3), 4))

bics = {k: GaussianMixture(k, random_state=0, n_init=3).fit(x[:, None]).bic(x[:, None]) for k in (1, 2, 3, 4)}
print({k: round(float(v), 1) for k, v in bics.items()})
gm = GaussianMixture(min(bics, key=bics.get), random_state=0).fit(x[:, None])
for w, m, c in sorted(zip(gm.weights_, gm.means_.ravel(), gm.covariances_.ravel()), key=lambda t: t[1]):
    print(f"weight={w:.3f} mean={m:.3f} sd={np.sqrt(c):.3f}")

fig, ax = plt.subplots()
ax.hist(x, bins=40, density=True, alpha=0.4)
ax.plot(grid, dens)
fig.savefig("kde.pdf")
