import random
from collections import Counter, deque
from dataclasses import dataclass


@dataclass
class Stats:
    served: int = 0
    total_wait: float = 0.0
    max_queue: int = 0

    @property
    def mean_wait(self):
        return self.total_wait / self.served if self.served else 0.0


def simulate_queue(arrival_rate, service_rate, n_customers, seed=0):
    """Single-server queue, event by event."""
    rng = random.Random(seed)
    t_arrive = 0.0
    server_free = 0.0
    waiting = deque()
    stats = Stats()
    for _ in range(n_customers):
        t_arrive += rng.expovariate(arrival_rate)
        while waiting and waiting[0] <= t_arrive:
            waiting.popleft()
        start = max(t_arrive, server_free)
        server_free = start + rng.expovariate(service_rate)
        waiting.append(start)
        stats.served += 1
        stats.total_wait += start - t_arrive
        stats.max_queue = max(stats.max_queue, len(waiting))
    return stats


for lam in (0.5, 0.7, 0.9):
    s = simulate_queue(lam, 1.0, 20_000, seed=1)
    theory = lam / (1 - lam)
    print(f"rho={lam:.1f}  mean wait={s.mean_wait:6.2f}  theory={theory:5.2f}  longest queue={s.max_queue}")
