import numpy as np
from scipy.optimize import curve_fit

# Fit a logistic growth curve
def logistic(t, K, r, t0):
    return K / (1 + np.exp(-r * (t - t0)))

rng = np.random.default_rng(2)
t = np.arange(0, 30)
y = logistic(t, 1000, 0.4, 14) + rng.normal(0, 20, t.size)

popt, pcov = curve_fit(logistic, t, y, p0=[y.max(), 0.5, t.mean()])
perr = np.sqrt(np.diag(pcov))

for name, val, err in zip(["K", "r", "t0"], popt, perr):
    print(f"{name:>3} = {val:9.3f} ± {err:.3f}")

resid = y - logistic(t, *popt)
ss_res, ss_tot = np.sum(resid**2), np.sum((y - y.mean()) ** 2)
print(f"R² = {1 - ss_res / ss_tot:.4f}")

# When will 95 % of the capacity be reached?
K, r, t0 = popt
t95 = t0 + np.log(0.95 / 0.05) / r
print(f"95% of capacity at t = {t95:.1f}")
