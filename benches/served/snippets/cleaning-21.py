from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass, field

import pandas as pd


@dataclass
class CleaningLog:
    steps: list[tuple[str, int, int]] = field(default_factory=list)

    def __call__(self, fn):
        def wrapper(df: pd.DataFrame, *args, **kwargs) -> pd.DataFrame:
            out = fn(df, *args, **kwargs)
            self.steps.append((fn.__name__, len(df), len(out)))
            return out
        return wrapper


log = CleaningLog()

@log
def drop_incomplete(df, cols):
    return df.dropna(subset=cols)

@log
def keep_positive(df, col):
    return df.loc[df[col] > 0]

@log
def dedupe(df, **kw):
    return df.drop_duplicates(**kw)


raw = pd.DataFrame({"k": [1, 1, 2, 3, None, 4], "v": [5, 5, -2, 7, 8, 0]})
final = raw.pipe(drop_incomplete, ["k"]).pipe(keep_positive, col="v").pipe(dedupe, subset="k", keep="last").astype({"k": int})

for name, before, after in log.steps:
    print(f"{name:<16}{before} -> {after} ({after - before:+d})")

buf = io.StringIO()
with contextlib.redirect_stdout(buf):
    print(final)
print("Captured", len(buf.getvalue().splitlines()), "lines")
print(buf.getvalue().rstrip())
