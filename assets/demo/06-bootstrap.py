# Bootstrap interval of the difference in flipper length, Gentoo minus Adelie.
# Resamples for two minutes and says every second how far the interval has settled.
import time

flipper = penguins.dropna(subset=["flipper_length_mm"])
gentoo = flipper.loc[flipper["species"] == "Gentoo", "flipper_length_mm"].to_numpy()
adelie = flipper.loc[flipper["species"] == "Adelie", "flipper_length_mm"].to_numpy()
rng = np.random.default_rng(20_260_101)

differences = []
for second in range(1, 121):
    until = time.monotonic() + 1
    while time.monotonic() < until:
        a = rng.choice(gentoo, size=gentoo.size).mean()
        b = rng.choice(adelie, size=adelie.size).mean()
        differences.append(a - b)
    low, high = np.percentile(differences, [2.5, 97.5])
    print(
        f"{second:3d} s  {len(differences):7,d} resamples  "
        f"{np.mean(differences):.3f} mm  95 % in [{low:.3f}, {high:.3f}]",
        flush=True,
    )
