import json
import pandas as pd

payload = json.loads("""
[
  {"id": 1, "user": {"name": "Ana", "address": {"city": "Lisbon", "zip": "1000"}},
   "orders": [{"sku": "A1", "qty": 2}, {"sku": "B7", "qty": 1}]},
  {"id": 2, "user": {"name": "Joao", "address": {"city": "Porto", "zip": "4000"}},
   "orders": []},
  {"id": 3, "user": {"name": "Rita", "address": {"city": "Faro"}},
   "orders": [{"sku": "A1", "qty": 5}]}
]
""")

users = pd.json_normalize(payload, sep="_").drop(columns="orders")
print(users)
print()

orders = pd.json_normalize(payload, record_path="orders", meta=["id", ["user", "name"]])
orders = orders.rename(columns={"user.name": "name"})
print(orders)

qty_per_sku = orders.groupby("sku")["qty"].sum()
print("\nQuantity per SKU:", qty_per_sku.to_dict())
print("Users without orders:", [p["user"]["name"] for p in payload if not p["orders"]])

with open("orders_flat.json", "w") as fh:
    json.dump(orders.to_dict(orient="records"), fh, indent=2)
print("Wrote orders_flat.json")
