import pandas as pd
import numpy as np
import matplotlib.pyplot as plt
import seaborn as sns

# Calendar-like heatmap of activity: weekday x hour
rng = np.random.default_rng(70)
ts = pd.Timestamp("2024-04-01") + pd.to_timedelta(rng.integers(0, 28 * 24 * 60, 4000), unit="min")
df = pd.DataFrame({"ts": ts})
df["weekday"] = pd.Categorical(df["ts"].dt.day_name().str[:3],
                               categories=["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], ordered=True)
df["block"] = df["ts"].dt.hour // 4 * 4

heat = df.pivot_table(index="weekday", columns="block", values="ts", aggfunc="count", observed=False)
heat.columns = [f"{h:02d}-{h + 4:02d}" for h in heat.columns]

fig, ax = plt.subplots(figsize=(8, 4))
sns.heatmap(heat, cmap="YlGnBu", annot=True, fmt=".0f", ax=ax, cbar_kws={"label": "events"})
ax.set(xlabel="Hour of the day", ylabel="")
fig.tight_layout()
fig.savefig("activity.png")
plt.show()

print(heat)
day, block = heat.stack().idxmax()
print(f"Busiest: {day} {block} with {heat.loc[day, block]} events")
