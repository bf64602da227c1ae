import numpy as np
import itertools as it
from decimal import Decimal, getcontext
from fractions import Fraction
import math
import sys

# Floating point pitfalls and remedies
print(0.1 + 0.2 == 0.3, math.isclose(0.1 + 0.2, 0.3), Fraction("0.1") + Fraction("0.2") == Fraction(3, 10))
print("eps:", sys.float_info.epsilon, "| spacing at 1e16:", np.spacing(1e16))

def quadratic(a, b, c):
    """Stable roots of ax^2 + bx + c."""
    disc = math.sqrt(b * b - 4 * a * c)
    q = -0.5 * (b + math.copysign(disc, b))
    return sorted((q / a, c / q))

naive = (-1e8 + math.sqrt(1e16 - 4)) / 2
print("naive:", naive, "stable:", quadratic(1, 1e8, 1)[1])

def kahan(values):
    total = comp = 0.0
    for v in values:
        y = v - comp
        t = total + y
        comp = (t - total) - y
        total = t
    return total

vals = [0.1] * 1_000_000
acc = 0.0
for v in vals:
    acc += v
print(f"loop {acc:.10f} kahan {kahan(vals):.10f} fsum {math.fsum(vals):.10f}")

getcontext().prec = 40
def machin():
    arctan = lambda x: sum(Decimal((-1) ** k) / ((2 * k + 1) * Decimal(x) ** (2 * k + 1)) for k in range(30))
    return 4 * (4 * arctan(5) - arctan(239))
print("pi:", str(machin())[:32])
best = min((Fraction(math.pi).limit_denominator(d) for d in (10, 100, 1000)), key=lambda f: abs(f - Fraction(math.pi)))
print(best, [str(f) for f in it.islice((Fraction(math.pi).limit_denominator(10 ** k) for k in it.count(1)), 4)])
print(np.float32(16777216) + np.float32(1) == np.float32(16777216), np.logaddexp(1000, 1000).round(4), np.expm1(1e-12))
