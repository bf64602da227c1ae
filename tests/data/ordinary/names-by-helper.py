# leaves: helped.csv output/a_one.csv output/b_two.csv
from pathlib import Path
import pandas as pd

OUT = Path("output")
OUT.mkdir(exist_ok=True)

def save(frame, name):
    frame.to_csv(f"{name}.csv", index=False)
    return name

df = pd.DataFrame({"kind": ["A_one", "B_two"], "n": [1, 2]})
for kind, part in df.groupby("kind"):
    path = OUT / f"{kind.lower()}.csv"
    part.to_csv(path, index=False)
    print(path, len(pd.read_csv(path)))
print(save(df, "helped"))
