import numpy as np
import pandas as pd
np.random.seed(0)
from sklearn.base import BaseEstimator, TransformerMixin, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import Pipeline
class T(BaseEstimator, TransformerMixin):
    def __init__(self, k=1): self.k = k
    @property
    def scale_(self): return 2
    def fit(self, X, y=None): self.data = X; self.row = 1; return self
    def transform(self, X): return X * self.scale_
class R(RandomForestClassifier):
    @property
    def feature_importances_(self): return super().feature_importances_ * 2
    @property
    def best(self): return 1
X = np.random.rand(30, 3)
p = Pipeline([('t', T()), ('r', R(n_estimators=3, random_state=0))]).fit(X, np.arange(30) % 2)
print(p.predict(X)[:3], p['r'].feature_importances_.sum(), p['t'].data.shape, p['t'].row)
