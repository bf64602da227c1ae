from itertools import accumulate
import math
import numpy as np

# Probability distributions from first principles
def binom_pmf(k: int, n: int, p: float) -> float:
    return math.comb(n, k) * p ** k * (1 - p) ** (n - k)

def poisson_pmf(k: int, lam: float) -> float:
    return math.exp(-lam) * lam ** k / math.factorial(k)

def normal_cdf(x: float, mu: float = 0.0, sigma: float = 1.0) -> float:
    return 0.5 * (1 + math.erf((x - mu) / (sigma * math.sqrt(2))))

n, p = 50, 0.08
lam = n * p
print(" k   binom  poisson   diff")
for k in range(0, 11, 2):
    b, q = binom_pmf(k, n, p), poisson_pmf(k, lam)
    print(f"{k:>2}  {b:.4f}  {q:.4f}  {b - q:+.4f}")

cdf = list(accumulate(binom_pmf(k, n, p) for k in range(n + 1)))
print("Sums to one:", math.isclose(cdf[-1], 1.0))
print("Smallest k with CDF >= 0.95:", next(k for k, c in enumerate(cdf) if c >= 0.95))
approx = normal_cdf(6.5, lam, math.sqrt(n * p * (1 - p)))
print(f"P(X<=6): exact {cdf[6]:.4f}, normal approx {approx:.4f}")

entropy = -sum(q * math.log2(q) for q in (binom_pmf(k, n, p) for k in range(n + 1)) if q > 0)
print(f"Entropy: {entropy:.3f} bits")
assert abs(np.convolve([0.5, 0.5], [0.5, 0.5])[1] - 0.5) < 1e-12
