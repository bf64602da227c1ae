from pathlib import Path

import numpy as np
import pandas as pd

OUT = Path("output")
OUT.mkdir(exist_ok=True)

rng = np.random.default_rng(123)
employees = pd.DataFrame({
    "employee_id": range(1, 121),
    "department": rng.choice(["Sales", "IT", "HR", "Finance"], 120),
    "salary": rng.normal(58_000, 9_500, 120).round(-2),
    "hired": pd.to_datetime("2015-01-01") + pd.to_timedelta(rng.integers(0, 3000, 120), unit="D"),
})

summary = (
    employees
    .assign(hire_year=lambda d: d["hired"].dt.year)
    .groupby("department")
    .agg(
        headcount=("employee_id", "count"),
        avg_salary=("salary", "mean"),
        median_salary=("salary", "median"),
        first_hire=("hired", "min"),
    )
    .round(1)
    .sort_values("avg_salary", ascending=False)
)
print(summary)

summary.to_csv(OUT / "department_summary.csv")
print(f"Saved {len(summary)} rows to {OUT / 'department_summary.csv'}")
