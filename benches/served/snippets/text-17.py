import random
from collections import defaultdict


class MarkovChain:
    """Word-level Markov text generator."""

    def __init__(self, order=1, seed=0):
        self.order = order
        self.rng = random.Random(seed)
        self.model = defaultdict(list)

    def train(self, text):
        words = text.split()
        for i in range(len(words) - self.order):
            self.model[tuple(words[i:i + self.order])].append(words[i + self.order])
        return self

    def generate(self, n=15):
        state = self.rng.choice(sorted(self.model))
        out = list(state)
        while len(out) < n:
            choices = self.model.get(tuple(out[-self.order:]))
            if not choices:
                break
            out.append(self.rng.choice(choices))
        return " ".join(out)


source = ("the market rose and the index rose while the bond market fell and the dollar fell "
          "while the index of the bond market rose and the oil price fell")
for order in (1, 2):
    mc = MarkovChain(order=order, seed=42).train(source)
    print(f"order {order}: {len(mc.model)} states")
    print("  ", mc.generate())
