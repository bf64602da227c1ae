from math import radians, sin, cos, asin, sqrt, atan2, degrees
from itertools import permutations

cities = {
    "Madrid": (40.4168, -3.7038),
    "Paris": (48.8566, 2.3522),
    "Berlin": (52.5200, 13.4050),
    "Rome": (41.9028, 12.4964),
    "Vienna": (48.2082, 16.3738),
}

def haversine(p, q, radius=6371.0):
    lat1, lon1, lat2, lon2 = map(radians, (*p, *q))
    h = sin((lat2 - lat1) / 2) ** 2 + cos(lat1) * cos(lat2) * sin((lon2 - lon1) / 2) ** 2
    return 2 * radius * asin(sqrt(h))

def bearing(p, q):
    lat1, lon1, lat2, lon2 = map(radians, (*p, *q))
    y = sin(lon2 - lon1) * cos(lat2)
    x = cos(lat1) * sin(lat2) - sin(lat1) * cos(lat2) * cos(lon2 - lon1)
    return degrees(atan2(y, x)) % 360

names = sorted(cities)
print(" " * 8 + "".join(f"{n:>8}" for n in names))
for a in names:
    print(f"{a:<8}" + "".join(f"{haversine(cities[a], cities[b]):8.0f}" for b in names))

def tour_length(order):
    return sum(haversine(cities[a], cities[b]) for a, b in zip(order, order[1:] + order[:1]))

best = min((("Madrid",) + p for p in permutations(n for n in names if n != "Madrid")), key=tour_length)
print(" -> ".join(best), f"{tour_length(best):.0f} km")
print(f"Bearing Paris to Berlin: {bearing(cities['Paris'], cities['Berlin']):.1f}°")
