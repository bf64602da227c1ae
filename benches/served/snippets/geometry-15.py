from typing import List, Tuple
import random

Point = Tuple[float, float]

# Andrew's monotone chain, point in polygon and Douglas-Peucker without libraries
def convex_hull(points: List[Point]) -> List[Point]:
    pts = sorted(set(points))
    def half(seq):
        out = []
        for p in seq:
            while len(out) >= 2 and cross(out[-2], out[-1], p) <= 0:
                out.pop()
            out.append(p)
        return out[:-1]
    return half(pts) + half(pts[::-1])

def cross(o, a, b):
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])

def contains(poly: List[Point], p: Point) -> bool:
    x, y = p
    inside = False
    for (x1, y1), (x2, y2) in zip(poly, poly[1:] + poly[:1]):
        if (y1 > y) != (y2 > y) and x < (x2 - x1) * (y - y1) / (y2 - y1) + x1:
            inside = not inside
    return inside

def simplify(line: List[Point], eps: float) -> List[Point]:
    (x1, y1), (x2, y2) = line[0], line[-1]
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5 or 1.0
    dist, i = max((abs(cross(line[0], line[-1], p)) / length, i) for i, p in enumerate(line))
    if dist <= eps:
        return [line[0], line[-1]]
    return simplify(line[: i + 1], eps)[:-1] + simplify(line[i:], eps)

random.seed(11)
cloud = [(random.randint(0, 20), random.randint(0, 20)) for _ in range(50)]
hull = convex_hull(cloud)
print("Hull:", hull)
print("Inside:", sum(contains(hull, (x + 0.01, y + 0.013)) for x, y in cloud))
print("Simplified:", simplify([(0, 0), (1, 0.1), (2, -0.1), (3, 5), (4, 6), (5, 7), (6, 8.1), (7, 9)], 0.5))
