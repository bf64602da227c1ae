"""Customer segmentation on mixed data (numeric and categorical)."""
import numpy as np
import pandas as pd
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import silhouette_samples


def gower(df: pd.DataFrame) -> np.ndarray:
    """Gower distance matrix for mixed columns."""
    n = len(df)
    total = np.zeros((n, n))
    for col in df.columns:
        v = df[col].to_numpy()
        if pd.api.types.is_numeric_dtype(df[col]):
            total += np.abs(v[:, None] - v[None, :]) / np.ptp(v)
        else:
            total += (v[:, None] != v[None, :]).astype(float)
    return total / df.shape[1]


rng = np.random.default_rng(16)
kinds = rng.choice(["student", "family", "senior"], 90)
df = pd.DataFrame({
    "age": [rng.normal({"student": 22, "family": 40, "senior": 70}[k], 3) for k in kinds],
    "plan": [{"student": "basic", "family": "premium", "senior": "basic"}[k] if rng.random() < 0.9 else "plus" for k in kinds],
    "device": [rng.choice({"student": ["phone"], "family": ["tv", "tablet"], "senior": ["tv"]}[k]) for k in kinds],
})
D = gower(df)
labels = AgglomerativeClustering(n_clusters=3, metric="precomputed", linkage="average").fit_predict(D)
df["sil"] = silhouette_samples(D, labels, metric="precomputed")
print(pd.crosstab(kinds, labels, rownames=["kind"], colnames=["cluster"]))
print(df.groupby(labels).agg(n=("age", "size"), age=("age", "mean"), plan=("plan", lambda s: s.mode()[0]), sil=("sil", "mean")).round(2))
