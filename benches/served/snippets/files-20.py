import glob
import os
import warnings

import numpy as np
import pandas as pd

warnings.filterwarnings("ignore")

os.makedirs("sensors", exist_ok=True)
for k in range(1, 5):
    r = np.random.RandomState(k)
    frame = pd.DataFrame({"t": np.arange(50), "temp": 20 + k + r.randn(50).cumsum() * 0.1})
    if k == 3:
        frame.loc[10:15, "temp"] = np.nan
    frame.to_csv(os.path.join("sensors", f"sensor_{k:02d}.csv"), index=False)

# an empty, broken file to be skipped
open("sensors/sensor_99.csv", "w").close()

frames = {}
for path in sorted(glob.glob("sensors/sensor_*.csv")):
    key = os.path.splitext(os.path.basename(path))[0]
    try:
        frames[key] = pd.read_csv(path)
    except pd.errors.EmptyDataError:
        print(f"{key}: empty file skipped")

wide = pd.concat({k: v.set_index("t")["temp"] for k, v in frames.items()}, axis=1)
print(wide.tail(3).round(2))
print("\nMissing per sensor:\n", wide.isna().sum().to_string(), sep="")
wide.interpolate().round(3).to_csv("sensors/combined.csv")
print(pd.read_csv("sensors/combined.csv", index_col="t").corr().round(2))
