import json
import numpy as np
import pandas as pd
from datetime import date

REPORT_DATE = date(2024, 6, 30)

rng = np.random.default_rng(31)
tickets = pd.DataFrame({
    "id": range(1, 151),
    "priority": rng.choice(["low", "medium", "high"], 150, p=[0.5, 0.3, 0.2]),
    "hours": rng.exponential(20, 150).round(1),
})
SLA = {"low": 72, "medium": 24, "high": 8}
tickets["breached"] = tickets["hours"] > tickets["priority"].map(SLA)

kpis = {
    "report_date": REPORT_DATE.isoformat(),
    "tickets": len(tickets),
    "sla_compliance": round(1 - tickets["breached"].mean(), 4),
    "median_hours": float(tickets["hours"].median()),
    "by_priority": tickets.groupby("priority").agg(
        n=("id", "count"), breached=("breached", "sum"), p90=("hours", lambda h: round(h.quantile(0.9), 1)),
    ).to_dict(orient="index"),
}

with open("kpis.json", "w") as f:
    json.dump(kpis, f, indent=2, default=int)

print(json.dumps(kpis, indent=2, default=int))
level = "OK" if kpis["sla_compliance"] >= 0.85 else "ATTENTION"
print(f"Status on {REPORT_DATE:%d %B %Y}: {level}")
