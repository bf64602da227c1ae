import numpy as np
from scipy import integrate, stats

# Variance reduction: plain, antithetic, control variate and importance sampling
rng = np.random.default_rng(123)
f = lambda x: np.exp(-x ** 2 / 2) * (1 + np.sin(3 * x) ** 2)
exact, _ = integrate.quad(f, 0, 2)
n = 50_000

u = rng.uniform(0, 2, n)
plain = 2 * f(u)

half = rng.uniform(0, 2, n // 2)
anti = (2 * f(half) + 2 * f(2 - half)) / 2

g = 2 * np.exp(-u ** 2 / 2)
g_mean = np.sqrt(2 * np.pi) * (stats.norm.cdf(2) - 0.5)
beta = np.cov(plain, g)[0, 1] / np.var(g, ddof=1)
control = plain - beta * (g - g_mean)

tn = stats.truncnorm(0, 2)
xs = tn.rvs(n, random_state=rng)
importance = f(xs) / tn.pdf(xs)

print(f"Exact: {exact:.6f}")
for name, values in [("plain", plain), ("antithetic", anti), ("control", control), ("importance", importance)]:
    est = values.mean()
    se = values.std(ddof=1) / np.sqrt(len(values))
    print(f"{name:<12}{est:.5f}  se={se:.5f}  var={values.var(ddof=1):.4f}  ok={abs(est - exact) < 4 * se}")
