import numpy as np
import pandas as pd

np.random.seed(9)
df = pd.DataFrame({
    "height_cm": np.append(np.random.normal(170, 8, 47).round(1), [1.72, 17.0, 300.0]),
    "weight_kg": np.append(np.random.normal(70, 10, 47).round(1), [72000, 65, 80]),
})

def iqr_bounds(s, k=1.5):
    q1, q3 = s.quantile([0.25, 0.75])
    return q1 - k * (q3 - q1), q3 + k * (q3 - q1)

flags = pd.DataFrame(index=df.index)
for col in df:
    lo, hi = iqr_bounds(df[col], 3)
    flags[col] = ~df[col].between(lo, hi)
    print(f"{col}: bounds [{lo:.1f}, {hi:.1f}] -> {flags[col].sum()} outlier(s)")

# Repair unit errors where the reason is clear
fixed = df.copy()
metres = fixed["height_cm"].between(1.2, 2.3)
fixed.loc[metres, "height_cm"] *= 100
grams = fixed["weight_kg"] > 1000
fixed.loc[grams, "weight_kg"] /= 1000
fixed["height_cm"] = fixed["height_cm"].where(fixed["height_cm"].between(120, 230))

print(pd.concat({"before": df, "after": fixed}, axis=1)[flags.any(axis=1)])
wins = fixed["height_cm"].clip(*fixed["height_cm"].quantile([0.05, 0.95]))
print("Means:", df.mean().round(1).to_dict(), fixed.mean().round(1).to_dict(), round(wins.mean(), 1))
