import numpy as np
import pandas as pd
np.random.seed(0)
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
X = np.random.rand(60, 5); y = np.arange(60) % 3
for t in (y, y % 2):
    h = GradientBoostingClassifier(n_estimators=3, n_iter_no_change=2, subsample=.7).fit(X, t)
    h.predict(X); list(h.staged_predict(X)); h.predict_proba(pd.DataFrame(X)); h.apply(X)
    h = GradientBoostingClassifier(n_estimators=3, warm_start=True).fit(X, t)
    h.n_estimators = 5; h.fit(X, t).predict(X)
    h = GradientBoostingClassifier(n_estimators=3, init='zero').fit(X, t).predict(X)
h = GradientBoostingRegressor(n_estimators=3).fit(X, y); h.predict(X)
import scipy.sparse as sp
h.fit(sp.csr_matrix(X), y).predict(sp.csr_matrix(X))
print('ok')
