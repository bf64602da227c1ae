import pandas as pd

jan = pd.DataFrame({"account": ["A1", "A2", "A3"], "balance": [100.0, 250.0, 75.0]})
feb = pd.DataFrame({"account": ["A2", "A3", "A4"], "balance": [260.0, 75.0, 500.0]})


def compare(old, new, key, value):
    """Classify each key as added, removed, changed or unchanged."""
    m = old.merge(new, on=key, how="outer", suffixes=("_old", "_new"), indicator="source")

    def label(row):
        match row["source"]:
            case "left_only":
                return "removed"
            case "right_only":
                return "added"
            case _:
                return "unchanged" if row[f"{value}_old"] == row[f"{value}_new"] else "changed"

    m["status"] = m.apply(label, axis=1)
    m["diff"] = m[f"{value}_new"].fillna(0) - m[f"{value}_old"].fillna(0)
    return m.drop(columns="source")


diff = compare(jan, feb, "account", "balance")
print(diff.to_markdown(index=False))
print()
print(diff["status"].value_counts().sort_index().to_dict())
