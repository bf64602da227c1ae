import pandas as pd
import numpy as np

df = pd.DataFrame({
    "size": ["M", "s", "XL", "Large", "medium", "S ", "xl", None, "XXL"],
    "rating": ["good", "Bad", "excellent", "GOOD", "ok", "bad", "ok", "good", "Excellent"],
    "active": ["yes", "N", "TRUE", "0", "y", "no", "1", "", "False"],
})

size_map = {"s": "S", "m": "M", "medium": "M", "large": "L", "l": "L", "xl": "XL", "xxl": "XXL"}
df["size"] = pd.Categorical(
    df["size"].str.strip().str.lower().map(size_map),
    categories=["S", "M", "L", "XL", "XXL"],
    ordered=True,
)
df["rating"] = df["rating"].str.lower().astype("category").cat.set_categories(["bad", "ok", "good", "excellent"], ordered=True)

truthy, falsy = {"yes", "y", "true", "1"}, {"no", "n", "false", "0"}
df["active"] = df["active"].str.lower().map(lambda v: True if v in truthy else False if v in falsy else pd.NA).astype("boolean")

print(df)
print(df.dtypes)
print(df.sort_values(["rating", "size"], ascending=[False, True]).head(4))
print(df["size"].cat.codes.tolist())
print("At least good:", (df["rating"] >= "good").sum())
print(df.groupby("rating", observed=False).size())
print("Active:", df["active"].sum(), "unknown:", df["active"].isna().sum())
