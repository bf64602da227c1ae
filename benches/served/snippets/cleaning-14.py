import pandas as pd
import numpy as np

rng = np.random.default_rng(70)
n = 5000
df = pd.DataFrame({
    "id": np.arange(n),
    "small": rng.integers(0, 100, n),
    "ratio": rng.random(n),
    "code": rng.choice(["AA", "BB", "CC"], n),
    "free_text": [f"row {i}" for i in range(n)],
    "flag": rng.choice(["Y", "N"], n),
    "mostly_int": np.where(rng.random(n) < 0.01, np.nan, rng.integers(0, 9, n)),
})

def shrink(df: pd.DataFrame, cat_threshold: float = 0.05) -> pd.DataFrame:
    out = df.copy()
    for col in out.columns:
        s = out[col]
        match s.dtype.kind:
            case "i":
                out[col] = pd.to_numeric(s, downcast="unsigned" if s.min() >= 0 else "integer")
            case "f":
                if (s.dropna() % 1 == 0).all():
                    out[col] = s.astype("Int8")
                else:
                    out[col] = pd.to_numeric(s, downcast="float")
            case "O":
                if set(s.unique()) == {"Y", "N"}:
                    out[col] = s.eq("Y")
                elif s.nunique() / len(s) < cat_threshold:
                    out[col] = s.astype("category")
    return out

small = shrink(df)
print(pd.DataFrame({"before": df.dtypes.astype(str), "after": small.dtypes.astype(str)}))
b, a = df.memory_usage(deep=True).sum(), small.memory_usage(deep=True).sum()
print(f"Smaller: {a < b}, saved more than half: {a < b / 2}")
