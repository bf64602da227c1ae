import numpy as np

# Affine transformations of a triangle in homogeneous coordinates
def rotation(deg):
    t = np.deg2rad(deg)
    return np.array([[np.cos(t), -np.sin(t), 0], [np.sin(t), np.cos(t), 0], [0, 0, 1]])

def translation(dx, dy):
    m = np.eye(3)
    m[:2, 2] = dx, dy
    return m

def scaling(sx, sy=None):
    return np.diag([sx, sx if sy is None else sy, 1.0])

def apply(m, pts):
    homog = np.c_[pts, np.ones(len(pts))]
    return (homog @ m.T)[:, :2]

tri = np.array([[0, 0], [2, 0], [0, 1]], dtype=float)
steps = {
    "rotate 90": rotation(90),
    "scale x2": scaling(2),
    "move": translation(3, -1),
    "all": translation(3, -1) @ scaling(2) @ rotation(90),
}
for name, m in steps.items():
    out = apply(m, tri)
    print(f"{name:<10} det={np.linalg.det(m[:2, :2]):.1f} -> {np.round(out, 6).tolist()}")

back = apply(np.linalg.inv(steps["all"]), apply(steps["all"], tri))
print("Inverse OK:", np.allclose(back, tri))

# Recover the transformation from point pairs (Procrustes)
rng = np.random.default_rng(0)
src = rng.normal(size=(10, 2))
dst = apply(translation(1, 2) @ rotation(35), src) + rng.normal(0, 0.01, (10, 2))
u, _, vt = np.linalg.svd((src - src.mean(0)).T @ (dst - dst.mean(0)))
R = (u @ vt).T
print("Angle: %.1f" % np.rad2deg(np.arctan2(R[1, 0], R[0, 0])))
