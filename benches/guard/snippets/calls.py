from collections import namedtuple

Point = namedtuple("Point", ["x", "y"])


def moved(point, by):
    return Point(point.x + by, point.y - by)


def inside(point):
    return 0 <= point.x % 100 < 70 and point.y % 3 != 1


def work():
    points = [Point(n, n * 7 % 13) for n in range(20_000)]
    kept = [moved(point, 3) for point in points if inside(point)]
    by_row = {}
    for point in kept:
        by_row.setdefault(point.y, []).append(point.x)
    words = [str(n).rjust(6).strip().upper() for n in range(10_000)]
    longest = max(words, key=lambda word: len(word))
    return sum(max(row) - min(row) for row in by_row.values()) + len(longest)
