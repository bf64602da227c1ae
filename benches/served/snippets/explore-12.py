import logging
import numpy as np
import pandas as pd

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
logger = logging.getLogger("explore")


def optimise_dtypes(df):
    """Downcast numeric columns and convert low-cardinality strings to category."""
    out = df.copy()
    for col in out.columns:
        if pd.api.types.is_integer_dtype(out[col]):
            out[col] = pd.to_numeric(out[col], downcast="integer")
        elif pd.api.types.is_float_dtype(out[col]):
            out[col] = pd.to_numeric(out[col], downcast="float")
        elif out[col].nunique() / len(out) < 0.5:
            out[col] = out[col].astype("category")
        logger.info("%s: %s -> %s", col, df[col].dtype, out[col].dtype)
    return out


rng = np.random.default_rng(11)
n = 10_000
df = pd.DataFrame({
    "qty": rng.integers(0, 100, n),
    "price": rng.random(n) * 50,
    "country": rng.choice(["DE", "FR", "IT", "ES"], n),
})
small = optimise_dtypes(df)
print(small.dtypes)
print("Smaller:", small.memory_usage(deep=True).sum() < df.memory_usage(deep=True).sum())
print("Same totals:", df["qty"].sum() == small["qty"].sum())
