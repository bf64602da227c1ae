import sqlite3
import numpy as np
import pandas as pd

# Build an in-memory database
rng = np.random.default_rng(8)
trips = pd.DataFrame({
    "trip_id": np.arange(1, 201),
    "driver": rng.choice(["Maya", "Omar", "Li", "Eva"], 200),
    "km": rng.exponential(8, 200).round(1),
    "fare": 0.0,
})
trips["fare"] = (3.5 + trips["km"] * 1.8 + rng.normal(0, 1, 200)).round(2)

with sqlite3.connect(":memory:") as conn:
    trips.to_sql("trips", conn, index=False)
    query = """
        SELECT driver,
               COUNT(*)            AS n_trips,
               ROUND(SUM(km), 1)   AS total_km,
               ROUND(AVG(fare), 2) AS avg_fare,
               ROUND(SUM(fare) / SUM(km), 3) AS fare_per_km
        FROM trips
        WHERE km > ?
        GROUP BY driver
        HAVING COUNT(*) > 10
        ORDER BY total_km DESC
    """
    result = pd.read_sql_query(query, conn, params=(1.0,))

print(result.to_string(index=False))
print("Longest trip:", trips.loc[trips["km"].idxmax(), ["trip_id", "driver", "km"]].to_dict())
