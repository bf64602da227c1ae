from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler
import numpy as np
import pandas as pd

iris = load_iris()
X = StandardScaler().fit_transform(iris.data)

pca = PCA(n_components=2)
X2 = pca.fit_transform(X)
print("Explained variance:", np.round(pca.explained_variance_ratio_, 3), f"total {pca.explained_variance_ratio_.sum():.1%}")

rows = []
for cov in ["full", "tied", "diag", "spherical"]:
    for k in (2, 3, 4):
        gm = GaussianMixture(k, covariance_type=cov, random_state=0, n_init=3).fit(X2)
        rows.append((cov, k, gm.bic(X2)))
bic = pd.DataFrame(rows, columns=["covariance", "k", "bic"])
print(bic.pivot(index="covariance", columns="k", values="bic").round(0).astype(int))

best = bic.loc[bic["bic"].idxmin()]
print(f"Best model: {best['covariance']} with {best['k']} components")

gm = GaussianMixture(3, random_state=0, n_init=3).fit(X2)
print(f"Adjusted Rand index (k=3): {adjusted_rand_score(iris.target, gm.predict(X2)):.3f}")
uncertain = (gm.predict_proba(X2).max(axis=1) < 0.8).sum()
print(f"Uncertain points: {uncertain}")
