import numpy as np
import pandas as pd
import matplotlib.pyplot as plt

# Create daily sales data with missing days
rng = np.random.default_rng(15)
idx = pd.date_range("2024-01-01", periods=90, freq="D")
sales = pd.Series(rng.poisson(40, 90).astype(float), index=idx)
missing = sorted(rng.choice(90, 8, replace=False))
sales.iloc[missing] = np.nan

print(f"Missing days: {sales.isna().sum()}")
filled = {
    "ffill": sales.ffill(),
    "linear": sales.interpolate(),
    "time": sales.interpolate(method="time"),
}
for name, s in filled.items():
    print(f"{name:>7}: mean={s.mean():.2f}")

fig, ax = plt.subplots(figsize=(10, 4))
ax.plot(filled["linear"], label="interpolated", color="tab:orange", linestyle="--")
ax.plot(sales, label="observed", color="tab:blue")
ax.set_title("Daily sales")
ax.set_xlabel("Date")
ax.set_ylabel("Units")
ax.legend()
fig.autofmt_xdate()
plt.tight_layout()
plt.savefig("daily_sales.png", dpi=100)
plt.show()
