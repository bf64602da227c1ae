import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from itertools import combinations
from tqdm.auto import tqdm

# How stable are the clusters under resampling?
rng = np.random.default_rng(1)
X = np.vstack([rng.normal(c, 1.0, (60, 2)) for c in [(0, 0), (4, 0), (2, 4)]])

rows = []
for k in tqdm(range(2, 7), desc="k"):
    fits = []
    for b in range(8):
        idx = rng.choice(len(X), len(X), replace=True)
        fits.append(KMeans(k, n_init=3, random_state=b).fit(X[idx]).predict(X))
    ari = [adjusted_rand_score(a, b) for a, b in combinations(fits, 2)]
    rows.append({"k": k, "mean_ari": np.mean(ari), "min_ari": np.min(ari)})

stability = pd.DataFrame(rows).set_index("k").round(3)
print(stability)
print(f"Most stable number of clusters: {stability['mean_ari'].idxmax()}")
stability.to_csv("stability.csv")
