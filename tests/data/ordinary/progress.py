import pandas as pd
from tqdm import tqdm

tqdm.pandas(desc="rows")
df = pd.DataFrame({"a": [1, 2, 3], "g": ["x", "y", "x"]})
print(df["a"].progress_apply(lambda v: v + 1).tolist())
print(df["a"].progress_map(lambda v: v * 2).tolist())
print(df.progress_apply(lambda r: r["a"], axis=1).tolist())
print(df.groupby("g")["a"].progress_apply(lambda s: s.sum()).to_dict())
print(df.groupby("g")[["a"]].progress_apply(lambda t: t["a"].sum()).to_dict())
