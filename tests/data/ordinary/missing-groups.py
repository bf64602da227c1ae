import pandas as pd
df = pd.DataFrame({"t": list("aabb"), "f": ["x", None, "y", None], "n": [1, 2, 3, 4]})
print(pd.crosstab(df["t"], df["f"], dropna=False))
sizes = df.groupby(["t", "f"], dropna=False).size()
print(sizes)
print(sizes.unstack(fill_value=0))
print(df.groupby("t")["f"].value_counts(dropna=False).unstack())
print(sizes.rename("n").reset_index().pivot_table(index="t", columns="f", values="n", dropna=False, aggfunc="sum"))
print(pd.__version__.count("."))
