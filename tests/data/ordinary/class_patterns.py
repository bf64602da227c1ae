import pandas as pd
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Callable

import numpy as np


@dataclass
class Job:
    name: str
    action: Callable
    when: date


def told(value):
    match value:
        case Job(name=name, action=action, when=date(year=year)):
            return f"{name} {action(2)} {year}"
        case datetime(year=2024, month=month):
            return f"month {month}"
        case timedelta(days=days):
            return f"{days} days"
        case pd.DataFrame(shape=(rows, columns), empty=False):
            return f"table {rows} x {columns}"
        case pd.Series(name=name, dtype=dtype):
            return f"column {name} {dtype}"
        case np.ndarray(ndim=2, shape=shape):
            return f"matrix {shape}"
        case ValueError(args=(message, *_)):
            return message
        case str(text) | bytes(text):
            return f"text {text}"
        case int() | float():
            return "number"
        case {"kind": kind, **rest}:
            return f"{kind} {len(rest)}"
        case [first, *others]:
            return f"{first} and {len(others)}"
    return "nothing"


table = pd.DataFrame({"a": [1, 2], "b": [3.0, 4.0]})
for one in (Job("double", lambda x: 2 * x, date(2024, 5, 1)), datetime(2024, 3, 1), timedelta(days=3), table,
            table["b"], np.eye(2), ValueError("wrong"), "x", 2.5, {"kind": "p", "at": 1}, [1, 2, 3], None):
    print(told(one))
