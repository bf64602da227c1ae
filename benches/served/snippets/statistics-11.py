import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests

rng = np.random.default_rng(2)

# 100 hypotheses, 15 of them real
n_tests, n_real = 100, 15
pvals = np.empty(n_tests)
for i in range(n_tests):
    shift = 0.9 if i < n_real else 0.0
    a, b = rng.normal(0, 1, 30), rng.normal(shift, 1, 30)
    pvals[i] = stats.ttest_ind(a, b).pvalue

truth = np.arange(n_tests) < n_real

def report(name, reject):
    tp = int(np.sum(reject & truth))
    fp = int(np.sum(reject & ~truth))
    fdr = fp / max(1, tp + fp)
    print(f"{name:<12} rejected={reject.sum():>3} TP={tp:>2} FP={fp:>2} FDR={fdr:.2f}")

report("none", pvals < 0.05)
for method in ("bonferroni", "holm", "fdr_bh", "fdr_by"):
    reject, adj, *_ = multipletests(pvals, alpha=0.05, method=method)
    report(method, reject)

# Benjamini-Hochberg by hand
order = np.argsort(pvals)
thresh = 0.05 * np.arange(1, n_tests + 1) / n_tests
below = pvals[order] <= thresh
k = np.max(np.nonzero(below)[0]) + 1 if below.any() else 0
print("By hand:", k, "rejections")
