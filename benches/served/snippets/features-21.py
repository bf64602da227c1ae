import pandas as pd
import numpy as np
from collections import Counter
from itertools import chain

baskets = [
    ["milk", "bread", "butter"],
    ["beer", "chips"],
    ["milk", "bread"],
    ["bread", "butter", "jam"],
    ["milk", "beer", "bread"],
    ["chips", "salsa", "beer"],
    ["milk", "butter"],
]

# Multi-hot encoding of a list column
df = pd.DataFrame({"basket": baskets})
onehot = df["basket"].str.join("|").str.get_dummies().astype(bool)
print(onehot.astype(int).to_string())

freq = Counter(chain.from_iterable(baskets))
print(freq.most_common(3))

n = len(df)
rules = []
for a in onehot.columns:
    for b in onehot.columns:
        if a == b:
            continue
        both = (onehot[a] & onehot[b]).sum() / n
        if both >= 2 / n:
            conf = both / onehot[a].mean()
            rules.append((a, b, both, conf, conf / onehot[b].mean()))

rules = pd.DataFrame(rules, columns=["if", "then", "support", "confidence", "lift"])
print(rules.sort_values(["lift", "if", "then"], ascending=[False, True, True]).round(3).to_string(index=False))
exploded = df.explode("basket").groupby("basket").size().rename("n")
assert exploded.to_dict() == dict(freq)
