import warnings
import numpy as np
import pandas as pd
from sklearn.cluster import AgglomerativeClustering, DBSCAN, KMeans, SpectralClustering
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

warnings.filterwarnings("ignore", category=UserWarning)

datasets = {
    "moons": make_moons(n_samples=200, noise=0.05, random_state=1),
    "circles": make_circles(n_samples=200, noise=0.03, factor=0.5, random_state=1),
}
algorithms = {
    "kmeans": lambda: KMeans(2, n_init=10, random_state=0),
    "single-link": lambda: AgglomerativeClustering(2, linkage="single"),
    "dbscan": lambda: DBSCAN(eps=0.25),
    "spectral": lambda: SpectralClustering(2, affinity="nearest_neighbors", random_state=0),
}

results = []
for dname, (X, y) in datasets.items():
    for aname, factory in algorithms.items():
        labels = factory().fit_predict(X)
        results.append({"data": dname, "algorithm": aname, "ARI": adjusted_rand_score(y, labels),
                        "NMI": normalized_mutual_info_score(y, labels)})

table = pd.DataFrame(results).pivot(index="algorithm", columns="data", values=["ARI", "NMI"])
print(np.abs(table).round(2).to_string())
winners = pd.DataFrame(results).query("ARI > 0.95").groupby("data")["algorithm"].apply(list)
print(winners.to_dict())
