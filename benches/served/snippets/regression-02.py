import numpy as np
import pandas as pd
import statsmodels.api as sm

rng = np.random.default_rng(0)
n = 150
X = pd.DataFrame({
    "education": rng.normal(13, 2, n),
    "experience": rng.uniform(0, 30, n),
})
wage = 5 + 1.2 * X["education"] + 0.3 * X["experience"] + rng.normal(0, 3, n)

X_const = sm.add_constant(X)
results = sm.OLS(wage, X_const).fit()

# Coefficient table only
print(results.summary().tables[1])
print(f"R-squared: {results.rsquared:.3f}, adj.: {results.rsquared_adj:.3f}")
print(f"F({int(results.df_model)}, {int(results.df_resid)}) = {results.fvalue:.2f}, p = {results.f_pvalue:.2e}")

# Confidence intervals
ci = results.conf_int(alpha=0.05)
ci.columns = ["2.5%", "97.5%"]
print(ci.round(3))
print("Significant:", [name for name, p in results.pvalues.items() if p < 0.05])
