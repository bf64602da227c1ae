from __future__ import annotations
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Iterator


@dataclass(frozen=True, order=True)
class DateRange:
    start: date
    end: date

    def __post_init__(self):
        if self.end < self.start:
            raise ValueError(f"end {self.end} before start {self.start}")

    def __len__(self) -> int:
        return (self.end - self.start).days + 1

    def __contains__(self, d: date) -> bool:
        return self.start <= d <= self.end

    def __iter__(self) -> Iterator[date]:
        return (self.start + timedelta(n) for n in range(len(self)))

    def __and__(self, other: DateRange) -> DateRange | None:
        lo, hi = max(self.start, other.start), min(self.end, other.end)
        return DateRange(lo, hi) if lo <= hi else None


q1 = DateRange(date(2024, 1, 1), date(2024, 3, 31))
trip = DateRange(date(2024, 3, 25), date(2024, 4, 5))
print(len(q1), date(2024, 2, 29) in q1, q1 < trip)
print("Overlap:", q1 & trip, len(q1 & trip))
print("Weekends on trip:", [d.isoformat() for d in trip if d.weekday() > 4])
print(trip & DateRange(date(2025, 1, 1), date(2025, 1, 2)))
try:
    DateRange(date(2024, 1, 2), date(2024, 1, 1))
except ValueError as e:
    print("ValueError:", e)
