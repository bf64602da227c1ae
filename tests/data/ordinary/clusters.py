import numpy as np
from sklearn.cluster import DBSCAN, KMeans, MiniBatchKMeans
from sklearn.metrics import silhouette_score
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KNeighborsClassifier
X = np.vstack([np.random.default_rng(0).normal(c, 0.3, (40, 2)) for c in (0, 4, 8)])
labels = KMeans(n_clusters=3, n_init=10, random_state=0).fit_predict(X)
print(np.bincount(labels), round(silhouette_score(X, labels), 2))
print(len(set(MiniBatchKMeans(n_clusters=3, n_init=3, random_state=0).fit_predict(X))))
print(sorted(set(DBSCAN(eps=0.8).fit_predict(X))))
print(GaussianMixture(n_components=3, random_state=0).fit(X).converged_)
print(KNeighborsClassifier(3).fit(X, labels).score(X, labels))
