import numpy as np
import pandas as pd
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

rng = np.random.default_rng(40)
n = 200
x1 = rng.normal(0, 1, n)
x2 = 2 * x1 + rng.normal(0, 0.5, n)
x3 = x1 - x2 + rng.normal(0, 0.3, n)
full = pd.DataFrame({"x1": x1, "x2": x2, "x3": x3})

mask = rng.random(full.shape) < 0.15
holes = full.mask(mask)
print("Missing share:", holes.isna().mean().round(3).to_dict())
print("Complete rows:", len(holes.dropna()))

imputers = {
    "mean": SimpleImputer(),
    "median": SimpleImputer(strategy="median"),
    "knn": KNNImputer(n_neighbors=5),
    "iterative": IterativeImputer(random_state=0, max_iter=20),
}
for name, imp in imputers.items():
    filled = imp.fit_transform(holes)
    rmse = np.sqrt(np.mean((filled[mask] - full.to_numpy()[mask]) ** 2))
    r = np.corrcoef(filled[:, 0], filled[:, 1])[0, 1]
    print(f"{name:<10} RMSE={rmse:.3f} corr(x1,x2)={r:.3f}")
print(f"{'truth':<10} {'':<10} corr(x1,x2)={full['x1'].corr(full['x2']):.3f}")
patterns = holes.isna().astype(int).astype(str).agg("".join, axis=1).value_counts()
print(patterns.sort_index().to_dict())
