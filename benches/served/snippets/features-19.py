import numpy as np
import pandas as pd
import statsmodels.api as sm
from statsmodels.stats.outliers_influence import variance_inflation_factor

np.random.seed(12)
n = 200
df = pd.DataFrame({"tv": np.random.uniform(0, 300, n), "radio": np.random.uniform(0, 50, n)})
df["online"] = 0.4 * df["tv"] + np.random.normal(0, 12, n)   # strongly tied to tv
df["sales"] = 5 + 0.05 * df["tv"] + 0.18 * df["radio"] + 0.001 * df["tv"] * df["radio"] + np.random.normal(0, 1, n)

def vif_table(X):
    X = sm.add_constant(X)
    return pd.Series(
        [variance_inflation_factor(X.values, i) for i in range(X.shape[1])],
        index=X.columns,
    ).drop("const").round(2)

print("VIF (all):", vif_table(df[["tv", "radio", "online"]]).to_dict())
print("VIF (without online):", vif_table(df[["tv", "radio"]]).to_dict())

# Compare nested feature sets
df["tv_radio"] = df["tv"] * df["radio"]
for cols in (["tv"], ["tv", "radio"], ["tv", "radio", "tv_radio"]):
    fit = sm.OLS(df["sales"], sm.add_constant(df[cols])).fit()
    print(f"{'+'.join(cols):<20} adj R2={fit.rsquared_adj:.4f}  AIC={fit.aic:.1f}")
print(fit.params.round(4).to_string())
