# leaves: a.csv b.csv part_0.csv part_1.csv
import pandas as pd
df = pd.DataFrame({"g": ["a", "b"], "v": [1, 2]})
for key, part in df.groupby("g"):
    part.to_csv(f"{key}.csv", index=False)
for i in range(2):
    with open(f"part_{i}.csv", "w") as f:
        f.write("x\n")
print("ok")
