import numpy as np
import pandas as pd
from scipy.spatial import cKDTree, distance_matrix
from scipy.spatial.distance import cdist, pdist, squareform

rng = np.random.default_rng(10)
shops = pd.DataFrame(rng.uniform(0, 100, (8, 2)), columns=["x", "y"], index=[f"S{i}" for i in range(8)])
clients = pd.DataFrame(rng.uniform(0, 100, (200, 2)), columns=["x", "y"])

# Nearest shop for every client
tree = cKDTree(shops)
dist, idx = tree.query(clients, k=2)
clients["shop"] = shops.index[idx[:, 0]]
clients["dist"] = dist[:, 0]
clients["advantage"] = dist[:, 1] - dist[:, 0]
print(clients.groupby("shop")["dist"].agg(["count", "mean", "max"]).round(2))

brute = cdist(clients[["x", "y"]], shops).argmin(axis=1)
print("Same as brute force:", np.array_equal(brute, idx[:, 0]))

D = pd.DataFrame(squareform(pdist(shops)), index=shops.index, columns=shops.index)
a, b = np.unravel_index(np.where(np.eye(8), np.inf, D).argmin(), D.shape)
print(f"Closest shops: {shops.index[a]} and {shops.index[b]} at {D.iat[a, b]:.2f}")
print("Within 25 of centre:", sorted(shops.index[tree.query_ball_point([50, 50], 25)]))
for metric in ("cityblock", "chebyshev", "cosine"):
    print(f"{metric:<10} {cdist(shops[:1], shops[1:2], metric)[0, 0]:.4f}")
assert np.allclose(distance_matrix(shops, shops), D)
