import numpy as np
import pandas as pd

np.random.seed(99)
wide = pd.DataFrame(
    np.random.randint(50, 100, size=(4, 4)),
    columns=["math_2022", "math_2023", "art_2022", "art_2023"],
).assign(student=["Ann", "Ben", "Cy", "Dee"])

# Reshape wide -> long
long = wide.melt(id_vars="student", var_name="key", value_name="score")
long[["subject", "year"]] = long["key"].str.split("_", expand=True)
long = long.drop(columns="key").astype({"year": int})
print(long.head(6))

# And back again with a different layout
by_year = long.pivot(index=["student", "subject"], columns="year", values="score")
by_year["change"] = by_year[2023] - by_year[2022]
print()
print(by_year)

improved = by_year.query("change > 0").index.get_level_values("student").unique()
print(f"\nImproved in at least one subject: {', '.join(sorted(improved))}")
assert len(long) == wide.shape[0] * 4
