import pandas as pd
import numpy as np

# Work with periods
p = pd.Period("2024-02", freq="M")
print(p.start_time, p.end_time.date(), p.days_in_month)
print(p + 11, p.asfreq("Q"), p.asfreq("D", how="end"))

quarters = pd.period_range("2023Q1", "2024Q4", freq="Q-JAN")
print([str(q) for q in quarters[:4]], "fiscal start:", quarters[0].start_time.date())

df = pd.DataFrame({"revenue": np.arange(8) * 10 + 100}, index=quarters)
df["fy"] = df.index.qyear
print(df.groupby("fy")["revenue"].agg(["sum", "mean"]))

ts = df["revenue"].to_timestamp(how="start")
print(ts.head(3))
print(ts.to_period("Y").groupby(level=0).size().to_dict())

a, b = pd.Period("2024-03"), pd.Period("2022-11")
print("months between:", (a - b).n)
invoice = pd.Series(pd.to_datetime(["2024-01-31", "2024-02-01", "2024-02-29"]))
print(invoice.dt.to_period("M").value_counts().sort_index().rename(str).to_dict())
print(pd.PeriodIndex(["2024-01", "NaT", "2024-03"], freq="M").isna().tolist())
