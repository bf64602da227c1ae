import pandas as pd
from difflib import get_close_matches, SequenceMatcher
from collections import defaultdict

CANONICAL = ["United States", "United Kingdom", "Germany", "France", "Netherlands"]
ALIASES = {"usa": "United States", "u.s.": "United States", "uk": "United Kingdom", "holland": "Netherlands"}

raw = pd.Series(["USA", "u.s.", "Untied States", "UK", "Germny", "germany ", "Frnace", "FRANCE", "holland", "Nederlands", "Atlantis", None])

def canonicalise(value):
    if pd.isna(value):
        return pd.NA
    key = value.strip().lower()
    if key in ALIASES:
        return ALIASES[key]
    lookup = {c.lower(): c for c in CANONICAL}
    if key in lookup:
        return lookup[key]
    match = get_close_matches(key, lookup, n=1, cutoff=0.75)
    return lookup[match[0]] if match else pd.NA

clean = raw.map(canonicalise)
report = pd.DataFrame({"raw": raw, "clean": clean})
print(report.to_string())

variants = defaultdict(list)
for r, c in zip(raw, clean):
    if pd.notna(c):
        variants[c].append(r)
for k in sorted(variants):
    print(f"{k}: {variants[k]}")
print("Unresolved:", raw[clean.isna() & raw.notna()].tolist())
print(round(SequenceMatcher(None, "Frnace".lower(), "france").ratio(), 3))
