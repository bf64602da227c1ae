import matplotlib.pyplot as plt
import numpy as np
from pathlib import Path

Path("figures").mkdir(exist_ok=True)

rng = np.random.default_rng(33)
x = rng.normal(50, 12, 300)
y = 0.8 * x + rng.normal(0, 8, 300)
size = rng.uniform(10, 120, 300)

fig = plt.figure(figsize=(7, 7))
gs = fig.add_gridspec(2, 2, width_ratios=(4, 1), height_ratios=(1, 4), hspace=0.05, wspace=0.05)
ax = fig.add_subplot(gs[1, 0])
ax_x = fig.add_subplot(gs[0, 0], sharex=ax)
ax_y = fig.add_subplot(gs[1, 1], sharey=ax)

sc = ax.scatter(x, y, s=size, c=y - x, cmap="coolwarm", alpha=0.6, edgecolor="white", linewidth=0.5)
m, b = np.polyfit(x, y, 1)
ax.plot(np.sort(x), m * np.sort(x) + b, color="black", lw=1.5, label=f"y = {m:.2f}x {b:+.2f}")
ax.legend(loc="upper left")
ax_x.hist(x, bins=25, color="0.6")
ax_y.hist(y, bins=25, orientation="horizontal", color="0.6")
for a in (ax_x, ax_y):
    a.axis("off")
fig.colorbar(sc, ax=[ax, ax_x, ax_y], label="y - x", shrink=0.6)
fig.savefig("figures/joint.png", dpi=120)
fig.savefig("figures/joint.pdf")
plt.close(fig)

print(f"slope={m:.3f} intercept={b:.3f} r={np.corrcoef(x, y)[0, 1]:.3f}")
print(sorted(p.name for p in Path("figures").iterdir()))
