# One file for each island, as the field teams want them.
for island, birds in penguins.groupby("island"):
    name = "penguins-" + island.lower() + ".csv"
    birds.sort_values(["year", "species"]).to_csv(name, index=False)
    print(f"{name}: {len(birds)} birds")
