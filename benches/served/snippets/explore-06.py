import io
import pandas as pd

raw = """name;score;joined;active
 alice ;12,5;03/01/2023;yes
BOB;n/a;15/02/2023;no
 Carol;9,75;28/02/2023;YES
dave;;31/03/2023;No
 Bob ;7,0;15/02/2023;no
"""

df = pd.read_csv(io.StringIO(raw), sep=";", na_values=["n/a", ""])
print("Raw data:")
print(df)

# Clean up text, numbers, dates and booleans
df["name"] = df["name"].str.strip().str.title()
df["score"] = pd.to_numeric(df["score"].str.replace(",", "."), errors="coerce")
df["joined"] = pd.to_datetime(df["joined"], format="%d/%m/%Y")
df["active"] = df["active"].str.lower().map({"yes": True, "no": False})

dupes = df.duplicated(subset=["name", "joined"], keep="last")
print(f"\nDropping {dupes.sum()} duplicate(s): {df.loc[dupes, 'name'].tolist()}")
df = df[~dupes].reset_index(drop=True)

df["score"] = df["score"].fillna(df["score"].median())
print("\nClean data:")
print(df)
print(df.dtypes.to_dict())
