import numpy as np
import matplotlib.pyplot as plt

np.random.seed(0)
n_walkers, n_steps = 500, 1000

steps = np.random.choice([-1, 1], size=(n_walkers, n_steps))
walks = np.hstack([np.zeros((n_walkers, 1), dtype=int), steps.cumsum(axis=1)])

final = walks[:, -1]
print("Mean final position:", final.mean())
print("Std final position :", round(final.std(), 3), "(expected", round(np.sqrt(n_steps), 3), ")")

# First passage to +30
hit = walks >= 30
ever = hit.any(axis=1)
first = np.where(ever, hit.argmax(axis=1), -1)
print(f"Reached +30: {ever.sum()} of {n_walkers}; median time {np.median(first[ever]):.0f}")

returns = (walks[:, 1:] == 0).sum(axis=1)
print("Avg returns to origin:", returns.mean().round(2))

fig, ax = plt.subplots(figsize=(8, 4))
ax.plot(walks[:20].T, lw=0.8, alpha=0.7)
ax.plot(np.sqrt(np.arange(n_steps + 1)), "k--", label=r"$\sqrt{n}$")
ax.plot(-np.sqrt(np.arange(n_steps + 1)), "k--")
ax.legend()
ax.set(xlabel="step", ylabel="position", title="Random walks")
fig.savefig("walks.png")
plt.close(fig)
