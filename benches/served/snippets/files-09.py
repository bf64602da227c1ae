import os
import shutil
from collections import Counter
from pathlib import Path

# Create a messy folder and organise it by extension
root = Path("downloads")
shutil.rmtree(root, ignore_errors=True)
root.mkdir()

names = ["report.pdf", "photo.JPG", "data.csv", "notes.txt", "photo2.jpg", "archive.tar.gz", "script.py", "README", "budget.CSV"]
for i, n in enumerate(names):
    (root / n).write_bytes(b"x" * (i + 1) * 10)

MAPPING = {".pdf": "docs", ".txt": "docs", ".jpg": "images", ".csv": "data", ".gz": "archives", ".py": "code"}

moved = Counter()
for p in sorted(root.iterdir()):
    if p.is_file():
        dest = root / MAPPING.get(p.suffix.lower(), "other")
        dest.mkdir(exist_ok=True)
        shutil.move(str(p), str(dest / p.name))
        moved[dest.name] += 1

for folder, count in sorted(moved.items()):
    print(f"{folder}: {count}")

print("-" * 30)
for dirpath, dirnames, filenames in os.walk(root):
    dirnames.sort()
    depth = len(Path(dirpath).relative_to(root).parts)
    print("  " * depth + os.path.basename(dirpath) + "/")
    for f in sorted(filenames):
        size = os.path.getsize(os.path.join(dirpath, f))
        print("  " * (depth + 1) + f"{f} ({size}B)")
