import csv
import gzip
import re
from collections import Counter
from itertools import islice
from pathlib import Path

from tqdm import tqdm

# Write a compressed text file and stream it line by line
path = Path("feedback.txt.gz")
lines = [f"user{i % 7}: {'GREAT' if i % 3 else 'poor'} service, rating {i % 5 + 1}/5" for i in range(200)]
with gzip.open(path, "wt", encoding="utf-8") as f:
    f.write("\n".join(lines))

ratings, words = Counter(), Counter()
with gzip.open(path, "rt", encoding="utf-8") as f:
    for line in tqdm(f, total=len(lines), unit="line", disable=None):
        user, _, msg = line.strip().partition(": ")
        if (m := re.search(r"(\d)/5", msg)) is not None:
            ratings[int(m[1])] += 1
        words.update(w.lower() for w in re.findall(r"[A-Za-z]+", msg))

total = sum(ratings.values())
for stars in range(5, 0, -1):
    print(f"{'*' * stars:<5} {ratings[stars]:>4} {ratings[stars] / total:>6.1%}")
print(f"average: {sum(k * v for k, v in ratings.items()) / total:.2f}")
print("top words:", list(islice((w for w, _ in words.most_common()), 3)))

with open("ratings.csv", "w", newline="") as f:
    writer = csv.writer(f)
    writer.writerow(["rating", "count"])
    writer.writerows(sorted(ratings.items()))
