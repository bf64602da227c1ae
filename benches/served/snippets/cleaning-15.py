import pandas as pd
import re
from decimal import Decimal, InvalidOperation

amounts = ["$1,234.50", "€ 2.500,75", "(300.00)", "1.2k", "3M", "12%", "USD 45", "—", "free", "0"]

def parse_amount(text):
    s = text.strip()
    negative = s.startswith("(") and s.endswith(")")
    s = s.strip("()")
    percent = s.endswith("%")
    mult = Decimal(1)
    if s[-1:] in "kKmM" and s[-1:]:
        mult = {"k": Decimal(1000), "m": Decimal(1_000_000)}[s[-1].lower()]
        s = s[:-1]
    if "€" in s:
        s = s.replace(".", "").replace(",", ".")
    s = re.sub(r"[^\d.\-]", "", s)
    try:
        value = Decimal(s) * mult
    except InvalidOperation:
        return None
    if percent:
        value /= 100
    return -value if negative else value

parsed = {a: parse_amount(a) for a in amounts}
for k, v in parsed.items():
    print(f"{k:>12} => {v}")

s = pd.Series(parsed, dtype="object")
numeric = s.dropna().astype(float)
print("Sum:", f"{numeric.sum():,.2f}", "| missing:", s.isna().sum())
print("Exact sum:", sum((v for v in parsed.values() if v is not None), Decimal(0)))
