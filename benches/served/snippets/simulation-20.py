import numpy as np

rng = np.random.default_rng(8675309)

class Agent:
    __slots__ = ("id", "wealth")

    def __init__(self, id_, wealth=100):
        self.id, self.wealth = id_, wealth

    def give(self, other, amount=1):
        amount = min(amount, self.wealth)
        self.wealth -= amount
        other.wealth += amount

    def __repr__(self):
        return f"Agent({self.id}, {self.wealth})"


def gini(x):
    x = np.sort(np.asarray(x, dtype=float))
    n = len(x)
    return (2 * np.arange(1, n + 1) - n - 1) @ x / (n * x.sum())


agents = [Agent(i) for i in range(100)]
for rnd in range(1, 501):
    partners = rng.integers(0, len(agents), len(agents))
    for giver, j in zip(agents, partners):
        giver.give(agents[j], 5)
    if rnd % 100 == 0:
        w = [a.wealth for a in agents]
        print(f"round {rnd:>3}: gini={gini(w):.3f} min={min(w)} max={max(w)} total={sum(w)}")

top = sorted(agents, key=lambda a: -a.wealth)[:3]
print("Richest:", top)
share = sum(a.wealth for a in sorted(agents, key=lambda a: a.wealth)[-10:]) / 10_000
print(f"Top 10% own {share:.1%}")
