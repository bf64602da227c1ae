import random
from collections import Counter

class MontyHall:
    doors = (1, 2, 3)

    def __init__(self, rng: random.Random):
        self.rng = rng

    def play(self, switch: bool) -> bool:
        prize = self.rng.choice(self.doors)
        pick = self.rng.choice(self.doors)
        opened = self.rng.choice([d for d in self.doors if d not in (prize, pick)])
        if switch:
            (pick,) = set(self.doors) - {pick, opened}
        return pick == prize


if __name__ == "__main__":
    game = MontyHall(random.Random(1234))
    n = 10_000
    wins = Counter()
    for strategy in ("stay", "switch"):
        wins[strategy] = sum(game.play(strategy == "switch") for _ in range(n))
    for strategy, w in wins.most_common():
        print(f"{strategy:>6}: {w}/{n} = {w / n:.3f}")
    print("Ratio: %.2f" % (wins["switch"] / wins["stay"]))
