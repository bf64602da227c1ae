import pandas as pd
import numpy as np

np.random.seed(21)
sales = pd.DataFrame({
    "sku": np.random.choice(["A", "B", "C"], 50),
    "store_id": np.random.choice([1, 2], 50),
    "qty": np.random.randint(1, 10, 50),
})
prices = pd.DataFrame({"sku": ["A", "A", "B", "C"], "price": [2.0, 2.5, 4.0, 7.5]})

# The price table has a duplicate key -> validate catches it
try:
    sales.merge(prices, on="sku", validate="many_to_one")
except pd.errors.MergeError as e:
    print("Merge problem:", str(e).split(";")[0])

# Fix: keep the last price
prices_clean = prices.drop_duplicates("sku", keep="last")
df = sales.merge(prices_clean, on="sku", validate="many_to_one")
df["revenue"] = df["qty"] * df["price"]
assert len(df) == len(sales), "row count must not change"

table = df.pivot_table(index="sku", columns="store_id", values="revenue", aggfunc="sum", fill_value=0)
table.columns = [f"store_{c}" for c in table.columns]
table["total"] = table.sum(axis=1)
print(table)
print(f"Grand total: {table['total'].sum():,.2f}")
