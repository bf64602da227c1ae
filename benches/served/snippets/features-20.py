import numpy as np
import pandas as pd
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, KBinsDiscretizer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import Pipeline

rng = np.random.default_rng(4)
x = np.sort(rng.uniform(0, 10, 120))[:, None]
y = np.sin(x).ravel() + 0.1 * x.ravel() + rng.normal(0, 0.15, 120)

candidates = [
    ("linear", PolynomialFeatures(1)),
    ("poly3", PolynomialFeatures(3)),
    ("poly9", PolynomialFeatures(9)),
    ("spline", SplineTransformer(n_knots=8, degree=3)),
    ("bins", KBinsDiscretizer(n_bins=8, encode="onehot-dense", strategy="uniform")),
]
train, test = np.arange(120) % 3 != 0, np.arange(120) % 3 == 0
for name, step in candidates:
    pipe = Pipeline([("expand", step), ("lr", LinearRegression())])
    pipe.fit(x[train], y[train])
    rmse = np.sqrt(np.mean((pipe.predict(x[test]) - y[test]) ** 2))
    n_feat = pipe[:-1].transform(x[:1]).shape[1]
    print(f"{name:<8} features={n_feat:>2}  test RMSE={rmse:.3f}")

poly = PolynomialFeatures(degree=2, interaction_only=True, include_bias=False).fit(np.zeros((1, 3)))
print(poly.get_feature_names_out(["a", "b", "c"]).tolist())
