# The body-condition formula comes from the project's settings, so that the team can
# change it without changing code.
birds = penguins.dropna(subset=["body_mass_g", "flipper_length_mm"]).copy()
for name, formula in settings["indices"].items():
    birds[name] = birds.eval(formula)
print(birds.groupby("species")[list(settings["indices"])].mean().round(3).to_string())
