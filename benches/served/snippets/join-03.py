from functools import reduce
import numpy as np
import pandas as pd

rng = np.random.default_rng(10)
ids = [f"S{i:02d}" for i in range(12)]


def make_table(metric, n):
    chosen = sorted(rng.choice(ids, n, replace=False))
    return pd.DataFrame({"site": chosen, metric: rng.normal(50, 10, n).round(1)})


tables = [make_table(m, n) for m, n in [("ph", 9), ("turbidity", 10), ("nitrate", 8)]]

combined = reduce(lambda l, r: l.merge(r, on="site", how="outer"), tables)
combined = combined.sort_values("site").reset_index(drop=True)
print(combined)

complete = combined.dropna()
print(f"\n{len(complete)} of {len(combined)} sites have all three metrics")
print("Coverage per metric:")
print(combined.set_index("site").notna().mean().map("{:.0%}".format))
