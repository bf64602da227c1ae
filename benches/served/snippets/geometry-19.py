import numpy as np
from functools import wraps
from collections import defaultdict

calls = defaultdict(int)


def counted(fn):
    @wraps(fn)
    def inner(*args):
        calls[fn.__name__] += 1
        return fn(*args)
    return inner


@counted
def cost(p):
    x, y = p
    return (x - 1) ** 2 + 10 * (y + 2) ** 2 + x * y


def gradient(f, p, h=1e-5):
    g = np.zeros_like(p)
    for i in range(p.size):
        e = np.zeros_like(p)
        e[i] = h
        g[i] = (f(p + e) - f(p - e)) / (2 * h)
    return g


def descend(f, start, lr=0.05, momentum=0.0, tol=1e-6, max_iter=2000):
    p, v = np.asarray(start, float), 0.0
    for it in range(max_iter):
        g = gradient(f, p)
        if np.linalg.norm(g) < tol:
            break
        v = momentum * v - lr * g
        p = p + v
    return p, it


exact = np.linalg.solve([[2, 1], [1, 20]], [2, -40])
for m in (0.0, 0.5, 0.8):
    calls.clear()
    p, it = descend(cost, [5, 5], momentum=m)
    print(f"momentum={m}: p={np.round(p, 4)} iterations={it} evaluations={calls['cost']} ok={np.allclose(p, exact, atol=1e-4)}")
print("exact:", exact.round(4))
