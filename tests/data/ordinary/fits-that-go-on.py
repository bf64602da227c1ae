"""A fit that is started again, and an embedding with a given start."""
import numpy as np
from scipy import odr
from sklearn.manifold import TSNE

x = np.arange(10.0)
fit = odr.ODR(odr.Data(x, 2 * x + 1), odr.Model(lambda b, x: b[0] * x + b[1]), beta0=[1.0, 1.0], maxit=1)
fit.run()
print(fit.restart(iter=20).beta.round(3))
points = np.random.default_rng(0).random((12, 3))
print(TSNE(perplexity=2, init=points[:, :2], max_iter=250, random_state=0).fit_transform(points).shape)
