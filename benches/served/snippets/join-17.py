import numpy as np
import pandas as pd


class TableJoiner:
    """Collects tables and joins them step by step, keeping a row-count log."""

    def __init__(self, base: pd.DataFrame, name: str):
        self.df = base.copy()
        self.log = [(name, len(base), base.shape[1])]

    def add(self, other, name, **kwargs):
        self.df = self.df.merge(other, **kwargs)
        self.log.append((name, len(self.df), self.df.shape[1]))
        return self

    def history(self):
        return pd.DataFrame(self.log, columns=["table", "rows", "cols"])


rng = np.random.default_rng(17)
flights = pd.DataFrame({"flight": [f"F{i}" for i in range(30)],
                        "origin": rng.choice(["VIE", "MUC", "ZRH"], 30),
                        "plane": rng.choice(["A320", "B737", "E190"], 30),
                        "delay": rng.exponential(12, 30).round()})
airports = pd.DataFrame({"iata": ["VIE", "MUC", "ZRH"], "country": ["AT", "DE", "CH"]})
planes = pd.DataFrame({"plane": ["A320", "B737"], "seats": [180, 160]})

joiner = (TableJoiner(flights, "flights")
          .add(airports, "airports", left_on="origin", right_on="iata")
          .add(planes, "planes", on="plane", how="left"))
print(joiner.history().to_string(index=False))
print(joiner.df.groupby("country")["delay"].mean().round(2))
print("Unknown seats:", joiner.df["seats"].isna().sum())
