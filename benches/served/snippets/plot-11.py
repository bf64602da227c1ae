import numpy as np
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, MultipleLocator

# Pareto chart
defects = {"Scratches": 95, "Dents": 60, "Misaligned": 40, "Colour": 22, "Packaging": 11, "Other": 7}
names = sorted(defects, key=defects.get, reverse=True)
counts = np.array([defects[n] for n in names])
cum_pct = counts.cumsum() / counts.sum() * 100

fig, ax1 = plt.subplots(figsize=(9, 5))
ax1.bar(names, counts, color="C0")
ax1.set_ylabel("Count")

ax2 = ax1.twinx()
ax2.plot(names, cum_pct, color="C1", marker="D", ms=6)
ax2.axhline(80, color="grey", ls="--", lw=1)
ax2.set_ylim(0, 105)
ax2.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:.0f}%"))
ax2.yaxis.set_major_locator(MultipleLocator(20))
ax1.set_title("Pareto chart of defects")
fig.savefig("pareto.png", dpi=110)
plt.show()

vital_few = [n for n, c in zip(names, cum_pct) if c <= 80] or names[:1]
print("Defect       Count   Cum%")
for n, c, p in zip(names, counts, cum_pct):
    print(f"{n:<12} {c:>5} {p:>6.1f}")
print(f"Vital few: {', '.join(vital_few)}")
