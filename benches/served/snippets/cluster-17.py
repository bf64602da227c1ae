import pandas as pd
import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import MDS
from sklearn.preprocessing import scale
from sklearn.datasets import load_wine
from sklearn.cluster import KMeans

wine = load_wine(as_frame=True)
X = scale(wine.data)

pca = PCA().fit(X)
cum = np.cumsum(pca.explained_variance_ratio_)
n_90 = int(np.searchsorted(cum, 0.90) + 1)
print(f"{n_90} of {X.shape[1]} components explain 90% of the variance")

loadings = pd.DataFrame(np.abs(pca.components_[:2].T), index=wine.data.columns, columns=["PC1", "PC2"])
for pc in loadings:
    print(pc, "->", ", ".join(loadings[pc].nlargest(3).index))

Xp = PCA(n_components=n_90).fit_transform(X)
labels = KMeans(3, n_init=10, random_state=0).fit_predict(Xp)
tab = pd.crosstab(wine.target.map(dict(enumerate(wine.target_names))), labels)
print(tab.to_numpy().max(axis=1))
accuracy = tab.max(axis=1).sum() / len(X)
print(f"Agreement with the cultivars: {accuracy:.1%}")
