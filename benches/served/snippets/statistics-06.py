import numpy as np
from scipy import stats

rng = np.random.default_rng(77)
sample = rng.gamma(shape=2.5, scale=3.0, size=800)

candidates = {
    "norm": stats.norm,
    "gamma": stats.gamma,
    "lognorm": stats.lognorm,
    "expon": stats.expon,
    "weibull": stats.weibull_min,
}

results = []
for name, dist in candidates.items():
    kwargs = {} if name == "norm" else {"floc": 0}
    params = dist.fit(sample, **kwargs)
    loglik = dist.logpdf(sample, *params).sum()
    k = len(params) - len(kwargs)
    aic = 2 * k - 2 * loglik
    ks = stats.kstest(sample, dist.cdf, args=params)
    results.append((aic, name, ks.statistic, params))

results.sort()
print(f"{'dist':<10}{'AIC':>10}{'KS':>8}")
for aic, name, ks, params in results:
    print(f"{name:<10}{aic:>10.1f}{ks:>8.4f}")

best = results[0]
frozen = candidates[best[1]](*best[3])
print("Best:", best[1], "params:", [round(float(p), 3) for p in best[3]])
print("Quantiles:", frozen.ppf([0.5, 0.9, 0.99]).round(2))
print("Empirical:", np.quantile(sample, [0.5, 0.9, 0.99]).round(2))
