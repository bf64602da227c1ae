import os
import numpy as np
import pandas as pd
import matplotlib.pyplot as plt
import matplotlib.dates as mdates

os.makedirs("plots", exist_ok=True)
rng = np.random.default_rng(50)

sensors = {}
for name, base in {"inlet": 15.0, "outlet": 22.0, "ambient": 10.0}.items():
    idx = pd.date_range("2024-06-01", periods=288, freq="5min")
    sensors[name] = pd.Series(base + np.cumsum(rng.normal(0, 0.05, 288)), index=idx)
df = pd.DataFrame(sensors)

hourly = df.resample("1h").mean()
print(hourly.describe().loc[["mean", "min", "max"]].round(2))

delta = (df["outlet"] - df["inlet"]).rename("delta_t")
print("Time above 7 degrees difference: {}".format((delta > 7).sum() * pd.Timedelta("5min")))

fig, axes = plt.subplots(2, 1, sharex=True, figsize=(9, 6))
df.plot(ax=axes[0], lw=1)
axes[0].set_ylabel("°C")
delta.plot(ax=axes[1], color="crimson")
axes[1].axhline(7, ls=":", c="k")
axes[1].set_ylabel("ΔT")
fig.suptitle("Heat exchanger, 1 June 2024")
fig.savefig(os.path.join("plots", "sensors.png"), bbox_inches="tight")
plt.close(fig)
print(os.listdir("plots"))
