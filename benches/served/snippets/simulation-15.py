import math
import random
from collections import defaultdict

# 2D lattice percolation with union-find
class UnionFind:
    def __init__(self, n):
        self.parent = list(range(n))
        self.size = [1] * n

    def find(self, x):
        while self.parent[x] != x:
            self.parent[x] = self.parent[self.parent[x]]
            x = self.parent[x]
        return x

    def union(self, a, b):
        a, b = self.find(a), self.find(b)
        if a == b:
            return
        if self.size[a] < self.size[b]:
            a, b = b, a
        self.parent[b] = a
        self.size[a] += self.size[b]

def threshold(n, rng):
    top, bottom = n * n, n * n + 1
    uf, is_open = UnionFind(n * n + 2), [False] * (n * n)
    for opened, site in enumerate(rng.sample(range(n * n), n * n), 1):
        is_open[site] = True
        r, c = divmod(site, n)
        if r == 0: uf.union(site, top)
        if r == n - 1: uf.union(site, bottom)
        for rr, cc in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
            if 0 <= rr < n and 0 <= cc < n and is_open[rr * n + cc]:
                uf.union(site, rr * n + cc)
        if uf.find(top) == uf.find(bottom):
            return opened / (n * n)

rng = random.Random(3)
vals = [threshold(20, rng) for _ in range(100)]
mean = sum(vals) / len(vals)
sd = math.sqrt(sum((v - mean) ** 2 for v in vals) / (len(vals) - 1))
print(f"percolation threshold ≈ {mean:.3f} ± {1.96 * sd / math.sqrt(len(vals)):.3f}")
