from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
import numpy as np
import pandas as pd

rng = np.random.default_rng(21)
n = 400
df = pd.DataFrame({
    "km": rng.gamma(3, 30_000, n),
    "year": rng.integers(2005, 2024, n).astype(float),
    "fuel": rng.choice(["petrol", "diesel", "electric"], n),
    "brand": rng.choice(["Aster", "Borealis", "Cygnus"], n),
})
df["price"] = 30_000 - 0.06 * df.km + 700 * (df.year - 2015) + 5000 * (df.fuel == "electric") + rng.normal(0, 2000, n)
df.loc[rng.choice(n, 25, replace=False), "km"] = np.nan

numeric, categorical = ["km", "year"], ["fuel", "brand"]
preprocess = ColumnTransformer([
    ("num", Pipeline([("impute", SimpleImputer(strategy="median")), ("scale", StandardScaler())]), numeric),
    ("cat", OneHotEncoder(handle_unknown="ignore"), categorical),
])
model = Pipeline([("prep", preprocess), ("ridge", Ridge(alpha=1.0))])

cv = KFold(n_splits=5, shuffle=True, random_state=0)
scores = cross_val_score(model, df.drop(columns="price"), df["price"], cv=cv, scoring="r2")
print("R2 per fold:", np.round(scores, 3))
print(f"Mean R2: {scores.mean():.3f} ± {scores.std():.3f}")

model.fit(df.drop(columns="price"), df["price"])
for name, c in zip(model["prep"].get_feature_names_out(), model["ridge"].coef_):
    print(f"{name:<22}{c:>12,.0f}")
