from __future__ import annotations
import math
from dataclasses import dataclass
from functools import total_ordering
from typing import List


@total_ordering
@dataclass(frozen=True, eq=True)
class Vec:
    x: float
    y: float

    def __add__(self, o: Vec) -> Vec: return Vec(self.x + o.x, self.y + o.y)
    def __sub__(self, o: Vec) -> Vec: return Vec(self.x - o.x, self.y - o.y)
    def __mul__(self, k: float) -> Vec: return Vec(self.x * k, self.y * k)
    __rmul__ = __mul__
    def __matmul__(self, o: Vec) -> float: return self.x * o.x + self.y * o.y
    def __abs__(self) -> float: return math.hypot(self.x, self.y)
    def __neg__(self) -> Vec: return -1 * self
    def __lt__(self, o: Vec) -> bool: return abs(self) < abs(o)
    def cross(self, o: Vec) -> float: return self.x * o.y - self.y * o.x

    def rotate(self, deg: float) -> Vec:
        c, s = math.cos(math.radians(deg)), math.sin(math.radians(deg))
        return Vec(round(c * self.x - s * self.y, 10), round(s * self.x + c * self.y, 10))


def polygon_area(pts: List[Vec]) -> float:
    return abs(sum(p.cross(q) for p, q in zip(pts, pts[1:] + pts[:1]))) / 2


a, b = Vec(3, 4), Vec(-1, 2)
print(a + b, a - b, 2 * a, -b)
print("dot", a @ b, "cross", a.cross(b), "len", abs(a))
print("max", max(a, b, key=abs), "sorted", sorted([a, b, Vec(0, 0)]))
print("rot90", Vec(1, 0).rotate(90))
hexagon = [Vec(2, 0).rotate(60 * k) for k in range(6)]
print("hexagon area", round(polygon_area(hexagon), 6), "expected", round(6 * math.sqrt(3), 6))
