import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt

# Horizontal bar chart with highlighted maximum
votes = {"Python": 412, "R": 187, "SQL": 365, "Julia": 41, "Excel": 298}
votes = dict(sorted(votes.items(), key=lambda kv: kv[1]))
total = sum(votes.values())

plt.style.use("ggplot")
fig, ax = plt.subplots(figsize=(8, 4))
colors = ["tab:red" if v == max(votes.values()) else "lightgrey" for v in votes.values()]
ax.barh(list(votes), list(votes.values()), color=colors)
for i, (name, v) in enumerate(votes.items()):
    ax.text(v + 4, i, f"{v / total:.0%}", va="center")
    print(f"{name:<8}{v:>5}  {v / total:6.1%}")

ax.spines[["top", "right"]].set_visible(False)
ax.set_title("Favourite tool", loc="left", fontweight="bold")
ax.margins(x=0.1)
fig.savefig("votes.svg")
print("Total votes:", total)
