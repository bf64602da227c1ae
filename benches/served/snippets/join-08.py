import numpy as np
import pandas as pd

rng = np.random.default_rng(4)
regions = ["North", "South", "East", "West"]
quarters = ["Q1", "Q2", "Q3", "Q4"]

actuals = pd.DataFrame({
    "region": rng.choice(regions, 60),
    "quarter": rng.choice(quarters, 60),
    "sales": rng.integers(100, 1000, 60),
})
targets = pd.DataFrame(
    [(r, q, 2000 + 250 * i) for r in regions for i, q in enumerate(quarters)],
    columns=["region", "quarter", "target"],
)

actual_totals = actuals.groupby(["region", "quarter"], as_index=False)["sales"].sum()
report = targets.merge(actual_totals, on=["region", "quarter"], how="left").fillna({"sales": 0})
report["attainment"] = report["sales"] / report["target"]
report["hit"] = np.where(report["attainment"] >= 1, "yes", "no")

matrix = report.pivot(index="region", columns="quarter", values="attainment")
print(matrix.map(lambda v: f"{v:.0%}"))
print(f"\nTargets hit: {(report['hit'] == 'yes').sum()} / {len(report)}")
worst = report.loc[report["attainment"].idxmin()]
print(f"Largest gap: {worst['region']} {worst['quarter']} at {worst['attainment']:.1%}")
