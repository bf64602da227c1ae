import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score
from sklearn.preprocessing import StandardScaler

np.random.seed(42)
n = 100
customers = pd.DataFrame({
    "recency": np.concatenate([np.random.normal(10, 3, n), np.random.normal(60, 10, n), np.random.normal(120, 15, n)]),
    "frequency": np.concatenate([np.random.normal(20, 4, n), np.random.normal(8, 2, n), np.random.normal(2, 1, n)]),
    "monetary": np.concatenate([np.random.normal(900, 100, n), np.random.normal(400, 80, n), np.random.normal(80, 30, n)]),
}).clip(lower=0)

X = StandardScaler().fit_transform(customers)

# Choose k
scores = {}
for k in range(2, 7):
    labels = KMeans(n_clusters=k, n_init=10, random_state=42).fit_predict(X)
    scores[k] = silhouette_score(X, labels)
    print(f"k={k}: silhouette={scores[k]:.3f}")

best_k = max(scores, key=scores.get)
km = KMeans(n_clusters=best_k, n_init=10, random_state=42).fit(X)
customers["cluster"] = km.labels_

profile = customers.groupby("cluster").mean().round(1).sort_values("monetary", ascending=False)
profile.insert(0, "size", customers["cluster"].value_counts())
print(f"\nBest k: {best_k}")
print(profile.reset_index(drop=True))
