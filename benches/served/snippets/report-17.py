import numpy as np
import pandas as pd
from tqdm import tqdm
from pathlib import Path

tqdm.pandas(desc="scoring")

# Personalised student reports plus an index file
out_dir = Path("students") / "2024"
out_dir.mkdir(parents=True, exist_ok=True)

rng = np.random.default_rng(71)
marks = pd.DataFrame(rng.integers(40, 100, (6, 3)), columns=["maths", "english", "science"],
                     index=pd.Index(["Ada", "Bram", "Cleo", "Dev", "Esme", "Finn"], name="student"))
marks["average"] = marks.mean(axis=1).round(1)
marks["grade"] = marks["average"].progress_apply(
    lambda a: "A" if a >= 80 else "B" if a >= 70 else "C" if a >= 60 else "D")
marks["rank"] = marks["average"].rank(ascending=False, method="min").astype(int)

for student, row in tqdm(marks.iterrows(), total=len(marks), desc="writing"):
    best = row[["maths", "english", "science"]].astype(int).idxmax()
    text = f"""Report for {student}
Average: {row['average']} (grade {row['grade']}, rank {row['rank']} of {len(marks)})
Best subject: {best}
"""
    (out_dir / f"{student.lower()}.txt").write_text(text)

print(marks.sort_values("rank"))
print("Files:", [p.as_posix() for p in sorted(out_dir.glob("*.txt"))][:2], "...")
print((out_dir / "ada.txt").read_text())
