import numpy as np
from scipy.spatial import ConvexHull
import matplotlib.pyplot as plt

rng = np.random.default_rng(42)
pts = rng.normal(size=(60, 2))

hull = ConvexHull(pts)
ring = pts[hull.vertices]

# Shoelace area and perimeter against scipy's numbers
x, y = ring.T
area = 0.5 * abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))
perimeter = np.linalg.norm(ring - np.roll(ring, -1, axis=0), axis=1).sum()
print(f"Vertices : {len(hull.vertices)} of {len(pts)}")
print(f"Area     : {area:.4f} (scipy {hull.volume:.4f})")
print(f"Perimeter: {perimeter:.4f} (scipy {hull.area:.4f})")

centroid = pts.mean(axis=0)
far = ring[np.argmax(np.linalg.norm(ring - centroid, axis=1))]
print("Centroid:", centroid.round(3), "farthest vertex:", far.round(3))

inside = np.all(hull.equations[:, :2] @ np.array([[0, 0], [10, 10]]).T + hull.equations[:, [2]] <= 1e-12, axis=0)
print("Contains (0,0), (10,10):", inside.tolist())

plt.scatter(*pts.T, s=10)
plt.fill(*ring.T, alpha=0.2)
plt.savefig("hull.png")
