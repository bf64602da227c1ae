import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
rng = np.random.default_rng(0)
df = pd.DataFrame({"n": rng.normal(size=60), "c": rng.choice(list("ab"), 60)})
df["y"] = df.n * 2 + (df.c == "a")
pre = ColumnTransformer([("n", make_pipeline(SimpleImputer(), StandardScaler()), ["n"]), ("c", OneHotEncoder(), ["c"])])
model = Pipeline([("pre", pre), ("ridge", Ridge(alpha=0.1))])
a, b, c, d = train_test_split(df[["n", "c"]], df.y, random_state=0)
print(round(r2_score(d, model.fit(a, c).predict(b)), 3))
