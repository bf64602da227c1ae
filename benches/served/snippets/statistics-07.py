import numpy as np
import pandas as pd

rng = np.random.default_rng(1999)
before = rng.normal(130, 12, 25)
after = before - rng.normal(4, 6, 25)

def permutation_test(x, y, n_perm=10_000, paired=False, seed=0):
    """Two-sided permutation test for the mean difference."""
    gen = np.random.default_rng(seed)
    if paired:
        d = x - y
        signs = gen.choice([-1, 1], size=(n_perm, len(d)))
        perm = (signs * d).mean(axis=1)
        obs = d.mean()
    else:
        pooled = np.concatenate([x, y])
        obs = x.mean() - y.mean()
        perm = np.empty(n_perm)
        for i in range(n_perm):
            gen.shuffle(pooled)
            perm[i] = pooled[: len(x)].mean() - pooled[len(x):].mean()
    p = (np.sum(np.abs(perm) >= abs(obs)) + 1) / (n_perm + 1)
    return obs, p, perm

for paired in (True, False):
    obs, p, perm = permutation_test(before, after, n_perm=4000, paired=paired)
    kind = "paired" if paired else "unpaired"
    print(f"{kind:<9} diff={obs:.3f} p={p:.4f} null sd={perm.std():.3f}")

print(pd.Series(perm).quantile([0.025, 0.5, 0.975]).round(2).to_dict())
