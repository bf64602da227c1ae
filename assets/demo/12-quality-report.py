"""Quality report on the raw field records.

Checks every column of the raw table against what the field protocol says, counts what does
not hold, and prints one table for each group of checks. Nothing is changed or left out.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

EXPECTED_SPECIES = {
    "Adelie Penguin (Pygoscelis adeliae)",
    "Chinstrap penguin (Pygoscelis antarctica)",
    "Gentoo penguin (Pygoscelis papua)",
}
EXPECTED_ISLANDS = {"Biscoe", "Dream", "Torgersen"}
EXPECTED_STUDIES = {"PAL0708", "PAL0809", "PAL0910"}
INDIVIDUAL = re.compile(r"N\d{1,3}A[12]")

# Column, lowest and highest plausible value, unit.
RANGES = [
    ("Culmen Length (mm)", 30.0, 62.0, "mm"),
    ("Culmen Depth (mm)", 12.0, 22.5, "mm"),
    ("Flipper Length (mm)", 175.0, 230.0, "mm"),
    ("Body Mass (g)", 2750.0, 6250.0, "g"),
    ("Delta 15 N (o/oo)", 7.5, 10.5, "o/oo"),
    ("Delta 13 C (o/oo)", -27.5, -23.5, "o/oo"),
]


@dataclass
class Check:
    """One sentence of the protocol and the records that break it."""

    name: str
    total: int
    broken: list = field(default_factory=list)

    def share(self):
        return 100.0 * len(self.broken) / self.total if self.total else 0.0

    def row(self):
        first = ", ".join(str(n) for n in self.broken[:5])
        more = " ..." if len(self.broken) > 5 else ""
        return {
            "check": self.name,
            "records": self.total,
            "broken": len(self.broken),
            "percent": round(self.share(), 1),
            "first rows": first + more,
        }


def rows_where(mask):
    """Row numbers, counted from 1 as in the field books."""
    return [int(i) + 1 for i in raw.index[mask]]


def check_names():
    """Species, island, study and individual follow their lists."""
    yield Check(
        "species is one of the three",
        len(raw),
        rows_where(~raw["Species"].isin(EXPECTED_SPECIES)),
    )
    yield Check(
        "island is one of the three",
        len(raw),
        rows_where(~raw["Island"].isin(EXPECTED_ISLANDS)),
    )
    yield Check(
        "study is one of the three seasons",
        len(raw),
        rows_where(~raw["studyName"].isin(EXPECTED_STUDIES)),
    )
    odd = ~raw["Individual ID"].map(lambda text: bool(INDIVIDUAL.fullmatch(str(text))))
    yield Check("individual reads N<nest>A<1 or 2>", len(raw), rows_where(odd))


def check_ranges():
    """Measurements lie where an adult penguin's lie."""
    for column, low, high, unit in RANGES:
        values = raw[column]
        outside = values.notna() & ~values.between(low, high)
        yield Check(
            f"{column.split(' (')[0].lower()} in {low:g} to {high:g} {unit}",
            int(values.notna().sum()),
            rows_where(outside),
        )


def check_dates():
    """Egg dates can be read and fall into the southern spring of their season."""
    dates = pd.to_datetime(raw["Date Egg"], errors="coerce")
    yield Check("egg date can be read", len(raw), rows_where(dates.isna()))
    month = dates.dt.month
    yield Check(
        "egg date is in November or December",
        int(dates.notna().sum()),
        rows_where(dates.notna() & ~month.isin([11, 12])),
    )
    season = 2000 + raw["studyName"].str.slice(3, 5).astype(int)
    yield Check(
        "egg date is in the study's first year",
        len(raw),
        rows_where(dates.dt.year != season),
    )


def check_duplicates():
    """A bird is recorded once in a season."""
    key = ["studyName", "Species", "Individual ID"]
    yield Check(
        "one record for each bird and season",
        len(raw),
        rows_where(raw.duplicated(subset=key, keep="first")),
    )
    yield Check(
        "sample numbers rise by one within a species",
        len(raw),
        rows_where(raw.groupby("Species")["Sample Number"].diff().fillna(1) != 1),
    )


def check_sex():
    """Sex is recorded, and agrees with body mass where a species makes that plain."""
    sex = raw["Sex"]
    yield Check("sex is recorded", len(raw), rows_where(sex.isna()))
    medians = raw.groupby(["Species", "Sex"])["Body Mass (g)"].median()
    unlikely = pd.Series(False, index=raw.index)
    for species in EXPECTED_SPECIES:
        male, female = medians[species, "MALE"], medians[species, "FEMALE"]
        of = raw["Species"] == species
        unlikely |= of & (sex == "FEMALE") & (raw["Body Mass (g)"] > male + 400)
        unlikely |= of & (sex == "MALE") & (raw["Body Mass (g)"] < female - 400)
    yield Check("mass is likely for the sex", int(sex.notna().sum()), rows_where(unlikely))


def report(title, checks):
    table = pd.DataFrame([check.row() for check in checks])
    print(title)
    print("-" * len(title))
    print(table.to_string(index=False))
    print()
    return int(table["broken"].sum())


broken = 0
broken += report("Names", check_names())
broken += report("Measurements", check_ranges())
broken += report("Dates", check_dates())
broken += report("Duplicates", check_duplicates())
broken += report("Sex", check_sex())

words = Counter()
for comment in raw["Comments"].dropna():
    words.update(word.strip(".,()").lower() for word in comment.split() if len(word) > 4)
print("Most frequent words of the comments:", ", ".join(w for w, _ in words.most_common(8)))
print(f"{broken} findings in {len(raw)} records")
