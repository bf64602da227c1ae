import numpy as np
import pandas as pd
import statsmodels.formula.api as smf
from statsmodels.stats.stattools import durbin_watson, jarque_bera
from statsmodels.stats.diagnostic import het_breuschpagan

rng = np.random.default_rng(15)
n = 250
df = pd.DataFrame({"exp": rng.uniform(0, 30, n), "edu": rng.choice(["hs", "ba", "phd"], n, p=[0.5, 0.35, 0.15])})
df["wage"] = 20 + 0.9 * df["exp"] - 0.01 * df["exp"] ** 2 + df["edu"].map({"hs": 0, "ba": 8, "phd": 15}) + rng.normal(0, 1 + 0.15 * df["exp"])

ols = smf.ols("wage ~ exp + I(exp**2) + C(edu, Treatment('hs'))", df).fit()
robust = ols.get_robustcov_results("HC3")

table = pd.DataFrame({"coef": ols.params, "se": ols.bse, "robust_se": robust.bse, "p": robust.pvalues})
print(table.round(4))

bp = het_breuschpagan(ols.resid, ols.model.exog)
print(f"R2={ols.rsquared:.3f}  DW={durbin_watson(ols.resid):.2f}  JB p={jarque_bera(ols.resid)[1]:.3f}  BP p={bp[1]:.2e}")

infl = ols.get_influence().cooks_distance[0]
top = np.argsort(infl)[::-1][:3]
print("Largest Cook's D:", [(int(i), round(float(infl[i]), 4)) for i in top])
pred = ols.get_prediction(pd.DataFrame({"exp": [5, 20], "edu": ["ba", "phd"]})).summary_frame(alpha=0.1)
print(pred[["mean", "mean_ci_lower", "mean_ci_upper"]].round(2))
