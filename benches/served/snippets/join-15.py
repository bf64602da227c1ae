import numpy as np
import pandas as pd

rng = np.random.default_rng(101)
dates = pd.date_range("2024-01-01", periods=10, freq="D")
stores = ["A", "B"]

# Build a full calendar with a cross join, then fill the gaps
calendar = pd.DataFrame({"date": dates}).merge(pd.DataFrame({"store": stores}), how="cross")
obs = (calendar.sample(frac=0.6, random_state=3)
       .assign(sold=lambda d: rng.integers(1, 20, len(d))))

full = calendar.merge(obs, on=["date", "store"], how="left")
full["was_missing"] = full["sold"].isna()
full["sold"] = full["sold"].fillna(0).astype(int)

print(f"{full['was_missing'].sum()} of {len(full)} store-days had no sales record")
wide = full.pivot(index="date", columns="store", values="sold")
wide["total"] = wide.sum(axis=1)
print(wide)

cum = full.sort_values("date").groupby("store")["sold"].cumsum()
print(full.assign(cum=cum).groupby("store")["cum"].last().to_dict())
