import pandas as pd

# Join on index with different levels
products = pd.DataFrame(
    {"unit_cost": [1.2, 3.4, 0.8]},
    index=pd.Index(["apple", "cheese", "bread"], name="product"),
)
stock = pd.DataFrame(
    {"on_hand": [30, 5, 12, 44, 0]},
    index=pd.MultiIndex.from_tuples(
        [("apple", "W1"), ("apple", "W2"), ("bread", "W1"), ("cheese", "W2"), ("milk", "W1")],
        names=["product", "warehouse"],
    ),
)

joined = stock.join(products, how="left")
joined["value"] = joined["on_hand"].mul(joined["unit_cost"])
print(joined)

print("\nValue per warehouse:")
print(joined.groupby(level="warehouse")["value"].sum())

missing = joined[joined["unit_cost"].isna()].index.get_level_values("product").unique().tolist()
print(f"\nNo cost for: {missing}")
print(joined.xs("W1", level="warehouse").round(2))
