import pandas as pd
import numpy as np

rng = np.random.default_rng(77)
orders = pd.DataFrame({
    "order_id": np.arange(1, 31),
    "customer": rng.choice(list("ABCDE"), 30),
    "category": rng.choice(["toys", "books", "food"], 30),
    "amount": rng.uniform(5, 120, 30).round(2),
})

g = orders.groupby("customer")["amount"]
orders = orders.assign(
    cust_mean=g.transform("mean").round(2),
    share=lambda d: (d["amount"] / g.transform("sum")).round(3),
    rank_in_cust=g.rank(ascending=False, method="dense").astype(int),
    running_total=g.cumsum().round(2),
    order_no=orders.groupby("customer").cumcount() + 1,
    prev_amount=g.shift(),
)
print(orders.query("customer == 'A'").to_string(index=False))

wide = orders.pivot_table(index="customer", columns="category", values="amount", aggfunc=["sum", "count"], fill_value=0)
wide.columns = ["_".join(c) for c in wide.columns]
wide["favourite"] = wide.filter(like="sum_").idxmax(axis=1).str.replace("sum_", "", regex=False)
print(wide.round(1))
print(orders.nlargest(3, "amount")[["order_id", "customer", "amount"]])
