# Does bill length over depth tell the species apart?
birds = penguins.dropna(subset=["bill_length_mm", "bill_depth_mm"]).copy()
birds["bill_ratio"] = birds["bill_length_mm"] / birds["bill_depth_mm"]
birds.groupby("species")["bill_ratio"].describe().round(2).reset_index()
