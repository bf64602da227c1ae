import numpy as np
from scipy.optimize import curve_fit, least_squares

rng = np.random.default_rng(19)

# Fit a damped oscillation with uncertainty
def model(t, A, tau, f, phi, c):
    return A * np.exp(-t / tau) * np.cos(2 * np.pi * f * t + phi) + c

true = dict(A=3.0, tau=2.0, f=0.8, phi=0.5, c=1.0)
t = np.linspace(0, 6, 120)
y = model(t, **true) + rng.normal(0, 0.1, t.size)

popt, pcov = curve_fit(model, t, y, p0=[2, 1, 0.75, 0, 0])
perr = np.sqrt(np.diag(pcov))
for (name, tv), p, e in zip(true.items(), popt, perr):
    print(f"{name:>4} = {p:7.3f} ± {e:.3f}   true {tv:5.2f}   z = {(p - tv) / e:+.1f}")

resid = y - model(t, *popt)
r2 = 1 - resid.var() / y.var()
print(f"R2 = {r2:.4f}, residual sd = {resid.std(ddof=5):.4f}")

# Robust circle fit with outliers
ang = rng.uniform(0, 2 * np.pi, 80)
pts = np.c_[2 + 5 * np.cos(ang), -1 + 5 * np.sin(ang)] + rng.normal(0, 0.1, (80, 2))
pts[:8] += rng.uniform(3, 6, (8, 2))
fun = lambda p: np.hypot(pts[:, 0] - p[0], pts[:, 1] - p[1]) - p[2]
for loss in ("linear", "soft_l1", "cauchy"):
    s = least_squares(fun, [0, 0, 1], loss=loss, f_scale=0.1)
    print(f"{loss:<8} centre=({s.x[0]:.2f}, {s.x[1]:.2f}) r={s.x[2]:.2f}")
