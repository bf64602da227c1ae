import numpy as np
from scipy import interpolate

# Compare interpolation methods on a known function
f = lambda x: np.sin(x) * np.exp(-x / 5)
x = np.linspace(0, 10, 9)
y = f(x)
grid = np.linspace(0, 10, 201)

methods = {
    "linear": lambda g: np.interp(g, x, y),
    "cubic spline": interpolate.CubicSpline(x, y),
    "pchip": interpolate.PchipInterpolator(x, y),
    "akima": interpolate.Akima1DInterpolator(x, y),
    "barycentric": interpolate.BarycentricInterpolator(x, y),
    "rbf": lambda g: interpolate.RBFInterpolator(x[:, None], y)(g[:, None]),
}
for name, m in methods.items():
    err = np.abs(m(grid) - f(grid))
    print(f"{name:<13} max err {err.max():.4f}  mean err {err.mean():.4f}")

cs = methods["cubic spline"]
print("Derivative at 2:", round(float(cs(2, 1)), 4), "exact", round(float((np.cos(2) - np.sin(2) / 5) * np.exp(-0.4)), 4))
print("Integral 0-10:", round(float(cs.integrate(0, 10)), 4))
print("Roots:", cs.roots(extrapolate=False).round(3))

# 2D scattered data
rng = np.random.default_rng(0)
p = rng.uniform(-1, 1, (200, 2))
z = p[:, 0] ** 2 - p[:, 1]
q = np.array([[0.1, 0.2], [-0.5, 0.5]])
print(interpolate.griddata(p, z, q, method="linear").round(3), (q[:, 0] ** 2 - q[:, 1]).round(3))
