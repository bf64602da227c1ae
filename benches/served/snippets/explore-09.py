from dataclasses import dataclass, field
import numpy as np
import pandas as pd


@dataclass
class DataQualityChecker:
    df: pd.DataFrame
    issues: list = field(default_factory=list)

    def check_missing(self, threshold=0.05):
        for col, frac in self.df.isna().mean().items():
            if frac > threshold:
                self.issues.append(f"{col}: {frac:.1%} missing")
        return self

    def check_range(self, col, low, high):
        bad = ~self.df[col].dropna().between(low, high)
        if bad.any():
            self.issues.append(f"{col}: {int(bad.sum())} values outside [{low}, {high}]")
        return self

    def check_unique(self, col):
        n = self.df[col].duplicated().sum()
        if n:
            self.issues.append(f"{col}: {n} duplicates")
        return self


np.random.seed(1)
df = pd.DataFrame({"id": list(range(98)) + [5, 6],
                   "age": np.random.normal(40, 25, 100).round(),
                   "weight": np.random.normal(75, 8, 100).round(1)})
df.loc[df.sample(12, random_state=1).index, "weight"] = np.nan

checker = DataQualityChecker(df).check_missing().check_range("age", 0, 100).check_unique("id")
print("Data quality report" + "\n" + "-" * 19)
print("\n".join(f"- {i}" for i in checker.issues) or "No issues")
