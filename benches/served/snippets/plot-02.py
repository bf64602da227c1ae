import numpy as np
import pandas as pd
import seaborn as sns
import matplotlib.pyplot as plt

sns.set_theme(style="whitegrid", palette="muted")

np.random.seed(10)
df = pd.DataFrame({
    "department": np.random.choice(["Engineering", "Marketing", "Sales"], 240),
    "gender": np.random.choice(["F", "M"], 240),
    "salary": np.random.lognormal(11, 0.25, 240),
})

fig, axes = plt.subplots(1, 2, figsize=(14, 5))

sns.boxplot(data=df, x="department", y="salary", hue="gender", ax=axes[0])
axes[0].set_title("Salary by department and gender")

sns.histplot(data=df, x="salary", hue="department", kde=True, element="step", ax=axes[1])
axes[1].set_title("Salary distribution")

for ax in axes:
    ax.tick_params(axis="x", rotation=20)

plt.tight_layout()
plt.savefig("salaries.png")
plt.show()

print(df.groupby(["department", "gender"])["salary"].median().round(0).unstack())
