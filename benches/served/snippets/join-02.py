import io
import pandas as pd

trades_csv = """time,ticker,price,qty
2024-05-01 09:30:01,ABC,100.1,10
2024-05-01 09:30:05,XYZ,50.0,5
2024-05-01 09:30:09,ABC,100.4,7
2024-05-01 09:30:15,XYZ,50.3,12
"""
quotes_csv = """time,ticker,bid,ask
2024-05-01 09:30:00,ABC,100.0,100.2
2024-05-01 09:30:04,XYZ,49.9,50.1
2024-05-01 09:30:08,ABC,100.3,100.5
2024-05-01 09:30:10,XYZ,50.1,50.3
"""

trades = pd.read_csv(io.StringIO(trades_csv), parse_dates=["time"])
quotes = pd.read_csv(io.StringIO(quotes_csv), parse_dates=["time"])

matched = pd.merge_asof(
    trades.sort_values("time"),
    quotes.sort_values("time"),
    on="time",
    by="ticker",
    tolerance=pd.Timedelta("4s"),
    direction="backward",
)
matched["mid"] = (matched["bid"] + matched["ask"]) / 2
matched["slippage"] = (matched["price"] - matched["mid"]).round(4)
print(matched)
print("Unmatched trades:", int(matched["bid"].isna().sum()))
