import pandas as pd
import numpy as np

np.random.seed(1)

# Write a "large" CSV then process it in chunks
n_rows = 25_000
pd.DataFrame({
    "user_id": np.random.randint(1, 501, n_rows),
    "event": np.random.choice(["click", "view", "buy"], n_rows, p=[0.5, 0.45, 0.05]),
    "value": np.random.exponential(3, n_rows).round(3),
}).to_csv("events.csv", index=False)

totals = pd.Series(dtype="float64")
n_chunks = 0
for chunk in pd.read_csv("events.csv", chunksize=6_000, dtype={"event": "category"}):
    n_chunks += 1
    part = chunk.groupby("event", observed=True)["value"].sum()
    part.index = part.index.astype(str)
    totals = totals.add(part, fill_value=0)

print(f"Processed {n_chunks} chunks")
print(totals.round(2).sort_index())

# Check against reading everything at once
full = pd.read_csv("events.csv").groupby("event")["value"].sum()
print("Matches full read:", np.allclose(totals.sort_index(), full.sort_index()))
