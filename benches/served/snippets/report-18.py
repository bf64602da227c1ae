import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import classification_report
from sklearn.model_selection import cross_val_predict

warnings.filterwarnings("ignore", category=DeprecationWarning)

# Model report: train, evaluate, save predictions and a model card
rng = np.random.default_rng(29)
X = pd.DataFrame(rng.normal(size=(300, 4)), columns=["f1", "f2", "f3", "f4"])
y = pd.Series(np.where(X.f1 + X.f2 ** 2 + rng.normal(0, 0.5, 300) > 1, "accept", "reject"), name="label")

model = RandomForestClassifier(n_estimators=80, random_state=0)
pred = cross_val_predict(model, X, y, cv=5)
rep = pd.DataFrame(classification_report(y, pred, output_dict=True)).T.round(3)

table = pa.Table.from_pandas(X.assign(label=y, pred=pred), preserve_index=False)
pq.write_table(table, "predictions.parquet")

importance = pd.Series(model.fit(X, y).feature_importances_, X.columns).sort_values(ascending=False)
card = f"""# Model card
- Algorithm: {type(model).__name__}
- Samples: {len(X)}
- Accuracy (5-fold): {(pred == y).mean():.3f}
- Main features: {', '.join(importance.index[:2])}
"""
with open("MODEL_CARD.md", "w") as fh:
    fh.write(card)
print(card)
print(rep.loc[["accept", "reject", "macro avg"]])
print("Rows in parquet:", pq.read_metadata("predictions.parquet").num_rows)
