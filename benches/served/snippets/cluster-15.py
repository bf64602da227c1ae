import numpy as np
import pandas as pd
from scipy.cluster import hierarchy
import matplotlib.pyplot as plt

# Cluster daily load profiles
rng = np.random.default_rng(30)
hours = np.arange(24)
shapes = {
    "office": np.exp(-((hours - 13) ** 2) / 18),
    "home": np.exp(-((hours - 7) ** 2) / 4) + 1.4 * np.exp(-((hours - 20) ** 2) / 6),
    "flat": np.full(24, 0.5),
}
profiles = pd.DataFrame(
    {f"{name}_{i}": shape * rng.uniform(0.8, 1.2) + rng.normal(0, 0.05, 24)
     for name, shape in shapes.items() for i in range(6)}
).T
norm = profiles.div(profiles.sum(axis=1), axis=0)

link = hierarchy.linkage(norm, method="ward")
labels = pd.Series(hierarchy.fcluster(link, 3, criterion="maxclust"), index=norm.index)
truth = labels.index.str.split("_").str[0]
print(pd.crosstab(truth, labels.map(lambda l: f"c{l}"), rownames=["type"], colnames=["cluster"]))

for c, members in norm.groupby(labels):
    print(f"c{c}: {len(members)} members, peak hour {int(members.mean().idxmax())}:00")

plt.figure(figsize=(8, 4))
hierarchy.dendrogram(link, labels=norm.index.tolist(), leaf_rotation=90)
plt.tight_layout()
plt.savefig("dendrogram.png")
plt.close()
