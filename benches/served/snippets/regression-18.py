"""Price elasticity with a log-log regression per product."""
import numpy as np
import pandas as pd
import statsmodels.api as sm

rng = np.random.default_rng(36)
TRUE = {"coffee": -0.6, "tea": -1.1, "juice": -2.0}

frames = []
for product, elasticity in TRUE.items():
    price = rng.uniform(1.5, 5.0, 90)
    qty = np.exp(5 + elasticity * np.log(price) + rng.normal(0, 0.15, 90))
    frames.append(pd.DataFrame({"product": product, "price": price, "qty": qty}))
df = pd.concat(frames, ignore_index=True)


def elasticity(g):
    fit = sm.OLS(np.log(g["qty"]), sm.add_constant(np.log(g["price"]))).fit()
    low, high = fit.conf_int().loc["price"]
    return pd.Series({"elasticity": fit.params["price"], "low": low, "high": high, "r2": fit.rsquared})


est = df.groupby("product")[["price", "qty"]].apply(elasticity).round(3)
est["true"] = pd.Series(TRUE)
est["demand"] = np.where(est["elasticity"] < -1, "elastic", "inelastic")
print(est.sort_values("elasticity").to_markdown())

for name, e in est["elasticity"].items():
    print(f"A 10% price rise for {name} changes revenue by {(1.1 ** (1 + e) - 1):+.1%}")
