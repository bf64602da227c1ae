import math

# Root finding by hand
class ConvergenceError(Exception):
    """Raised when the iteration does not converge."""


def bisect(f, lo, hi, tol=1e-12):
    flo, fhi = f(lo), f(hi)
    if flo * fhi > 0:
        raise ValueError("no sign change")
    n = 0
    while hi - lo > tol:
        mid = (lo + hi) / 2
        n += 1
        if flo * f(mid) <= 0:
            hi = mid
        else:
            lo, flo = mid, f(mid)
    return (lo + hi) / 2, n


def newton(f, df, x, tol=1e-12, max_iter=50):
    for n in range(1, max_iter + 1):
        step = f(x) / df(x)
        x -= step
        if abs(step) < tol:
            return x, n
    raise ConvergenceError(f"not converged after {max_iter} iterations")


f, df = lambda x: x ** 3 - 2 * x - 5, lambda x: 3 * x ** 2 - 2
print("bisect: %.10f in %d steps" % bisect(f, 2, 3))
print("newton: %.10f in %d steps" % newton(f, df, 2.0))
for attempt in (lambda: bisect(f, 3, 4), lambda: newton(lambda x: x ** 2 + 1, lambda x: 2 * x, 0.5)):
    try:
        attempt()
    except (ValueError, ConvergenceError, ZeroDivisionError) as exc:
        print(f"{type(exc).__name__}: {exc}")
kepler = newton(lambda E: E - 0.6 * math.sin(E) - 1.2, lambda E: 1 - 0.6 * math.cos(E), 1.2)[0]
print(f"Kepler E = {kepler:.8f}")
