import re
import pandas as pd

REPORT = """
Revenue for Q1 2024 was $1.25 million, up 12% from $1.12 million.
Costs were EUR 840k (Q1 2023: EUR 795k). Headcount: 1,204.
Deadline: 2024-07-15; previous review on 15.04.2024.
"""

PATTERNS = {
    "money": r"(?:\$|EUR )[\d.,]+\s?(?:million|k)?",
    "percent": r"\d+(?:\.\d+)?%",
    "quarter": r"Q[1-4] \d{4}",
    "date": r"\b(?:\d{4}-\d{2}-\d{2}|\d{2}\.\d{2}\.\d{4})\b",
}


def to_number(s):
    value = float(re.sub(r"[^\d.]", "", s))
    if "million" in s:
        value *= 1e6
    elif s.endswith("k"):
        value *= 1e3
    return value


found = [(kind, m.group().strip(), m.start()) for kind, p in PATTERNS.items() for m in re.finditer(p, REPORT)]
entities = pd.DataFrame(found, columns=["kind", "text", "pos"]).sort_values("pos").reset_index(drop=True)
is_money = entities["kind"] == "money"
entities.loc[is_money, "value"] = entities.loc[is_money, "text"].map(to_number)
print(entities.drop(columns="pos").to_string())
dates = entities.query("kind == 'date'")["text"].map(lambda s: pd.to_datetime(s, dayfirst="." in s))
print([d.strftime("%d %b %Y") for d in dates])
