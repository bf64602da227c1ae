import numpy as np
import pandas as pd
import statsmodels.api as sm

# Poisson vs. negative binomial for count data
rng = np.random.default_rng(77)
n = 300
exposure = rng.uniform(0.5, 2.0, n)
x = rng.normal(size=n)
mu = exposure * np.exp(0.5 + 0.6 * x)
y = rng.negative_binomial(2, 2 / (2 + mu))

X = sm.add_constant(pd.DataFrame({"x": x}))
families = {"Poisson": sm.families.Poisson(), "NegBin": sm.families.NegativeBinomial(alpha=0.5)}

fits = {}
for name, family in families.items():
    fits[name] = sm.GLM(y, X, family=family, offset=np.log(exposure)).fit()
    f = fits[name]
    dispersion = f.pearson_chi2 / f.df_resid
    print(f"{name:<8} b0={f.params['const']:.3f} b1={f.params['x']:.3f} "
          f"se={f.bse['x']:.3f} AIC={f.aic:.1f} dispersion={dispersion:.2f}")

if fits["Poisson"].pearson_chi2 / fits["Poisson"].df_resid > 1.5:
    print("Data are overdispersed; prefer the negative binomial model")

irr = np.exp(fits["NegBin"].params["x"])
print(f"Incidence rate ratio for x: {irr:.2f}")
print(f"Mean of y: {y.mean():.2f}, variance: {y.var():.2f}")
