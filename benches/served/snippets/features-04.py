import pandas as pd
import numpy as np
from itertools import combinations

df = pd.DataFrame({
    "length": [2.0, 3.5, 1.2, 4.8, 2.9],
    "width": [1.0, 2.0, 0.6, 2.2, 1.1],
    "height": [0.5, 0.4, 0.9, 1.3, 0.7],
})

base_cols = list(df.columns)

# Interaction features: products and ratios for every pair
interactions = {}
for a, b in combinations(base_cols, 2):
    interactions[f"{a}_x_{b}"] = df[a] * df[b]
    interactions[f"{a}_per_{b}"] = df[a] / df[b]

df = df.assign(
    **interactions,
    volume=lambda d: d[base_cols].prod(axis=1),
    surface=lambda d: 2 * (d["length_x_width"] + d["length_x_height"] + d["width_x_height"]),
    compactness=lambda d: d["volume"] / d["surface"],
    log_volume=lambda d: np.log1p(d["volume"]),
)

print(f"{len(base_cols)} base -> {df.shape[1]} features")
print(df.round(3).T)
best = df["compactness"].idxmax()
print(f"Most compact box: row {best} ({df.loc[best, 'compactness']:.4f})")
