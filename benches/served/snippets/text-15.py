import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

# Classify support tickets
TEMPLATES = {
    "billing": ["I was charged twice for invoice {n}", "please refund payment {n}", "wrong amount on my bill {n}"],
    "technical": ["the app crashes with error {n}", "cannot login, code {n}", "page {n} does not load, error shown"],
    "shipping": ["where is my parcel {n}", "package {n} arrived damaged", "delivery {n} is late again"],
}
rng = np.random.default_rng(3)
rows = [(rng.choice(t).format(n=rng.integers(100, 999)), label) for label, t in TEMPLATES.items() for _ in range(25)]
df = pd.DataFrame(rows, columns=["text", "label"])

pipe = make_pipeline(TfidfVectorizer(), MultinomialNB())
grid = GridSearchCV(
    pipe,
    {"tfidfvectorizer__ngram_range": [(1, 1), (1, 2)], "multinomialnb__alpha": [0.1, 1.0]},
    cv=StratifiedKFold(5, shuffle=True, random_state=0),
    scoring="f1_macro",
)
grid.fit(df["text"], df["label"])
print(f"Best score: {grid.best_score_:.3f}")

new = ["refund my invoice please", "error when I login", "my parcel is damaged"]
for text, label, proba in zip(new, grid.predict(new), grid.predict_proba(new).max(axis=1)):
    print(f"{text:<30} -> {label:<10} ({proba:.0%})")
