import numpy as np
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import auc, roc_curve
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True)
X = X[:, :4]
X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.4, random_state=3, stratify=y)

fig, ax = plt.subplots(figsize=(6, 6))
for name, model in {
    "Logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "Forest": RandomForestClassifier(n_estimators=50, random_state=3),
}.items():
    p = model.fit(X_tr, y_tr).predict_proba(X_te)[:, 1]
    fpr, tpr, thr = roc_curve(y_te, p)
    area = auc(fpr, tpr)
    ax.plot(fpr, tpr, label=f"{name} (AUC = {area:.3f})")
    best = np.argmax(tpr - fpr)
    print(f"{name:<9} AUC={area:.3f} Youden threshold={thr[best]:.2f} TPR={tpr[best]:.2f} FPR={fpr[best]:.2f}")

ax.plot([0, 1], [0, 1], "k--", alpha=0.5)
ax.set(xlabel="False positive rate", ylabel="True positive rate", title="ROC curves")
ax.legend(loc="lower right")
ax.set_aspect("equal")
plt.savefig("roc.png")
