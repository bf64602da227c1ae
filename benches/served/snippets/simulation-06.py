import numpy as np
import pandas as pd

# SIR epidemic: stochastic chain-binomial model
def sir(N=1000, I0=5, beta=0.3, gamma=0.1, days=160, rng=None):
    rng = rng or np.random.default_rng()
    S, I, R = N - I0, I0, 0
    history = [(S, I, R)]
    for _ in range(days):
        p_inf = 1 - np.exp(-beta * I / N)
        new_inf = rng.binomial(S, p_inf)
        new_rec = rng.binomial(I, 1 - np.exp(-gamma))
        S -= new_inf
        I += new_inf - new_rec
        R += new_rec
        history.append((S, I, R))
        if I == 0:
            break
    return pd.DataFrame(history, columns=["S", "I", "R"])

rng = np.random.default_rng(99)
runs = [sir(rng=rng) for _ in range(100)]

peaks = pd.DataFrame({
    "peak_I": [r["I"].max() for r in runs],
    "peak_day": [r["I"].idxmax() for r in runs],
    "final_size": [r["R"].iloc[-1] for r in runs],
})
print(peaks.describe().round(1))
print("Runs that died out early:", (peaks["final_size"] < 100).sum())
print(runs[0].iloc[::25].to_string())
assert all((r.sum(axis=1) == 1000).all() for r in runs)
