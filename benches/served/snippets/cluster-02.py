import numpy as np
import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

X, _ = make_blobs(n_samples=300, centers=4, cluster_std=0.7, random_state=0)

# Elbow method
ks = range(1, 9)
inertias = [KMeans(n_clusters=k, n_init=5, random_state=0).fit(X).inertia_ for k in ks]

drops = -np.diff(inertias) / inertias[:-1]
for k, drop in zip(range(2, 9), drops):
    print(f"{k - 1} -> {k} clusters: inertia falls by {drop:.0%}")

elbow = int(np.argmax(np.diff(inertias, 2))) + 2
print("Largest bend at k =", elbow)

fig, (ax1, ax2) = plt.subplots(1, 2, figsize=(12, 5))
ax1.plot(ks, inertias, "o-")
ax1.set(xlabel="k", ylabel="Inertia", title="Elbow plot")
km = KMeans(n_clusters=4, n_init=5, random_state=0).fit(X)
ax2.scatter(X[:, 0], X[:, 1], c=km.labels_, cmap="viridis", s=20)
ax2.scatter(*km.cluster_centers_.T, marker="X", c="red", s=120)
ax2.set_title("k = 4")
plt.tight_layout()
plt.savefig("elbow.png")
print("Sizes:", sorted(np.bincount(km.labels_).tolist()))
plt.show()
