import numpy as np
import pandas as pd
import statsmodels.api as sm
from statsmodels.stats.outliers_influence import variance_inflation_factor
from statsmodels.stats.diagnostic import het_breuschpagan
from statsmodels.stats.stattools import durbin_watson, jarque_bera


def diagnostics(res):
    """Classical checks of the residuals of an OLS fit."""
    jb, jb_p, skew, kurt = jarque_bera(res.resid)
    _, bp_p, _, _ = het_breuschpagan(res.resid, res.model.exog)
    return {"Durbin-Watson": durbin_watson(res.resid), "JB p": jb_p, "BP p": bp_p,
            "skew": skew, "max |resid|": np.abs(res.resid).max()}


rng = np.random.default_rng(44)
n = 180
x1 = rng.normal(size=n)
X = pd.DataFrame({"x1": x1, "x2": 0.95 * x1 + rng.normal(0, 0.2, n), "x3": rng.normal(size=n)})
y = 1 + 2 * X.x1 - X.x3 + rng.normal(0, 1 + 0.8 * np.abs(X.x3), n)
exog = sm.add_constant(X)

vif = pd.Series([variance_inflation_factor(exog.values, i) for i in range(1, 4)], index=X.columns)
print("VIF:", vif.round(2).to_dict())

fit = sm.OLS(y, exog).fit()
for key, val in diagnostics(fit).items():
    print(f"{key:<15} {val:.4f}")

robust = fit.get_robustcov_results("HC3")
print(pd.DataFrame({"coef": fit.params, "se": fit.bse, "se_HC3": robust.bse}).round(3))
