import json
from pathlib import Path
import pandas as pd

base = Path("landing")
base.mkdir(parents=True, exist_ok=True)

# Simulate three sources in different formats
pd.DataFrame({"sku": ["K1", "K2", "K3"], "stock": [4, 0, 17]}).to_csv(base / "stock.csv", index=False)
pd.DataFrame({"sku": ["K1", "K3", "K4"], "list_price": [9.99, 4.5, 12.0]}).to_parquet(base / "prices.parquet")
(base / "names.json").write_text(json.dumps({"K1": "Kettle", "K2": "Knife", "K3": "Kilo bag", "K4": "Kite"}))

READERS = {
    ".csv": pd.read_csv,
    ".parquet": pd.read_parquet,
    ".json": lambda p: pd.Series(json.loads(p.read_text()), name="name").rename_axis("sku").reset_index(),
}

frames = {}
for path in sorted(base.iterdir()):
    frames[path.stem] = READERS[path.suffix](path).set_index("sku")
    print(f"{path.name}: {frames[path.stem].shape}")

catalog = pd.concat(frames.values(), axis=1, join="outer").sort_index()
catalog["stock"] = catalog["stock"].fillna(0).astype(int)
catalog["value"] = catalog["stock"] * catalog["list_price"]
print(catalog)
print("Total stock value:", round(catalog["value"].sum(), 2))
