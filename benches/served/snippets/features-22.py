import operator
from functools import partial, lru_cache

import numpy as np
import pandas as pd

OPS = {">": operator.gt, "<": operator.lt, "==": operator.eq, ">=": operator.ge}


@lru_cache(maxsize=None)
def parse_rule(rule: str):
    """Turn 'col op value' into (col, function, value)."""
    col, op, value = rule.split()
    try:
        value = float(value)
    except ValueError:
        pass
    return col, OPS[op], value


def apply_rule(df: pd.DataFrame, rule: str) -> pd.Series:
    col, fn, value = parse_rule(rule)
    return fn(df[col], value)


rng = np.random.default_rng(100)
df = pd.DataFrame({
    "age": rng.integers(18, 80, 50),
    "visits": rng.poisson(4, 50),
    "plan": rng.choice(["basic", "gold"], 50),
})
rules = ["age >= 65", "visits > 6", "plan == gold", "visits > 6", "age < 25"]
flags = pd.DataFrame({r: apply_rule(df, r) for r in rules})
print(flags.sum().to_string())
print("Cache:", parse_rule.cache_info().currsize)

check = partial(apply_rule, df)
both = check("plan == gold") & check("visits > 6")
print("Gold heavy users:", df.index[both].tolist())
df["score"] = flags.astype(int) @ np.array([2, 1, 1, -1])
print(df["score"].value_counts().sort_index().to_dict())
