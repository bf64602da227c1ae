import seaborn as sns
import matplotlib.pyplot as plt
import pandas as pd
import numpy as np

# Correlation heatmap with masked upper triangle
np.random.seed(0)
n = 200
base = np.random.randn(n)
df = pd.DataFrame({
    "sales": base * 2 + np.random.randn(n),
    "ads": base + np.random.randn(n) * 0.5,
    "price": -base + np.random.randn(n),
    "returns": np.random.randn(n),
    "rating": base * 0.3 + np.random.randn(n),
})

corr = df.corr()
mask = np.triu(np.ones_like(corr, dtype=bool))

plt.figure(figsize=(8, 6))
sns.heatmap(corr, mask=mask, annot=True, fmt=".2f", cmap="RdBu_r", vmin=-1, vmax=1, square=True, linewidths=0.5)
plt.title("Correlation Matrix")
plt.tight_layout()
plt.savefig("correlation.png", dpi=100)
plt.close()

strongest = corr.where(~mask).stack().sort_values(key=abs, ascending=False)
print(strongest.head(3).round(3))
