import pandas as pd
import numpy as np
from typing import Callable, Dict, List, Tuple

Rule = Tuple[str, Callable[[pd.DataFrame], pd.Series]]


class Validator:
    """Collects named rules and reports failing rows."""

    def __init__(self) -> None:
        self.rules: List[Rule] = []

    def rule(self, name: str):
        def register(fn):
            self.rules.append((name, fn))
            return fn
        return register

    def check(self, df: pd.DataFrame) -> Dict[str, List[int]]:
        return {name: df.index[~fn(df).fillna(False).astype(bool)].tolist() for name, fn in self.rules}


v = Validator()

@v.rule("price is positive")
def _(df): return df["price"] > 0

@v.rule("sku matches pattern")
def _(df): return df["sku"].str.fullmatch(r"[A-Z]{2}-\d{3}")

@v.rule("sku is unique")
def _(df): return ~df["sku"].duplicated(keep=False)

v.rule("qty is whole")(lambda df: df["qty"] % 1 == 0)

df = pd.DataFrame({
    "sku": ["AB-123", "ab-1", "CD-456", "CD-456", None],
    "price": [9.99, -1.0, 5.0, np.nan, 3.5],
    "qty": [1, 2.5, 3, 4, 5],
})
for name, bad in v.check(df).items():
    print(f"{'OK  ' if not bad else 'FAIL'} {name:<22} {bad}")
