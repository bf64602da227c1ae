import pandas as pd

customers = pd.DataFrame({
    "customer_id": [1, 2, 3, 4],
    "name": ["Alice", "Bob", "Chen", "Dana"],
    "country": ["US", "UK", "CN", "US"],
})
orders = pd.DataFrame({
    "order_id": [10, 11, 12, 13, 14],
    "customer_id": [1, 1, 3, 5, 2],
    "total": [99.0, 15.5, 230.0, 42.0, 61.25],
})

# Left join keeps every customer, even those without an order
merged = customers.merge(orders, on="customer_id", how="left", indicator=True)
print(merged)

no_orders = merged.loc[merged["_merge"] == "left_only", "name"].tolist()
print(f"\nCustomers without orders: {no_orders}")

# Orders that do not match a customer
orphans = orders[~orders["customer_id"].isin(customers["customer_id"])]
print(f"Orphan orders: {orphans['order_id'].tolist()}")

spend = merged.groupby("name", as_index=False)["total"].sum().sort_values("total", ascending=False)
print(spend.to_string(index=False))
