import pandas as pd

# Split, extract and explode semi-structured strings
df = pd.DataFrame({
    "full": ["Dr. Ada Lovelace (1815-1852)", "Alan Turing (1912-1954)", "Prof. Grace Hopper (1906-1992)", "Linus (1969-)"],
    "skills": ["math; poetry", "math;logic ;running", "cobol;navy", "c"],
    "code": ["A12-x", "B7-yy", "C", "D100-z"],
})

info = df["full"].str.extract(r"^(?P<title>Dr\.|Prof\.)?\s*(?P<first>\w+)\s*(?P<last>\w+)?\s*\((?P<born>\d{4})-(?P<died>\d{4})?\)")
info = info.astype({"born": int}).assign(died=lambda d: pd.to_numeric(d["died"]).astype("Int64"))
info["age"] = info["died"] - info["born"]
print(info)

parts = df["code"].str.partition("-")
df["letter"], df["number"] = df["code"].str[0], df["code"].str.extract(r"(\d+)", expand=False)
df["suffix"] = parts[2].replace("", pd.NA)
print(df[["code", "letter", "number", "suffix"]])

skills = (
    df.assign(skill=df["skills"].str.split(r"\s*;\s*", regex=True))
      .explode("skill")
      .set_index("skill")["letter"]
)
print(skills.groupby(level=0).agg(", ".join).to_dict())
print(df["skills"].str.count(";").add(1).tolist(), df["code"].str.zfill(7).tolist())
print(info["first"].str.cat(info["last"], sep=" ", na_rep="?").str.len().tolist())
