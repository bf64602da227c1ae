import pandas as pd
import io

clicks = """user,ts,page
u1,2024-05-01 09:00:00,home
u1,2024-05-01 09:04:00,search
u1,2024-05-01 09:05:30,item
u1,2024-05-01 11:00:00,home
u2,2024-05-01 10:00:00,home
u2,2024-05-01 10:45:00,item
u2,2024-05-01 10:46:00,cart
u2,2024-05-01 10:47:30,checkout
u3,2024-05-02 08:30:00,search
"""

df = pd.read_csv(io.StringIO(clicks), parse_dates=["ts"]).sort_values(["user", "ts"])

# New session after 30 minutes of inactivity
gap = df.groupby("user")["ts"].diff()
df["new_session"] = gap.isna() | (gap > pd.Timedelta(minutes=30))
df["session_id"] = df.groupby("user")["new_session"].cumsum().astype(int)
df["secs_on_page"] = (-df.groupby(["user", "session_id"])["ts"].diff(-1)).dt.total_seconds()

sessions = (
    df.groupby(["user", "session_id"])
      .agg(start=("ts", "min"), pages=("page", "size"), path=("page", " > ".join), dwell=("secs_on_page", "sum"))
      .reset_index()
      .assign(bounce=lambda d: d["pages"].eq(1), converted=lambda d: d["path"].str.contains("checkout"))
)
print(sessions.to_string(index=False))
print(f"Bounce rate: {sessions['bounce'].mean():.1%}, conversion: {sessions['converted'].mean():.1%}")
