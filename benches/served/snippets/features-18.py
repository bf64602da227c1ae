from dataclasses import dataclass
from enum import Enum
from typing import Optional
import pandas as pd


class Risk(Enum):
    LOW = 1
    MEDIUM = 2
    HIGH = 3

    @classmethod
    def from_score(cls, score: float) -> "Risk":
        if score < 0.33:
            return cls.LOW
        elif score < 0.66:
            return cls.MEDIUM
        return cls.HIGH


@dataclass(frozen=True)
class Applicant:
    name: str
    income: float
    debt: float
    late_payments: int = 0
    years_employed: Optional[float] = None

    @property
    def dti(self) -> float:
        return self.debt / self.income if self.income else float("inf")

    @property
    def score(self) -> float:
        tenure = 0 if self.years_employed is None else min(self.years_employed, 10) / 10
        return max(0.0, min(1.0, 0.6 * self.dti + 0.12 * self.late_payments - 0.2 * tenure + 0.1))


people = [Applicant("Ida", 60_000, 12_000, 0, 8), Applicant("Jon", 35_000, 30_000, 2), Applicant("Kim", 48_000, 24_000, 1, 3.5)]
df = pd.DataFrame([{"name": p.name, "dti": p.dti, "score": p.score, "risk": Risk.from_score(p.score).name} for p in people])
df["risk"] = pd.Categorical(df["risk"], categories=[r.name for r in Risk], ordered=True)
print(df.sort_values("risk", ascending=False).round(3))
print("Worst risk:", df["risk"].max(), "|", [r for r in Risk])
