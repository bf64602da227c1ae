import pandas as pd
import numpy as np

# Sessionise clickstream events: new session after 30 minutes of silence
rng = np.random.default_rng(19)
n = 60
events = pd.DataFrame({
    "user": rng.choice(["u1", "u2", "u3"], n),
    "ts": pd.Timestamp("2024-02-01 08:00") + pd.to_timedelta(np.sort(rng.integers(0, 600, n)), unit="min"),
})

events = events.sort_values(["user", "ts"])
gap = events.groupby("user")["ts"].diff()
events["new_session"] = gap.isna() | (gap > pd.Timedelta(minutes=30))
events["session"] = events.groupby("user")["new_session"].cumsum()

sessions = (
    events.groupby(["user", "session"])["ts"]
    .agg(start="min", end="max", n_events="count")
    .assign(minutes=lambda d: (d["end"] - d["start"]).dt.total_seconds() / 60)
)
print(sessions.head(8))
print("\nSessions per user:")
print(sessions.groupby("user").agg(sessions=("n_events", "size"), avg_minutes=("minutes", "mean"),
                                   avg_events=("n_events", "mean")).round(2))
