import warnings
warnings.filterwarnings("ignore")

import numpy as np
import pandas as pd

pd.set_option("display.max_columns", None)
pd.set_option("display.width", 120)

np.random.seed(0)
df = pd.DataFrame({
    "store": np.random.choice(["Berlin", "Paris", "Madrid"], 300),
    "category": np.random.choice(["Toys", "Books", "Food"], 300),
    "units": np.random.poisson(6, 300),
    "price": np.random.uniform(3, 40, 300).round(2),
})
df["revenue"] = df["units"] * df["price"]

pivot = df.pivot_table(index="store", columns="category", values="revenue",
                       aggfunc="sum", margins=True, margins_name="Total")
print(pivot.round(0).astype(int))

share = pivot.div(pivot["Total"], axis=0).drop(columns="Total")
print("\nCategory share by store:")
print((share * 100).round(1).astype(str) + "%")

top = df.nlargest(5, "revenue")[["store", "category", "revenue"]].reset_index(drop=True)
print("\nTop 5 transactions:")
print(top)
