import logging
import sys
import numpy as np
import pandas as pd

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="[%(levelname)s] %(message)s")
log = logging.getLogger(__name__)


def safe_merge(left, right, on, how="left"):
    before = len(left)
    dup = right.duplicated(on).sum()
    if dup:
        log.warning("right table has %d duplicate key(s) on %s; keeping first", dup, on)
        right = right.drop_duplicates(on)
    out = left.merge(right, on=on, how=how)
    log.info("merged on %s: %d -> %d rows", on, before, len(out))
    unmatched = out[right.columns.difference([on])].isna().all(axis=1).sum()
    if unmatched:
        log.warning("%d row(s) without a match", unmatched)
    return out


rng = np.random.default_rng(55)
tickets = pd.DataFrame({"ticket": range(20), "agent": rng.integers(1, 7, 20), "minutes": rng.integers(5, 90, 20)})
agents = pd.DataFrame({"agent": [1, 2, 3, 4, 4, 5], "team": ["x", "x", "y", "y", "z", "z"]})

result = safe_merge(tickets, agents, on="agent")
print(result.groupby("team", dropna=False).agg(tickets=("ticket", "count"), minutes=("minutes", "mean")).round(1))
