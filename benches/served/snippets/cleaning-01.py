import io
import pandas as pd
import numpy as np

raw = """id,Name ,AGE,Joined,Salary ($)
1, alice ,34,2021-03-05,"52,000"
2,BOB,n/a,05/04/2020,48000
3,Carol,29,2022-11-30,
3,Carol,29,2022-11-30,
4,dave,abc,not a date,"61,500.75"
5,,41,2019-07-01,-
"""
df = pd.read_csv(io.StringIO(raw), na_values=["n/a", "-"], skipinitialspace=True)

# Normalise the column names
df.columns = (
    df.columns.str.strip().str.lower()
    .str.replace(r"[^\w]+", "_", regex=True)
    .str.strip("_")
)
print("Columns:", df.columns.tolist())

before = len(df)
df = df.drop_duplicates().reset_index(drop=True)
print(f"Dropped {before - len(df)} duplicate row(s)")

df["name"] = df["name"].str.strip().str.title().fillna("Unknown")
df["age"] = pd.to_numeric(df["age"], errors="coerce").astype("Int64")
df["salary"] = pd.to_numeric(df["salary"].astype("string").str.replace(",", ""), errors="coerce")
df["joined"] = pd.to_datetime(df["joined"], errors="coerce", format="mixed", dayfirst=True)
df["salary"] = df["salary"].fillna(df["salary"].median())

print(df)
print(df.dtypes)
print("Remaining nulls:", df.isna().sum()[lambda s: s > 0].to_dict())
