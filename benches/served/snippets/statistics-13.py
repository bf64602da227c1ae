import numpy as np
from scipy import special, stats, integrate

# Bayesian A/B test with Beta posteriors
def posterior(successes, trials, prior=(1, 1)):
    return stats.beta(prior[0] + successes, prior[1] + trials - successes)

A = posterior(120, 1000)
B = posterior(150, 1020)

for label, post in zip("AB", (A, B)):
    lo, hi = post.interval(0.95)
    print(f"{label}: mean={post.mean():.4f}  95% CrI=[{lo:.4f}, {hi:.4f}]")

# P(B > A): numeric integral and closed form
num, err = integrate.quad(lambda x: B.pdf(x) * A.cdf(x), 0, 1, points=[0.1, 0.15, 0.2])
a1, b1 = A.args
a2, b2 = B.args
i = np.arange(int(a2))
log_terms = special.betaln(a1 + i, b1 + b2) - np.log(b2 + i) - special.betaln(1 + i, b2) - special.betaln(a1, b1)
closed = np.exp(special.logsumexp(log_terms))
print(f"P(B>A) quad={num:.5f} closed={closed:.5f}")

rng = np.random.default_rng(0)
draws = B.rvs(100_000, random_state=rng) - A.rvs(100_000, random_state=rng)
print(f"MC estimate={np.mean(draws > 0):.3f}; expected uplift={draws.mean():.4f}; expected loss={np.maximum(-draws, 0).mean():.5f}")
