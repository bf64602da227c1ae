import numpy as np
import pandas as pd
from sklearn.cluster import DBSCAN
from sklearn.neighbors import BallTree

rng = np.random.default_rng(27)

# Cluster GPS points with the haversine metric
centres = np.array([[51.5, -0.12], [51.52, -0.05], [51.47, -0.2]])
pts = np.vstack([c + rng.normal(0, 0.003, (40, 2)) for c in centres] + [rng.uniform([51.4, -0.3], [51.6, 0.1], (10, 2))])
gps = pd.DataFrame(pts, columns=["lat", "lon"])

EARTH_KM = 6371.0088
rad = np.radians(gps[["lat", "lon"]])
gps["cluster"] = DBSCAN(eps=0.5 / EARTH_KM, min_samples=5, metric="haversine", algorithm="ball_tree").fit_predict(rad)

stats = gps[gps["cluster"] >= 0].groupby("cluster").agg(n=("lat", "size"), lat=("lat", "mean"), lon=("lon", "mean"))
print(stats.round(4))
print("Noise points:", (gps["cluster"] == -1).sum())

tree = BallTree(rad, metric="haversine")
d, i = tree.query(np.radians([[51.5, -0.12]]), k=3)
print("3 nearest (m):", (d[0] * EARTH_KM * 1000).round(1).tolist())
print("Within 400 m:", int(tree.query_radius(np.radians([[51.5, -0.12]]), r=0.4 / EARTH_KM, count_only=True)[0]))

# Bounding boxes
bbox = gps.groupby("cluster")[["lat", "lon"]].agg(["min", "max"]).drop(index=-1, errors="ignore")
bbox.columns = ["_".join(c) for c in bbox.columns]
bbox["height_km"] = np.radians(bbox["lat_max"] - bbox["lat_min"]) * EARTH_KM
print(bbox["height_km"].round(2).to_dict())
