import pandas as pd
import numpy as np
import matplotlib.pyplot as plt
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

# pandas plotting API: stacked areas, stacked bars and missing-data map
rng = np.random.default_rng(45)
idx = pd.date_range("2024-01-01", periods=12, freq="MS")
energy = pd.DataFrame(rng.uniform(5, 20, (12, 4)), index=idx, columns=["solar", "wind", "hydro", "gas"])
share = energy.div(energy.sum(axis=1), axis=0) * 100

fig, axs = plt.subplots(3, 1, figsize=(8, 11))
energy.plot.area(ax=axs[0], alpha=0.7, colormap="tab20c")
axs[0].set_ylabel("TWh")
share.set_axis(share.index.strftime("%b")).plot(kind="bar", stacked=True, ax=axs[1], legend=False, width=0.85)
axs[1].axhline(50, c="k", lw=0.8)

gappy = energy.mask(rng.random(energy.shape) < 0.15)
axs[2].imshow(gappy.isna().T, aspect="auto", cmap=ListedColormap(["#dddddd", "#c62828"]))
axs[2].set_yticks(range(4), gappy.columns)
axs[2].legend(handles=[Patch(color="#c62828", label="missing")], loc="upper right")
plt.tight_layout()
plt.savefig("energy.png")
plt.clf()

renewable = share[["solar", "wind", "hydro"]].sum(axis=1)
print(renewable.round(1).rename(lambda d: d.strftime("%Y-%m")).to_string())
print("Missing cells:", int(gappy.isna().sum().sum()))
