import numpy as np
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.feature_selection import SelectKBest, f_classif, mutual_info_classif, RFE
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

wine = load_wine(as_frame=True)
X, y = wine.data, wine.target
print(X.shape, "classes:", wine.target_names.tolist())

Xs = pd.DataFrame(StandardScaler().fit_transform(X), columns=X.columns)

k = 5
anova = SelectKBest(f_classif, k=k).fit(Xs, y)
mi = pd.Series(mutual_info_classif(Xs, y, random_state=0), index=X.columns)
rfe = RFE(LogisticRegression(max_iter=1000), n_features_to_select=k).fit(Xs, y)

votes = pd.DataFrame({
    "anova": anova.get_support(),
    "mi": X.columns.isin(mi.nlargest(k).index),
    "rfe": rfe.support_,
}, index=X.columns)
votes["total"] = votes.sum(axis=1)
print(votes.sort_values("total", ascending=False, kind="stable").head(8))

# Drop highly correlated columns
corr = Xs.corr().abs()
upper = corr.where(np.triu(np.ones(corr.shape, dtype=bool), k=1))
to_drop = [c for c in upper.columns if (upper[c] > 0.8).any()]
print("Highly correlated:", to_drop)
