import numpy as np
import pandas as pd
np.random.seed(0)
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM
import scipy.sparse as sp
X = np.random.rand(60, 5); y = np.arange(60) % 3
for s in (SVC(), SVC(kernel='linear'), SVC(probability=True), NuSVC(nu=.3), SVR(), NuSVR(), OneClassSVM(), SVC(kernel=lambda a, b: a @ b.T), SVR(kernel=lambda a, b: a @ b.T)):
    for Z in (X, sp.csr_matrix(X)):
        for t in (y, y % 2):
            if callable(s.kernel) and Z is not X: continue
            s.fit(Z, t); s.predict(Z)
            if hasattr(s, 'decision_function'): s.decision_function(Z)
            if getattr(s, 'probability', False) is True: s.predict_proba(Z)
for s in (SVC(kernel='precomputed'), SVR(kernel='precomputed')):
    print(s.fit(X @ X.T, y % 2).predict(X @ X.T)[:3])
print('ok')
