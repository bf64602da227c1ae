import functools
import sys
import numpy as np
import pandas as pd

STEPS = []


def step(title):
    """Decorator registering a function as a numbered report step."""
    def wrap(func):
        @functools.wraps(func)
        def inner(df):
            try:
                return func(df)
            except Exception as exc:
                print(f"!! step '{title}' failed: {type(exc).__name__}", file=sys.stderr)
                return f"not available ({type(exc).__name__})"
        STEPS.append((title, inner))
        return inner
    return wrap


@step("Size")
def size(df):
    return "{} rows x {} columns".format(*df.shape)

@step("Revenue")
def revenue(df):
    return f"{(df['qty'] * df['price']).sum():,.2f}"

@step("Churn")
def churn(df):
    return df["churned"].mean()

rng = np.random.default_rng(2)
data = pd.DataFrame({"qty": rng.integers(1, 9, 50), "price": rng.choice([9.99, 19.99], 50)})
for i, (title, func) in enumerate(STEPS, 1):
    print(f"{i}. {title}: {func(data)}")
