# Body mass against flipper length: do the species stand apart?
chart = {"data": [], "layout": {"title": "Body mass (g) against flipper length (mm)"}}
known = [bird for bird in data["penguins"] if bird["body_mass_g"] is not None]
for species in ["Adelie", "Chinstrap", "Gentoo"]:
    birds = [bird for bird in known if bird["species"] == species]
    chart["data"].append({
        "type": "scatter",
        "mode": "markers",
        "name": species,
        "x": [bird["flipper_length_mm"] for bird in birds],
        "y": [bird["body_mass_g"] for bird in birds],
    })
result = {"output": f"{len(known)} birds", "chart": chart}
