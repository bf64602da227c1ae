import pandas as pd
df = pd.DataFrame({"x": [1.0, None, 3.0], "g": ["a", None, "b"]})
df["x"] = df["x"].fillna(df["x"].mean())
df.fillna({"g": "?"}, inplace=True)
df.rename(columns={"g": "group"}, inplace=True)
df.sort_values("x", ascending=False, inplace=True)
df.reset_index(drop=True, inplace=True)
df.drop(columns=["group"], inplace=True)
df.loc[df.x > 1, "big"] = True
print(df)
