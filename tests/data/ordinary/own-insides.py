import json
from collections.abc import Mapping
from contextlib import ContextDecorator

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


class Registry(Mapping):
    def __init__(self, **entries):
        self._entries = entries

    def __getitem__(self, key):
        return self._entries[key]

    def __iter__(self):
        return iter(self._entries)

    def __len__(self):
        return len(self._entries)


class Clipper(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    def __init__(self, quantile=0.1):
        self.quantile = quantile

    def fit(self, X, y=None):
        self._low = np.quantile(X, self.quantile, axis=0)
        self._high = np.quantile(X, 1 - self.quantile, axis=0)
        self._n_features_out = X.shape[1]
        return self

    def transform(self, X):
        return np.clip(X, self._low, self._high)


class Steps(ContextDecorator):
    _names = []

    def __enter__(self):
        self._depth = getattr(self, "_depth", 0) + 1
        self._names.append(self._depth)
        return self

    def __exit__(self, *exc):
        self._depth -= 1
        return False


class Rounded(json.JSONEncoder):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._digits = 2

    def default(self, value):
        return round(float(value), self._digits)


print(dict(Registry(a=1, b=2)))
X = np.arange(12.0).reshape(6, 2)
clipped = make_pipeline(Clipper(0.2), StandardScaler()).fit_transform(X)
print(clipped.round(3).tolist())
print(Clipper().fit(X).get_feature_names_out())
with Steps() as steps, steps:
    print(steps._names)
print(json.dumps({"x": np.float32(1.23456)}, cls=Rounded))
