import numpy as np
import pandas as pd
import seaborn as sns
import matplotlib.pyplot as plt
from sklearn.linear_model import HuberRegressor, LinearRegression, QuantileRegressor, TheilSenRegressor

rng = np.random.default_rng(10)
X = rng.uniform(0, 10, (100, 1))
y = 4 + 1.5 * X.ravel() + rng.normal(0, 1, 100)
y[:8] += 25  # outliers

estimators = [LinearRegression(), HuberRegressor(), TheilSenRegressor(random_state=0),
              QuantileRegressor(quantile=0.5, alpha=0)]
fits = pd.DataFrame(
    [{"model": type(e).__name__, "slope": e.fit(X, y).coef_[0], "intercept": e.intercept_} for e in estimators]
).set_index("model")
print(fits.round(2))
print("Closest to the true slope of 1.5:", (fits["slope"] - 1.5).abs().idxmin())

sns.set_style("whitegrid")
fig, ax = plt.subplots(figsize=(7, 5))
ax.scatter(X, y, s=15, c="grey")
xs = np.array([0, 10])
for name, row in fits.iterrows():
    ax.plot(xs, row["intercept"] + row["slope"] * xs, label=name)
ax.legend()
fig.savefig("robust.png", dpi=80)
plt.close("all")
