# Nearest-centroid classification of the species from four measurements, by hand:
# how many birds would a simple rule put right?
features = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
birds = penguins.dropna(subset=features)
scaled = (birds[features] - birds[features].mean()) / birds[features].std()

odd = np.arange(len(birds)) % 2 == 1
centroids = scaled[~odd].groupby(birds["species"][~odd]).mean()
distance = np.linalg.norm(
    scaled[odd].to_numpy()[:, None, :] - centroids.to_numpy()[None, :, :], axis=2
)
guess = centroids.index.to_numpy()[distance.argmin(axis=1)]
truth = birds["species"][odd].to_numpy()

print(pd.crosstab(truth, guess, rownames=["species"], colnames=["guess"]).to_string())
print(f"{(guess == truth).mean():.1%} of {odd.sum()} held-out birds are right")
