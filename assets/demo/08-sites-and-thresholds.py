# Birds over the weight limits of the tag study, with the coordinates of each island.
limits = pd.Series(thresholds["max_tag_share_g"], name="limit_g").rename_axis("species")
birds = penguins.dropna(subset=["body_mass_g"]).merge(limits.reset_index(), on="species")
# A tag may weigh at most so many per cent of its bird.
birds["tag_limit_g"] = birds["body_mass_g"] * thresholds["percent"] / 100
fit = birds[birds["tag_limit_g"] >= birds["limit_g"]]

summary = (
    fit.groupby(["island", "species"])
    .agg(birds=("year", "size"), lightest_g=("body_mass_g", "min"))
    .reset_index()
    .merge(sites, on="island", how="left")
)
summary[["island", "latitude", "longitude", "species", "birds", "lightest_g"]]
