import numpy as np
import pandas as pd
from collections import defaultdict

# Cyclic, calendar and geo-style features for taxi trips
rng = np.random.default_rng(314)
n = 8
trips = pd.DataFrame({
    "pickup": pd.to_datetime("2024-02-26") + pd.to_timedelta(rng.integers(0, 7 * 24 * 60, n), unit="min"),
    "lat1": 40.7 + rng.normal(0, 0.03, n), "lon1": -74.0 + rng.normal(0, 0.03, n),
    "lat2": 40.7 + rng.normal(0, 0.03, n), "lon2": -74.0 + rng.normal(0, 0.03, n),
}).sort_values("pickup", ignore_index=True)

dt = trips["pickup"].dt
trips["hour_sin"] = np.sin(2 * np.pi * (dt.hour + dt.minute / 60) / 24)
trips["hour_cos"] = np.cos(2 * np.pi * (dt.hour + dt.minute / 60) / 24)
trips["day"] = dt.day_name().str[:3]
trips["rush"] = dt.hour.between(7, 9) | dt.hour.between(16, 19)
trips["month_end"] = dt.is_month_end

lat1, lon1, lat2, lon2 = (np.radians(trips[c]) for c in ("lat1", "lon1", "lat2", "lon2"))
a = np.sin((lat2 - lat1) / 2) ** 2 + np.cos(lat1) * np.cos(lat2) * np.sin((lon2 - lon1) / 2) ** 2
trips["km"] = 6371 * 2 * np.arcsin(np.sqrt(a))
trips["bearing"] = (np.degrees(np.arctan2(lon2 - lon1, lat2 - lat1)) + 360) % 360

print(trips.drop(columns=["lat1", "lon1", "lat2", "lon2"]).round(3).to_string())
by_day = defaultdict(list)
for row in trips.itertuples():
    by_day[row.day].append(round(row.km, 2))
print(dict(by_day))
