import argparse
import random
from collections import namedtuple

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats

Sale = namedtuple("Sale", "product qty")
Product = namedtuple("Product", "product price")


def joined(left, right, key, other="product"):
    index = {getattr(row, key): row for row in right}
    for row in left:
        yield row, index.get(getattr(row, other))


for sale, product in joined([Sale("pen", 3), Sale("cup", 1)], [Product("pen", 1.5)], "product"):
    print(sale.qty, product.price if product else None)


class Search:
    def run(self, most):
        for self.step in range(1, most + 1):
            if self.step**2 > most:
                break
        return self


print(Search().run(20).step)

parser = argparse.ArgumentParser()
parser.add_argument("--format", nargs="+", default=["csv"])
args = parser.parse_args(["--format", "csv", "md"])
for name in args.format:
    print(name)

TEMPLATES = {"bill": ["invoice {n} is wrong", "refund {n}"], "ship": ["parcel {n} is late"]}
rng = np.random.default_rng(3)
print([(rng.choice(texts).format(n=4), label) for label, texts in TEMPLATES.items()])
random.seed(1)
print(random.choice(["{} here", "{} there"]).format("it"))
print(memoryview(b"abc").format)

fig, ax = plt.subplots()
stats.probplot([1.0, 2.0, 2.5, 4.0], plot=plt)
print(ax.get_title())
plt.close("all")
