import numpy as np
from scipy.optimize import minimize, rosen, rosen_der, differential_evolution

x0 = np.array([-1.2, 1.0])

# Different optimisers on the Rosenbrock function
for method in ("Nelder-Mead", "Powell", "CG", "BFGS", "L-BFGS-B"):
    kw = {"jac": rosen_der} if method in {"CG", "BFGS", "L-BFGS-B"} else {}
    res = minimize(rosen, x0, method=method, **kw)
    print(f"{method:<12} ok={res.success} x={np.round(res.x, 3)} f<1e-4={res.fun < 1e-4}")

# Constrained: largest box inside an ellipsoid
a, b, c = 3.0, 2.0, 1.0
volume = lambda v: -8 * np.prod(v)
con = {"type": "ineq", "fun": lambda v: 1 - (v[0] / a) ** 2 - (v[1] / b) ** 2 - (v[2] / c) ** 2}
res = minimize(volume, x0=[0.5, 0.5, 0.5], bounds=[(0, None)] * 3, constraints=[con], method="SLSQP")
exact = 8 * a * b * c / (3 * np.sqrt(3))
print(f"Box volume {-res.fun:.4f}, exact {exact:.4f}, sides {np.round(2 * res.x, 3)}")

def rastrigin(x):
    return 10 * len(x) + np.sum(x ** 2 - 10 * np.cos(2 * np.pi * x))

de = differential_evolution(rastrigin, bounds=[(-5.12, 5.12)] * 3, seed=1, tol=1e-8)
print("Global minimum:", np.abs(de.x).max() < 1e-4, round(de.fun, 6))
