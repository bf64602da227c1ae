import pandas as pd
import numpy as np

# Localise, convert and handle DST in pandas
naive = pd.date_range("2024-10-27 00:00", periods=5, freq="30min")
s = pd.Series(range(10), index=pd.date_range("2024-10-26 22:00", periods=10, freq="30min", tz="UTC"))
paris = s.tz_convert("Europe/Paris")
print(paris)
print("Duplicated wall clock:", paris.tz_localize(None).index.duplicated().sum())

try:
    pd.DatetimeIndex(["2024-03-31 02:30"]).tz_localize("Europe/Paris")
except Exception as e:
    print(type(e).__name__)

shifted = pd.DatetimeIndex(["2024-03-31 02:30"]).tz_localize("Europe/Paris", nonexistent="shift_forward")
print(shifted[0])

stamp = pd.Timestamp("2024-10-26 12:00", tz="Europe/Paris")
print("1 calendar day:", stamp + pd.DateOffset(days=1))
print("24 hours      :", stamp + pd.Timedelta(hours=24))

daily = paris.groupby(paris.index.date).agg(["size", "sum"])
print(daily)
print(naive.tz_localize("Asia/Tokyo").tz_convert("America/Los_Angeles")[0].strftime("%Y-%m-%d %H:%M %z"))
