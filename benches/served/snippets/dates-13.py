import pandas as pd
import numpy as np

rng = np.random.default_rng(88)
n = 300
orders = pd.DataFrame({
    "user": rng.integers(1, 61, n),
    "date": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 182, n), unit="D"),
})

# Cohort retention table
orders["month"] = orders["date"].dt.to_period("M")
orders["cohort"] = orders.groupby("user")["month"].transform("min")
orders["age"] = (orders["month"] - orders["cohort"]).apply(lambda off: off.n)

cohorts = (
    orders.groupby(["cohort", "age"])["user"]
    .nunique()
    .unstack(fill_value=0)
)
retention = cohorts.div(cohorts[0], axis=0).round(2)
print(cohorts)
print(retention.to_string())

avg = {int(a): round(float(np.average(retention[a], weights=cohorts[0])), 3) for a in retention.columns}
print("Weighted average:", avg)

gaps = orders.sort_values(["user", "date"]).groupby("user")["date"].diff().dropna()
print("Median days between orders:", gaps.median().days, "| max:", gaps.max())
print("Busiest day:", orders["date"].dt.date.value_counts().max(), "orders")
