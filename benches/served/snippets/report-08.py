import numpy as np
import pandas as pd

# Budget vs. actual variance report
budget = pd.DataFrame({
    "account": ["Payroll", "Rent", "Marketing", "Travel", "Software"],
    "budget": [120_000, 24_000, 35_000, 12_000, 18_000],
})
rng = np.random.default_rng(23)
budget["actual"] = (budget["budget"] * rng.normal(1.0, 0.12, 5)).round(-1).astype(int)

report = (
    budget
    .assign(variance=lambda d: d["actual"] - d["budget"],
            pct=lambda d: d["variance"] / d["budget"])
    .assign(status=lambda d: np.select([d["pct"] > 0.05, d["pct"] < -0.05], ["OVER", "UNDER"], "ok"))
    .sort_values("pct", ascending=False)
)
total = report[["budget", "actual", "variance"]].sum()

print(f"{'Account':<12}{'Budget':>12}{'Actual':>12}{'Variance':>12}{'%':>9}  Status")
print("-" * 66)
for r in report.itertuples():
    print(f"{r.account:<12}{r.budget:>12,}{r.actual:>12,}{r.variance:>+12,}{r.pct:>9.1%}  {r.status}")
print("-" * 66)
print(f"{'Total':<12}{total.budget:>12,}{total.actual:>12,}{total.variance:>+12,}{total.variance / total.budget:>9.1%}")

report.to_csv("variance.csv", index=False, float_format="%.4f")
