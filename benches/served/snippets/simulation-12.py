import numpy as np
import pandas as pd
from dataclasses import dataclass
from typing import Dict


@dataclass
class Task:
    name: str
    low: float
    mode: float
    high: float

    def sample(self, rng, n):
        return rng.triangular(self.low, self.mode, self.high, n)


rng = np.random.default_rng(55)
tasks = [
    Task("design", 3, 5, 10),
    Task("build", 8, 12, 25),
    Task("test", 2, 4, 9),
    Task("deploy", 1, 1.5, 4),
]
n = 10_000
durations: Dict[str, np.ndarray] = {t.name: t.sample(rng, n) for t in tasks}
df = pd.DataFrame(durations)

# build and docs run in parallel
df["docs"] = rng.normal(11, 3, n).clip(min=4)
df["total"] = df["design"] + df[["build", "docs"]].max(axis=1) + df["test"] + df["deploy"]

q = df["total"].quantile([0.1, 0.5, 0.8, 0.95])
print("Project duration (days):")
for p, v in q.items():
    print(f"  P{int(p * 100):02d}: {v:.1f}")
deadline = 30
print(f"P(finish within {deadline} days) = {(df['total'] <= deadline).mean():.1%}")
print("Docs on critical path:", f"{(df['docs'] > df['build']).mean():.1%}")
print(df.corr()["total"].drop("total").sort_values(ascending=False).round(3))
