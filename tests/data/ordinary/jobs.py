from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
X, y = make_classification(200, random_state=0)
forest = RandomForestClassifier(20, n_jobs=-1, random_state=0).fit(X, y)
print(forest.score(X, y))
search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, n_jobs=2, cv=3).fit(X, y)
print(search.best_params_)
print(cross_val_score(forest, X, y, n_jobs=-1, cv=3).round(2).tolist())
