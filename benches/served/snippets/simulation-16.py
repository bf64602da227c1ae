import numpy as np
import pandas as pd
import seaborn as sns
import matplotlib.pyplot as plt

sns.set_theme(style="whitegrid")
rng = np.random.default_rng(1)

# Retirement: how long does the portfolio last for each withdrawal rate?
years, n = 30, 4000
returns = rng.normal(0.06, 0.15, (n, years))
inflation = rng.normal(0.025, 0.01, (n, years))

def run(rate, start=1_000_000):
    balance = np.full(n, float(start))
    withdrawal = np.full(n, rate * start)
    alive = np.ones((n, years), dtype=bool)
    for y in range(years):
        balance = np.maximum(balance - withdrawal, 0) * (1 + returns[:, y])
        withdrawal *= 1 + inflation[:, y]
        alive[:, y] = balance > 0
    return balance, alive

records = []
for rate in np.arange(0.03, 0.071, 0.01):
    final, alive = run(rate)
    records.append({"rate": f"{rate:.0%}", "success": alive[:, -1].mean(), "median_final": np.median(final), "p10_years": np.percentile(alive.sum(axis=1), 10)})

table = pd.DataFrame(records)
print(table.to_string(index=False, formatters={"success": "{:.1%}".format, "median_final": "{:,.0f}".format}))
ax = sns.barplot(data=table, x="rate", y="success", color="teal")
ax.set_title("Success probability by withdrawal rate")
plt.savefig("withdrawal.png", bbox_inches="tight")
