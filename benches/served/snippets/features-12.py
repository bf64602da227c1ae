import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score
from sklearn.preprocessing import StandardScaler
from sklearn.datasets import make_blobs

X, true = make_blobs(n_samples=240, centers=4, n_features=8, cluster_std=1.5, random_state=10)
Xs = StandardScaler().fit_transform(X)

pca = PCA(n_components=0.9, random_state=0).fit(Xs)
Z = pca.transform(Xs)
print("Components kept:", pca.n_components_)
print("Explained:", np.round(pca.explained_variance_ratio_, 3))

scores = {}
for k in range(2, 7):
    labels = KMeans(n_clusters=k, n_init=10, random_state=0).fit_predict(Z)
    scores[k] = silhouette_score(Z, labels)
for k, s in scores.items():
    print(f"k={k}: {'█' * int(s * 40)} {s:.3f}")

best = max(scores, key=scores.get)
km = KMeans(n_clusters=best, n_init=10, random_state=0).fit(Z)
feat = pd.DataFrame(km.transform(Z), columns=[f"dist_c{i}" for i in range(best)]).assign(cluster=km.labels_)
print("Best k:", best)
print("Cluster sizes:", sorted(feat["cluster"].value_counts().tolist()))
print(pd.crosstab(true, km.labels_).max(axis=1).sum() / len(X))
