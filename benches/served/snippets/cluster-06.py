import random
from math import dist
from statistics import mean


class SimpleKMeans:
    """K-means in pure Python."""

    def __init__(self, k, max_iter=50, seed=None):
        self.k = k
        self.max_iter = max_iter
        self.rng = random.Random(seed)

    def fit(self, points):
        self.centroids = self.rng.sample(points, self.k)
        for self.n_iter in range(1, self.max_iter + 1):
            clusters = [[] for _ in range(self.k)]
            for p in points:
                clusters[self.predict(p)].append(p)
            new = [tuple(map(mean, zip(*c))) if c else old for c, old in zip(clusters, self.centroids)]
            if new == self.centroids:
                break
            self.centroids = new
        self.inertia = sum(dist(p, self.centroids[self.predict(p)]) ** 2 for p in points)
        return self

    def predict(self, p):
        return min(range(self.k), key=lambda i: dist(p, self.centroids[i]))


random.seed(7)
data = [(random.gauss(cx, 0.5), random.gauss(cy, 0.5)) for cx, cy in [(0, 0), (5, 5), (0, 6)] for _ in range(30)]
best = min((SimpleKMeans(3, seed=s).fit(data) for s in range(10)), key=lambda m: m.inertia)
print(f"Converged after {best.n_iter} iterations, inertia {best.inertia:.2f}")
for c in sorted(best.centroids):
    print("({:.2f}, {:.2f})".format(*c))
