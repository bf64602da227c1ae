from pathlib import Path
import json

import numpy as np
import pandas as pd

rng = np.random.default_rng(42)
out_dir = Path("output") / "reports"
out_dir.mkdir(parents=True, exist_ok=True)

df = pd.DataFrame({
    "store": rng.choice(["A", "B", "C"], size=60),
    "units": rng.integers(1, 20, size=60),
    "price": rng.uniform(2, 15, size=60).round(2),
})
df["revenue"] = df["units"] * df["price"]

# Save one JSON report per store
for store, g in df.groupby("store"):
    report = {
        "store": store,
        "n_orders": int(len(g)),
        "revenue": round(float(g["revenue"].sum()), 2),
        "avg_units": round(float(g["units"].mean()), 3),
    }
    (out_dir / f"store_{store}.json").write_text(json.dumps(report, indent=2))

# Read the reports back
reports = [json.loads(p.read_text()) for p in sorted(out_dir.glob("*.json"))]
summary = pd.DataFrame(reports).set_index("store")
print(summary)
print("\nFiles written:")
for p in sorted(out_dir.rglob("*")):
    print(" -", p.as_posix(), f"({p.stat().st_size} bytes)")
