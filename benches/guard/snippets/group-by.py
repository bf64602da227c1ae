import numpy as np
import pandas as pd

ROWS = 10_000
REGIONS = ["north", "south", "east", "west"]
SALES = pd.DataFrame(
    {
        "region": [REGIONS[n % 4] for n in range(ROWS)],
        "amount": np.arange(ROWS) * 7919 % 10_007 / 100.0,
    }
)


def work():
    total = 0.0
    for _ in range(20):
        means = SALES.groupby("region")["amount"].agg(["mean", "max"])
        total += float(means["mean"].sum())
    return round(total, 3)
