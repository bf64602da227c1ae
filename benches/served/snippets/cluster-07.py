import numpy as np
import pandas as pd

# RFM segmentation with quantile scores and rules
rng = np.random.default_rng(2024)
n_orders = 1500
orders = pd.DataFrame({
    "customer": rng.integers(1, 201, n_orders),
    "date": pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 365, n_orders), unit="D"),
    "amount": rng.gamma(2, 30, n_orders),
})
today = pd.Timestamp("2024-01-01")

rfm = orders.groupby("customer").agg(
    recency=("date", lambda d: (today - d.max()).days),
    frequency=("date", "size"),
    monetary=("amount", "sum"),
)
rfm["R"] = pd.qcut(rfm["recency"].rank(method="first"), 4, labels=[4, 3, 2, 1]).astype(int)
rfm["F"] = pd.qcut(rfm["frequency"].rank(method="first"), 4, labels=[1, 2, 3, 4]).astype(int)
rfm["M"] = pd.qcut(rfm["monetary"].rank(method="first"), 4, labels=[1, 2, 3, 4]).astype(int)

conditions = [
    (rfm.R >= 3) & (rfm.F >= 3) & (rfm.M >= 3),
    (rfm.R >= 3) & (rfm.F <= 2),
    (rfm.R <= 2) & (rfm.F >= 3),
]
rfm["segment"] = np.select(conditions, ["Champions", "New/Promising", "At risk"], default="Others")
summary = rfm.groupby("segment").agg(n=("R", "size"), recency=("recency", "mean"), spend=("monetary", "mean"))
summary["share"] = (summary["n"] / summary["n"].sum()).map("{:.1%}".format)
print(summary.round(1).sort_values("spend", ascending=False))
rfm.to_csv("rfm_segments.csv")
