# Quick EDA on the iris dataset
import pandas as pd
from sklearn.datasets import load_iris

iris = load_iris(as_frame=True)
df = iris.frame.rename(columns=lambda c: c.replace(" (cm)", "").replace(" ", "_"))
df["species"] = df["target"].map(dict(enumerate(iris.target_names)))
df = df.drop(columns="target")

print(f"Rows: {len(df):,} | Columns: {df.shape[1]}")
df.info()

print(df.groupby("species").mean(numeric_only=True).round(2).T)

skew = df.select_dtypes("number").skew().sort_values()
print("\nSkewness:")
print(skew.to_string(float_format="{:.3f}".format))

widest = df.groupby("species")["petal_width"].max().idxmax()
print(f"\nSpecies with the widest petal: {widest}")
df.sample(3, random_state=0)
