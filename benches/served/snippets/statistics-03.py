import pandas as pd
import numpy as np
import statsmodels.api as sm
import statsmodels.formula.api as smf
from statsmodels.stats.multicomp import pairwise_tukeyhsd

rng = np.random.default_rng(3)
df = pd.DataFrame({
    "fertilizer": np.repeat(["A", "B", "C"], 20),
    "water": np.tile(np.repeat(["low", "high"], 10), 3),
})
effect = df["fertilizer"].map({"A": 0, "B": 1.5, "C": 3.0}) + df["water"].map({"low": 0, "high": 2.0})
df["yield_"] = 20 + effect + rng.normal(0, 1.5, len(df))

model = smf.ols("yield_ ~ C(fertilizer) * C(water)", data=df).fit()
anova = sm.stats.anova_lm(model, typ=2)
print(anova.round(4))

tukey = pairwise_tukeyhsd(df["yield_"], df["fertilizer"])
print(tukey.summary())

means = df.pivot_table("yield_", "fertilizer", "water").round(2)
print(means)
eta = anova["sum_sq"] / anova["sum_sq"].sum()
print("Eta squared:\n" + eta.drop("Residual").round(3).to_string())
