import pickle
import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = make_classification(n_samples=400, n_features=6, n_informative=4, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)

model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
model.fit(X_train, y_train)

with open("model.pkl", "wb") as f:
    pickle.dump(model, f)
np.savez_compressed("split.npz", X_test=X_test, y_test=y_test)

# Fresh load, as another process would do
with open("model.pkl", "rb") as f:
    loaded = pickle.load(f)
with np.load("split.npz") as data:
    print("arrays:", sorted(data.files))
    acc = loaded.score(data["X_test"], data["y_test"])

print(f"Accuracy: {acc:.3f}")
print("Same predictions:", np.array_equal(model.predict(X_test), loaded.predict(X_test)))
print("Steps:", [name for name, _ in loaded.steps])
