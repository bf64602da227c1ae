import numpy as np
import pandas as pd
from scipy import stats
import matplotlib.pyplot as plt
import seaborn as sns

np.random.seed(5)
n = 150
df = pd.DataFrame({"hours": np.random.uniform(0, 10, n)})
df["score"] = 50 + 4 * df["hours"] + np.random.normal(0, 8, n)
df["sleep"] = 8 - 0.1 * df["hours"] + np.random.normal(0, 1, n)
df["shoe"] = np.random.normal(42, 2, n)

# Correlation matrix with p-values
cols = df.columns
rows = []
for i, a in enumerate(cols):
    for b in cols[i + 1:]:
        r, p = stats.pearsonr(df[a], df[b])
        rho, p_s = stats.spearmanr(df[a], df[b])
        tau, _ = stats.kendalltau(df[a], df[b])
        stars = "***" if p < 0.001 else "**" if p < 0.01 else "*" if p < 0.05 else ""
        rows.append(dict(pair=f"{a}-{b}", pearson=r, spearman=rho, kendall=tau, sig=stars))
print(pd.DataFrame(rows).round(3).to_string(index=False))

# Fisher z interval
r = df["hours"].corr(df["score"])
z, se = np.arctanh(r), 1 / np.sqrt(n - 3)
print("95%% CI for r: %.3f to %.3f" % tuple(np.tanh([z - 1.96 * se, z + 1.96 * se])))

plt.figure(figsize=(5, 4))
sns.heatmap(df.corr(), annot=True, fmt=".2f", cmap="coolwarm", vmin=-1, vmax=1)
plt.tight_layout()
plt.savefig("corr.png")
plt.close()
