import numpy as np
import pandas as pd
from scipy import stats

np.random.seed(10)
data = np.random.lognormal(3, 0.6, 60)

def bootstrap(data, func, n_boot=5000, alpha=0.05, rng=None):
    rng = np.random.default_rng(rng)
    idx = rng.integers(0, len(data), size=(n_boot, len(data)))
    reps = np.apply_along_axis(func, 1, data[idx])
    lo, hi = np.percentile(reps, [100 * alpha / 2, 100 * (1 - alpha / 2)])
    return func(data), reps.std(ddof=1), lo, hi

stat_funcs = {
    "mean": np.mean,
    "median": np.median,
    "std": lambda x: np.std(x, ddof=1),
    "trimmed": lambda x: stats.trim_mean(x, 0.1),
    "cv": stats.variation,
}

rows = {name: bootstrap(data, f, n_boot=2000, rng=0) for name, f in stat_funcs.items()}
table = pd.DataFrame.from_dict(rows, orient="index", columns=["estimate", "se", "ci_low", "ci_high"])
print(table.round(3))

res = stats.bootstrap((data,), np.median, n_resamples=2000, method="BCa", rng=np.random.default_rng(0))
print("SciPy BCa median:", tuple(round(float(v), 3) for v in res.confidence_interval))
