import warnings
warnings.filterwarnings("ignore")

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split
from sklearn.metrics import mean_absolute_error, r2_score

rng = np.random.default_rng(21)
n = 400
df = pd.DataFrame({
    "area": rng.uniform(30, 200, n),
    "rooms": rng.integers(1, 7, n),
    "age": rng.integers(0, 80, n),
    "noise": rng.normal(size=n),
})
df["price"] = 3000 * df["area"] + 15000 * df["rooms"] - 900 * df["age"] + rng.normal(0, 15000, n)
df["area_per_room"] = df["area"] / df["rooms"]
df["is_new"] = (df["age"] < 5).astype(int)

X, y = df.drop(columns="price"), df["price"]
X_tr, X_te, y_tr, y_te = train_test_split(X, y, random_state=1)
rf = RandomForestRegressor(n_estimators=60, random_state=1).fit(X_tr, y_tr)
pred = rf.predict(X_te)
print(f"MAE: {mean_absolute_error(y_te, pred):,.0f}   R2: {r2_score(y_te, pred):.3f}")

imp = permutation_importance(rf, X_te, y_te, n_repeats=5, random_state=1)
order = imp.importances_mean.argsort()[::-1]
for idx in order:
    print(f"{X.columns[idx]:<15}{imp.importances_mean[idx]:>8.3f} ± {imp.importances_std[idx]:.3f}")
