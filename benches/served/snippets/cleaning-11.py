import pandas as pd
import numpy as np

left = pd.DataFrame({"id": ["001", "2", "03", "4 ", "x5"], "name": ["A", "B", "C", "D", "E"]})
right = pd.DataFrame({"ID": [1, 2, 2, 3, 9], "amount": [10.0, 20.0, 25.0, np.nan, 90.0]})

# Make the keys compatible before the join
left["key"] = pd.to_numeric(left["id"].str.strip().str.lstrip("0"), errors="coerce").astype("Int64")
right = right.rename(columns=str.lower).rename(columns={"id": "key"}).astype({"key": "Int64"})

try:
    left.merge(right, on="key", validate="one_to_one")
except pd.errors.MergeError as e:
    print("MergeError:", str(e).split(";")[0])

merged = left.dropna(subset=["key"]).merge(right, on="key", how="outer", indicator=True)
print(merged.to_string(index=False))
print(merged["_merge"].value_counts().to_dict())

dedup = right.sort_values("amount", ascending=False).drop_duplicates("key").sort_values("key")
final = left.merge(dedup, on="key", how="left").fillna({"amount": 0})
print(final)
print("Orphans on the right:", sorted(set(right["key"]) - set(left["key"].dropna())))
combined = pd.Series([1, np.nan, 3]).combine_first(pd.Series([9, 2, 9, 4]))
print(combined.tolist())
