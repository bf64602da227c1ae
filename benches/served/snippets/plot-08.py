import numpy as np
import pandas as pd
import matplotlib.pyplot as plt

def plot_distribution(series, ax, bins=30, **kwargs):
    """Histogram with mean and median lines."""
    ax.hist(series, bins=bins, alpha=0.75, **kwargs)
    ax.axvline(series.mean(), color="red", linestyle="--", label=f"mean {series.mean():.1f}")
    ax.axvline(series.median(), color="black", linestyle=":", label=f"median {series.median():.1f}")
    ax.set_title(series.name.replace("_", " ").title())
    ax.legend(fontsize=8)
    return ax

np.random.seed(8)
df = pd.DataFrame({
    "delivery_time": np.random.gamma(3, 2, 500),
    "order_value": np.random.lognormal(3.5, 0.5, 500),
    "items": np.random.poisson(3, 500),
    "discount": np.random.beta(2, 8, 500) * 100,
})

fig, axes = plt.subplots(2, 2, figsize=(10, 8), constrained_layout=True)
for ax, col in zip(axes.flat, df.columns):
    plot_distribution(df[col], ax, color="steelblue")
fig.suptitle("Order distributions", fontsize=14)
plt.savefig("distributions.png")
plt.show()

print(df.agg(["mean", "median", "skew"]).round(2).to_string())
right_skewed = [c for c in df if df[c].skew() > 1]
print("Strongly right-skewed:", right_skewed)
