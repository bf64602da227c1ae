import numpy as np
import pandas as pd
import statsmodels.api as sm

rng = np.random.default_rng(6)
n = 600
df = pd.DataFrame({
    "age": rng.integers(20, 75, n),
    "smoker": rng.binomial(1, 0.3, n),
    "bmi": rng.normal(26, 4, n),
})
logit = -9 + 0.08 * df["age"] + 1.1 * df["smoker"] + 0.12 * df["bmi"]
df["disease"] = rng.binomial(1, 1 / (1 + np.exp(-logit)))

X = sm.add_constant(df[["age", "smoker", "bmi"]])
fit = sm.Logit(df["disease"], X).fit(disp=False)

summary = pd.DataFrame({
    "coef": fit.params,
    "OR": np.exp(fit.params),
    "OR_low": np.exp(fit.conf_int()[0]),
    "OR_high": np.exp(fit.conf_int()[1]),
    "p": fit.pvalues,
}).drop("const")
print(summary.round(3))
print(f"Pseudo R2: {fit.prsquared:.3f} | LLR p < 0.001: {fit.llr_pvalue < 0.001}")

profile = pd.DataFrame({"const": 1.0, "age": [30, 50, 70], "smoker": [0, 1, 1], "bmi": [22, 28, 31]})
for (_, row), p in zip(profile.iterrows(), fit.predict(profile)):
    print(f"age {row.age:.0f}, smoker {bool(row.smoker)}: {p:.1%}")
