import pandas as pd
import numpy as np

ages = pd.Series([3, 15, 17, 18, 22, 35, 41, 58, 64, 65, 80, np.nan], name="age")

# Several ways to bin one numeric column
bins = [0, 17, 34, 64, np.inf]
labels = ["child", "young", "adult", "senior"]
fixed = pd.cut(ages, bins=bins, labels=labels)
equal = pd.cut(ages, bins=4)
quart, edges = pd.qcut(ages, q=4, labels=False, retbins=True)
codes = np.digitize(ages.fillna(-1), [0, 18, 65])

df = pd.DataFrame({"age": ages, "fixed": fixed, "equal": equal.astype(str), "quartile": quart, "digit": codes})
print(df)
print("Quartile edges:", np.round(edges, 2).tolist())
print(df["fixed"].value_counts(sort=False, dropna=False))
print(df["fixed"].dtype)

dummies = pd.get_dummies(df["fixed"], prefix="age", dtype=int, dummy_na=True)
print(dummies.sum())
print("Ordered compare:", (df["fixed"] > "young").sum())
