import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

docs = {
    "d1": "The cat sat on the mat and watched the bird",
    "d2": "A bird flew over the house while the cat slept",
    "d3": "Stock markets fell sharply after the rate decision",
    "d4": "The central bank raised the interest rate again, markets fell",
    "d5": "My dog chased the cat around the house",
}

vectorizer = TfidfVectorizer(stop_words="english", ngram_range=(1, 1))
tfidf = vectorizer.fit_transform(docs.values())
sim = pd.DataFrame(cosine_similarity(tfidf), index=docs.keys(), columns=docs.keys())
print(sim.round(2))

# Most similar document for each one
for d in sim.index:
    other = sim.loc[d].drop(d)
    print(f"{d} is closest to {other.idxmax()} ({other.max():.2f})")

terms = vectorizer.get_feature_names_out()
for name, row in zip(docs, tfidf.toarray()):
    top = [terms[i] for i in (-row).argsort(kind="stable")[:3]]
    print(name, "->", ", ".join(top))
