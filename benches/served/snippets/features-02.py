import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

rng = np.random.default_rng(0)
df = pd.DataFrame({
    "age": rng.integers(18, 70, 12).astype(float),
    "income": rng.normal(50_000, 12_000, 12).round(0),
    "city": rng.choice(["Lagos", "Lima", "Oslo"], 12),
    "plan": rng.choice(["free", "pro"], 12),
})
df.loc[[2, 7], "age"] = np.nan
df.loc[5, "city"] = np.nan

num_cols = df.select_dtypes("number").columns.tolist()
cat_cols = df.select_dtypes(exclude="number").columns.tolist()

pre = ColumnTransformer([
    ("num", Pipeline([("imp", SimpleImputer(strategy="median")), ("sc", StandardScaler())]), num_cols),
    ("cat", Pipeline([
        ("imp", SimpleImputer(strategy="most_frequent")),
        ("oh", OneHotEncoder(handle_unknown="ignore", sparse_output=False)),
    ]), cat_cols),
])
X = pre.fit_transform(df)
features = pre.get_feature_names_out()
out = pd.DataFrame(X, columns=features).round(3)
print(out.head())
print("Shape:", X.shape)
print("Column means ~0:", np.allclose(X[:, :2].mean(axis=0), 0))

new = pd.DataFrame({"age": [30.0], "income": [41000.0], "city": ["Paris"], "plan": ["pro"]})
print(pre.transform(new).round(3))
