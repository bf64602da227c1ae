import pandas as pd
import numpy as np

def detect_outliers_iqr(series, k=1.5):
    q1, q3 = series.quantile([0.25, 0.75])
    iqr = q3 - q1
    lower, upper = q1 - k * iqr, q3 + k * iqr
    return (series < lower) | (series > upper), lower, upper

rng = np.random.default_rng(7)
values = np.concatenate([rng.normal(100, 10, 200), [10, 190, 205, -5]])
df = pd.DataFrame({"sensor_value": values, "sensor": rng.choice(list("XYZ"), len(values))})

mask, lo, hi = detect_outliers_iqr(df["sensor_value"])
print(f"Bounds: [{lo:.2f}, {hi:.2f}]")
print(f"Outliers found: {mask.sum()} of {len(df)} ({mask.mean():.2%})")
print(df[mask].round(2).to_string(index=False))

# Compare with the z-score approach
z = (df["sensor_value"] - df["sensor_value"].mean()) / df["sensor_value"].std()
print(f"|z| > 3: {(z.abs() > 3).sum()}")

clean = df.loc[~mask]
print("Mean before/after: {:.2f} / {:.2f}".format(df.sensor_value.mean(), clean.sensor_value.mean()))
