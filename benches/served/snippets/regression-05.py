import warnings
warnings.filterwarnings("ignore")

import numpy as np
import pandas as pd
from sklearn.datasets import make_regression
from sklearn.linear_model import ElasticNet, Lasso, LinearRegression, Ridge
from sklearn.model_selection import cross_validate
from sklearn.preprocessing import StandardScaler
from sklearn.pipeline import make_pipeline

X, y = make_regression(n_samples=120, n_features=40, n_informative=6, noise=15.0, random_state=7)

models = {
    "OLS": LinearRegression(),
    "Ridge": Ridge(alpha=5.0),
    "Lasso": Lasso(alpha=1.0),
    "ElasticNet": ElasticNet(alpha=0.5, l1_ratio=0.8),
}

rows = []
for name, est in models.items():
    pipe = make_pipeline(StandardScaler(), est)
    cv = cross_validate(pipe, X, y, cv=5, scoring=("r2", "neg_root_mean_squared_error"))
    coef = pipe.fit(X, y)[-1].coef_
    rows.append({
        "model": name,
        "r2": cv["test_r2"].mean(),
        "rmse": -cv["test_neg_root_mean_squared_error"].mean(),
        "nonzero": int((np.abs(coef) > 1e-6).sum()),
    })

table = pd.DataFrame(rows).set_index("model").sort_values("rmse")
print(table.round(3))
print(f"\nBest model: {table.index[0]}")
