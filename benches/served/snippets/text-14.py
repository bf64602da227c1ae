import unicodedata
import re

names = ["José Núñez", "Zoë Müller", "Łukasz Żak", "O'Brien, Seán", "  Anna--Maria  ", "北京 Beijing"]


def strip_accents(s):
    return "".join(c for c in unicodedata.normalize("NFKD", s) if not unicodedata.combining(c))


def slugify(s, max_len=30):
    s = strip_accents(s).lower()
    s = re.sub(r"[^a-z0-9]+", "-", s).strip("-")
    return s[:max_len] or "untitled"


print(f"{'original':<20} {'no accents':<20} slug")
for n in names:
    print(f"{n:<20} {strip_accents(n):<20} {slugify(n)}")

# Characters that could not be mapped to ASCII
rest = sorted({c for n in names for c in strip_accents(n) if ord(c) > 127})
for c in rest:
    print(f"U+{ord(c):04X} {c} {unicodedata.name(c, 'unknown')}")
print("Unique slugs:", len({slugify(n) for n in names}) == len(names))
