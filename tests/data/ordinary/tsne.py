import numpy as np
from sklearn.manifold import TSNE
X = np.random.default_rng(0).normal(size=(40, 5))
print(TSNE(n_components=2, perplexity=5, random_state=0, init="pca").fit_transform(X).shape)
