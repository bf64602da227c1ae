import numpy as np
from tqdm import tqdm

# Inventory policy (s, S): find the cheapest pair by simulation
def yearly_cost(s, S, seed, days=365):
    rng = np.random.default_rng(seed)
    demand = rng.poisson(8, days)
    stock, cost, pending = S, 0.0, []
    for d in range(days):
        arrivals = [q for day, q in pending if day == d]
        stock += sum(arrivals)
        pending = [(day, q) for day, q in pending if day > d]
        sold = min(stock, demand[d])
        cost += 4.0 * (demand[d] - sold)       # lost sale penalty
        stock -= sold
        cost += 0.05 * stock                   # holding
        if stock <= s and not pending:
            pending.append((d + 3, S - stock))
            cost += 25                         # fixed order cost
    return cost

grid = [(s, S) for s in (10, 20, 30, 40) for S in (60, 90, 120) if S > s]
results = {}
for s, S in tqdm(grid, disable=True):
    costs = [yearly_cost(s, S, seed) for seed in range(20)]
    results[s, S] = (np.mean(costs), np.std(costs))

for (s, S), (m, sd) in sorted(results.items(), key=lambda kv: kv[1][0]):
    print(f"s={s:>3} S={S:>4}: {m:9.1f} ± {sd:.1f}")
best = min(results, key=lambda k: results[k][0])
print("Best policy:", best)
