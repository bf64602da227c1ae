import os
import numpy as np
import pandas as pd
from tqdm import tqdm

os.makedirs("chunks", exist_ok=True)
rng = np.random.default_rng(77)

# Write the raw table in chunks, as it would arrive from an export
for i in range(5):
    part = pd.DataFrame({
        "user_id": rng.integers(1, 40, 100),
        "event": rng.choice(["view", "click", "buy"], 100, p=[0.7, 0.25, 0.05]),
    })
    part.to_csv(os.path.join("chunks", f"events_{i}.csv"), index=False)

files = sorted(f for f in os.listdir("chunks") if f.endswith(".csv"))
frames = []
for name in tqdm(files, desc="reading"):
    frames.append(pd.read_csv(os.path.join("chunks", name)).assign(source=name))
events = pd.concat(frames, ignore_index=True)

print("Total events:", len(events))
funnel = events["event"].value_counts().reindex(["view", "click", "buy"])
print(funnel)
print("Click-through: {:.1%}".format(funnel["click"] / funnel["view"]))
per_user = events.groupby("user_id").size()
print(f"Events per user: mean {per_user.mean():.2f}, max {per_user.max()}")
print(events.groupby("source")["event"].nunique().to_dict())
