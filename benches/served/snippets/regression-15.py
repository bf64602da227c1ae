import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

# Mixed model: students nested in schools
rng = np.random.default_rng(8)
schools = 15
df = pd.DataFrame({"school": np.repeat(np.arange(schools), 20)})
df["hours"] = rng.uniform(0, 10, len(df))
school_effect = rng.normal(0, 6, schools)
df["score"] = 50 + 2.5 * df["hours"] + school_effect[df["school"]] + rng.normal(0, 5, len(df))

mixed = smf.mixedlm("score ~ hours", df, groups=df["school"]).fit()
pooled = smf.ols("score ~ hours", df).fit()

print("Mixed: slope = {:.2f} (se {:.2f})".format(mixed.params["hours"], mixed.bse["hours"]))
print("OLS:   slope = {:.2f} (se {:.2f})".format(pooled.params["hours"], pooled.bse["hours"]))

var_group = float(mixed.cov_re.iloc[0, 0])
icc = var_group / (var_group + mixed.scale)
print(f"Intra-class correlation: {icc:.2f}")

effects = pd.Series({k: v.iloc[0] for k, v in mixed.random_effects.items()}).sort_values()
print(f"Lowest school: {effects.index[0]}, highest: {effects.index[-1]}")
print("Correlation with true effects: %.2f" % np.corrcoef(effects.sort_index(), school_effect)[0, 1])
