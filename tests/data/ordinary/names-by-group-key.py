# leaves: a_1.csv b_2.csv rows/a.txt rows/b.txt rows_2.csv
import os

import pandas as pd

df = pd.DataFrame({"k": ["a", "b"], "n": [1, 2]})
os.makedirs("rows", exist_ok=True)
for key, part in df.groupby(["k", "n"]):
    part.to_csv(f"{key[0]}_{key[1]}.csv", index=False)
for row in df.itertuples():
    with open(f"rows/{row.k}.txt", "w") as f:
        f.write("1")
for _, r in df.iterrows():
    with open(f"rows/{r['k']}.txt", "a") as f:
        f.write("2")
total = len(df)
df.to_csv(f"rows_{total}.csv")
print(open("rows/a.txt").read())
