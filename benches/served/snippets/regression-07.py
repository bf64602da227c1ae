import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

# Logistic regression with odds ratios
rng = np.random.default_rng(99)
n = 600
df = pd.DataFrame({
    "tenure": rng.exponential(24, n),
    "calls": rng.poisson(2, n),
    "contract": rng.choice(["monthly", "yearly"], n, p=[0.6, 0.4]),
})
logit_p = -0.8 - 0.03 * df.tenure + 0.45 * df.calls + 0.9 * (df.contract == "monthly")
df["churn"] = rng.binomial(1, 1 / (1 + np.exp(-logit_p)))

model = smf.logit("churn ~ tenure + calls + C(contract, Treatment('yearly'))", data=df).fit(disp=False)
odds = pd.DataFrame({
    "OR": np.exp(model.params),
    "low": np.exp(model.conf_int()[0]),
    "high": np.exp(model.conf_int()[1]),
    "p": model.pvalues,
}).round(3)
odds.index = odds.index.str.replace(r"C\(contract.*\)\[T\.(\w+)\]", r"contract=\1", regex=True)
print(odds)
print(f"Pseudo R2: {model.prsquared:.3f}")

pred = (model.predict(df) > 0.5).astype(int)
print(pd.crosstab(df["churn"], pred, rownames=["actual"], colnames=["predicted"]))
print(f"Accuracy: {(pred == df['churn']).mean():.3f}")
