import random
from functools import lru_cache

random.seed(7)

# Birthday problem: simulation vs exact
def has_match(n: int) -> bool:
    seen = set()
    for _ in range(n):
        day = random.randrange(365)
        if day in seen:
            return True
        seen.add(day)
    return False

@lru_cache
def exact(n: int) -> float:
    p = 1.0
    for i in range(n):
        p *= (365 - i) / 365
    return 1 - p

trials = 5_000
for n in [5, 10, 20, 23, 30, 50]:
    sim = sum(has_match(n) for _ in range(trials)) / trials
    bar = "*" * round(sim * 30)
    print(f"{n:>3} people: sim={sim:.3f} exact={exact(n):.3f} {bar}")

smallest = next(n for n in range(1, 366) if exact(n) > 0.5)
print("Smallest group with >50%:", smallest)
