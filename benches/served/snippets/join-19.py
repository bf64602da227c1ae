from collections import defaultdict, namedtuple

# Hash join in plain Python, no pandas needed
Sale = namedtuple("Sale", "sale_id product_id qty")
Product = namedtuple("Product", "product_id name price")

sales = [Sale(1, "p1", 3), Sale(2, "p2", 1), Sale(3, "p1", 2), Sale(4, "p9", 5)]
products = [Product("p1", "pen", 1.50), Product("p2", "book", 12.00), Product("p3", "lamp", 30.00)]


def hash_join(left, right, key):
    index = defaultdict(list)
    for r in right:
        index[getattr(r, key)].append(r)
    for l in left:
        for r in index.get(getattr(l, key), [None]):
            yield l, r


totals = defaultdict(float)
unmatched = []
for sale, product in hash_join(sales, products, "product_id"):
    if product is None:
        unmatched.append(sale.sale_id)
        continue
    totals[product.name] += sale.qty * product.price

for name, value in sorted(totals.items(), key=lambda kv: kv[1], reverse=True):
    print(f"{name:>6}: {value:8.2f}")
print("unmatched sales:", unmatched)
never_sold = {p.product_id for p in products} - {s.product_id for s in sales}
print("never sold:", sorted(never_sold))
