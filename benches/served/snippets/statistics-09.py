import math
from dataclasses import dataclass
from typing import Iterable


@dataclass
class RunningStats:
    """Welford's online algorithm for mean, variance and skewness."""
    n: int = 0
    mean: float = 0.0
    m2: float = 0.0
    m3: float = 0.0

    def push(self, x: float) -> "RunningStats":
        n1 = self.n
        self.n += 1
        delta = x - self.mean
        delta_n = delta / self.n
        term = delta * delta_n * n1
        self.mean += delta_n
        self.m3 += term * delta_n * (self.n - 2) - 3 * delta_n * self.m2
        self.m2 += term
        return self

    def extend(self, xs: Iterable[float]) -> "RunningStats":
        for x in xs:
            self.push(x)
        return self

    variance = property(lambda self: self.m2 / (self.n - 1) if self.n > 1 else math.nan)
    skew = property(lambda self: math.sqrt(self.n) * self.m3 / self.m2 ** 1.5)

    def __str__(self):
        return f"n={self.n} mean={self.mean:.4f} var={self.variance:.4f} skew={self.skew:.4f}"


values = [((i * 7919) % 101) ** 1.5 for i in range(1000)]
rs = RunningStats().extend(values)
print(rs)
offset = RunningStats().extend(1e9 + v for v in values)
print("Shifted variance agrees:", math.isclose(rs.variance, offset.variance, rel_tol=1e-4))
print("fsum mean:", round(math.fsum(values) / len(values), 4))
