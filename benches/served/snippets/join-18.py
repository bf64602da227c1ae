import pandas as pd
import numpy as np

# df1.combine_first / update / compare: patching a master table
master = pd.DataFrame({"price": [10.0, 20.0, np.nan, 40.0], "stock": [5, 6, 7, 8]},
                      index=["a", "b", "c", "d"])
patch = pd.DataFrame({"price": [21.0, 33.0], "stock": [60, 70]}, index=["b", "c"])

# 1) only fill the holes
filled = master.combine_first(patch)
print("Filled:\n", filled, sep="")

# 2) overwrite with new values
updated = master.copy()
updated.update(patch)
print("\nUpdated:\n", updated, sep="")

# 3) what changed?
changes = master.compare(updated, result_names=("before", "after"))
print("\nChanges:")
print(changes)

changed_rows = list(changes.index)
print(f"\n{len(changed_rows)} rows changed: {changed_rows}")
updated.to_csv("master_v2.csv")
print(open("master_v2.csv").read().splitlines()[0])
