import numpy as np
from scipy.spatial.transform import Rotation, Slerp

# 3D rotations
r = Rotation.from_euler("xyz", [30, 45, 60], degrees=True)
print("quaternion:", r.as_quat().round(4))
print("matrix:\n", r.as_matrix().round(4), sep="")
print("axis-angle:", np.rad2deg(r.magnitude()).round(3), (r.as_rotvec() / r.magnitude()).round(4))

v = np.array([1.0, 0.0, 0.0])
print("rotated:", r.apply(v).round(4), "restored:", r.inv().apply(r.apply(v)).round(4) + 0.0)
print("orthogonal:", np.allclose(r.as_matrix() @ r.as_matrix().T, np.eye(3)))

slerp = Slerp([0, 1], Rotation.from_euler("z", [[0], [90]], degrees=True))
for s in np.linspace(0, 1, 4):
    print(f"t={s:.2f} yaw={slerp(s).as_euler('zyx', degrees=True)[0]:.1f}")

# Plane through points by SVD and distances to it
rng = np.random.default_rng(4)
xy = rng.uniform(-1, 1, (50, 2))
pts = np.c_[xy, 0.5 * xy[:, 0] - 0.2 * xy[:, 1] + 1 + rng.normal(0, 0.01, 50)]
centre = pts.mean(axis=0)
normal = np.linalg.svd(pts - centre)[2][-1]
normal *= np.sign(normal[2])
dist = (pts - centre) @ normal
print("normal:", (normal / normal[2]).round(2), "rms: %.4f" % np.sqrt((dist ** 2).mean()))
ang = np.degrees(np.arccos(np.clip(normal @ [0, 0, 1], -1, 1)))
print(f"tilt {ang:.1f} degrees; volume {abs(np.linalg.det(np.eye(3) + np.outer(v, v))):.1f}")
