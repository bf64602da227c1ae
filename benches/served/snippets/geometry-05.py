import numpy as np
from scipy import linalg

np.set_printoptions(precision=4, suppress=True)
rng = np.random.default_rng(7)
A = rng.integers(-5, 6, (4, 4)).astype(float) + 6 * np.eye(4)
b = A @ np.array([1.0, -2.0, 3.0, 0.5])

print("A =\n", A, sep="")
print("det = %.3f, rank = %d, cond = %.2f" % (np.linalg.det(A), np.linalg.matrix_rank(A), np.linalg.cond(A)))
print("solve:", np.linalg.solve(A, b))

# Factorisations and their residuals
P, L, U = linalg.lu(A)
Q, R = np.linalg.qr(A)
u, s, vt = np.linalg.svd(A)
S = A @ A.T
C = np.linalg.cholesky(S)
w, V = np.linalg.eigh(S)
for name, rebuilt, target in [
    ("LU", P @ L @ U, A), ("QR", Q @ R, A), ("SVD", u @ np.diag(s) @ vt, A),
    ("Cholesky", C @ C.T, S), ("eigh", V @ np.diag(w) @ V.T, S),
]:
    print(f"{name:<9} ok={np.allclose(rebuilt, target)}")
print("singular values:", s)

low = u[:, :2] * s[:2] @ vt[:2]
print("rank-2 error: %.4f == %.4f" % (np.linalg.norm(A - low), np.sqrt((s[2:] ** 2).sum())))
print("trace expm:", round(float(np.trace(linalg.expm(A / 20))), 4))
