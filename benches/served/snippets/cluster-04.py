import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import cophenet, fcluster, linkage
from scipy.spatial.distance import pdist, squareform

countries = ["Aland", "Borduria", "Carpania", "Dawsbergen", "Elbonia", "Freedonia"]
features = pd.DataFrame({
    "gdp": [45, 12, 14, 47, 10, 30],
    "life_exp": [82, 71, 72, 81, 68, 78],
    "urban": [85, 55, 58, 88, 50, 70],
}, index=countries)

Z_scores = (features - features.mean()) / features.std()
dist = pdist(Z_scores)
print(pd.DataFrame(squareform(dist), index=countries, columns=[c[:3] for c in countries]).round(2))

for method in ("single", "complete", "average", "ward"):
    Z = linkage(dist, method=method)
    c, _ = cophenet(Z, dist)
    print(f"{method:<9} cophenetic correlation = {c:.3f}")

Z = linkage(dist, method="average")
for k in (2, 3):
    labels = fcluster(Z, t=k, criterion="maxclust")
    groups = [sorted(n for n, l in zip(countries, labels) if l == g) for g in sorted(set(labels))]
    print(f"{k} groups: {sorted(groups)}")
