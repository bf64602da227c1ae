import pandas as pd
import numpy as np

rng = np.random.default_rng(64)
users = pd.DataFrame({"user_id": range(200)})
users["signup"] = pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 120, 200), unit="D")

# Each user places a few orders after the signup
rows = []
for u in users.itertuples():
    for _ in range(rng.poisson(3)):
        rows.append((u.user_id, u.signup + pd.Timedelta(days=int(rng.exponential(45)))))
orders = pd.DataFrame(rows, columns=["user_id", "order_date"]).merge(users, on="user_id")

# Cohort analysis
orders["cohort"] = orders["signup"].dt.to_period("M")
orders["period"] = (orders["order_date"].dt.to_period("M") - orders["cohort"]).apply(lambda o: o.n)
active = orders.groupby(["cohort", "period"])["user_id"].nunique().unstack(fill_value=0)
size = users.groupby(users["signup"].dt.to_period("M"))["user_id"].nunique()

retention = active.div(size, axis=0).iloc[:, :5].round(2)
print("Cohort sizes:", {str(k): v for k, v in size.items()})
print(retention.to_string())
retention.to_csv("retention.csv")
