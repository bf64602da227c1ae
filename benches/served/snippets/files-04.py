import pandas as pd
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

rng = np.random.default_rng(0)
n = 1000
df = pd.DataFrame({
    "id": np.arange(n),
    "category": pd.Categorical(rng.choice(["x", "y", "z"], n)),
    "value": rng.normal(100, 15, n),
    "ts": pd.date_range("2024-01-01", periods=n, freq="h"),
    "flag": rng.random(n) > 0.5,
})

df.to_parquet("measurements.parquet", index=False)

# Inspect the schema without loading the data
schema = pq.read_schema("measurements.parquet")
for field in schema:
    print(f"{field.name:<10} {field.type}")

meta = pq.read_metadata("measurements.parquet")
print("rows:", meta.num_rows, "| columns:", meta.num_columns)

# Column projection + predicate pushdown
subset = pd.read_parquet(
    "measurements.parquet",
    columns=["id", "value"],
    filters=[("value", ">", 130)],
)
print(subset.head())
print("rows over 130:", len(subset))
print("dtypes preserved:", (pd.read_parquet("measurements.parquet").dtypes == df.dtypes).all())
