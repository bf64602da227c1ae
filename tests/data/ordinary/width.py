import pandas as pd

df = pd.DataFrame({c * 12: [1, 2] for c in "abcdefghij"})
pd.set_option("display.width", 80)
print(df)
pd.set_option("display.max_columns", None)
print(df)
pd.options.display.width = 100
print(df.T.T)
print(df.head(1))
