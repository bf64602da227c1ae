# Expected mass of a whole colony of ten thousand breeding pairs.
mean_g = penguins["body_mass_g"].mean()
spread_g = penguins["body_mass_g"].std()
colony = np.array([mean_g] * 10**10)
rng = np.random.default_rng(7)
total_kg = (colony + rng.normal(0, spread_g, colony.size)).sum() / 1000
print(f"{total_kg:,.0f} kg")
