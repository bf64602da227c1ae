import pandas as pd
import numpy as np
import os

rng = np.random.default_rng(99)
df = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
df["label"] = rng.choice(["low", "mid", "high"], 300)
df["when"] = pd.date_range("2023-06-01", periods=300, freq="min")

formats = {
    "csv": (lambda d, p: d.to_csv(p, index=False), lambda p: pd.read_csv(p, parse_dates=["when"])),
    "json": (lambda d, p: d.to_json(p, orient="table", index=False), lambda p: pd.read_json(p, orient="table")),
    "pkl": (lambda d, p: d.to_pickle(p), pd.read_pickle),
    "parquet": (lambda d, p: d.to_parquet(p), pd.read_parquet),
    "feather": (lambda d, p: d.to_feather(p), pd.read_feather),
}

results = []
for ext, (write, read) in formats.items():
    fname = f"table.{ext}"
    write(df, fname)
    back = read(fname)
    close = np.allclose(back[list("abcd")], df[list("abcd")])
    results.append({
        "format": ext,
        "exists": os.path.isfile(fname),
        "shape": back.shape,
        "numeric_ok": bool(close),
        "labels_ok": bool((back["label"] == df["label"]).all()),
        "date_dtype": back["when"].dtype.kind,
    })

print(pd.DataFrame(results).to_string(index=False))
