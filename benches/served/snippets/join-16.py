import re
import pandas as pd


def normalise(name: str) -> str:
    """Lowercase, drop punctuation and legal suffixes so keys can be joined."""
    name = re.sub(r"[^\w\s]", "", name.lower())
    name = re.sub(r"\b(inc|ltd|gmbh|llc|corp)\b", "", name)
    return re.sub(r"\s+", " ", name).strip()


crm = pd.DataFrame({
    "company": ["Foo, Inc.", "Bar GmbH", "Baz  Ltd", "Qux Corp."],
    "owner": ["Mia", "Tom", "Mia", "Sam"],
})
billing = pd.DataFrame({
    "client": ["FOO", "bar gmbh", "Baz", "Quux LLC"],
    "billed": [1200, 300, 4500, 80],
})

crm["key"] = crm["company"].map(normalise)
billing["key"] = billing["client"].map(normalise)

m = pd.merge(crm, billing, on="key", how="outer", indicator=True)
counts = m["_merge"].value_counts()
print("Match result:")
for side in ("both", "left_only", "right_only"):
    print(f"  {side:<11}: {counts.get(side, 0)}")

print(m[["key", "company", "client", "owner", "billed"]].to_string(index=False, na_rep="-"))
print(m.groupby("owner")["billed"].sum().astype(int).to_dict())
