import re
import unicodedata
from functools import reduce

names = ["  José  GARCÍA ", "Zoë\u00a0O'Brien", "müller, hans", "ＡＬＩＣＥ", "anna-maria\tSMITH", "Łukasz Żak", "", "N/A"]

def strip_accents(s: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", s) if not unicodedata.combining(c))

def compose(*funcs):
    return lambda x: reduce(lambda acc, f: f(acc), funcs, x)

def swap_comma(s: str) -> str:
    return re.sub(r"^(\S+),\s*(.+)$", r"\2 \1", s)

def title(s: str) -> str:
    return re.sub(r"[^\W\d_]+", lambda m: m.group(0).capitalize(), s)

clean = compose(
    lambda s: unicodedata.normalize("NFKC", s),
    lambda s: re.sub(r"\s+", " ", s).strip(),
    swap_comma,
    title,
)
slug = compose(clean, strip_accents, str.lower, lambda s: re.sub(r"[^a-z0-9]+", "-", s).strip("-"))

NULLS = {"", "n/a", "na", "none"}
for raw in names:
    value = None if raw.strip().lower() in NULLS else clean(raw)
    print(f"{raw!r:<26} {value!s:<20} {slug(raw) if value else '-'}")
print(len({slug(n) for n in names if n}))
