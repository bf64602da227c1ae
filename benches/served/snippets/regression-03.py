import numpy as np
import pandas as pd
import statsmodels.formula.api as smf
from statsmodels.stats.anova import anova_lm

rng = np.random.default_rng(12)
n = 240
df = pd.DataFrame({
    "diet": rng.choice(["control", "lowcarb", "vegan"], n),
    "sex": rng.choice(["f", "m"], n),
    "age": rng.integers(20, 65, n),
})
df["loss"] = (
    2
    + df["diet"].map({"control": 0, "lowcarb": 2.5, "vegan": 1.8})
    + (df["sex"] == "m") * 0.7
    - 0.02 * df["age"]
    + rng.normal(0, 1.5, n)
)

base = smf.ols("loss ~ age + C(sex)", data=df).fit()
full = smf.ols("loss ~ age + C(sex) + C(diet, Treatment('control'))", data=df).fit()
inter = smf.ols("loss ~ age + C(sex) * C(diet)", data=df).fit()

print(full.params.round(3))
print()
print(anova_lm(base, full, inter).round(3))
for name, m in {"base": base, "full": full, "interaction": inter}.items():
    print(f"{name:<12} AIC={m.aic:8.2f} BIC={m.bic:8.2f} R2={m.rsquared:.3f}")
