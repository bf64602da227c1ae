# Mean body mass by species and sex, for the season's summary table.
known = penguins.dropna(subset=["sex", "body_mass_g"])
table = (
    known.groupby(["species", "sex"])["body_mass_g"]
    .agg(["count", "mean", "std"])
    .round(1)
)
print(table.to_string())
print()
print(f"{len(penguins) - len(known)} of {len(penguins)} birds left out: sex or mass not recorded")
