import numpy as np
from scipy.spatial import Delaunay, Voronoi
from scipy.sparse.csgraph import minimum_spanning_tree, dijkstra
from scipy.sparse import coo_matrix

rng = np.random.default_rng(23)
pts = rng.random((40, 2)) * 10

tri = Delaunay(pts)
edges = {tuple(sorted((int(s[i]), int(s[j])))) for s in tri.simplices for i, j in ((0, 1), (1, 2), (0, 2))}
print(f"Triangles {len(tri.simplices)}, edges {len(edges)}, Euler check: {len(pts) - len(edges) + len(tri.simplices) == 1}")

def tri_area(a, b, c):
    return 0.5 * abs((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]))

areas = np.array([tri_area(*pts[s]) for s in tri.simplices])
print(f"Covered area {areas.sum():.3f}, smallest {areas.min():.4f}")

i, j = np.array(sorted(edges)).T
w = np.linalg.norm(pts[i] - pts[j], axis=1)
graph = coo_matrix((w, (i, j)), shape=(40, 40))
mst = minimum_spanning_tree(graph)
print(f"MST: {mst.nnz} edges, length {mst.sum():.3f} of {w.sum():.3f}")

src = int(np.argmin(pts.sum(axis=1)))
d = dijkstra(graph, directed=False, indices=src)
far = int(d.argmax())
print(f"Farthest from {src}: {far}, path {d[far]:.3f}, straight {np.linalg.norm(pts[src] - pts[far]):.3f}")
vor = Voronoi(pts)
print("Bounded Voronoi cells:", sum(1 for r in vor.regions if r and -1 not in r))
print("Locate (5,5):", tri.find_simplex([[5, 5], [50, 50]]).tolist()[1], bool(tri.find_simplex([5, 5]) >= 0))
