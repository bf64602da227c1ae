import pandas as pd
import numpy as np

# Join two irregular series on time
rng = np.random.default_rng(29)
base = pd.Timestamp("2024-09-02 09:30:00")
quotes = pd.DataFrame({
    "time": base + pd.to_timedelta(np.sort(rng.integers(0, 600, 15)), unit="s"),
    "bid": (100 + rng.normal(0, 0.2, 15).cumsum()).round(2),
})
trades = pd.DataFrame({
    "time": base + pd.to_timedelta([12, 75, 190, 191, 420, 595], unit="s"),
    "price": [100.1, 99.9, 100.4, 100.2, 101.0, 100.6],
    "qty": [10, 5, 20, 15, 8, 30],
})

back = pd.merge_asof(trades, quotes, on="time", direction="backward", tolerance=pd.Timedelta("60s"))
near = pd.merge_asof(trades, quotes.rename(columns={"time": "qtime"}), left_on="time", right_on="qtime", direction="nearest")
print(back.to_string(index=False))
print((near["qtime"] - near["time"]).dt.total_seconds().tolist())

bars = trades.set_index("time").resample("2min", label="right", closed="right").agg({"price": "ohlc", "qty": "sum"})
print(bars.dropna().to_string())
vwap = (trades["price"] * trades["qty"]).sum() / trades["qty"].sum()
print(f"VWAP {vwap:.4f}")
print(trades["time"].dt.floor("5min").dt.strftime("%H:%M").value_counts(sort=False).to_dict())
print(trades.set_index("time").between_time("09:33", "09:38").shape, trades["time"].dt.ceil("h").iloc[0])
