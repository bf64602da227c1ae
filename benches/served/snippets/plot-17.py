import warnings
warnings.filterwarnings("ignore")
import matplotlib.pyplot as plt
import seaborn as sns
from sklearn.datasets import load_iris

iris = load_iris(as_frame=True)
df = iris.frame.copy()
df["species"] = iris.target_names[df.pop("target")]
df.columns = [c.replace(" (cm)", "") for c in df.columns]

# Pair plot
g = sns.pairplot(df, hue="species", corner=True, plot_kws={"s": 15}, height=1.6)
g.savefig("pairplot.png", dpi=70)

# Violin plots from long data
long = df.melt(id_vars="species", var_name="measure", value_name="cm")
plt.figure(figsize=(10, 5))
sns.violinplot(data=long, x="measure", y="cm", hue="species", inner="quartile", density_norm="width")
plt.xticks(rotation=15)
plt.savefig("violins.png", dpi=70)
plt.close("all")

print(long.groupby(["measure", "species"])["cm"].agg(["median", "std"]).round(2).unstack("species"))
