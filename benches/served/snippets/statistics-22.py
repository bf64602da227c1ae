import numpy as np
import pandas as pd

rng = np.random.default_rng(50)

# Simpson's paradox and stratified (Mantel-Haenszel) odds ratio
data = pd.DataFrame(
    [("small", "A", 81, 87), ("small", "B", 234, 270), ("large", "A", 192, 263), ("large", "B", 55, 80)],
    columns=["stone", "treatment", "success", "total"],
)
overall = data.groupby("treatment")[["success", "total"]].sum().eval("rate = success / total")
print(overall.round(3))
by_stone = data.assign(rate=data["success"] / data["total"]).pivot(index="stone", columns="treatment", values="rate")
print(by_stone.round(3))

winner = overall["rate"].idxmax()
strata_winners = by_stone.idxmax(axis=1).to_dict()
print(f"Overall winner: {winner}; within strata: {strata_winners}")
if all(w != winner for w in strata_winners.values()):
    print("=> Simpson's paradox")

num = den = 0.0
for _, g in data.groupby("stone"):
    s = g.set_index("treatment")
    a, b = s.at["A", "success"], s.at["A", "total"] - s.at["A", "success"]
    c, d = s.at["B", "success"], s.at["B", "total"] - s.at["B", "success"]
    n = a + b + c + d
    num += a * d / n
    den += b * c / n
print(f"Mantel-Haenszel OR = {num / den:.3f}")
