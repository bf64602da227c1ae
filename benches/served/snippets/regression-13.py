import json
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.datasets import make_classification

X, y = make_classification(n_samples=800, n_features=8, n_informative=4, weights=[0.85],
                           class_sep=1.0, random_state=5)
X_tr, X_te, y_tr, y_te = train_test_split(X, y, stratify=y, test_size=0.3, random_state=5)

clf = LogisticRegression(class_weight="balanced", max_iter=1000).fit(X_tr, y_tr)
proba = clf.predict_proba(X_te)[:, 1]
print(f"ROC AUC: {roc_auc_score(y_te, proba):.3f}")

metrics = []
for threshold in (0.3, 0.5, 0.7):
    pred = (proba >= threshold).astype(int)
    p, r, f1, _ = precision_recall_fscore_support(y_te, pred, average="binary", zero_division=0)
    tn, fp, fn, tp = confusion_matrix(y_te, pred).ravel()
    metrics.append({"threshold": threshold, "precision": round(float(p), 3), "recall": round(float(r), 3),
                    "f1": round(float(f1), 3), "fp": int(fp), "fn": int(fn)})
    print(f"t={threshold}: precision={p:.2f} recall={r:.2f} f1={f1:.2f} (TP {tp}, FP {fp}, FN {fn}, TN {tn})")

best = max(metrics, key=lambda m: m["f1"])
with open("metrics.json", "w") as f:
    json.dump({"best": best, "all": metrics}, f, indent=2)
print("Best threshold:", best["threshold"])
