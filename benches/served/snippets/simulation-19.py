import numpy as np
import pandas as pd
from scipy import stats

# Simulate an A/B test many times: power and false positive rate
def run_test(p_a, p_b, n, rng):
    a, b = rng.binomial(n, [p_a, p_b])
    p_pool = (a + b) / (2 * n)
    se = np.sqrt(2 * p_pool * (1 - p_pool) / n)
    z = (b - a) / n / se if se > 0 else 0.0
    return 2 * stats.norm.sf(abs(z))

rng = np.random.default_rng(60)
rows = []
for n in (500, 1000, 2000, 4000):
    null_p = np.array([run_test(0.10, 0.10, n, rng) for _ in range(1000)])
    alt_p = np.array([run_test(0.10, 0.13, n, rng) for _ in range(1000)])
    rows.append({"n_per_arm": n, "false_positive": (null_p < 0.05).mean(), "power": (alt_p < 0.05).mean()})
print(pd.DataFrame(rows).set_index("n_per_arm"))

# The cost of peeking
def peeking(rng, looks=10, n=200):
    a = rng.random((looks, n)) < 0.1
    b = rng.random((looks, n)) < 0.1
    ca, cb = a.sum(axis=1).cumsum(), b.sum(axis=1).cumsum()
    m = n * np.arange(1, looks + 1)
    pool = (ca + cb) / (2 * m)
    z = (cb - ca) / m / np.sqrt(2 * pool * (1 - pool) / m)
    return (np.abs(z) > 1.96).any()

fp = np.mean([peeking(rng) for _ in range(2000)])
print(f"False positive rate when peeking 10 times: {fp:.1%}")
