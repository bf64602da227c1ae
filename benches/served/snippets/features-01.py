import numpy as np
import pandas as pd

# Generate synthetic transactions
np.random.seed(42)
n = 500
tx = pd.DataFrame({
    "customer_id": np.random.randint(1, 41, n),
    "date": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.random.randint(0, 180, n), unit="D"),
    "amount": np.random.gamma(2, 40, n).round(2),
})

snapshot = tx["date"].max() + pd.Timedelta(days=1)

# RFM features
rfm = tx.groupby("customer_id").agg(
    recency=("date", lambda s: (snapshot - s.max()).days),
    frequency=("date", "count"),
    monetary=("amount", "sum"),
)

for col, ascending in [("recency", False), ("frequency", True), ("monetary", True)]:
    ranks = rfm[col].rank(method="first", ascending=ascending)
    rfm[f"{col[0].upper()}_score"] = pd.qcut(ranks, 5, labels=[1, 2, 3, 4, 5]).astype(int)

rfm["rfm"] = rfm["R_score"].astype(str) + rfm["F_score"].astype(str) + rfm["M_score"].astype(str)
rfm["segment"] = np.select(
    [rfm["R_score"].ge(4) & rfm["F_score"].ge(4), rfm["R_score"].le(2) & rfm["F_score"].ge(3)],
    ["champion", "at_risk"],
    default="regular",
)
print(rfm.head(8))
print(rfm["segment"].value_counts())
print(rfm.groupby("segment")["monetary"].mean().round(2))
