import numpy as np
import pandas as pd
from scipy.stats import chi2_contingency, fisher_exact, chisquare

# Survey contingency table
table = pd.DataFrame(
    [[45, 30, 25], [20, 35, 45]],
    index=["men", "women"],
    columns=["tea", "coffee", "water"],
)
chi2, p, dof, expected = chi2_contingency(table)
print(f"chi2={chi2:.3f} dof={dof} p={p:.5f}")
print(pd.DataFrame(expected, index=table.index, columns=table.columns).round(1))

# Standardised residuals and effect size
resid = (table - expected) / np.sqrt(expected)
print(resid.round(2))
n = table.to_numpy().sum()
v = np.sqrt(chi2 / (n * (min(table.shape) - 1)))
print(f"Cramér's V = {v:.3f}")

odds, p2 = fisher_exact([[8, 2], [1, 5]])
print(f"Fisher: odds ratio={odds:.2f}, p={p2:.4f}")

rolls = [22, 17, 20, 26, 22, 13]
gof = chisquare(rolls)
print(f"Fair die? stat={gof.statistic:.3f}, p={gof.pvalue:.3f}")
