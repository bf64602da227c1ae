import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import classification_report
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline

# Synthetic reviews
rng = np.random.default_rng(0)
positive = ["great", "excellent", "love", "perfect", "fast", "friendly"]
negative = ["bad", "terrible", "hate", "broken", "slow", "rude"]
neutral = ["the", "product", "delivery", "service", "box", "shop", "today"]


def make_review(label):
    main = positive if label else negative
    other = negative if label else positive
    words = list(rng.choice(neutral, 5)) + list(rng.choice(main, 2)) + list(rng.choice(other, 1))
    rng.shuffle(words)
    return " ".join(words)


labels = rng.integers(0, 2, 300)
reviews = [make_review(l) for l in labels]
X_train, X_test, y_train, y_test = train_test_split(reviews, labels, test_size=0.3, random_state=42, stratify=labels)

clf = Pipeline([("vec", CountVectorizer()), ("lr", LogisticRegression(max_iter=500))])
clf.fit(X_train, y_train)
print(classification_report(y_test, clf.predict(X_test), target_names=["negative", "positive"]))

coefs = dict(zip(clf["vec"].get_feature_names_out(), clf["lr"].coef_[0]))
ranked = sorted(coefs, key=coefs.get)
print("Most negative:", sorted(ranked[:3]), "| most positive:", sorted(ranked[-3:]))
