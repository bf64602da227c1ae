import pandas as pd

df = pd.DataFrame({"raw": [
    "  John SMITH <john.smith@example.com> (+43 660 1234567)",
    "Jane Doe <JANE@EXAMPLE.ORG>",
    "n/a",
    "Max Mustermann <max@firma.at> (+49 170 765 4321)  ",
]})

extracted = df["raw"].str.strip().str.extract(
    r"^(?P<name>[^<]+?)\s*<(?P<email>[^>]+)>\s*(?:\((?P<phone>[^)]+)\))?$"
)
extracted["name"] = extracted["name"].str.title()
extracted["email"] = extracted["email"].str.lower()
extracted["phone"] = extracted["phone"].str.replace(r"\s+", "", regex=True)
extracted["domain"] = extracted["email"].str.split("@").str[-1]
extracted["tld"] = extracted["domain"].str.rsplit(".", n=1).str[-1]

result = df.join(extracted)
print(result.drop(columns="raw").fillna("").to_string())

valid = extracted["email"].notna()
print(f"\nParsed {valid.sum()} of {len(df)} contacts")
for line in df.loc[~valid, "raw"]:
    print(f"Could not parse: {line!r}")
extracted[valid].to_csv("contacts.csv", index=False)
