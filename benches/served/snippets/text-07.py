from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer
import numpy as np

sports = "team match goal player coach league season win".split()
cooking = "recipe oven flour sugar butter bake salt kitchen".split()
travel = "flight hotel beach city passport museum ticket train".split()

rng = np.random.RandomState(1)
corpus, truth = [], []
for k, vocab in enumerate([sports, cooking, travel]):
    for _ in range(30):
        corpus.append(" ".join(rng.choice(vocab, 15)))
        truth.append(k)

vec = CountVectorizer()
X = vec.fit_transform(corpus)
lda = LatentDirichletAllocation(n_components=3, random_state=0, max_iter=20)
doc_topics = lda.fit_transform(X)

names = vec.get_feature_names_out()
for t, comp in enumerate(lda.components_):
    top = sorted(names[comp.argsort()[-8:]])
    print(f"Topic {t}: {' '.join(top)}")

assigned = doc_topics.argmax(axis=1)
for k in range(3):
    counts = np.bincount(assigned[np.array(truth) == k], minlength=3)
    print(f"True class {k}: purity {counts.max() / counts.sum():.2f}")
