import heapq
import itertools
import random
from typing import Callable, List, Tuple


class Simulator:
    """Minimal discrete-event engine."""

    def __init__(self):
        self.now = 0.0
        self._queue: List[Tuple[float, int, Callable]] = []
        self._counter = itertools.count()

    def schedule(self, delay: float, action: Callable) -> None:
        heapq.heappush(self._queue, (self.now + delay, next(self._counter), action))

    def run(self, until: float) -> None:
        while self._queue and self._queue[0][0] <= until:
            self.now, _, action = heapq.heappop(self._queue)
            action()


rng = random.Random(42)
sim = Simulator()
machines = {f"M{i}": {"failures": 0, "downtime": 0.0} for i in range(1, 4)}

def fail(name):
    repair = rng.uniform(1, 4)
    machines[name]["failures"] += 1
    machines[name]["downtime"] += repair
    sim.schedule(repair + rng.expovariate(1 / 40), lambda: fail(name))

for m in machines:
    sim.schedule(rng.expovariate(1 / 40), lambda m=m: fail(m))

sim.run(until=1000)
for name, info in machines.items():
    print(f"{name}: {info['failures']} failures, availability {1 - info['downtime'] / 1000:.2%}")
print(f"Clock stopped at {sim.now:.2f}")
