import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import LinearRegression
from sklearn.compose import TransformedTargetRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline


class DateFeatures(BaseEstimator, TransformerMixin):
    """Turn a date column into month/weekday cycles and a trend."""

    def __init__(self, use_cycles=True):
        self.use_cycles = use_cycles

    def fit(self, X, y=None):
        self.start_ = X["date"].min()
        return self

    def transform(self, X):
        out = pd.DataFrame({"trend": (X["date"] - self.start_).dt.days})
        if self.use_cycles:
            angle = 2 * np.pi * X["date"].dt.dayofyear / 365.25
            out["sin"], out["cos"] = np.sin(angle), np.cos(angle)
        return out


rng = np.random.default_rng(4)
X = pd.DataFrame({"date": pd.date_range("2021-01-01", periods=730)})
y = np.exp(3 + 0.001 * np.arange(730) + 0.4 * np.sin(2 * np.pi * X["date"].dt.dayofyear / 365.25) + rng.normal(0, 0.1, 730))

pipe = Pipeline([("dates", DateFeatures()),
                 ("reg", TransformedTargetRegressor(LinearRegression(), func=np.log, inverse_func=np.exp))])
search = GridSearchCV(pipe, {"dates__use_cycles": [True, False]}, cv=4, scoring="r2").fit(X, y)
print("Best:", search.best_params_)
for params, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"]):
    print(params, round(score, 3))
