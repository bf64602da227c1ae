# Change of mean body mass from season to season, by species.
mass = penguins.groupby(["species", "year"])["body_mass_g"].mean().unstack("year")
print(mass.round(0).to_string())

# 2010 is not in the data yet; this was written for the next release.
change = mass[2010] - mass[2009]
print(change.round(1).to_string())
