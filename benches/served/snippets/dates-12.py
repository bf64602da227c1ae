import io
import pandas as pd

tickets = pd.read_csv(io.StringIO("""id,opened,closed,priority
1,2024-05-03 16:30,2024-05-06 10:00,high
2,2024-05-04 09:00,2024-05-06 09:30,low
3,2024-05-07 08:00,2024-05-07 19:00,high
4,2024-05-08 11:00,,low
"""), parse_dates=["opened", "closed"])

OPEN, CLOSE = 9, 17

def business_hours(start, end):
    """Working hours (Mon-Fri, 9 to 17) between two timestamps."""
    if pd.isna(end):
        return float("nan")
    total = pd.Timedelta(0)
    for day in pd.bdate_range(start.normalize(), end.normalize()):
        lo = max(start, day + pd.Timedelta(hours=OPEN))
        hi = min(end, day + pd.Timedelta(hours=CLOSE))
        if hi > lo:
            total += hi - lo
    return total / pd.Timedelta(hours=1)

tickets["elapsed_h"] = (tickets["closed"] - tickets["opened"]).dt.total_seconds().div(3600)
tickets["business_h"] = [business_hours(o, c) for o, c in zip(tickets["opened"], tickets["closed"])]
sla = {"high": 4, "low": 16}
tickets["breach"] = tickets["business_h"] > tickets["priority"].map(sla)
print(tickets.drop(columns=["opened"]).to_string(index=False))

as_of = pd.Timestamp("2024-05-10 12:00")
print("Open ticket age:", as_of - tickets.loc[tickets["closed"].isna(), "opened"].iloc[0])
print(tickets.groupby("priority")["business_h"].mean().round(2).to_dict())
