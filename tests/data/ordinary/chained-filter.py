import pandas as pd
df = pd.DataFrame({"x": [10, 20, 30], "y": [1.0, None, 3.0]})
late = df[df.x > 15]
late["h"] = late["x"] * 2
top = df.head(2)
top["rank"] = range(2)
two = df[["x", "y"]]
two["z"] = two.x + 1
print(late, top, two, sep="\n")
