import numpy as np
from scipy.sparse import diags, eye, kron, csr_matrix
from scipy.sparse.linalg import spsolve, eigsh, cg

# Heat equation on a plate: steady state with a sparse Laplacian
n = 30
main = diags([-1, 2, -1], [-1, 0, 1], shape=(n, n))
L = csr_matrix(kron(main, eye(n)) + kron(eye(n), main))
print("shape", L.shape, "nnz", L.nnz, f"density {L.nnz / np.prod(L.shape):.4%}")

b = np.zeros((n, n))
b[0, :] += 100      # hot top edge
T = spsolve(L.tocsc(), b.ravel()).reshape(n, n)
print("centre %.3f, min %.3f, max %.3f" % (T[n // 2, n // 2], T.min(), T.max()))
print("symmetric:", np.allclose(T, T[:, ::-1]))

x, info = cg(L, b.ravel(), rtol=1e-10)
print("CG converged:", info == 0, "agrees:", np.allclose(x, T.ravel(), atol=1e-5))

lam = eigsh(L, k=3, sigma=0, return_eigenvectors=False)
exact = lambda i, j: 4 * np.sin(i * np.pi / 2 / (n + 1)) ** 2 + 4 * np.sin(j * np.pi / 2 / (n + 1)) ** 2
print("eigenvalues ok:", np.allclose(np.sort(lam), sorted([exact(1, 1), exact(1, 2), exact(2, 1)])))

shades = " .:-=+*#%@"
for row in T[::5]:
    print("".join(shades[min(9, int(v / 10))] for v in row[::2]))
