import re
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer

reviews = pd.Series([
    "Great product!!! Would buy again.",
    "Terrible... broke after 2 days :(",
    "OK for the price ($19.99). Not great, not terrible.",
    "LOVE IT! Best purchase of 2024!!!",
    "Meh",
], name="review")

def text_features(s: str) -> dict:
    words = re.findall(r"\b\w+\b", s)
    return {
        "n_chars": len(s),
        "n_words": len(words),
        "avg_len": sum(map(len, words)) / len(words) if words else 0.0,
        "n_exclaim": s.count("!"),
        "n_digits": sum(c.isdigit() for c in s),
        "upper_ratio": sum(c.isupper() for c in s) / max(1, sum(c.isalpha() for c in s)),
        "has_price": bool(re.search(r"\$\d+(?:\.\d{2})?", s)),
        "emoticon": bool(re.search(r"[:;]-?[()]", s)),
    }

feats = reviews.apply(lambda s: pd.Series(text_features(s)))
print(feats.to_string())

vec = TfidfVectorizer(ngram_range=(1, 2), min_df=1, stop_words="english")
X = vec.fit_transform(reviews)
print("TF-IDF:", X.shape)
vocab = vec.get_feature_names_out()
for i, row in enumerate(X.toarray()):
    top = row.argsort(kind="stable")[::-1][:2]
    print(i, [(str(vocab[j]), round(float(row[j]), 3)) for j in top if row[j] > 0])
