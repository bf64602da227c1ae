import numpy as np
import pandas as pd
import statsmodels.api as sm

# Lead/lag analysis: how long does advertising take to affect sales?
rng = np.random.default_rng(404)
n = 150
idx = pd.date_range("2021-01-04", periods=n, freq="W-MON")
ads = pd.Series(rng.gamma(2, 50, n), index=idx)
sales = 500 + 1.5 * ads.shift(3).fillna(ads.mean()) + rng.normal(0, 40, n)

print("lag  corr")
xcorr = {lag: sales.corr(ads.shift(lag)) for lag in range(0, 7)}
for lag, c in xcorr.items():
    print(f"{lag:>3}  {c:+.3f} {'*' * int(max(c, 0) * 40)}")
best = max(xcorr, key=xcorr.get)
print(f"Best lag: {best} weeks")

X = sm.add_constant(ads.shift(best).rename("ads_lagged")).dropna()
ols = sm.OLS(sales.loc[X.index], X).fit(cov_type="HAC", cov_kwds={"maxlags": 4})
print(pd.DataFrame({"coef": ols.params, "se": ols.bse, "p": ols.pvalues}).round(3))
print(f"R2 = {ols.rsquared:.3f}")
print(f"Durbin-Watson = {sm.stats.durbin_watson(ols.resid):.2f}")
