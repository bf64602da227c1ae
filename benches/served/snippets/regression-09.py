import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split

data = load_diabetes(as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(data.data, data.target, test_size=0.25, random_state=1)

gbr = GradientBoostingRegressor(n_estimators=150, max_depth=2, learning_rate=0.05, random_state=1)
gbr.fit(X_train, y_train)
print(f"Train R2: {gbr.score(X_train, y_train):.3f}")
print(f"Test R2:  {gbr.score(X_test, y_test):.3f}")

perm = permutation_importance(gbr, X_test, y_test, n_repeats=5, random_state=1)
importance = (
    pd.DataFrame({"mean": perm.importances_mean, "std": perm.importances_std}, index=data.feature_names)
    .sort_values("mean", ascending=False)
    .round(3)
)
print("\nPermutation importance (top 5):")
print(importance.head())

stages = [np.mean((y_test - p) ** 2) for p in gbr.staged_predict(X_test)]
print(f"\nBest number of trees: {int(np.argmin(stages)) + 1}")
importance.to_csv("importance.csv")
