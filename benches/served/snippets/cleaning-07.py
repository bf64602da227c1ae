import json
import pandas as pd

payload = json.loads("""
[
  {"id": 1, "user": {"name": "Ann", "address": {"city": "Rome", "zip": "00100"}}, "tags": ["a", "b"], "scores": {"math": 9, "art": null}},
  {"id": 2, "user": {"name": "Bob", "address": {"city": "Oslo"}}, "tags": [], "scores": {"math": "7"}},
  {"id": 3, "user": {"name": "Cy"}, "tags": ["b"], "scores": {}}
]
""")

flat = pd.json_normalize(payload, sep="_")
print(flat.columns.tolist())
flat["scores_math"] = pd.to_numeric(flat["scores_math"])
flat["user_address_city"] = flat["user_address_city"].fillna("(none)")
print(flat[["id", "user_name", "user_address_city", "scores_math"]])

tags = pd.json_normalize(payload, record_path="tags", meta=["id"]).rename(columns={0: "tag"})
print(pd.crosstab(tags["id"].astype(int), tags["tag"]))


def flatten(obj, prefix=""):
    """Recursive generator of (dotted path, value)."""
    if isinstance(obj, dict):
        for k, v in obj.items():
            yield from flatten(v, f"{prefix}{k}.")
    elif isinstance(obj, list):
        for i, v in enumerate(obj):
            yield from flatten(v, f"{prefix}{i}.")
    else:
        yield prefix.rstrip("."), obj


print(dict(flatten(payload[0])))
