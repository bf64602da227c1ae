import numpy as np

# Estimate pi by Monte Carlo with increasing sample sizes
np.random.seed(42)

def estimate_pi(n):
    x, y = np.random.uniform(-1, 1, (2, n))
    inside = (x ** 2 + y ** 2) <= 1
    p = inside.mean()
    se = 4 * np.sqrt(p * (1 - p) / n)
    return 4 * p, se

print(f"{'n':>10} {'estimate':>10} {'std err':>10} {'error':>10}")
for exponent in range(2, 7):
    n = 10 ** exponent
    est, se = estimate_pi(n)
    print(f"{n:>10,} {est:>10.5f} {se:>10.5f} {abs(est - np.pi):>10.5f}")
