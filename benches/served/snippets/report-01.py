import numpy as np
import pandas as pd
from pathlib import Path

# Generate a Markdown sales report
rng = np.random.default_rng(42)
sales = pd.DataFrame({
    "region": rng.choice(["North", "South", "West"], 200),
    "product": rng.choice(["Basic", "Plus", "Pro"], 200),
    "amount": rng.gamma(3, 100, 200).round(2),
})

by_region = sales.groupby("region")["amount"].agg(["count", "sum", "mean"]).round(2)
top_product = sales.groupby("product")["amount"].sum().idxmax()

lines = [
    "# Sales Report",
    "",
    f"**Total revenue:** {sales['amount'].sum():,.2f}  ",
    f"**Top product:** {top_product}",
    "",
    "## By region",
    "",
    by_region.to_markdown(),
]
report = "\n".join(lines)
Path("report.md").write_text(report, encoding="utf-8")
print(report)
