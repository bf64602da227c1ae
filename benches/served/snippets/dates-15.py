import pandas as pd
import numpy as np
import matplotlib.pyplot as plt
import matplotlib.dates as mdates

rng = np.random.default_rng(16)
idx = pd.bdate_range("2024-01-02", periods=180)
px = pd.Series(100 * np.exp(np.cumsum(rng.normal(0.0005, 0.012, len(idx)))), index=idx, name="close")

df = px.to_frame()
df["sma20"] = df["close"].rolling(20).mean()
df["sma20d"] = df["close"].rolling("28D").mean()
df["ret"] = df["close"].pct_change()
df["vol"] = df["ret"].rolling(20).std() * np.sqrt(252)
df["drawdown"] = df["close"] / df["close"].cummax() - 1

monthly = df["close"].resample("BME").ohlc().round(2)
print(monthly)
print("Worst drawdown: {:.2%} on {:%d %b %Y}".format(df["drawdown"].min(), df["drawdown"].idxmin()))
best = df["ret"].nlargest(3)
print(best.rename(lambda d: d.strftime("%Y-%m-%d")).mul(100).round(2).to_dict())
print(df.groupby(df.index.month_name(), sort=False)["ret"].agg(lambda r: (1 + r).prod() - 1).round(4))

fig, ax = plt.subplots(figsize=(9, 4))
df[["close", "sma20"]].plot(ax=ax)
ax.xaxis.set_major_formatter(mdates.DateFormatter("%b"))
fig.autofmt_xdate()
fig.savefig("prices.png", dpi=70)
