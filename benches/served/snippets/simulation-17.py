import numpy as np

# Metropolis-Hastings sampler for a bimodal density
def log_target(x):
    return np.logaddexp(-0.5 * (x + 2) ** 2, np.log(0.5) - 0.5 * ((x - 3) / 0.7) ** 2)

def metropolis(log_p, x0, n, scale, rng):
    samples = np.empty(n)
    x, lp, accepted = x0, log_p(x0), 0
    for i in range(n):
        prop = x + rng.normal(0, scale)
        lp_new = log_p(prop)
        if np.log(rng.random()) < lp_new - lp:
            x, lp = prop, lp_new
            accepted += 1
        samples[i] = x
    return samples, accepted / n

rng = np.random.default_rng(31)
chains = []
for x0 in (-5.0, 0.0, 5.0):
    chain, rate = metropolis(log_target, x0, 8000, 2.5, rng)
    chains.append(chain[2000:])
    print(f"start={x0:+.1f} acceptance={rate:.3f} mean={chain[2000:].mean():.3f} P(x>1)={np.mean(chain[2000:] > 1):.3f}")

arr = np.array(chains)
m, n = arr.shape
W = arr.var(axis=1, ddof=1).mean()
B = n * arr.mean(axis=1).var(ddof=1)
print(f"R-hat: {np.sqrt(((n - 1) / n * W + B / n) / W):.3f}")

hist, edges = np.histogram(arr.ravel(), bins=16, range=(-6, 6))
for h, e in zip(hist, edges):
    print(f"{e:+6.2f} {'=' * int(60 * h / hist.sum() * 3)}")
