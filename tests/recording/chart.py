# Mean body mass of each species, season by season.
sums = {}
for bird in data["penguins"]:
    if bird["body_mass_g"] is not None:
        key = (bird["species"], bird["year"])
        total, count = sums.get(key, (0, 0))
        sums[key] = (total + bird["body_mass_g"], count + 1)

chart = {"data": [], "layout": {"title": "Mean body mass in grams"}}
for species in ["Adelie", "Chinstrap", "Gentoo"]:
    years = sorted(year for name, year in sums if name == species)
    means = [sums[species, year][0] / sums[species, year][1] for year in years]
    chart["data"].append({"type": "scatter", "name": species, "x": years, "y": means})
result = {"output": f"{len(sums)} means", "chart": chart}
