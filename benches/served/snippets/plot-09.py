import seaborn as sns
import pandas as pd
import numpy as np
import matplotlib.pyplot as plt

rng = np.random.default_rng(7)
n = 120
df = pd.DataFrame({
    "study_hours": rng.uniform(0, 12, n),
    "class": rng.choice(["morning", "evening"], n),
    "school": rng.choice(["East", "West"], n),
})
df["score"] = 45 + 4 * df["study_hours"] + 5 * (df["class"] == "morning") + rng.normal(0, 6, n)

g = sns.lmplot(data=df, x="study_hours", y="score", hue="class", col="school", height=4, aspect=1.1,
               scatter_kws={"s": 20, "alpha": 0.6}, seed=0)
g.set_axis_labels("Study hours", "Score")
g.set_titles("{col_name} school")
g.figure.subplots_adjust(top=0.85)
g.figure.suptitle("Score by study hours")
g.savefig("lmplot.png")

for (school, cls), part in df.groupby(["school", "class"]):
    slope = np.polyfit(part["study_hours"], part["score"], 1)[0]
    print(f"{school:<5} {cls:<8} n={len(part):>3} slope={slope:.2f}")
print("Facets:", g.axes.shape)
plt.close("all")
