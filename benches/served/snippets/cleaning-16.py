import pandas as pd
import numpy as np

people = pd.DataFrame({
    "name": ["Jon Smith", "John Smith", "Jane Doe", "J. Smith", "Jane  Doe", "Maria Lopez"],
    "email": ["jsmith@x.com", "jsmith@x.com", "jane@y.org", None, "JANE@Y.ORG", "ml@z.net"],
    "phone": ["555-1", None, "555-2", "555-1", None, "555-3"],
    "updated": pd.to_datetime(["2024-01-01", "2024-02-01", "2023-05-01", "2022-01-01", "2024-05-05", "2024-01-15"]),
})

# Link the records that share a normalised email or a phone
norm = people.assign(email=people["email"].str.lower(), name=people["name"].str.replace(r"\s+", " ", regex=True))
parent = {i: i for i in norm.index}

def find(i):
    while parent[i] != i:
        i = parent[i]
    return i

for col in ("email", "phone"):
    for _, idx in norm.dropna(subset=[col]).groupby(col).groups.items():
        first, *others = idx
        for o in others:
            parent[find(o)] = find(first)

norm["cluster"] = [find(i) for i in norm.index]
golden = (
    norm.sort_values("updated", ascending=False)
        .groupby("cluster", as_index=False)
        .first()
        .drop(columns="cluster")
)
print(norm[["name", "cluster"]])
print(golden.to_string(index=False))
print(f"{len(people)} records -> {len(golden)} people")
