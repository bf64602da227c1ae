# leaves: out/a.csv out/b/c.csv report.txt tips.csv
import os
from pathlib import Path
import pandas as pd
df = pd.DataFrame({"g": ["a", "b"], "v": [1, 2]})
os.makedirs("out", exist_ok=True)
df.to_csv("./tips.csv", index=False)
df.to_csv("out/a.csv", index=False)
Path("out/b").mkdir(parents=True, exist_ok=True)
df.to_csv(Path("out") / "b" / "c.csv")
print(pd.read_csv("tips.csv").v.sum(), os.path.exists("out/a.csv"), sorted(os.listdir("out")))
Path("report.txt").write_text("hello")
print(Path("report.txt").read_text(), Path("out/a.csv").exists())
print(os.path.join("out", "a.csv"), os.path.basename("out/a.csv"))
