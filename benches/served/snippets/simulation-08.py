import numpy as np

# Markov chain weather model: simulation vs stationary distribution
states = ["sunny", "cloudy", "rainy"]
P = np.array([
    [0.7, 0.2, 0.1],
    [0.3, 0.4, 0.3],
    [0.2, 0.4, 0.4],
])
assert np.allclose(P.sum(axis=1), 1)

def simulate(P, start, n, rng):
    path = np.empty(n, dtype=int)
    path[0] = start
    cum = P.cumsum(axis=1)
    u = rng.random(n)
    for t in range(1, n):
        path[t] = np.searchsorted(cum[path[t - 1]], u[t])
    return path

rng = np.random.default_rng(17)
path = simulate(P, 0, 50_000, rng)
empirical = np.bincount(path, minlength=3) / len(path)

eigvals, eigvecs = np.linalg.eig(P.T)
stationary = np.real(eigvecs[:, np.argmin(np.abs(eigvals - 1))])
stationary /= stationary.sum()

for s, e, t in zip(states, empirical, stationary):
    print(f"{s:<8} simulated={e:.4f} stationary={t:.4f}")

first_week = " -> ".join(states[i] for i in path[:7])
print("First week:", first_week)
counts = np.zeros((3, 3))
np.add.at(counts, (path[:-1], path[1:]), 1)
print((counts / counts.sum(axis=1, keepdims=True)).round(2))
