import numpy as np
import pandas as pd
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
from pathlib import Path

plots = Path("plots")
plots.mkdir(exist_ok=True)

rng = np.random.default_rng(2024)
data = pd.DataFrame({
    "month": pd.period_range("2024-01", periods=12, freq="M").astype(str),
    "sales": (1000 + 80 * np.arange(12) + rng.normal(0, 60, 12)).round(1),
})

fig, (ax1, ax2) = plt.subplots(1, 2, figsize=(10, 4))
ax1.bar(data["month"], data["sales"], color="steelblue")
ax1.tick_params(axis="x", rotation=60)
ax1.set_title("Monthly sales")
ax2.plot(data["month"], data["sales"].cumsum(), marker="o")
ax2.set_title("Cumulative")
ax2.tick_params(axis="x", rotation=60)
fig.tight_layout()
for ext in ("png", "svg"):
    fig.savefig(plots / f"sales.{ext}", dpi=80)
plt.close(fig)

for f in sorted(plots.iterdir()):
    header = f.read_bytes()[:8]
    kind = "PNG" if header.startswith(b"\x89PNG") else "XML" if header.startswith(b"<?xml") else "?"
    print(f.name, kind, f.stat().st_size > 1000)
print(data.describe().round(1))
