import numpy as np
import pandas as pd
from sklearn.cluster import DBSCAN
from sklearn.neighbors import NearestNeighbors

# GPS points around three places plus noise
rng = np.random.default_rng(5)
places = {"station": (48.185, 16.376), "museum": (48.204, 16.361), "park": (48.216, 16.396)}
points = [(lat + rng.normal(0, 0.0006), lon + rng.normal(0, 0.0006)) for lat, lon in places.values() for _ in range(40)]
points += list(zip(rng.uniform(48.17, 48.23, 15), rng.uniform(16.34, 16.41, 15)))
df = pd.DataFrame(points, columns=["lat", "lon"])

coords = np.radians(df[["lat", "lon"]].to_numpy())
earth_km = 6371.0088
db = DBSCAN(eps=0.25 / earth_km, min_samples=8, metric="haversine", algorithm="ball_tree").fit(coords)
df["cluster"] = db.labels_

n_clusters = len(set(db.labels_)) - (1 if -1 in db.labels_ else 0)
print(f"{n_clusters} clusters, {(db.labels_ == -1).sum()} noise points")

centers = df[df.cluster >= 0].groupby("cluster")[["lat", "lon"]].mean()
nn = NearestNeighbors(n_neighbors=1, metric="haversine").fit(np.radians(list(places.values())))
dist, idx = nn.kneighbors(np.radians(centers.to_numpy()))
for (c, row), d, i in zip(centers.iterrows(), dist.ravel(), idx.ravel()):
    print(f"Cluster {c}: {row.lat:.4f}, {row.lon:.4f} near {list(places)[i]} ({d * earth_km * 1000:.0f} m)")
