import pandas as pd
from difflib import get_close_matches

left = pd.DataFrame({"company": ["Microsft Corp", "Gogle LLC", "Amazon", "Teslla Inc", "Unknown Ltd"],
                     "invoice": [120, 340, 560, 90, 15]})
right = pd.DataFrame({"company_clean": ["Microsoft Corp", "Google LLC", "Amazon Inc", "Tesla Inc"],
                      "sector": ["Software", "Internet", "Retail", "Auto"]})


def fuzzy_key(name, choices, cutoff=0.7):
    """Return the best fuzzy match or None."""
    hits = get_close_matches(name, choices, n=1, cutoff=cutoff)
    return hits[0] if hits else None


choices = right["company_clean"].tolist()
left["match"] = left["company"].apply(lambda n: fuzzy_key(n, choices))
result = left.merge(right, left_on="match", right_on="company_clean", how="left")

for r in result.itertuples():
    status = r.match if isinstance(r.match, str) else "NO MATCH"
    print(f"{r.company:<15} -> {status:<15} ({r.sector})")

print("\nInvoices by sector:")
print(result.groupby("sector", dropna=False)["invoice"].sum().to_string())
