import matplotlib.pyplot as plt
import numpy as np

# Monthly revenue data
months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun"]
revenue = [12.5, 13.1, 15.8, 14.9, 17.2, 18.4]
costs = [10.2, 10.8, 11.5, 12.1, 12.4, 13.0]

x = np.arange(len(months))
width = 0.35

fig, ax = plt.subplots(figsize=(10, 6))
bars1 = ax.bar(x - width / 2, revenue, width, label="Revenue", color="#2E86AB")
bars2 = ax.bar(x + width / 2, costs, width, label="Costs", color="#E4572E")

ax.set_xlabel("Month")
ax.set_ylabel("Amount ($k)")
ax.set_title("Revenue vs. Costs")
ax.set_xticks(x)
ax.set_xticklabels(months)
ax.bar_label(bars1, fmt="%.1f", padding=3)
ax.legend()

plt.tight_layout()
plt.savefig("revenue_costs.png", dpi=150, bbox_inches="tight")
plt.show()

profit = [r - c for r, c in zip(revenue, costs)]
print(f"Total profit: ${sum(profit):.1f}k, best month: {months[int(np.argmax(profit))]}")
