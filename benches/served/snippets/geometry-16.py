import numpy as np
from numpy.polynomial import Polynomial, Chebyshev, Legendre

# Polynomial algebra
p = Polynomial([6, -5, 1])          # 6 - 5x + x^2
q = Polynomial.fromroots([1, -2])
print("p:", p.coef, "roots:", p.roots())
print("p*q:", (p * q).coef, "deg", (p * q).degree())
quo, rem = divmod(p * q + 3, q)
print("divmod:", quo.coef.round(6), rem.coef.round(6))
print("p':", p.deriv().coef, "∫p:", p.integ().coef.round(4), "p(2..4):", p(np.arange(2, 5)))

# Runge phenomenon: equispaced against Chebyshev nodes
runge = lambda x: 1 / (1 + 25 * x ** 2)
grid = np.linspace(-1, 1, 1001)
for deg in (5, 10, 15, 20):
    eq = Polynomial.fit(np.linspace(-1, 1, deg + 1), runge(np.linspace(-1, 1, deg + 1)), deg)
    ch = Chebyshev.interpolate(runge, deg)
    e1, e2 = (np.abs(f(grid) - runge(grid)).max() for f in (eq, ch))
    print(f"degree {deg:>2}: equispaced {e1:8.3f}   chebyshev {e2:.4f}")

# Gauss-Legendre quadrature
nodes, weights = np.polynomial.legendre.leggauss(5)
approx = (weights * np.exp(nodes)).sum()
print(f"Gauss: {approx:.10f} exact: {np.e - 1 / np.e:.10f}")
print(Legendre.basis(3).convert(kind=Polynomial).coef)
