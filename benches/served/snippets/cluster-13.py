import numpy as np
import pandas as pd
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor
from sklearn.covariance import EllipticEnvelope

# Compare unsupervised anomaly detectors
rng = np.random.RandomState(42)
normal = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 190)
anomalies = rng.uniform(-6, 6, (10, 2))
X = np.vstack([normal, anomalies])
truth = np.r_[np.zeros(190), np.ones(10)].astype(bool)

detectors = {
    "IsolationForest": IsolationForest(contamination=0.05, random_state=42),
    "LOF": LocalOutlierFactor(n_neighbors=20, contamination=0.05),
    "EllipticEnvelope": EllipticEnvelope(contamination=0.05, random_state=42),
}

flags = pd.DataFrame({name: det.fit_predict(X) == -1 for name, det in detectors.items()})
for name in flags:
    tp = (flags[name] & truth).sum()
    print(f"{name:<18} flagged={flags[name].sum():>3} precision={tp / flags[name].sum():.2f} recall={tp / truth.sum():.2f}")

votes = flags.sum(axis=1)
consensus = votes >= 2
print(f"Consensus (2 of 3): {consensus.sum()} points, {(consensus & truth).sum()} true anomalies")
print(pd.crosstab(votes, truth, rownames=["votes"], colnames=["anomaly"]))
