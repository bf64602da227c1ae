import json
from collections import Counter, defaultdict
from pathlib import Path

# Build a small inverted index and search it
DOCS = {
    1: "quarterly revenue grew by ten percent",
    2: "revenue fell in the second quarter",
    3: "the new office opened in the second week",
    4: "percent change of quarterly costs",
}

index = defaultdict(list)
for doc_id, text in DOCS.items():
    for term, tf in Counter(text.split()).items():
        index[term].append((doc_id, tf))


def search(query, mode="and"):
    sets = [{d for d, _ in index.get(t, [])} for t in query.lower().split()]
    if not sets:
        return []
    hits = set.intersection(*sets) if mode == "and" else set.union(*sets)
    return sorted(hits)


for q, mode in [("revenue", "and"), ("quarterly percent", "and"), ("second revenue", "or"), ("bananas", "and")]:
    found = search(q, mode)
    print(f"{q!r} ({mode}): {found or 'nothing found'}")

Path("index.json").write_text(json.dumps(index, sort_keys=True, indent=1), encoding="utf-8")
print("Terms:", len(json.loads(Path("index.json").read_text())))
