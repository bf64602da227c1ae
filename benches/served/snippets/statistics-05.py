import statistics
from fractions import Fraction
from decimal import Decimal, getcontext, ROUND_HALF_EVEN
from collections import Counter

scores = [78, 92, 85, 85, 60, 74, 99, 85, 71, 92]

print("mean     ", statistics.mean(scores))
print("median   ", statistics.median(scores))
print("mode     ", statistics.mode(scores))
print("multimode", statistics.multimode([1, 1, 2, 2, 3]))
print("stdev    ", round(statistics.stdev(scores), 4))
print("quartiles", statistics.quantiles(scores, n=4, method="inclusive"))
print("harmonic ", round(statistics.harmonic_mean([40, 60]), 3))
print("geometric", round(statistics.geometric_mean([1.05, 0.97, 1.10]), 5))

nd = statistics.NormalDist.from_samples(scores)
print(f"P(score > 90) under normal: {1 - nd.cdf(90):.4f}")
print("z of 99:", round(nd.zscore(99), 3))

slope, intercept = statistics.linear_regression(range(len(scores)), scores)
print(f"trend: {slope:+.3f} per test, start {intercept:.2f}")

print("Fractions:", statistics.mean([Fraction(1, 3), Fraction(1, 6), Fraction(1, 2)]))
getcontext().prec = 10
d = sum(map(Decimal, ["0.1", "0.2", "0.3"]))
print("Decimal:", d, d.quantize(Decimal("0.1"), rounding=ROUND_HALF_EVEN), 0.1 + 0.2 + 0.3)
print("Counts:", sorted(Counter(scores).items(), key=lambda kv: (-kv[1], kv[0]))[:3])
