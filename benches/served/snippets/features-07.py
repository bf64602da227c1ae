import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import make_pipeline
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score


class OutlierClipper(BaseEstimator, TransformerMixin):
    """Clip columns to the given quantiles learnt on the training data."""

    def __init__(self, lower=0.01, upper=0.99):
        self.lower = lower
        self.upper = upper

    def fit(self, X, y=None):
        self.lo_ = np.quantile(X, self.lower, axis=0)
        self.hi_ = np.quantile(X, self.upper, axis=0)
        return self

    def transform(self, X):
        return np.clip(X, self.lo_, self.hi_)


rng = np.random.default_rng(8)
X = rng.normal(size=(250, 3))
y = X @ np.array([1.5, -2.0, 0.5]) + rng.normal(scale=0.3, size=250)
X[rng.choice(250, 6, replace=False), 0] *= 40  # corrupt a few values

plain = cross_val_score(Ridge(), X, y, cv=5, scoring="r2")
clipped = cross_val_score(make_pipeline(OutlierClipper(0.02, 0.98), Ridge()), X, y, cv=5, scoring="r2")
print(f"Plain R2   : {plain.mean():.3f} +/- {plain.std():.3f}")
print(f"Clipped R2 : {clipped.mean():.3f} +/- {clipped.std():.3f}")
print(OutlierClipper(upper=0.9).get_params())
print(OutlierClipper().fit_transform(X).max(axis=0).round(2))
