# One file for each island, as the field teams want them.
for _, birds in penguins.groupby("island"):
    island = str(birds["island"].iloc[0]).strip()
    name = "penguins-" + island.lower() + ".csv"
    birds.sort_values(["year", "species"]).to_csv(name, index=False)
    print(f"{name}: {len(birds)} birds")
