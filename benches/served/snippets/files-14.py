from pathlib import Path
import re
from collections import Counter
import string

text = """It was the best of times, it was the worst of times, it was the age of wisdom,
it was the age of foolishness, it was the epoch of belief, it was the epoch of incredulity,
it was the season of Light, it was the season of Darkness, it was the spring of hope,
it was the winter of despair.
"""
p = Path("tale.txt")
p.write_text(text, encoding="utf-8")

with p.open(encoding="utf-8") as fh:
    for lineno, line in enumerate(fh, start=1):
        print(f"{lineno:02d} | {len(line.split()):>2} words | {line.rstrip()[:40]}...")

words = re.findall(r"[a-z']+", p.read_text().lower())
counts = Counter(words)
print("Top 5:", counts.most_common(5))
print("Unique:", len(counts), "of", sum(counts.values()))

stop = {"it", "was", "the", "of"}
content = sorted((w for w in counts if w not in stop), key=lambda w: (-counts[w], w))
print(", ".join(content))

letters = Counter(ch for ch in text.lower() if ch in string.ascii_lowercase)
for ch, n in sorted(letters.items(), key=lambda kv: (-kv[1], kv[0]))[:5]:
    print(ch, "#" * (n // 2), n)
print(p.name, p.stem, p.suffix, p.with_suffix(".md"))
