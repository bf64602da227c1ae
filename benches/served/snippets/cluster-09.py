import numpy as np
import pandas as pd
import seaborn as sns
import matplotlib.pyplot as plt

np.random.seed(6)
genes = [f"gene_{i}" for i in range(12)]
samples = [f"s{j}" for j in range(8)]
base = np.random.normal(0, 0.4, (12, 8))
base[:6, :4] += 2
base[6:, 4:] += 2
expr = pd.DataFrame(base, index=genes, columns=samples).sample(frac=1, random_state=1)
expr = expr[np.random.permutation(samples)]

g = sns.clustermap(expr, method="average", metric="euclidean", cmap="vlag", center=0, figsize=(7, 7))
g.fig.suptitle("Expression clusters", y=1.02)
g.savefig("clustermap.png", dpi=80)

row_order = [expr.index[i] for i in g.dendrogram_row.reordered_ind]
col_order = [expr.columns[i] for i in g.dendrogram_col.reordered_ind]
first, second = sorted(row_order[:6]), sorted(row_order[6:])
print("Row block 1:", first)
print("Row block 2:", second)
print("Columns split:", sorted([sorted(col_order[:4]), sorted(col_order[4:])]))
print("Mean within blocks: {:.2f}".format(expr.loc[genes[:6], samples[:4]].to_numpy().mean()))
